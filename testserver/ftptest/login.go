package ftptest

import (
	"strings"

	"github.com/fetch1738/fetch1738/testserver/internal/build"
	"github.com/fetch1738/fetch1738/testserver/internal/tree"
)

// Access control (RFC 959 §4.1.1).

// account is who has logged in, or is about to.
type account struct {
	user     string
	step     step
	failures int  // wrong logins on the connection
	lynx     bool // the last anonymous password was that of Lynx
}

// step is how far a login has come: the command that it requires next.
type step uint8

const (
	needsUSER step = iota
	needsPASS
	needsACCT
	loggedIn
)

func doUSER(f *session, name string) error {
	f.account.user, f.account.step = name, needsUSER
	if u, known := f.srv.Users[name]; known && u.Password == "" || f.anonymous() && f.srv.NoAnonymousPassword {
		return f.accept()
	}
	f.account.step = needsPASS
	if f.anonymous() {
		f.now.about = "anonymous"
		return f.reply("331 Guest login ok, send your e-mail address as password.")
	}
	// Also for an unknown user, so as not to disclose which users exist.
	return f.reply("331 Password required.")
}

// anonymous reports whether the user is the anonymous one.
func (f *session) anonymous() bool {
	user := f.account.user
	_, own := f.srv.Users[user]
	return f.srv.Anonymous && !own && (strings.EqualFold(user, "anonymous") || strings.EqualFold(user, "ftp"))
}

func doPASS(f *session, pass string) error {
	switch {
	case f.account.step == loggedIn:
		return f.reply("202 Already logged in.")
	case f.account.step != needsPASS:
		return f.reply("503 Login with USER first.")
	case f.anonymous():
		f.account.lynx = strings.HasPrefix(pass, "WWWuser@")
	case !build.Allowed(f.srv.Users, f.account.user, pass):
		return f.deny()
	}
	return f.accept()
}

// accept replies to a user whose password is right, or who needs none.
func (f *session) accept() error {
	if f.srv.Users[f.account.user].Account != "" {
		f.account.step = needsACCT
		return f.reply("332 Need account for login.")
	}
	return f.login()
}

func doACCT(f *session, name string) error {
	switch {
	case f.account.step == loggedIn:
		return f.reply("202 Account not needed.")
	case f.account.step != needsACCT:
		return f.reply("503 Login with USER first.")
	case f.srv.Users[f.account.user].Account != name:
		return f.deny()
	}
	return f.login()
}

func (f *session) login() error {
	if f.account.step = loggedIn; f.anonymous() {
		f.now.about = "anonymous"
	}
	user := f.srv.Users[f.account.user]
	f.files.dir, f.files.user = tree.Clean(f.srv.LoginDir), user
	f.files.Tree = f.srv.m.TreeOf(f.account.user, user.Content)
	return f.reply("230 User logged in, proceed.")
}

// deny replies to a wrong login. After too many of them the session ends.
func (f *session) deny() error {
	f.account.step = needsUSER
	if f.account.failures++; f.account.failures >= maxLogins {
		f.quit = true
		return f.reply("421 Too many wrong logins.")
	}
	return f.reply("530 Login incorrect.")
}

func doREIN(f *session, _ string) error {
	f.account.user, f.account.step = "", needsUSER
	f.files.dir, f.files.facts = tree.Clean(f.srv.LoginDir), nil
	f.parameters = parameters{ascii: true}
	f.channel.epsvAll = false
	f.channel.close()
	return f.reply("220 Ready for a new user.")
}

func doQUIT(f *session, _ string) error {
	f.quit = true
	return f.reply("221 Goodbye.")
}
