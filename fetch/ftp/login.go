package ftp

import (
	"context"

	"github.com/fetch1738/fetch1738/fetch"
	sessions "github.com/fetch1738/fetch1738/fetch/internal/session"
	"github.com/fetch1738/fetch1738/fetch/internal/talk"
)

// login reads the greeting and sends USER and what the server requests in reply, with the commands for
// TLS before and after.
func (s *session) login(ctx context.Context, o sessions.Opening) (err error) {
	if s.access.implicit() {
		if err := s.secure(); err != nil {
			return err
		}
	}
	greeting, err := s.greet()
	if err != nil {
		return err
	}
	s.ctx = ctx
	s.ctl.Resume(ctx, s.access.limits, s.access.trace)
	o.Greeted()
	loggedIn := greeting.Code == 230
	s.program = programOf(greeting.Text)
	s.program.single = s.program.single || loggedIn // such servers are rare, and may handle one command of a packet
	ahead := s.withPASS()
	s.planned = ahead != nil
	if s.access.wantsTLS() {
		loggedIn = false // a login in the clear does not count under TLS
		if err := s.startTLS(); err != nil {
			return err
		}
	}
	if login := s.access.login; login != nil { // nothing may be sent between USER and PASS
		if err := s.ctl.learnIAC(login.User, login.Password); err != nil {
			return s.failure(err)
		}
	}
	if !loggedIn {
		if ahead, err = s.authenticate(ahead); err != nil {
			return s.failure(err)
		}
	}
	s.ctl.phase = commanding
	if err := s.failure(s.ctl.sendPipelined(ahead)); err != nil { // if PASS was not sent
		return err
	}
	if s.config != nil {
		return s.protect()
	}
	return nil
}

// greet reads the greeting, 220 or 230, before which 120 may come.
func (s *session) greet() (talk.Reply, error) {
	r, err := s.ctl.receiveFinal()
	if err := s.check(r, r.Code == 220 || r.Code == 230, err); err != nil {
		return r, err
	}
	if s.ctl.greeting = r.Text; r.Code == 230 {
		s.ctl.welcome = r.Text
	}
	return r, nil
}

// authenticate sends USER and, if the server requests it, PASS. The commands in ahead are sent together
// with PASS; those that are left are returned.
func (s *session) authenticate(ahead []string) (left []string, err error) {
	alternative := s.access.opt.AlternativeToUser
	r, err := s.identify("USER "+s.access.user(), &alternative)
	if err == nil && r.Code == 331 {
		var pass string
		if pass, err = s.passCommand(r.Text); err != nil {
			return nil, err
		}
		r, err = s.identify(pass, &alternative, ahead...)
		ahead = nil
	}
	if err == nil && r.Code == 230 {
		s.ctl.welcome = r.Text
	}
	return ahead, err
}

// identify sends USER or PASS and what the server requires in its place or after it. It returns a
// positive reply, or 331 to USER.
func (s *session) identify(line string, alternative *string, ahead ...string) (talk.Reply, error) {
	r, err := s.ctl.ask(line, ahead...)
	if err == nil && r.Class() >= 4 && *alternative != "" {
		r, err = s.identifyOtherwise(*alternative)
		*alternative = ""
	}
	if err == nil && r.Code == 332 {
		r, err = s.sendAccount(r.Text)
	}
	return r, s.ctl.expect(r, completes(r) || r.Code == 331 && s.ctl.verb == "USER", err)
}

// identifyOtherwise sends Options.AlternativeToUser in place of USER or PASS, which was refused. The
// reply counts as the reply to that command.
func (s *session) identifyOtherwise(alternative string) (talk.Reply, error) {
	verb := s.ctl.verb
	r, err := s.ctl.exchange(alternative)
	if err == nil && r.Code == 331 && verb == "PASS" {
		var pass string
		if pass, err = s.passCommand(r.Text); err == nil {
			r, err = s.ctl.exchange(pass)
		}
	}
	s.ctl.verb = verb
	return r, err
}

// passCommand returns the PASS command for a reply that requests a password.
func (s *session) passCommand(text string) (string, error) {
	password, err := s.password(text)
	if err != nil {
		return "", err
	}
	s.ctl.Hide(password)
	return "PASS " + password, nil
}

// password returns the argument of PASS.
func (s *session) password(text string) (string, error) {
	login := s.access.login
	switch {
	case login == nil:
		return s.access.email, nil // by default anonymous@, not the user's address (RFC 1738 §3.2.1)
	case login.HasPassword:
		return login.Password, nil
	}
	got, err := s.access.env.Login(s.ctx, fetch.Challenge{Locator: s.access.loc, User: login.User, Text: text})
	return got.Password, err
}

// sendAccount sends ACCT. text is that of the reply that requests an account.
func (s *session) sendAccount(text string) (talk.Reply, error) {
	account, err := s.account(text)
	if err != nil {
		return talk.Reply{}, err
	}
	s.ctl.Hide(account)
	return s.ctl.exchange("ACCT " + account)
}

// account returns the argument of ACCT.
func (s *session) account(text string) (string, error) {
	if account := s.access.opt.Account; account != "" {
		return account, nil
	}
	got, err := s.access.env.Login(s.ctx, fetch.Challenge{Locator: s.access.loc, User: s.access.user(), Account: true, Text: text})
	return got.Password, err
}
