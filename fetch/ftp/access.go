package ftp

import (
	"cmp"
	"errors"
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
	loc *locator.FTP
	attempt
	login   *locator.Login // nil for the anonymous user
	req     *fetch.Request // from the first byte of Request.Lead on
	lead    int64          // bytes of it that are still to be read
	opt     Options
	key     key
	hidden  bool // LIST is sent with the option -a
	byNames bool // NLST is sent, because LIST is not understood

	dirs []string // arguments of CWD
	verb fetch.Op // of the transfer
	name string   // its argument
	typ  byte     // argument of TYPE; 0 sends none
	utf8 bool     // names that are sent or listed may be in UTF-8, beyond ASCII
}

// An attempt is what one attempt at an access has found out.
type attempt struct {
	denied   error // the refusal of MLSD in whose place LIST is sent
	fellBack bool  // the next attempt does without something that this one has tried
}

// conditions are what the Fetcher and the context say about an access. They do not change.
type conditions struct {
	env         *driver.Env
	limits      fetch.Limits
	email       string
	trace       *fetch.Trace
	memory      *memory
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
		a.becomeListing()
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

// becomeListing makes the access a listing. RFC 1738 §3.2.2 sends no TYPE before NLST; listings
// are sent in type A, which is the default of a session (RFC 959 §5.1).
func (a *access) becomeListing() {
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

// isListing reports whether the transfer is that of a listing.
func (a *access) isListing() bool {
	return a.verb == "LIST" || a.verb == "NLST" || a.verb == "MLSD"
}

// ascii reports whether the data are lines that end in CR LF.
func (a *access) ascii() bool { return a.typ != 'I' }

// implicit reports whether the control connection starts with TLS.
func (a *access) implicit() bool { return a.loc.Secure }

// wantsTLS reports whether AUTH TLS is to be sent.
func (a *access) wantsTLS() bool { return !a.implicit() && a.tlsSettings.Security != NoTLS }

// protection returns the argument of PROT: P (private) or C (clear).
func (a *access) protection() string {
	if a.tlsSettings.Security == RequireControl {
		return "C"
	}
	return "P"
}

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
	if a.isListing() && a.opt.ListCommand != "" {
		return lineOf(a.opt.ListCommand, name)
	}
	if a.hidden && (a.verb == "LIST" || a.verb == "NLST") {
		return lineOf(strings.Replace(listAll, "LIST", string(a.verb), 1), name)
	}
	return lineOf(string(a.verb), name)
}

// lineOf returns a command line. It omits an empty argument. For a null component of
// the path, session.cwd sends "CWD ".
func lineOf(verb, arg string) string {
	if arg == "" {
		return verb
	}
	return verb + " " + arg
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

// fail wraps err for this access. Kind Other becomes ConnectionFailed.
func (a *access) fail(op fetch.Op, err error) *fetch.Error {
	e := driver.Fail(op, a.loc, fetch.ErrOther, err)
	if e.Kind == fetch.ErrOther {
		e.Kind = fetch.ErrConnectionFailed
	}
	return e
}

// listAll is LIST with the option that includes hidden files.
const listAll = "LIST -a"

// asksHidden reports whether the access may send "LIST -a". Then it may send LIST, too, with all
// commands before and after it.
func (a *access) asksHidden() bool {
	raw := len(a.opt.Quote) + len(a.opt.PreTransfer) + len(a.opt.PostQuote)
	return a.opt.Hidden && a.verb == "LIST" && a.opt.ListCommand == "" && raw == 0 && a.req.Length == 0 && !a.memory.hidesFiles.has(a.server())
}

// noteHides remembers that the server takes "-a" for a name.
func (a *access) noteHides() {
	if !a.memory.hidesFiles.add(a.server()) {
		a.trace.Note("the server does not support " + listAll + "; files whose names begin with a dot may be missing")
	}
}

// readsNames reports whether NLST may take the place of a listing that is not understood.
func readsNames(a *access) bool {
	raw := len(a.opt.Quote) + len(a.opt.PreTransfer) + len(a.opt.PostQuote)
	return a.reuses() && raw == 0 && a.opt.ListCommand == "" && !a.opt.ListOnly && a.typecode() != 'd'
}

// listed returns the directory that is listed as arguments of CWD, and the paths that servers write
// before its names: relative to it, as it was requested, and by the working directory after the
// login, which is empty if it is not known. A path within one component is not split.
func (a *access) listed(home string) (dir, paths []string) {
	dir, arg := a.loc.CWD, a.loc.Name
	if a.verb == "NLST" && strings.ContainsAny(arg, "*?[") {
		arg = strings.TrimSuffix(arg[:strings.LastIndexByte(arg, '/')+1], "/") // the directory of a pattern
	}
	if arg != "" {
		dir = append(slices.Clip(dir), arg)
		paths = append(paths, arg+"/", "./"+arg+"/") // see session.trySpellings
	}
	paths = append(paths, "./")
	if slices.ContainsFunc(dir, func(part string) bool { return part == "" || slices.Contains(strings.Split(part, "/"), "..") }) {
		return dir, paths // only the server knows where these lead
	}
	below := ""
	for _, part := range dir {
		if strings.HasPrefix(part, "/") {
			home, below = "", ""
		}
		below += strings.TrimSuffix(part, "/") + "/"
	}
	if below != "" {
		paths = append(paths, below)
	}
	if home != "" {
		paths = append(paths, strings.TrimSuffix(home, "/")+"/"+below)
	}
	return dir, paths
}

// prefersFacts reports whether MLSD, or NLST, may take the place of LIST.
func (a *access) prefersFacts() bool {
	return a.verb == "LIST" && a.opt.Facts && a.opt.ListCommand == ""
}

// preferFacts replaces LIST by MLSD if the server lists facts, or by NLST if its LIST is not understood.
func (a *access) preferFacts(facts bool) {
	switch {
	case facts && !a.memory.noFacts.has(a.server()):
		a.verb = "MLSD"
	case readsNames(a) && a.memory.namesOnly(a.hidden).has(a.server()):
		a.verb, a.byNames = "NLST", true
	}
}

// server returns the server of the access.
func (a *access) server() serverKey { return serverKey{a.key.host, a.key.port} }

// looksFor reports whether the access looks in listings for the names that it sends.
func looksFor(a *access) bool { return isUpload(a.verb) && !a.exact && !a.opt.Unchecked }
