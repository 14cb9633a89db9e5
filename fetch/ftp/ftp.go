// Package ftp fetches ftp URLs (RFC 1738 §3.2) by the File Transfer Protocol
// (RFC 959, with EPSV and EPRT of RFC 2428, SIZE, MDTM, REST of RFC 3659, and
// TLS by RFC 4217).
//
// What goes over the control connection is what RFC 1738 §3.2.2 says and no more
// than is needed besides: USER, PASS when it is asked for, one CWD for each
// component, EPSV or PASV, TYPE, RETR or NLST.
//
// The scheme ftps, which RFC 1738 does not know, is ftp over TLS on port 990.
package ftp

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	sessions "github.com/fetch1738/fetch1738/internal/session"
)

// Fetcher fetches ftp and ftps URLs. The zero value works. Its fields must not be changed
// once it is in use. It is safe for concurrent use; accesses that run at once
// have a control connection each.
//
// Besides [fetch.Fetcher] it is a [fetch.AttributeFinder], a [fetch.Updater]
// (APPE), a [fetch.Replacer] (STOR), a [fetch.Explainer], and an [io.Closer] for
// the sessions that it keeps.
type Fetcher struct {
	// Env is how to connect and whom to ask; nil is the zero Env.
	Env *fetch.Env
	// Exact sends only what RFC 1738 §3.2 names besides the command that opens
	// the data connection, which comes just before the transfer: no SIZE, no PWD and
	// so no reuse of sessions, NLST where others list with LIST, and no TYPE before
	// NLST.
	Exact bool
	// GuessType transfers files whose suffix means text in TYPE A when the URL
	// gives no typecode (RFC 1738 §3.2.3). Otherwise the guess is always I: a
	// wrong A corrupts a file, a wrong I does not.
	GuessType bool
	// DisableEPSV sends PASV at once. PASV knows no IPv6: there EPSV is sent all the
	// same.
	DisableEPSV bool
	// CheckHost refuses a 227 reply that names another host than the server's own
	// address. Without it the host is ignored; it is never connected to.
	CheckHost bool
	// Active, when not nil, has the server connect to us for the data.
	Active *Active
	// DisablePipelining has each command wait for the reply to the one before. Otherwise
	// those that depend on no reply are sent ahead of their turn, except in uploads, with
	// Exact, and for a server that turns out not to cope with it.
	DisablePipelining bool
	// Security says how far ftp URLs are put under TLS; ftps URLs always are.
	Security Security
	// ClearCommands ends the TLS of the control connection after the login (CCC), so
	// that routers on the way can follow it. A server that refuses stays under TLS.
	ClearCommands ClearCommands
	// MaxIdle is how many idle sessions are kept for another access to the same
	// server by the same user; 0 is 8, a negative number keeps none.
	MaxIdle int
	// IdleTime is how long they are kept; 0 is a minute.
	IdleTime time.Duration
	// QuitTime is how long the end of a session waits for the server's answer to QUIT; 0
	// is two seconds. If it is negative, the session ends as soon as QUIT is sent.
	QuitTime time.Duration

	idle   sessions.Keeper[key, *access, *session]
	pasv   servers // whose answers to EPSV were of no use
	outrun servers // which do not cope with commands sent ahead
}

// Info is the Resource.Info of this package.
type Info struct {
	// Greeting is the server's first reply, without the code.
	Greeting string
	// EntryPath is the working directory after the login, as PWD told it; empty
	// when it was not asked or not told.
	EntryPath string
	// Type is the TYPE in which the octets came: 'A' or 'I'.
	Type byte
	// Unwanted tells that Options.Wanted did without the file.
	Unwanted bool
}

// Fetch implements [fetch.Fetcher]. A file is a KindDocument; a URL that ends in
// a slash, has no path, or has the typecode d is a KindDirectory. Request.Options
// is nil or an *[Options]. The Body implements io.WriterTo, and gives a regular
// file the octets of a TYPE I transfer without touching them where the system
// can do that.
func (f *Fetcher) Fetch(ctx context.Context, req *fetch.Request) (*fetch.Resource, error) {
	a, err := f.access(ctx, req, fetching)
	if err != nil {
		return nil, err
	}
	redo := f.beginner(ctx)
	s, b, err := redo(a)
	if err != nil {
		return nil, err
	}
	res := a.resource(s, b)
	if b.nothing {
		f.release(s)
	} else {
		res.Body = newBody(s, a, b, redo, f.release)
	}
	if res.Kind == fetch.KindDirectory {
		res.Items = a.items(ctx, res.Body)
	}
	return res, nil
}

// FindAttributes implements [fetch.AttributeFinder] by SIZE and MDTM, also with
// Exact. What names a directory has no size and no time.
func (f *Fetcher) FindAttributes(ctx context.Context, req *fetch.Request) (*fetch.Attributes, error) {
	a, err := f.access(ctx, req, finding)
	if err != nil {
		return nil, err
	}
	var attr *fetch.Attributes
	s, err := f.do(ctx, a, func(s *session) error {
		if attr, err = a.attributes(s); err != nil {
			return err
		}
		return a.quote(s, a.opt.PostQuote)
	})
	if err != nil {
		return nil, err
	}
	f.release(s)
	return attr, nil
}

// Replace implements [fetch.Replacer] by STOR, with REST before it when there is
// an Offset.
func (f *Fetcher) Replace(ctx context.Context, req *fetch.Request, body io.Reader) (*fetch.Attributes, error) {
	return f.store(ctx, req, replacing, body)
}

// Update implements [fetch.Updater] by APPE: body is appended to the file, which
// is made if it does not exist.
func (f *Fetcher) Update(ctx context.Context, req *fetch.Request, body io.Reader) (*fetch.Attributes, error) {
	return f.store(ctx, req, updating, body)
}

func (f *Fetcher) store(ctx context.Context, req *fetch.Request, p purpose, body io.Reader) (*fetch.Attributes, error) {
	a, err := f.access(ctx, req, p)
	if err != nil {
		return nil, err
	}
	var attr *fetch.Attributes
	s, err := f.do(ctx, a, func(s *session) error {
		attr, err = a.upload(s, body)
		return err
	})
	if err != nil {
		return nil, err
	}
	f.release(s)
	return attr, nil
}

// Close ends the idle sessions; those in use end with their Bodies.
func (f *Fetcher) Close() error { return f.idle.Close() }

// reuses tells whether sessions are kept.
func (f *Fetcher) reuses() bool { return !f.Exact && f.MaxIdle >= 0 }

// terms are how sessions are kept.
func (f *Fetcher) terms() sessions.Terms {
	if !f.reuses() {
		return sessions.Terms{Limit: -1}
	}
	return sessions.Terms{Limit: f.MaxIdle, Age: f.IdleTime}
}

// do lets use have a session, which belongs to the caller if all goes well.
func (f *Fetcher) do(ctx context.Context, a *access, use func(*session) error) (*session, error) {
	open := func() (*session, error) { return f.open(ctx, a) }
	again := func(err error) { a.trace.Retry(fetch.Retry{Attempt: 1, Err: err}) }
	start := func(s *session) error {
		if err := s.lookAhead(); err != nil {
			return err
		}
		return use(s)
	}
	s, err := f.idle.Begin(ctx, a.key, a, f.terms(), open, start, again)
	if a.outran && err != nil && ctx.Err() == nil {
		again(err)
		s, err = f.idle.Begin(ctx, a.key, a, f.terms(), open, start, again)
	}
	return s, err
}

// open makes a session.
func (f *Fetcher) open(ctx context.Context, a *access) (*session, error) {
	s, err := dial(ctx, a)
	if a.login == nil && errors.Is(err, fetch.ErrUnauthenticated) && f.Env != nil && f.Env.Credentials != nil {
		s, err = dialKnown(ctx, a, err)
	}
	if err != nil {
		return nil, err
	}
	if f.reuses() {
		if err := s.remember(); err != nil {
			s.End()
			return nil, err
		}
	}
	return s, nil
}

// dialKnown tries again where the anonymous user is not welcome, if somebody
// knows a name.
func dialKnown(ctx context.Context, a *access, refused error) (*session, error) {
	var e *fetch.Error
	errors.As(refused, &e)
	login, err := a.env.Login(ctx, fetch.Challenge{Locator: a.loc, Text: e.Reply})
	if ctx.Err() != nil {
		return nil, err
	}
	if err != nil || login.User == "" {
		return nil, refused
	}
	for what, given := range map[string]string{"the user name": login.User, "the password": login.Password} {
		if err := checkLine(what, given); err != nil {
			return nil, a.fail(fetch.OpLogin, err)
		}
	}
	login.HasPassword = true
	a.login = &login
	a.trace.Retry(fetch.Retry{Attempt: 1, Err: refused})
	return dial(ctx, a)
}

// release ends an access: its session is kept or closed.
func (f *Fetcher) release(s *session) { f.idle.Release(s.key, s, f.terms()) }
