package nntp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	sessions "github.com/fetch1738/fetch1738/fetch/internal/session"
	"github.com/fetch1738/fetch1738/locator"
)

// ErrNoServer is wrapped by the error of a news URL that names no server, if Env.NewsServer is empty.
var ErrNoServer = errors.New("a news URL names no server, and no news server is set (Env.NewsServer)")

var (
	errPart    = errors.New("news articles have no ranges; request the whole article")
	errNotNews = errors.New("not a news or nntp URL")
	errBadID   = errors.New(`a message-id must contain "@" and have at most 250 bytes`)
	errNumber  = errors.New("an article number must have only digits, at most 16")
	errLong    = errors.New("the command would be longer than 512 bytes")
	errNoGroup = errors.New("the URL names no newsgroup")
)

// Limits of RFC 3977 §3.1, §3.6 and §6.
const (
	maxCommand = 512
	maxID      = 250
	maxDigits  = 16
)

// access is one request, checked and resolved to a server.
type access struct {
	env    *driver.Env
	limits fetch.Limits
	trace  *fetch.Trace
	req    *fetch.Request
	loc    locator.Locator // as requested
	from   fetch.Provenance
	key    key

	// The requested resource: all groups, a group, an article of a group, or an article by its
	// message-id.
	all      bool
	group    string
	article  string
	id       string
	articles []span // of the group; nil unless requested
	newest   int64  // article numbers of the group to list; zero means all
	skip     int64  // of the highest numbers, before those
	within   *span  // the only numbers to list; nil means all
	matches  []Match
	// overviewOnly is Options.OverviewOnly.
	overviewOnly bool

	login *locator.Login // Options.Login, or the result of Env.Credentials; nil before it is called
}

// key identifies a server, its kind of encryption and Options.Login. Accesses with equal keys can
// share a session.
type key struct {
	host   string
	port   uint16
	secure security
	login  locator.Login // the zero value if Options.Login is nil
}

// Server implements [sessions.Key].
func (k key) Server() sessions.Server { return sessions.Server{Host: k.host, Port: k.port} }

// security says when TLS begins.
type security uint8

const (
	plain    security = iota
	implicit          // with the connection
	explicit          // by STARTTLS
	tried             // by STARTTLS, or without TLS if the server refuses
)

// access checks a request and returns an access for it. It does not connect.
func (f *Fetcher) access(ctx context.Context, req *fetch.Request) (*access, error) {
	env := driver.NewEnv(f.Env)
	a := &access{
		env: env, limits: env.Limits, trace: driver.ContextTrace(ctx),
		req: req, loc: req.Locator, from: req.From,
	}
	if _, named := locator.ServerOf(req.Locator); !named {
		// The server is that of the configuration, which the policy permits. Who leads to it counts
		// too: a web server must not.
		if err := env.Permit(ctx, fetch.Target{Locator: req.Locator, From: req.From}); err != nil {
			return nil, err
		}
	}
	for _, step := range []func() error{
		func() error { return a.locate(req.Locator, env.NewsServer) },
		a.check,
		a.options,
	} {
		if err := step(); err != nil {
			return nil, a.fail(fetch.OpCheck, err)
		}
	}
	a.key.host = strings.ToLower(a.key.host)
	return a, nil
}

// locate sets the requested resource and the server from a Locator.
func (a *access) locate(l locator.Locator, newsServer string) error {
	secure := false
	switch l := l.(type) {
	case *locator.NNTP:
		a.group, a.article, secure = l.Group, l.Article, l.Secure
	case *locator.News:
		a.all, a.group, a.id, secure = l.All, l.Group, l.MessageID, l.Secure
	default:
		return &fetch.Error{Kind: fetch.ErrUnsupported, Err: errNotNews}
	}
	if secure {
		a.key.secure = implicit
	}
	if err := driver.CheckOctets(l); err != nil {
		return err
	}
	server, named := locator.ServerOf(l)
	if a.key.host, a.key.port = server.Host, server.Port; named {
		return nil
	}
	a.key.port = locator.DefaultPort(l.Scheme())
	return a.setServer(newsServer)
}

// setServer sets the server from the configuration. The provenance is then OriginConfig, no matter
// where the URL comes from.
func (a *access) setServer(server string) error {
	server = strings.TrimSpace(server)
	if server == "" {
		return &fetch.Error{Kind: fetch.ErrUnsupported, Section: "3.6", Err: ErrNoServer}
	}
	a.from = fetch.Provenance{Kind: fetch.OriginConfig}
	a.key.host = server
	if host, port, err := net.SplitHostPort(server); err == nil {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return &fetch.Error{Kind: fetch.ErrBadURL, Err: fmt.Errorf("invalid port in news server %q: use a number between 1 and 65535", server)}
		}
		a.key.host, a.key.port = host, uint16(n)
	}
	a.key.host = strings.TrimSuffix(strings.TrimPrefix(a.key.host, "["), "]")
	return driver.CheckOctets(&locator.NNTP{HostPort: locator.HostPort{Host: a.key.host}})
}

// check rejects values that no command can carry.
func (a *access) check() error {
	bad := func(section string, err error) error {
		return &fetch.Error{Kind: fetch.ErrBadURL, Section: section, Err: err}
	}
	switch {
	case a.key.host == "":
		return bad("3.1", errors.New("no host"))
	case a.id != "" && (len(a.id) > maxID-2 || !strings.Contains(a.id, "@")):
		return bad("3.6", errBadID)
	case len(a.article) > maxDigits || strings.Trim(a.article, "0123456789") != "":
		return bad("3.7", errNumber)
	case tooLong(a.group):
		return bad("3.6", errLong)
	case !a.all && a.group == "" && a.id == "":
		return bad("3.6", errNoGroup)
	}
	return nil
}

// tooLong reports whether the name of a group is too long for a command.
func tooLong(group string) bool { return len("LISTGROUP "+group+"\r\n") > maxCommand }

// options reads req.Options.
func (a *access) options() error {
	o, err := driver.OptionsOf[Options](a.req)
	switch {
	case err != nil:
		return err
	case a.key.secure != plain:
	case o.StartTLS:
		a.key.secure = explicit
	case o.TryTLS:
		a.key.secure = tried
	}
	if o.Login != nil {
		a.login, a.key.login = o.Login, *o.Login
	}
	a.overviewOnly = o.OverviewOnly
	if a.newest, a.skip = o.Newest, o.Skip; a.newest < 0 || a.skip < 0 {
		return &fetch.Error{Kind: fetch.ErrBadRange, Err: errors.New("a number of newest articles is negative")}
	}
	if err := a.setMatches(o.Match); err != nil || o.Articles == "" {
		return err
	}
	if a.group == "" || a.article != "" {
		return &fetch.Error{Kind: fetch.ErrBadURL, Err: errors.New("a range of articles requires a URL that names a newsgroup")}
	}
	if a.articles, err = parseSpans(o.Articles); err == nil && o.List {
		if a.within = &a.articles[0]; len(a.articles) > 1 {
			err = errors.New("articles are listed in one range, such as 1-500")
		}
		a.articles = nil
	}
	if err == nil && a.matches != nil && a.articles != nil {
		err = errors.New("articles that match are listed, not fetched")
	}
	if err != nil {
		return &fetch.Error{Kind: fetch.ErrBadRange, Err: err}
	}
	return nil
}

// setMatches checks and sets Options.Match.
func (a *access) setMatches(matches []Match) error {
	for _, m := range matches {
		if err := m.check(); err != nil {
			return &fetch.Error{Kind: fetch.ErrBadURL, Err: err}
		}
	}
	if len(matches) > 0 && (a.group == "" || a.article != "") {
		return &fetch.Error{Kind: fetch.ErrBadURL, Err: errors.New("a match requires a URL that names a newsgroup")}
	}
	a.matches = matches
	return nil
}

// target returns the server to connect to, for the policy.
func (a *access) target() fetch.Target {
	return fetch.Target{Locator: a.loc, From: a.from, Purpose: fetch.PurposeControl, Network: "tcp", Host: a.key.host, Port: a.key.port}
}

// credentials returns Options.Login, or the login from Env.Credentials, which may prompt the user.
// It calls Env.Credentials only once, although an access may use a second session. text is the text
// of the server's reply that requires the login.
func (a *access) credentials(ctx context.Context, text string) (locator.Login, error) {
	if a.login != nil {
		return *a.login, nil
	}
	login, err := a.env.Login(ctx, fetch.Challenge{Locator: a.loc, Text: text})
	if err == nil {
		a.login = &login
	}
	return login, err
}

// articleLocator returns the Locator of an article of the current group, in the scheme of the
// request.
func (a *access) articleLocator(number, id string) locator.Locator {
	at := &locator.NNTP{HostPort: locator.HostPort{Host: a.key.host, Port: a.key.port}, Group: a.group, Article: number, Secure: a.key.secure == implicit}
	switch l := a.loc.(type) {
	case *locator.NNTP:
		at.HostPort = l.HostPort
	case *locator.News:
		named := *l
		named.Group, named.MessageID = "", unbracket(id)
		ref, err := locator.Parser{}.Parse(named.String())
		if err == nil && locator.Equal(ref.Locator, &named) && len(id) <= maxID && driver.CheckOctets(ref.Locator) == nil {
			return ref.Locator
		}
	}
	return at
}

// groupLocator returns the Locator of a group of the current server, or nil if no command can carry
// the name.
func (a *access) groupLocator(name string) locator.Locator {
	l := locator.News{Group: name}
	if all, ok := a.loc.(*locator.News); ok {
		l.HostPort, l.Secure = all.HostPort, all.Secure
	}
	if driver.CheckOctets(&l) != nil || name == "" || tooLong(name) {
		return nil
	}
	return &l
}

func unbracket(id string) string { return strings.TrimSuffix(strings.TrimPrefix(id, "<"), ">") }
