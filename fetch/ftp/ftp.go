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
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	sessions "github.com/fetch1738/fetch1738/fetch/internal/session"
	"github.com/fetch1738/fetch1738/locator"
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

	pool   pool
	memory memory
}

// Fetch implements [driver.Fetcher]. A file has the Kind KindDocument. A URL that ends in
// a slash, has no path, or has the typecode d has the Kind KindDirectory, and its entries
// are in Items. Request.Options is nil or an *[Options].
//
// The Body implements io.WriterTo. Where the system supports it, data of type I is copied
// to a regular file without passing through the program.
func (f *Fetcher) Fetch(ctx context.Context, req *fetch.Request) (*fetch.Resource, error) {
	a, err := f.newAccess(ctx, req, fetching)
	if err != nil {
		return nil, err
	}
	return f.newRunner(ctx).resource(a)
}

// FindAttributes implements [driver.AttributeFinder]. It sends SIZE and MDTM, also with
// Exact. For a directory it returns neither size nor time, unless Options.Facts is set.
func (f *Fetcher) FindAttributes(ctx context.Context, req *fetch.Request) (*fetch.Attributes, error) {
	a, err := f.newAccess(ctx, req, finding)
	if err != nil {
		return nil, err
	}
	var attr *fetch.Attributes
	runner := f.newRunner(ctx)
	s, err := runner.do(a, commands.enter, func(s *session) error {
		if attr, err = a.attributes(s); err != nil {
			return err
		}
		return s.run(commands{s}.quoted(nil, a.opt.PostQuote))
	})
	if err != nil {
		return nil, err
	}
	runner.release(s)
	return attr, nil
}

// Replace implements [driver.Replacer]. It sends STOR, with REST before it if
// Request.Offset is not zero.
func (f *Fetcher) Replace(ctx context.Context, req *fetch.Request, body io.Reader) (*fetch.Attributes, error) {
	return f.upload(ctx, req, replacing, body)
}

// Update implements [driver.Updater]. It sends APPE: the server appends body to the file,
// or creates the file if it does not exist.
func (f *Fetcher) Update(ctx context.Context, req *fetch.Request, body io.Reader) (*fetch.Attributes, error) {
	return f.upload(ctx, req, updating, body)
}

// upload performs an upload.
func (f *Fetcher) upload(ctx context.Context, req *fetch.Request, p purpose, body io.Reader) (*fetch.Attributes, error) {
	a, err := f.newAccess(ctx, req, p)
	if err != nil {
		return nil, err
	}
	return f.newRunner(ctx).upload(upload{a, newSource(body, a.trace)})
}

// Edit implements [driver.Editor]: SIZE, RNFR and RNTO, DELE, MKD, RMD, MFMT or what the server has
// in its place, SITE CHMOD, SITE SYMLINK, and HASH, XSHA256, XSHA1 or XMD5. The URL is that of the
// directory. If the server supports pipelining, up to 64 commands are sent at once.
func (f *Fetcher) Edit(ctx context.Context, req *fetch.Request, edits []fetch.Edit) error {
	a, err := f.newAccess(ctx, req, editing)
	if err != nil {
		return err
	}
	return f.newRunner(ctx).edit(a, edits)
}

// Explain implements [driver.Explainer]. It returns the commands that Fetch would send,
// without a connection.
func (f *Fetcher) Explain(req *fetch.Request) (*fetch.Explanation, error) {
	a, err := f.newAccess(context.Background(), req, fetching)
	if err != nil {
		return nil, err
	}
	return explanation(a)
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

// newRunner returns what performs the accesses under ctx.
func (f *Fetcher) newRunner(ctx context.Context) runner { return runner{ctx, &f.pool} }

// newAccess checks a request and returns the access for it. It does not connect.
func (f *Fetcher) newAccess(ctx context.Context, req *fetch.Request, p purpose) (*access, error) {
	loc, ok := req.Locator.(*locator.FTP)
	if !ok || loc == nil {
		return nil, driver.Fail(fetch.OpCheck, req.Locator, fetch.ErrUnsupported, fmt.Errorf("not an ftp URL but a %T", req.Locator))
	}
	if err := driver.CheckOctets(loc); err != nil {
		return nil, err
	}
	env := driver.NewEnv(f.Env)
	a := &access{loc: loc, login: loc.Login, req: req, conditions: conditions{
		env: env, limits: env.Limits, email: env.Email, trace: driver.ContextTrace(ctx),
		memory: &f.memory, terms: f.terms(env.Limits), exact: f.Exact, noEPSV: f.DisableEPSV, active: f.Active, check227: f.CheckHost, tlsSettings: tlsSettings{f.Security, f.ClearCommands},
		quitTime: cmp.Or(f.QuitTime, defaultQuitTime),
	}}
	var err error
	if a.opt, err = options(req); err != nil {
		return nil, a.fail(fetch.OpCheck, err)
	}
	if err := a.check(p); err != nil {
		return nil, a.fail(fetch.OpCheck, err)
	}
	a.locate(f.GuessType, p)
	a.utf8 = !a.exact && (a.isListing() && a.opt.Facts || isBeyondASCII(append(slices.Clip(a.dirs), a.name)...))
	a.takeLead()
	a.key = a.makeKey()
	a.hidden = a.asksHidden()
	// updating: after pipelining has failed, the access is repeated, and APPE would append twice.
	a.sequential = p == finding || p == updating || f.Exact || f.DisablePipelining || f.memory.noPipelining.has(a.server())
	return a, nil
}

// resource performs a download or a listing (see [Fetcher.Fetch]).
func (r runner) resource(a *access) (*fetch.Resource, error) {
	s, b, err := r.startDownload(a)
	if err != nil {
		return nil, err
	}
	res := a.newResource(s, b)
	if b.nothing {
		r.release(s)
	} else {
		body := newBody(r, s, a, b)
		if res.Lead, err = body.readLead(); err == nil {
			body, err = proveStart(body)
		}
		if err != nil {
			_ = body.Close()
			return nil, err
		}
		res.Body = body
	}
	if body, ok := res.Body.(*body); ok && a.hidden && a.verb == "LIST" && !a.memory.listsHidden.has(a.server()) {
		if a, res.Body, err = proveHidden(a, body); err != nil {
			return nil, err
		}
	}
	if res.Kind == fetch.KindDirectory {
		res.Items = r.items(a, res.Body, res.Info.(*Info))
	}
	return res, nil
}

// newResource returns the Resource of a download that has been started.
func (a *access) newResource(s *session, b download) *fetch.Resource {
	res := &fetch.Resource{
		Locator: a.loc, Body: io.NopCloser(strings.NewReader("")), Peer: s.peer, TLS: s.ctl.State(),
		Attributes: fetch.Attributes{Size: b.size, ModTime: b.modTime},
		Info:       &Info{Greeting: s.ctl.greeting, Welcome: s.ctl.welcome, Message: s.ctl.message, EntryPath: s.entry, Type: 'I', Unwanted: b.unwanted, Announced: s.ctl.announced},
	}
	if a.ascii() {
		res.Info.(*Info).Type = 'A'
	}
	switch {
	case a.isListing():
		res.Kind, res.Size = fetch.KindDirectory, -1
	case a.ascii():
		res.Size = -1
	}
	return res
}
