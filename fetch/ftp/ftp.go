// Package ftp fetches ftp URLs (RFC 1738 §3.2) by the File Transfer Protocol (RFC 959). It also
// uses EPSV and EPRT of RFC 2428, SIZE, MDTM, REST and MLSD of RFC 3659, and TLS as in RFC 4217.
//
// The commands are those of RFC 1738 §3.2.2: USER, PASS if the server requests it, one CWD for each
// component of the path, EPSV or PASV, TYPE, and RETR or NLST. By default PWD, SIZE and LIST are
// sent too; see [Fetcher.Exact].
//
// The scheme ftps, which is not in RFC 1738, is FTP over TLS on port 990.
//
// Most programs do not use this package directly: package fetch1738 has a Fetcher for each scheme.
package ftp

import (
	"context"
	"io"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	sessions "github.com/fetch1738/fetch1738/fetch/internal/session"
)

// A Fetcher fetches ftp and ftps URLs. The zero value is ready to use. Its fields must not be
// changed after first use. It is safe for concurrent use; concurrent accesses use separate control
// connections.
//
// Besides [driver.Fetcher] it implements [driver.AttributeFinder], [driver.Updater] (APPE),
// [driver.Replacer] (STOR), [driver.Editor] and [driver.Explainer]. Close closes the idle sessions.
type Fetcher struct {
	// Env holds how to connect, credentials and limits. If nil, the zero Env is used.
	Env *fetch.Env
	// Exact sends only the commands that RFC 1738 §3.2 names, and the command that opens the data
	// connection just before the transfer. SIZE is not sent, nor PWD, so that sessions are not
	// reused. Directories are listed with NLST instead of LIST, without TYPE before it.
	Exact bool
	// GuessType transfers files whose name looks like that of a text in type A if the
	// URL has no typecode (RFC 1738 §3.2.3). Otherwise the type is I: a wrong A
	// corrupts a file, a wrong I does not.
	GuessType bool
	// DisableEPSV sends PASV without trying EPSV first. Over IPv6, which PASV does not
	// support, it has no effect.
	DisableEPSV bool
	// CheckHost rejects a reply to PASV that names a host other than the server's own address.
	// Otherwise the host in the reply is ignored. In no case is it connected to.
	CheckHost bool
	// Active, if not nil, selects active mode: the server connects to the client for the data.
	Active *Active
	// DisablePipelining sends each command only after the reply to the previous one.
	// Otherwise commands that do not depend on a reply are pipelined if the server has shown
	// that it supports that, except for uploads and with Exact. Nothing is sent during a
	// transfer, unless the greeting shows a server that gains by it.
	DisablePipelining bool
	// Security selects what is encrypted for ftp URLs. For ftps URLs TLS is always required.
	Security Security
	// ClearCommands ends TLS on the control connection after the login (CCC), so that routers can
	// follow the commands. If the server refuses CCC, the connection stays encrypted.
	ClearCommands ClearCommands
	// MaxIdle is the maximum number of idle sessions kept for reuse by the same user
	// of the same server. Zero means 8; a negative number disables reuse.
	MaxIdle int
	// IdleTime is how long an idle session is kept. Zero means one minute.
	IdleTime time.Duration
	// QuitTime is how long to wait for the reply to QUIT when a session ends. Zero means
	// two seconds; a negative time means not to wait.
	QuitTime time.Duration

	pool pool
}

// Info is the type of Resource.Info for ftp and ftps URLs.
type Info struct {
	// Greeting is the text of the server's first reply, without the code.
	Greeting string
	// Welcome is the text of the reply to the login, and Message that of the reply to the last CWD,
	// without the code. Servers send messages for people in both, in several lines. They are empty
	// if the session needed no login or no CWD.
	Welcome, Message string
	// EntryPath is the working directory after the login, from the reply to PWD. It is
	// empty if PWD was not sent or failed.
	EntryPath string
	// Type is the type of the transfer: 'A' or 'I'.
	Type byte
	// Announced is the number of bytes that the first reply to the transfer states, or -1. Some servers
	// state the size of the file there, and others how much of it they will send.
	Announced int64
	// Unwanted reports that the file was not fetched because Options.Wanted returned false.
	Unwanted bool
	// Unread counts the lines of a listing that are not entries in any supported format, and a
	// last line without a line end, which may be truncated. Entries may be missing then. It is
	// complete when the loop over Items has ended, and does not count lines in whose place the
	// entries are listed by NLST. See [UnreadError].
	Unread int
	// Names reports that a listing is by NLST, and that directories may be missing in it, or listed as
	// files: the kind of an entry is not known if it has no size. It is valid when the loop over Items
	// has ended.
	Names bool
	// Asked reports that the server was asked about names of NLST one by one, because lines of LIST are
	// not understood: a symbolic link looks like what it leads to. It is valid when the loop over Items
	// has ended.
	Asked bool
	// Facts reports that a listing is by MLSD, so that sizes are in bytes and times are UTC.
	Facts bool
	// Hides reports that names which begin with a dot may be missing in a listing: it is by LIST or
	// NLST, and has none, not even an entry ".". It is valid when the loop over Items has ended.
	Hides bool

	unread *fetch.Error // see UnreadError
}

// Fetch implements [driver.Fetcher]. A file has the Kind KindDocument. A URL that ends in
// a slash, has no path, or has the typecode d has the Kind KindDirectory, and its entries
// are in Items. Request.Options is nil or an *[Options].
//
// The Body implements io.WriterTo. Where the system supports it, data of type I is copied
// to a regular file without passing through the program.
func (f *Fetcher) Fetch(ctx context.Context, req *fetch.Request) (*fetch.Resource, error) {
	a, err := f.access(ctx, req, fetching)
	if err != nil {
		return nil, err
	}
	return a.fetch(ctx)
}

// FindAttributes implements [driver.AttributeFinder]. It sends SIZE and MDTM, also with
// Exact. For a directory it returns neither size nor time.
func (f *Fetcher) FindAttributes(ctx context.Context, req *fetch.Request) (*fetch.Attributes, error) {
	a, err := f.access(ctx, req, finding)
	if err != nil {
		return nil, err
	}
	var attr *fetch.Attributes
	s, err := a.pool.do(ctx, a, func(s *session) error {
		if attr, err = a.attributes(s); err != nil {
			return err
		}
		return s.run(commands{s}.raw(nil, a.opt.PostQuote))
	})
	if err != nil {
		return nil, err
	}
	a.pool.release(s)
	return attr, nil
}

// Replace implements [driver.Replacer]. It sends STOR, with REST before it if
// Request.Offset is not zero.
func (f *Fetcher) Replace(ctx context.Context, req *fetch.Request, body io.Reader) (*fetch.Attributes, error) {
	return f.store(ctx, req, replacing, body)
}

// Update implements [driver.Updater]. It sends APPE: the server appends body to the file,
// or creates the file if it does not exist.
func (f *Fetcher) Update(ctx context.Context, req *fetch.Request, body io.Reader) (*fetch.Attributes, error) {
	return f.store(ctx, req, updating, body)
}

// store performs an upload. The source is rewound for each attempt.
func (f *Fetcher) store(ctx context.Context, req *fetch.Request, p purpose, body io.Reader) (*fetch.Attributes, error) {
	a, err := f.access(ctx, req, p)
	if err != nil {
		return nil, err
	}
	u, closed := upload{a, newSource(body, a.trace)}, false
	s, err := a.pool.do(ctx, a, func(s *session) error {
		if err := u.src.rewind(); err != nil {
			return a.fail(fetch.OpRead, &fetch.Error{Kind: fetch.ErrLocalIO, Err: err})
		}
		if err := s.run(commands{s}.upload(u)); err != nil {
			return err
		}
		err := u.conclude(s)
		closed = err != nil && isClosed(s.ctl.Err)
		return err
	})
	switch {
	case err == nil:
		a.pool.release(s)
	case !closed || len(a.opt.PostQuote) > 0:
		return nil, err
	default:
		if err := u.concludeAnew(ctx); err != nil {
			return nil, err
		}
	}
	return &fetch.Attributes{Size: u.size()}, nil
}

// Close closes the idle sessions. A session in use is closed at the end of its Body.
func (f *Fetcher) Close() error { return f.pool.Close() }

// terms returns how many sessions are kept, and for how long. An access waits for one within l.
func (f *Fetcher) terms(l fetch.Limits) sessions.Terms {
	if f.Exact || f.MaxIdle < 0 {
		return sessions.Terms{Limit: -1, Limits: l}
	}
	return sessions.Terms{Limit: f.MaxIdle, Age: f.IdleTime, Limits: l}
}
