// Package replay answers from an archive as the servers have answered.
package replay

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/archive"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver"
)

// A Replay answers from an Archive as it was at a time. For each site of the Archive it has a server
// of the original protocol: in memory for a Resolver ([Replay.Schemes]), and on loopback ports for
// other programs ([Replay.Serve]). It is safe for concurrent use. The caller must close it, before
// the Archive.
//
// A server has only what the Archive has. It sends the octets that were recorded, and breaks off a
// document that differs from its digest, or that is incomplete in the Archive.
type Replay struct {
	archive *archive.Archive
	at      time.Time
	sites   map[archive.Site]*site // with hosts in lower case
	order   []*site
	ctx     context.Context // ends with the Replay
	end     context.CancelFunc
	tls     func() *tls.Config

	mu      sync.Mutex
	serving []*testserver.Server // by Serve
}

// New returns a Replay of the captures that [archive.Archive.Find] finds for a time.
func New(a *archive.Archive, at time.Time) (*Replay, error) {
	found, err := a.Sites()
	if err != nil {
		return nil, err
	}
	r := newReplay(a, at, sync.OnceValue(func() *tls.Config { return testserver.NewTLS() }))
	for _, is := range found {
		if p := protocolOf(is.Scheme); p != nil {
			r.add(is, p, nil)
		}
	}
	return r, a.EachSite(func(url string) {
		if s := r.sites[archive.SiteOf(url)]; s != nil {
			s.spell(url)
		}
	})
}

func newReplay(a *archive.Archive, at time.Time, tls func() *tls.Config) *Replay {
	r := &Replay{archive: a, at: at, sites: make(map[archive.Site]*site), tls: tls}
	r.ctx, r.end = context.WithCancel(context.Background())
	return r
}

func (r *Replay) add(is archive.Site, p *protocol, spellings []locator.HostPort) {
	s := &site{Site: is, replay: r, protocol: p, spellings: spellings}
	r.sites[is] = s
	r.order = append(r.order, s)
}

// Time returns the time that the Replay was made for.
func (r *Replay) Time() time.Time { return r.at }

// At returns a Replay of the same archive for another time, with servers of its own. The caller must
// close it.
func (r *Replay) At(at time.Time) *Replay {
	other := newReplay(r.archive, at, r.tls)
	for _, s := range r.order {
		other.add(s.Site, s.protocol, s.spellings)
	}
	return other
}

// spell adds the host and port of a URL to the spellings.
func (s *site) spell(url string) {
	_, authority, _ := strings.Cut(url, "://")
	authority, _, _ = strings.Cut(authority, "/")
	h := locator.HostPort{Host: authority[strings.LastIndexByte(authority, '@')+1:]}
	if i := strings.LastIndexByte(h.Host, ':'); i > strings.LastIndexByte(h.Host, ']') {
		h.Host, h.Port = h.Host[:i], s.Port
	}
	h.Host = strings.Trim(h.Host, "[]")
	if !slices.Contains(s.spellings, h) {
		s.spellings = append(s.spellings, h)
	}
}

// keyOf returns a site in the form of the keys of Replay.sites.
func keyOf(s archive.Site) archive.Site {
	s.Host = strings.ToLower(s.Host)
	return s
}

// A protocol is how the sites of some schemes answer.
type protocol struct {
	schemes []string
	// start starts the server of a site at an address. It passes its testserver.Server to set, which
	// sets where it listens.
	start func(ctx context.Context, s *site, addr string, set func(*testserver.Server)) (*testserver.Server, error)
}

// protocols are the protocols that can be replayed.
var protocols = []protocol{
	{[]string{"ftp", "ftps"}, startFTP},
	{[]string{"gopher", "gophers"}, startGopher},
	{[]string{"http", "https"}, startHTTP},
	{[]string{"nntp", "nntps", "news", "snews"}, startNews},
	{[]string{"wais"}, startWAIS},
	{[]string{"prospero"}, startProspero},
}

// protocolOf returns the protocol of a scheme, or nil.
func protocolOf(scheme string) *protocol {
	for i := range protocols {
		if slices.Contains(protocols[i].schemes, scheme) {
			return &protocols[i]
		}
	}
	return nil
}

// A site is a site with its server.
type site struct {
	archive.Site
	replay   *Replay
	protocol *protocol
	// spellings are the hosts and ports as URLs in the archive have them.
	spellings []locator.HostPort
	// served has the addresses of all servers if they are on loopback ports; nil in memory.
	served func(archive.Site) (addr string, ok bool)

	once    sync.Once
	network testserver.Network
	server  *testserver.Server
	err     error
}

// errNoCapture is what the errors for sites and documents that are not in the archive wrap.
var errNoCapture = fmt.Errorf("the archive has no capture of it: %w", fs.ErrNotExist)

// find returns the capture of the first URL that has one. For each spelling of the host, url returns
// the URL to look for.
func (s *site) find(url func(locator.HostPort) locator.Locator) (*archive.Capture, error) {
	for _, at := range s.spellings {
		c, err := s.replay.archive.Find(url(at).String(), s.replay.at)
		if !errors.Is(err, fs.ErrNotExist) {
			return c, err
		}
	}
	return nil, errNoCapture
}

// open opens the content of a capture. Its last octet is held back until its digest is known to be
// right: then a client cannot take a damaged document for a complete one.
func (s *site) open(c *archive.Capture) (*archive.Document, error) {
	doc, err := s.replay.archive.Open(c)
	if err == nil {
		doc.Body = heldBody{bufio.NewReaderSize(doc.Body, 64<<10), doc.Body}
	}
	return doc, err
}

// heldBody is a body whose last octet is held back.
type heldBody struct {
	r *bufio.Reader
	io.Closer
}

func (b heldBody) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if err == nil && n > 0 {
		_, err = b.r.Peek(1)
	}
	if n > 0 && err != nil && err != io.EOF && fetch.KindOf(err) != fetch.ErrTruncated {
		n-- // a capture that is not complete is sent as far as it goes
	}
	return n, err
}

// Sites returns the sites of which the Replay has servers, sorted.
func (r *Replay) Sites() []archive.Site {
	sites := make([]archive.Site, len(r.order))
	for i, s := range r.order {
		sites[i] = s.Site
	}
	return sites
}

// Close ends all servers.
func (r *Replay) Close() error {
	r.end()
	for _, s := range r.order {
		s.once.Do(func() { s.err = net.ErrClosed })
		if s.server != nil {
			s.server.Wait()
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, server := range r.serving {
		server.Wait()
	}
	return nil
}

// Schemes returns rows for a Resolver: the bundled Fetchers, which connect to the servers in memory.
// They never open a real connection and never look up a name. The schemes of which an archive cannot
// answer, such as file and telnet, are not supported.
func (r *Replay) Schemes() []fetch1738.Scheme {
	rows := fetch1738.Builtin()
	for i := range rows {
		create := rows[i].New
		rows[i].New = func(env *fetch.Env) driver.Fetcher { return create(r.env(env)) }
		if protocolOf(rows[i].Names[0]) == nil {
			rows[i].New = nil
		}
	}
	return rows
}

// Resolver returns a Resolver for the schemes of the Replay. Its policy permits everything, because
// nothing is reached but the servers in memory. The caller must close it, before the Replay.
func (r *Replay) Resolver() *fetch1738.Resolver {
	return &fetch1738.Resolver{
		Schemes: r.Schemes(),
		Env:     fetch.Env{Allow: func(context.Context, fetch.Target) error { return nil }},
	}
}

// newsServer is the name of the server for news URLs, which name none.
const newsServer = "archive"

// env returns the Env for a Fetcher: that of the Resolver, whose connections are in memory.
func (r *Replay) env(own *fetch.Env) *fetch.Env {
	env := *own
	env.Dial, env.NewsServer = r.dial, newsServer
	env.Listen = func(context.Context, string, string) (net.Listener, error) {
		return nil, errors.New("an archive is not read in the active mode of FTP")
	}
	env.TLS = func() (*tls.Config, error) { return &tls.Config{InsecureSkipVerify: true}, nil } // it stays in memory
	return &env
}

// dial is the Dial of the Env.
func (r *Replay) dial(ctx context.Context, network, address string) (net.Conn, error) {
	t, ok := fetch.ContextTarget(ctx)
	if !ok {
		return nil, errors.New("a Replay is dialled outside of an access")
	}
	at := archive.Site{Scheme: t.Locator.Scheme(), Host: t.Host, Port: t.Port}
	switch server, named := locator.ServerOf(t.Locator); {
	case named && t.Purpose == fetch.PurposeData:
		at.Host, at.Port = server.Host, server.Port
	case !named: // a news URL
		at.Host, at.Port = "", 0
	}
	s := r.sites[keyOf(at)]
	if s == nil {
		return nil, &fetch.Error{Kind: fetch.ErrNotFound, Err: fmt.Errorf("the archive has no capture of a server at %s://%s", at.Scheme, address)}
	}
	s.once.Do(s.start)
	if s.err != nil {
		return nil, s.err
	}
	to := s.server.Addr
	if t.Purpose == fetch.PurposeData {
		_, port, _ := net.SplitHostPort(address)
		to = net.JoinHostPort("127.0.0.1", port)
	}
	nc, err := s.network.Dial(ctx, network, to)
	if err != nil {
		return nil, err
	}
	return conn{nc, name{network, address}}, nil
}

// start starts the server in memory.
func (s *site) start() {
	s.server, s.err = s.protocol.start(s.replay.ctx, s, "", func(srv *testserver.Server) {
		srv.Network = &s.network
		if is, _ := locator.SchemeOf(s.Scheme); is.Secure {
			srv.TLS, srv.ImplicitTLS = s.replay.tls(), true
		}
	})
}

// conn is a connection in memory. It has no IP address that a policy could ask about.
type conn struct {
	net.Conn
	to name
}

func (c conn) RemoteAddr() net.Addr { return c.to }

// CloseWrite ends what is written, if the connection can do that.
func (c conn) CloseWrite() error {
	half, ok := c.Conn.(interface{ CloseWrite() error })
	if !ok {
		return errors.ErrUnsupported
	}
	return half.CloseWrite()
}

// name is the address of a server in memory: that of the original.
type name struct{ network, address string }

func (n name) Network() string { return n.network }
func (n name) String() string  { return n.address }

// Served is a site on a loopback port.
type Served struct {
	Site archive.Site
	// URL is the URL of its server, without a slash at the end. Its scheme is the one without TLS,
	// and for news it is nntp.
	URL string
}

// Serve starts a server on a free loopback port for each site, until ctx ends or the Replay is
// closed, for other programs. They use no TLS.
//
// In menus, the items of sites that the archive has lead to their servers on the loopback ports. An
// item of another site becomes a line of information, so that a client does not leave the archive
// unnoticed. Pages of HTTP are unchanged: each server of HTTP is also a proxy for all sites of HTTP
// in the archive, so that a browser with that proxy can follow their links.
//
// If configure is not nil, it is called for each server before that starts.
func (r *Replay) Serve(ctx context.Context, configure func(archive.Site, *testserver.Server)) ([]Served, error) {
	ctx, cancel := context.WithCancel(ctx)
	context.AfterFunc(r.ctx, cancel)
	r.mu.Lock()
	defer r.mu.Unlock()
	addrs := make(map[archive.Site]string)
	var mu sync.RWMutex
	var all []Served
	for _, own := range r.order {
		s := &site{Site: own.Site, replay: r, protocol: own.protocol, spellings: own.spellings}
		s.served = func(of archive.Site) (string, bool) {
			mu.RLock()
			defer mu.RUnlock()
			addr, ok := addrs[keyOf(of)]
			return addr, ok
		}
		server, err := s.protocol.start(ctx, s, "127.0.0.1:0", func(srv *testserver.Server) {
			if configure != nil {
				configure(s.Site, srv)
			}
		})
		if err != nil {
			cancel()
			return nil, err
		}
		mu.Lock()
		addrs[keyOf(s.Site)] = server.Addr
		mu.Unlock()
		r.serving = append(r.serving, server)
		all = append(all, Served{s.Site, server.URL})
	}
	return all, nil
}
