package ftp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	sessions "github.com/fetch1738/fetch1738/fetch/internal/session"
	"github.com/fetch1738/fetch1738/locator"
)

// An access is a request as FTP commands and their arguments.
type access struct {
	conditions
	loc      *locator.FTP
	login    *locator.Login // nil for the anonymous user
	req      *fetch.Request // from the first byte of Request.Lead on
	lead     int64          // bytes of it that are still to be read
	opt      Options
	key      key
	hidden   bool  // LIST is sent with the option -a
	byNames  bool  // NLST is sent, because LIST is not understood
	denied   error // the refusal of MLSD in whose place LIST is sent
	fellBack bool  // this attempt has found out what the next one does without

	dirs []string // arguments of CWD
	verb fetch.Op // of the transfer
	name string   // its argument
	typ  byte     // argument of TYPE; 0 sends none
	utf8 bool     // names that are sent or listed may be in UTF-8, beyond ASCII
}

// conditions are what the Fetcher and the context say about an access. They do not change.
type conditions struct {
	env         *driver.Env
	limits      fetch.Limits
	email       string
	trace       *fetch.Trace
	pool        *pool
	terms       sessions.Terms // under which its session is kept for reuse
	exact       bool
	noEPSV      bool
	active      *Active
	check227    bool
	tlsSettings tlsSettings
	quitTime    time.Duration
	sequential  bool // nothing is pipelined: each command waits for the previous reply
}

// reuses reports whether sessions are kept for reuse.
func (c *conditions) reuses() bool { return c.terms.Limit >= 0 }

// A key holds what two accesses must have in common to use the same session. The
// policy is asked about the second access before it gets the session (session.Permit).
type key struct {
	host           string
	port           uint16
	implicit       bool // under TLS from the first byte on
	user, password string
	hasUser        bool
	hasPassword    bool
	account        string
	alternative    string
}

// Server implements [sessions.Key].
func (k key) Server() sessions.Server { return sessions.Server{Host: k.host, Port: k.port} }

// A purpose is the operation that an access is for.
type purpose uint8

const (
	fetching purpose = iota
	finding
	replacing
	updating
	editing
)

// access checks a request and returns the access for it. It does not connect.
func (f *Fetcher) access(ctx context.Context, req *fetch.Request, p purpose) (*access, error) {
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
		pool: &f.pool, terms: f.terms(env.Limits), exact: f.Exact, noEPSV: f.DisableEPSV, active: f.Active, check227: f.CheckHost, tlsSettings: f.tlsSettings(),
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
	a.utf8 = !a.exact && (a.listing() && a.opt.Facts || isBeyondASCII(append(slices.Clip(a.dirs), a.name)...))
	a.takeLead()
	a.key = a.makeKey()
	a.hidden = a.asksHidden()
	// updating: after pipelining has failed, the access is repeated, and APPE would append twice.
	a.sequential = p == finding || p == updating || f.Exact || f.DisablePipelining || f.pool.noPipelining.has(a.server())
	return a, nil
}

// fetch performs a download or a listing (see [Fetcher.Fetch]).
func (a *access) fetch(ctx context.Context) (*fetch.Resource, error) {
	restart := restarter(ctx)
	s, b, err := restart(a)
	if err != nil {
		return nil, err
	}
	res := a.resource(s, b)
	if b.nothing {
		a.pool.release(s)
	} else {
		body := newBody(s, a, b, restart)
		if res.Lead, err = body.readLead(); err == nil {
			body, err = proveStart(body, restart)
		}
		if err != nil {
			_ = body.Close()
			return nil, err
		}
		res.Body = body
	}
	if body, ok := res.Body.(*body); ok && a.hidden && a.verb == "LIST" && !a.pool.listsHidden.has(a.server()) {
		if a, res.Body, err = proveHidden(a, body, restart); err != nil {
			return nil, err
		}
	}
	if res.Kind == fetch.KindDirectory {
		res.Items = a.items(ctx, res.Body, res.Info.(*Info))
	}
	return res, nil
}

// check refuses URLs and options that FTP does not support.
func (a *access) check(p purpose) error {
	bad := func(kind fetch.ErrorKind, what string) error {
		return &fetch.Error{Kind: kind, Section: "3.2.2", Err: errors.New(what)}
	}
	switch {
	case a.loc.Host == "":
		return &fetch.Error{Kind: fetch.ErrBadURL, Section: "3.1", Err: errors.New("the URL has no host")}
	case strings.IndexByte("\x00aidAID", a.loc.Type) < 0:
		return bad(fetch.ErrBadURL, `the typecode must be "a", "i" or "d"`)
	case a.opt.Method > NoCWD:
		return bad(fetch.ErrUnsupported, "unknown Options.Method")
	case a.req.Length < 0, a.req.Offset < 0 && p != fetching:
		return bad(fetch.ErrBadRange, "negative offset or length")
	case a.req.Lead < 0, a.req.Lead > max(0, a.req.Offset):
		return bad(fetch.ErrBadRange, "the document has no such bytes before the offset")
	case (p == replacing || p == updating) && (a.loc.Name == "" || a.typecode() == 'd'):
		return bad(fetch.ErrBadURL, "the URL does not name a file")
	case p == editing && a.loc.Name != "":
		return bad(fetch.ErrBadURL, "the URL does not name a directory; end it with a slash")
	}
	if err := a.active.check(); err != nil {
		return err
	}
	return checkLine("the e-mail address", a.email)
}

// typecode returns the typecode in lower case, or 0.
func (a *access) typecode() byte {
	if a.loc.Type == 0 {
		return 0
	}
	return a.loc.Type | 0x20
}

// locate derives the commands from the url-path (RFC 1738 §3.2.2).
func (a *access) locate(guess bool, p purpose) {
	a.dirs, a.name = a.loc.CWD, a.loc.Name
	switch {
	case a.opt.Method == SingleCWD && len(a.dirs) > 0:
		a.dirs = []string{strings.Join(a.dirs, "/")}
	case a.opt.Method == NoCWD && len(a.dirs) > 0 && a.name == "":
		a.name, a.dirs = cmp.Or(strings.Join(a.dirs, "/"), "/"), nil
	case a.opt.Method == NoCWD && len(a.dirs) > 0:
		a.name = strings.Join(append(a.dirs[:len(a.dirs):len(a.dirs)], a.name), "/")
		a.dirs = nil
	}
	switch code := a.typecode(); {
	case code == 'a', code == 0 && guess && isText(a.loc.Name):
		a.typ = 'A'
	default:
		a.typ = 'I'
	}
	switch {
	case p == replacing:
		a.verb = "STOR"
	case p == updating:
		a.verb = "APPE"
	case p == editing:
		a.typ, a.dirs, a.name = 'I', a.loc.CWD, "" // whatever the Method: names are those of the directory
	case p == finding:
		a.typ = 'I'
	case a.typecode() == 'd' || a.loc.Name == "":
		a.list()
	default:
		a.verb = "RETR"
	}
}

// takeLead makes the access start at the first byte of Request.Lead.
func (a *access) takeLead() {
	if a.req.Lead == 0 || a.verb != "RETR" || a.ascii() {
		return
	}
	req := *a.req
	a.lead, req.Lead = req.Lead, 0
	if req.Offset -= a.lead; req.Length > 0 {
		req.Length += a.lead
	}
	a.req = &req
}

// list makes the access a listing. RFC 1738 §3.2.2 sends no TYPE before NLST; listings
// are sent in type A, which is the default of a session (RFC 959 §5.1).
func (a *access) list() {
	a.verb, a.typ = "LIST", 'A'
	if a.opt.ListCommand != "" {
		return
	}
	if a.exact || a.opt.ListOnly || a.typecode() == 'd' {
		a.verb = "NLST"
	}
	if a.exact {
		a.typ = 0
	}
}

// listing reports whether the transfer is that of a listing.
func (a *access) listing() bool {
	return a.verb == "LIST" || a.verb == "NLST" || a.verb == "MLSD"
}

func isUpload(verb fetch.Op) bool { return verb == "STOR" || verb == "APPE" }

// ascii reports whether the data are lines that end in CR LF.
func (a *access) ascii() bool { return a.typ != 'I' }

// user returns the argument of USER.
func (a *access) user() string {
	if a.login == nil {
		return "anonymous"
	}
	return a.login.User
}

// target returns the target of the control connection.
func (a *access) target() fetch.Target {
	server, _ := locator.ServerOf(a.loc)
	return fetch.Target{Locator: a.loc, From: a.req.From, Purpose: fetch.PurposeControl, Network: "tcp", Host: server.Host, Port: server.Port}
}

// makeKey returns the key of the sessions that the access may use.
func (a *access) makeKey() key {
	k := key{host: strings.ToLower(a.loc.Host), port: a.target().Port, implicit: a.implicit(), account: a.opt.Account, alternative: a.opt.AlternativeToUser}
	if login := a.login; login != nil {
		k.hasUser, k.hasPassword = true, login.HasPassword
		k.user, k.password = login.User, login.Password
	}
	return k
}

// after returns the access that only enters the directory of a, in another session: for commands
// after the final reply of a transfer, if the server has closed the connection.
func (a *access) after() *access {
	next := *a
	next.verb, next.opt.More = "", nil
	return &next
}

// transferLine returns the command that starts the transfer, with the name as it is sent.
func (a *access) transferLine(name string) string {
	if a.listing() && a.opt.ListCommand != "" {
		return lineOf(a.opt.ListCommand, name)
	}
	if a.hidden && (a.verb == "LIST" || a.verb == "NLST") {
		return lineOf(strings.Replace(listAll, "LIST", string(a.verb), 1), name)
	}
	return lineOf(string(a.verb), name)
}

// transfer starts the transfer. If the server does not support MLSD it sends LIST, if it does not
// support LIST, NLST, and if it does not support NLST without an argument, NLST of ".".
func (a *access) transfer(s *session, offset int64) error {
	verb := a.verb
	for refused := false; ; {
		err := s.transfers().retrieve(offset)
		if err != nil && !refusal(err) && (refused || a.verb != verb) {
			endedBy(a, verb, refused)
		}
		if a.hidden && a.verb == "LIST" && refusesOption(err) {
			a.hidden, refused = false, true
			continue
		}
		if refused && err == nil {
			a.noteHides()
		}
		if !a.listing() || a.opt.ListCommand != "" || !errors.Is(err, fetch.ErrUnsupported) && !(a.verb == "MLSD" && refusesFacts(err)) {
			return err
		}
		switch {
		case a.verb == "MLSD":
			a.verb = "LIST"
			if refusesFacts(err) {
				a.denied = err
			}
		case a.verb == "LIST":
			a.verb = "NLST"
		case a.name == "" && !a.exact:
			a.name = "."
		default:
			return err
		}
	}
}

// endedBy notes that a server has ended the session after it had refused a listing by verb, or LIST -a if
// hidden. Then the access is tried again without that.
func endedBy(a *access, verb fetch.Op, hidden bool) {
	if a.fellBack = true; verb == "MLSD" {
		a.pool.noFacts.add(a.server())
	}
	if hidden {
		a.noteHides()
	}
}

// refusesFacts reports whether err is a refusal of MLSD after which LIST may succeed: some servers do
// not implement it although FEAT lists it.
func refusesFacts(err error) bool {
	e, ok := errors.AsType[*fetch.Error](err)
	return ok && e.Code == 550 && !noFiles(err)
}

// noFiles reports whether err is the reply of some servers to the listing of an empty directory, such
// as "550 No files found." of the BSD family and "550 No data sets found." of z/OS. CWD has shown that
// the directory exists.
func noFiles(err error) bool {
	e, ok := errors.AsType[*fetch.Error](err)
	return ok && (e.Code == 450 || e.Code == 550) && slices.ContainsFunc([]string{"no files", "no data sets", "no members", "no jobs"},
		func(none string) bool { return strings.HasPrefix(strings.ToLower(e.Reply), none) })
}

// wantsSize reports whether SIZE is sent before the transfer. Without a size, a truncated transfer
// that ends with 226 looks complete. In type A, servers count differently, so SIZE is sent only if
// the offset is relative to the end. A whole file needs no SIZE if the reply to RETR states the
// size. That reply repeats the name, in which a parenthesis could look like a size.
func (a *access) wantsSize(s *session) bool {
	switch {
	case a.verb != "RETR":
		return false
	case a.req.Offset < 0:
		return true
	case a.typ != 'I' || a.exact:
		return false
	}
	whole := a.req.Offset == 0 && a.req.Length == 0
	return !whole || a.limits.Body > 0 || a.opt.EndAtSize || strings.Contains(a.name, "(") || !s.retrStatesSize
}

// seek computes the offset from the start of the file from Request.Offset.
func (a *access) seek(b *download) error {
	b.offset = a.req.Offset
	switch {
	case b.offset == 0:
	case a.listing():
		return &fetch.Error{Kind: fetch.ErrBadRange, Err: errors.New("cannot fetch part of a directory listing")}
	case b.offset < 0 && b.size < 0:
		return &fetch.Error{Kind: fetch.ErrBadRange, Err: errors.New("the server did not send the size; an offset from the end requires it")}
	case b.offset < 0:
		b.offset = max(0, b.size+b.offset)
	case b.size >= 0 && b.offset+a.lead > b.size:
		return &fetch.Error{Kind: fetch.ErrBadRange, Err: fmt.Errorf("offset %d is beyond the end of the file (%d bytes)", b.offset+a.lead, b.size)}
	}
	b.nothing = b.offset > 0 && b.offset+a.lead == b.size
	return nil
}

// refusal reports whether err is a negative reply after which the session continues.
func refusal(err error) bool {
	var e *fetch.Error
	return errors.As(err, &e) && e.Code >= 400 && e.Code != 421
}

// lineOf returns a command line. It omits an empty argument. For a null component of
// the path, session.cwd sends "CWD ".
func lineOf(verb, arg string) string {
	if arg == "" {
		return verb
	}
	return verb + " " + arg
}

// resource returns the Resource of a download that has been started.
func (a *access) resource(s *session, b download) *fetch.Resource {
	res := &fetch.Resource{
		Locator: a.loc, Body: io.NopCloser(strings.NewReader("")), Peer: s.peer, TLS: s.ctl.State(),
		Attributes: fetch.Attributes{Size: b.size, ModTime: b.modTime},
		Info:       &Info{Greeting: s.ctl.greeting, Welcome: s.ctl.welcome, Message: s.ctl.message, EntryPath: s.entry, Type: 'I', Unwanted: b.unwanted, Announced: s.ctl.announced},
	}
	if a.ascii() {
		res.Info.(*Info).Type = 'A'
	}
	switch {
	case a.listing():
		res.Kind, res.Size = fetch.KindDirectory, -1
	case a.ascii():
		res.Size = -1
	}
	return res
}

// isText guesses from its name whether a file is text (RFC 1738 §3.2.3).
func isText(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".txt", ".text", ".me", ".1st", ".asc", ".html", ".htm", ".tex", ".ps", ".c", ".h", ".sh", ".pl", ".csv", ".abstract":
		return true
	}
	switch strings.ToUpper(name) {
	case "README", "INDEX", "COPYING", "LICENSE", "CHANGELOG", "NEWS", "00-INDEX":
		return true
	}
	return false
}
