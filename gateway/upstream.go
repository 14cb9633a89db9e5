package gateway

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/nntp"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/locator"
)

// An upstream performs the accesses to servers for one request of a client, by the Resolver.
type upstream struct {
	resolver *fetch1738.Resolver
	ctx      context.Context // of the request, with the rules of the gateway; it records what is sent
	login    *locator.Login  // of the client; nil without one
	realm    string          // the server that the login is for
	words    string          // to search for
	sent     *conversation
}

// newUpstream returns the upstream of a request. What it sends is added to sent.
func newUpstream(q *request, sent *conversation) *upstream {
	ctx := fetch.WithTrace(fetch.WithAllow(q.r.Context(), q.allow), &fetch.Trace{Sent: sent.add})
	return &upstream{resolver: q.resolver, ctx: ctx, login: q.user, realm: place.Realm(q.loc), words: q.query.Get("q"), sent: sent}
}

// bare is a fetch.Request without the login and the search words of the client. Its URL comes from
// the configuration as far as the policy is concerned: the operator's options count, but a form is
// never sent without the user's click.
func (u *upstream) bare(l locator.Locator) *fetch.Request {
	return &fetch.Request{Locator: l, From: fetch.Provenance{Kind: fetch.OriginConfig}, Stream: true}
}

// request is a fetch.Request with the login and the search words of the client. The login is for its
// own server only.
func (u *upstream) request(l locator.Locator) *fetch.Request {
	req := u.bare(l)
	req.Query = u.words
	if u.login == nil || place.Realm(l) != u.realm {
		return req
	}
	switch l.(type) {
	case *locator.News, *locator.NNTP:
		req.Options = &nntp.Options{Login: u.login}
	default:
		req.Locator, _ = locator.WithLogin(l, u.login)
	}
	return req
}

// news is a request with options for news.
func (u *upstream) news(l locator.Locator, options nntp.Options) *fetch.Request {
	req := u.request(l)
	if with, ok := req.Options.(*nntp.Options); ok {
		options.Login = with.Login
	}
	req.Options = &options
	return req
}

func (u *upstream) fetch(req *fetch.Request) (*fetch.Resource, error) {
	return u.resolver.Fetch(u.ctx, req)
}

func (u *upstream) attributes(req *fetch.Request) (*fetch.Attributes, error) {
	return u.resolver.FindAttributes(u.ctx, req)
}

// maxConversation is how much of a conversation is recorded.
const maxConversation = 2 << 10

// A conversation is the beginning of what has been sent to servers, for the page of an error.
type conversation struct {
	mu     sync.Mutex
	octets []byte
}

// add adds what is sent to a server. It may be called concurrently.
func (c *conversation) add(octets []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.octets = append(c.octets, octets[:min(len(octets), maxConversation-len(c.octets))]...)
}

// text is what was sent to servers.
func (c *conversation) text() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return bytes.Clone(c.octets)
}

// allow is the part of the policy that no Resolver can relax: the gateway fetches nothing from
// itself, and it sends a form only if the user has clicked on its button. It judges every
// connection, also one to a proxy.
func (q *request) allow(_ context.Context, t fetch.Target) error {
	if q.r.Method != http.MethodPost && place.Filled(t.Locator) {
		return errors.New("denied (rule state-changing-link): a filled Gopher+ form")
	}
	itself := errors.New("denied (rule own-listener): the gateway does not fetch from itself")
	name := net.JoinHostPort(strings.TrimSuffix(t.Host, "."), strconv.Itoa(int(t.Port)))
	if slices.ContainsFunc(q.h.Hosts, func(own string) bool { return strings.EqualFold(own, name) }) {
		return itself
	}
	local, addr := localAddr(q.r), t.Addr.Addr()
	if known := driver.KnownAddrs(t.Host); !addr.IsValid() && known != nil {
		addr = known[0]
	}
	if !addr.IsValid() || t.Port != local.Port() || t.Network == "udp" {
		return nil
	}
	// The listener may have every address of this computer, of which local is but one.
	addr = addr.Unmap().WithZone("")
	if addr == local.Addr() || addr.IsLoopback() || addr.IsUnspecified() {
		return itself
	}
	addrs, err := net.InterfaceAddrs()
	if err != nil || slices.ContainsFunc(addrs, func(a net.Addr) bool {
		p, err := netip.ParsePrefix(a.String())
		return err == nil && p.Addr().Unmap() == addr
	}) {
		return itself
	}
	return nil
}
