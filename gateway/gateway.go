// Package gateway shows ftp, gopher, news, wais and prospero URLs as web pages, for browsers and
// other programs that know only HTTP.
//
// A [Handler] maps each URL to a path of its own: ftp://ftp.example.org/pub/ is at
// /ftp/ftp.example.org/pub/. Directories, menus, newsgroups and searches are pages that need no
// JavaScript. A program that does not accept text/html gets the bytes of a document, as it does
// with the query "?raw".
//
//	http.ListenAndServe("127.0.0.1:8738", &gateway.Handler{})
//
// The pages work without scripts. The only one that a browser runs is a constant of this package, and
// what a server sends is never given to a browser as a page of the gateway's own origin.
package gateway

import (
	"net/netip"
	"sync"
	"time"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/gateway/internal/groups"
)

// Handler is an [http.Handler] that fetches URLs and shows them as pages. It only reads: it never
// stores, posts or deletes, except that it sends a Gopher+ form that the user has filled in.
//
// The zero value accepts clients and names of the local host only, and fetches from public
// addresses only ([policy.Public]). The fields must not be changed after the first request. It is
// safe for concurrent use.
type Handler struct {
	// Resolver performs the accesses. If nil, the Handler uses one of its own with [policy.Public],
	// the limits of [Limits], 64 transfers at once and 8 with one host. A Resolver for a Handler
	// needs an Env.Allow: its default, policy.User, would let pages lead to the local network.
	Resolver *fetch1738.Resolver
	// Prefix is the path where the Handler is mounted, such as "/net", without a slash at the end.
	// The paths of requests and those in pages begin with it.
	Prefix string
	// Hosts are the values of the field Host that are accepted, such as "gateway.example:8738". The
	// names of the local host, with the port of the listener, are always accepted. Any other value
	// is answered with status 421, because it may be that of a hostile page.
	Hosts []string
	// AllowClients are the addresses of clients that are accepted besides those of the local host.
	AllowClients []netip.Prefix
	// Token must be known to every client, if it is not empty: see docs/gateway.md.
	Token string
	// Proxy makes the Handler a forward proxy too, for clients that send "GET ftp://…", and for
	// CONNECT to ports of gopher.
	Proxy bool
	// Templates make the pages; nil means those of this package.
	Templates *Templates
	// Archive, if not nil, is the archive that the Resolver answers from.
	Archive *Archive
	// Option returns what the operator types to set a field, such as "Handler.Proxy" or
	// "policy.Rules.AllowPorts with 25", for the pages that say what the operator can permit, or ""
	// if there is nothing. If Option is nil, they say only that the operator can.
	Option func(field string) string
	// Log is called after each request; nil means not at all. It is called concurrently.
	Log func(LogEntry)

	own          fetch1738.Resolver
	once         sync.Once
	pseudonym    string // in the field Via
	groups       groups.Cache
	heldArchives chan struct{} // has an element for each archive that is held in memory
}

// Limits are the limits for a Handler's Resolver: a server that is silent for 20 seconds, or sends
// lines of more than 8 KiB, is given up.
func Limits() fetch.Limits {
	return fetch.Limits{
		Connect: 10 * time.Second, Reply: 20 * time.Second, Idle: 20 * time.Second,
		Line: 8 << 10, Header: 64 << 10, Hops: 5,
	}
}

// A LogEntry is a request that has been answered, for a log. It contains no secret.
type LogEntry struct {
	Time   time.Time // when the request arrived
	Client netip.AddrPort
	Method string
	// URL is the URL that was accessed, redacted and without the words of a search, or the path of a
	// page of the gateway's own.
	URL    string
	Page   string // the kind of page, such as "directory"; "raw" for octets
	Status int
	Bytes  int64 // of the body that was sent
	Took   time.Duration
	Err    error // why there is no page, or why the response was broken off; nil if there is no error
}

// Close ends the sessions that are kept for further requests. The Handler can be used again.
func (h *Handler) Close() error {
	h.groups.Close()
	return h.resolver().Close()
}

func (h *Handler) resolver() *fetch1738.Resolver {
	if h.Resolver != nil {
		return h.Resolver
	}
	return &h.own
}

// heldArchives is how many zip archives are held in memory at once.
const heldArchives = 4

// templates are those of the pages.
func (h *Handler) templates() *Templates {
	if h.Templates != nil {
		return h.Templates
	}
	return builtin()
}
