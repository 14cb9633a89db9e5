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

// access is one request, checked and resolved to a server.
type access struct {
	f     *Fetcher
	env   *driver.Env
	trace *fetch.Trace
	req   *fetch.Request
	from  fetch.Provenance
	key   key
	wanted

	opt      Options // Login is set to the result of Env.Credentials when that is first needed
	articles []span  // to fetch, of the group; nil if it is listed
	within   *span   // the only numbers to list; nil means all
}

// wanted is the resource that a URL names: all groups, a group, an article of a group, or an article
// by its message-id.
type wanted struct {
	all     bool
	group   string
	article string
	id      string
}

func (w wanted) isGroup() bool { return w.group != "" && w.article == "" && w.id == "" }

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
	a := &access{f: f, env: env, trace: driver.ContextTrace(ctx), req: req, from: req.From}
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
		a.setOptions,
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
		a.all, a.group, a.article, secure = l.Group == "" && l.Article == "", l.Group, l.Article, l.Secure
	case *locator.News:
		a.all, a.group, a.id, secure = l.All, l.Group, l.MessageID, l.Secure
	default:
		return &fetch.Error{Kind: fetch.ErrUnsupported, Err: errors.New("not a news or nntp URL")}
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

// ErrNoServer is wrapped by the error of a news URL that names no server, if Env.NewsServer is empty.
var ErrNoServer = errors.New("a news URL names no server, and no news server is set (Env.NewsServer)")

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

// Limits of RFC 3977 §3.1, §3.6 and §6.
const (
	maxCommand = 512
	maxID      = 250
	maxDigits  = 16
)

var errLong = errors.New("the command would be longer than 512 bytes")

// check rejects values that no command can carry.
func (a *access) check() error {
	bad := func(section string, err error) error {
		return &fetch.Error{Kind: fetch.ErrBadURL, Section: section, Err: err}
	}
	switch {
	case a.key.host == "":
		return bad("3.1", errors.New("no host"))
	case a.id != "" && (len(a.id) > maxID-2 || !strings.Contains(a.id, "@")):
		return bad("3.6", errors.New(`a message-id must contain "@" and have at most 250 bytes`))
	case len(a.article) > maxDigits || strings.Trim(a.article, "0123456789") != "":
		return bad("3.7", errors.New("an article number must have only digits, at most 16"))
	case tooLong(a.group):
		return bad("3.6", errLong)
	case !a.all && a.group == "" && a.id == "":
		return bad("3.6", errors.New("the URL names no newsgroup"))
	}
	return nil
}

// tooLong reports whether the name of a group is too long for a command.
func tooLong(group string) bool { return len("LISTGROUP "+group+"\r\n") > maxCommand }

// target returns the server to connect to, for the policy.
func (a *access) target() fetch.Target {
	return fetch.Target{Locator: a.req.Locator, From: a.from, Purpose: fetch.PurposeControl, Network: "tcp", Host: a.key.host, Port: a.key.port}
}
