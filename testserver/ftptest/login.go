package ftptest

import (
	"strings"

	"github.com/fetch1738/fetch1738/testserver/internal/build"
	"github.com/fetch1738/fetch1738/testserver/internal/core"
	"github.com/fetch1738/fetch1738/testserver/internal/tree"
)

// Access control (RFC 959 §4.1.1) and the commands without effect.

func (f *session) userName(name string) error {
	f.loggedIn, f.asked, f.user = false, 0, name
	u, known := f.srv.Users[name]
	switch {
	case known && u.Password == "" && u.Account == "":
		return f.login()
	case known && u.Password == "":
		return f.askAccount()
	case f.anonymous() && f.srv.NoAnonymousPassword:
		return f.login()
	case f.anonymous():
		f.asked, f.now.about = 'P', "anonymous"
		return f.reply("331 Guest login ok, send your e-mail address as password.")
	default: // also for an unknown user, so as not to disclose which users exist
		f.asked = 'P'
		return f.reply("331 Password required.")
	}
}

// anonymous reports whether the user is the anonymous one.
func (f *session) anonymous() bool {
	_, own := f.srv.Users[f.user]
	return f.srv.Anonymous && !own && (strings.EqualFold(f.user, "anonymous") || strings.EqualFold(f.user, "ftp"))
}

func (f *session) password(pass string) error {
	switch {
	case f.loggedIn:
		return f.reply("202 Already logged in.")
	case f.asked != 'P':
		return f.reply("503 Login with USER first.")
	case f.anonymous():
		f.lynx = strings.HasPrefix(pass, "WWWuser@")
		return f.login()
	case !build.Allowed(f.srv.Users, f.user, pass):
		return f.denied()
	case f.srv.Users[f.user].Account != "":
		return f.askAccount()
	}
	return f.login()
}

func (f *session) account(name string) error {
	switch {
	case f.loggedIn:
		return f.reply("202 Account not needed.")
	case f.asked != 'A':
		return f.reply("503 Login with USER first.")
	case f.srv.Users[f.user].Account != name:
		return f.denied()
	}
	return f.login()
}

func (f *session) askAccount() error {
	f.asked = 'A'
	return f.reply("332 Need account for login.")
}

func (f *session) login() error {
	if f.loggedIn, f.asked = true, 0; f.anonymous() {
		f.now.about = "anonymous"
	}
	f.dir = tree.Clean(f.srv.LoginDir)
	f.tree = f.srv.m.TreeOf(f.user, f.srv.Users[f.user].Content)
	return f.reply("230 User logged in, proceed.")
}

// denied replies to a wrong login. After too many of them the session ends.
func (f *session) denied() error {
	f.asked = 0
	if f.failures++; f.failures >= maxLogins {
		f.quit = true
		return f.reply("421 Too many wrong logins.")
	}
	return f.reply("530 Login incorrect.")
}

func (f *session) reinitialize(string) error {
	f.loggedIn, f.asked, f.user = false, 0, ""
	f.dir, f.ascii, f.rest, f.epsvAll, f.facts = tree.Clean(f.srv.LoginDir), true, 0, false, nil
	f.closePassive()
	return f.reply("220 Ready for a new user.")
}

func (f *session) logout(string) error {
	f.quit = true
	return f.reply("221 Goodbye.")
}

func (f *session) noop(string) error   { return f.reply("200 Ok.") }
func (f *session) system(string) error { return f.reply("215 UNIX Type: L8") }

func (f *session) allocate(string) error { return f.reply("202 No storage allocation necessary.") }

func (f *session) help(string) error {
	return f.reply("214 A test server: RFC 959, 1123, 2389, 2428, 3659, 4217.")
}

func (f *session) features(string) error {
	var more []string
	if f.srv.RequirePRET {
		more = append(more, "PRET")
	}
	if f.srv.TLS != nil {
		more = append(more, "AUTH TLS", "CCC", "PBSZ", "PROT")
	}
	text, wait := f.replyText(usualFeatures)
	if err := core.Sleep(f.srv.m.Ctx(), wait); err != nil {
		return err
	}
	return f.answer(f.faults, f.faults.Text(core.Reply, f.withFeatures(text, more)))
}

func (f *session) options(arg string) error {
	name, value, _ := strings.Cut(arg, " ")
	switch name, on := strings.ToUpper(name), strings.ToUpper(value); {
	case name == "UTF8" && (on == "ON" || on == ""):
		f.utf8 = true
		return f.reply("200 Names are octets; UTF-8 is fine.")
	case name == "MLST" && !core.ContainsFold(f.srv.Hide, "MLST"):
		return f.optsMLST(value)
	}
	return f.reply("501 Option not understood.")
}
