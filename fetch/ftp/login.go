package ftp

import (
	"context"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	sessions "github.com/fetch1738/fetch1738/fetch/internal/session"
	"github.com/fetch1738/fetch1738/fetch/internal/talk"
)

// A login makes a session one of a user.
type login struct {
	*session
	list        func(commands) []command // what follows the login
	alternative string                   // to USER, if that is refused; "" once it has been sent
}

// perform reads the greeting and sends USER and what the server requests in reply, with the commands for
// TLS before and after.
func (l *login) perform(ctx context.Context, o sessions.Opening) error {
	if l.access.implicit() {
		if err := l.secure(); err != nil {
			return err
		}
	}
	greeting, err := l.greet()
	if err != nil {
		return err
	}
	l.ctx = ctx
	l.ctl.Resume(ctx, l.access.limits, l.access.trace)
	o.Greeted()
	loggedIn := greeting.Code == 230
	l.program = programOf(greeting.Text)
	l.program.single = l.program.single || loggedIn // such servers are rare, and may handle one command of a packet
	ahead := l.withPASS()
	l.planned = ahead != nil
	if l.access.wantsTLS() {
		loggedIn = false // a login in the clear does not count under TLS
		if err := l.startTLS(); err != nil {
			return err
		}
	}
	if user := l.access.login; user != nil { // nothing may be sent between USER and PASS
		if err := l.ctl.learnIAC(user.User, user.Password); err != nil {
			return l.failure(err)
		}
	}
	if !loggedIn {
		if ahead, err = l.authenticate(ahead); err != nil {
			return l.failure(err)
		}
	}
	l.ctl.phase = commanding
	if err := l.failure(l.ctl.sendPipelined(ahead)); err != nil { // if PASS was not sent
		return err
	}
	if l.config != nil {
		if err := l.protect(); err != nil {
			return err
		}
	}
	return l.findHome()
}

// greet reads the greeting, 220 or 230, before which 120 may come.
func (l *login) greet() (talk.Reply, error) {
	r, err := l.ctl.receiveFinal()
	if err := l.check(r, r.Code == 220 || r.Code == 230, err); err != nil {
		return r, err
	}
	if l.ctl.greeting = r.Text; r.Code == 230 {
		l.ctl.welcome = r.Text
	}
	return r, nil
}

// authenticate sends USER and, if the server requests it, PASS. The commands in ahead are sent together
// with PASS; those that are left are returned.
func (l *login) authenticate(ahead []string) (left []string, err error) {
	r, err := l.identify("USER " + l.access.user())
	if err == nil && r.Code == 331 {
		var pass string
		if pass, err = l.passCommand(r.Text); err != nil {
			return nil, err
		}
		r, err = l.identify(pass, ahead...)
		ahead = nil
	}
	if err == nil && r.Code == 230 {
		l.ctl.welcome = r.Text
	}
	return ahead, err
}

// identify sends USER or PASS and what the server requires in its place or after it. It returns a
// positive reply, or 331 to USER.
func (l *login) identify(line string, ahead ...string) (talk.Reply, error) {
	r, err := l.ctl.ask(line, ahead...)
	if err == nil && r.Class() >= 4 && l.alternative != "" {
		r, err = l.identifyOtherwise()
	}
	if err == nil && r.Code == 332 {
		r, err = l.sendAccount(r.Text)
	}
	return r, l.ctl.expect(r, l.ctl.completes(r) || r.Code == 331 && l.ctl.verb == "USER", err)
}

// identifyOtherwise sends the alternative in place of USER or PASS, which was refused. The reply counts
// as the reply to that command.
func (l *login) identifyOtherwise() (talk.Reply, error) {
	verb, alternative := l.ctl.verb, l.alternative
	l.alternative = ""
	r, err := l.ctl.exchange(alternative)
	if err == nil && r.Code == 331 && verb == "PASS" {
		var pass string
		if pass, err = l.passCommand(r.Text); err == nil {
			r, err = l.ctl.exchange(pass)
		}
	}
	l.ctl.verb = verb
	return r, err
}

// passCommand returns the PASS command for a reply that requests a password.
func (l *login) passCommand(text string) (string, error) {
	password, err := l.password(text)
	if err != nil {
		return "", err
	}
	l.ctl.Hide(password)
	return "PASS " + password, nil
}

// password returns the argument of PASS.
func (l *login) password(text string) (string, error) {
	user := l.access.login
	switch {
	case user == nil:
		return l.access.email, nil // by default anonymous@, not the user's address (RFC 1738 §3.2.1)
	case user.HasPassword:
		return user.Password, nil
	}
	got, err := l.access.env.Login(l.ctx, fetch.Challenge{Locator: l.access.loc, User: user.User, Text: text})
	return got.Password, err
}

// sendAccount sends ACCT. text is that of the reply that requests an account.
func (l *login) sendAccount(text string) (talk.Reply, error) {
	account, err := l.account(text)
	if err != nil {
		return talk.Reply{}, err
	}
	l.ctl.Hide(account)
	return l.ctl.exchange("ACCT " + account)
}

// account returns the argument of ACCT.
func (l *login) account(text string) (string, error) {
	if account := l.access.opt.Account; account != "" {
		return account, nil
	}
	got, err := l.access.env.Login(l.ctx, fetch.Challenge{Locator: l.access.loc, User: l.access.user(), Account: true, Text: text})
	return got.Password, err
}

// withPASS returns the commands that are sent together with PASS, only to measured programs: after
// a wrong password, pyftpdlib replies to these commands first, and to PASS three seconds later.
func (l *login) withPASS() []string {
	var lines []string
	if l.program.has == nil || l.access.opt.Account != "" || l.access.opt.AlternativeToUser != "" {
		return nil // ACCT or the alternative may follow PASS
	}
	evidence := l.probeCommands()
	switch secured := l.access.implicit() || l.access.wantsTLS(); {
	case evidence == nil, secured && l.access.tlsSettings.clear != KeepTLS:
		return nil
	case secured && l.access.tlsSettings.Security == TryTLS && !l.access.implicit():
		return nil // the server may refuse TLS
	case secured:
		lines = []string{"PBSZ 0", "PROT " + l.access.protection()}
	}
	lines = append(lines, evidence...)
	l.typ = l.access.typ // after TYPE
	_, others := together(l.list(commands{l.session}))
	l.typ = 0
	return append(lines, others...)
}

// findHome sends PWD, to find the login directory, which is needed to reuse the session. With TYPE
// in the same packet, it proves that the server handles commands that arrive together.
func (l *login) findHome() error {
	if !l.access.reuses() {
		return nil
	}
	l.program.single = l.program.single || l.ctl.unclear
	lines := l.probeCommands()
	if !l.planned {
		if lines != nil && l.access.utf8 {
			lines = append(lines, "FEAT")
		}
		if err := l.ctl.sendPipelined(lines); err != nil {
			return l.failure(err)
		}
	}
	doubtful := !l.planned && lines != nil
	if doubtful && !l.ctl.awaitReply() {
		return l.failure(l.ctl.failPipelining(talk.Reply{}))
	}
	r, err := l.ctl.exchange("PWD")
	if err != nil {
		return l.failure(err)
	}
	if r.Code == 257 {
		l.entry = certainPath(r.Text)
	}
	if lines == nil {
		return nil
	}
	if doubtful && !l.ctl.awaitReply() {
		return l.failure(l.ctl.failPipelining(r))
	}
	t, err := l.ctl.exchange(lines[1])
	if err != nil {
		return l.failure(err)
	}
	if t.Class() != 2 { // of what was sent after it, nothing is certain
		return l.failure(l.ctl.failPipelining(t))
	}
	l.typ, l.proven = l.access.typ, r.Code == 257
	if len(lines) > 2 {
		_, err = l.features()
	}
	return err
}

// probeCommands returns the harmless commands that every access needs. If the server answers both,
// although they arrive together, the session is proven. So TYPE precedes CWD, unlike in RFC 1738
// §3.2.2. It returns none if that is not tried.
func (l *login) probeCommands() []string {
	a := l.access
	if a.sequential || l.program.single || !a.reuses() || a.typ == 0 || len(a.opt.Quote) > 0 {
		return nil
	}
	return []string{"PWD", "TYPE " + string(a.typ)}
}

// dial connects and logs in, for the commands in list. Until the greeting has come, o.Context applies.
func dial(ctx context.Context, o sessions.Opening, a *access, list func(commands) []command) (*session, error) {
	s := &session{key: a.key, ctx: o.Context, access: a, quitTime: a.quitTime}
	conn, err := a.env.Connect(o.Context, a.target())
	if err != nil {
		return nil, err
	}
	// Through a proxy, the remote address is that of the proxy, which has another port.
	if peer := driver.AddrPort(conn.RemoteAddr()); peer.Port() == a.target().Port {
		s.peer = peer
	}
	s.ctl = newControl(o.Context, conn, a.limits, a.trace)
	s.ctl.knowsIAC = a.exact // doubled, if no other command may be sent to find out
	if err := (&login{s, list, a.opt.AlternativeToUser}).perform(ctx, o); err != nil {
		s.End()
		return nil, err
	}
	return s, nil
}

// startTLS sends AUTH TLS. Replies received before the handshake must not count after it
// (CVE-2021-22947).
func (l *login) startTLS() error {
	r, err := l.ctl.exchange("AUTH TLS")
	agreed := r.Class() == 2 || r.Code == 334 // 334 is sent by servers older than the RFC
	switch {
	case err != nil:
		return l.failure(err)
	case !agreed && l.access.tlsSettings.Security == TryTLS:
		l.ctl.Trace.Note("the server refused AUTH TLS; continuing without encryption")
		return nil
	case !agreed:
		return l.failure(&fetch.Error{Kind: fetch.ErrUnsupported, Code: r.Code, Reply: r.Text, Err: errNoTLS})
	case l.ctl.Waiting():
		return l.failure(l.ctl.Fail(talk.Violation("", "data in the clear between AUTH and TLS")))
	}
	return l.secure()
}

// protect sets the protection of data connections (RFC 4217 §9), and ends TLS on the
// control connection if ClearCommands says so.
func (l *login) protect() error {
	for _, command := range []string{"PBSZ 0", "PROT " + l.access.protection()} {
		r, err := l.ctl.exchange(command)
		switch {
		case err != nil:
			return l.failure(err)
		case r.Class() == 2:
			l.private = command == "PROT P"
		case command == "PROT P" && l.access.tlsSettings.Security == TryTLS && !l.access.implicit():
			l.ctl.Trace.Note("the server refused PROT P; data connections are not encrypted")
		case command == "PROT P":
			return l.failure(&fetch.Error{Kind: fetch.ErrUnsupported, Code: r.Code, Reply: r.Text, Err: errNoTLS})
		}
	}
	return l.clearCommands()
}

// clearCommands sends CCC and ends TLS on the control connection.
func (l *login) clearCommands() error {
	how := l.access.tlsSettings.clear
	if how == KeepTLS {
		return nil
	}
	r, err := l.ctl.exchange("CCC")
	if err != nil {
		return l.failure(err)
	}
	if r.Class() != 2 {
		l.ctl.Trace.Note("the server refused CCC; the control connection stays encrypted")
		return nil
	}
	return l.failure(l.ctl.StopTLS(l.ctx, how == CCCActive, defaultQuitTime))
}
