package gateway

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/locator"
)

// A guard decides who may ask for what, and with which login.
type guard struct{ *visit }

// check decides whether a request may be answered at all. It sets v.native and v.crossSite.
//
// The order matters: no answer depends on more about a request than what the checks before it have
// established.
func (v guard) check() error {
	for _, check := range []func() *failure{v.checkLength, v.checkTarget, v.checkLoop, v.checkClient, v.checkToken, v.checkMethod, v.checkSite} {
		if refused := check(); refused != nil {
			return refused
		}
	}
	return nil
}

// maxURL is the maximum length of the target of a request, in bytes.
const maxURL = 8 << 10

func (v guard) checkLength() *failure {
	if len(v.r.RequestURI) <= maxURL {
		return nil
	}
	return &failure{Status: http.StatusRequestURITooLong, Text: "The URL is longer than 8 KiB."}
}

// checkTarget accepts a path, if the field Host is a name of the gateway, and what a client sends
// to a proxy, if the gateway is one.
//
// net/http answers two fields Host with 400, but it drops the field where the request has a whole
// URL (RFC 9112 §3.2.2). So a gateway that is no proxy accepts no whole URLs at all, because the
// field could have another name.
func (v guard) checkTarget() *failure {
	whole := v.r.Method == http.MethodConnect || !strings.HasPrefix(v.r.RequestURI, "/")
	switch {
	case whole && !v.h.Proxy && v.r.Method == http.MethodConnect:
		return &failure{Status: http.StatusForbidden, Text: "The gateway is not a proxy."}
	case whole && !v.h.Proxy:
		return &failure{Status: http.StatusBadRequest, Text: "The gateway is not a proxy.", Do: "Ask for a path of the gateway.", Field: "Handler.Proxy"}
	case whole && !(v.r.URL.Scheme == "http" && v.ownHost()):
		v.native = true
	case !v.ownHost():
		return &failure{Status: http.StatusMisdirectedRequest, Text: "The gateway does not have this name.", Do: "Use the address that the gateway printed when it started.", Field: "Handler.Hosts"}
	}
	return nil
}

// ownHost reports whether the field Host, or the host of a whole URL, is a name of the gateway.
func (v guard) ownHost() bool {
	if slices.Contains(v.h.Hosts, v.r.Host) {
		return true
	}
	local := localAddr(v.r)
	for _, name := range []string{"127.0.0.1", "::1", "localhost"} {
		if local.IsValid() && v.r.Host == net.JoinHostPort(name, strconv.Itoa(int(local.Port()))) {
			return true
		}
	}
	return false
}

// localAddr is the address of the listener that a request came to; invalid if it is not TCP.
func localAddr(r *http.Request) netip.AddrPort {
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if local == nil {
		return netip.AddrPort{}
	}
	addr := driver.AddrPort(local)
	return netip.AddrPortFrom(addr.Addr().Unmap(), addr.Port())
}

// checkLoop ends a request that has passed this gateway before (RFC 9110 §7.6.3).
func (v guard) checkLoop() *failure {
	for _, field := range v.r.Header.Values("Via") {
		for hop := range strings.SplitSeq(field, ",") {
			if words := strings.Fields(hop); len(words) > 1 && words[1] == v.h.pseudonym {
				return &failure{Status: http.StatusLoopDetected, Text: "The request has passed this gateway before."}
			}
		}
	}
	if v.native {
		v.w.Header().Set("Via", "1.1 "+v.h.pseudonym)
	}
	return nil
}

// checkClient accepts the clients of this computer and those of AllowClients.
func (v guard) checkClient() *failure {
	client := v.client().Addr()
	if client.IsLoopback() || slices.ContainsFunc(v.h.AllowClients, func(p netip.Prefix) bool { return p.Contains(client) }) {
		return nil
	}
	return &failure{Status: http.StatusForbidden, Text: "The gateway does not serve this client.", Field: "Handler.AllowClients"}
}

// checkMethod accepts GET, HEAD, the POST of a form of Gopher+, and CONNECT, which only a proxy
// gets to see. An OPTIONS is that of a browser which asks whether a page of another site may do
// something, or read the answer. It may not.
func (v guard) checkMethod() *failure {
	switch v.r.Method {
	case http.MethodGet, http.MethodHead, http.MethodConnect:
		return nil
	case http.MethodOptions:
		return &failure{Status: http.StatusForbidden, Text: "The gateway permits nothing to other sites."}
	case http.MethodPost:
		path := strings.TrimPrefix(v.r.URL.EscapedPath(), v.h.Prefix)
		if !v.native && (strings.HasPrefix(path, "/gopher/") || strings.HasPrefix(path, "/gophers/") || path == "/url") {
			return nil
		}
	}
	v.w.Header().Set("Allow", "GET, HEAD")
	return &failure{Status: http.StatusMethodNotAllowed, Text: "The gateway only reads."}
}

// checkSite refuses what a page of another site asks for, except a navigation: the user sees its
// result, and the other site does not. A browser says where a request comes from in the fields
// Sec-Fetch-Site, Sec-Fetch-Mode and Sec-Fetch-Dest. It sends them only to this computer and over
// TLS. Without them there is Origin, and perhaps Referer.
func (v guard) checkSite() *failure {
	refused := &failure{Status: http.StatusForbidden, Text: "Another site asked for this."}
	from, mode, dest := v.headerValue("Sec-Fetch-Site"), v.headerValue("Sec-Fetch-Mode"), v.headerValue("Sec-Fetch-Dest")
	post := v.r.Method == http.MethodPost
	switch {
	case post && new(http.CrossOriginProtection).Check(v.r) != nil:
		return refused
	case from == "" && mode+dest != "":
		return refused
	case from == "":
		if !v.isOwnURL("Origin") || post && !v.isOwnURL("Referer") {
			return refused
		}
		if !v.native && !v.isOwnURL("Referer") {
			v.crossSite = true
		}
	case from == "same-origin", from == "none":
		// Neither has a page of the gateway a frame, an object or a worker, nor does a document from
		// a server get to be one. One file is a script, and one the manifest.
		own, isOwn := strings.CutPrefix(v.r.URL.EscapedPath(), v.h.Prefix)
		if isOwn && !v.native && (dest == "script" && own == "/script.js" || dest == "manifest" && own == manifestPath) {
			return nil
		}
		if !slices.Contains([]string{"", "document", "empty", "image", "audio", "video", "track", "style"}, dest) || post && !v.isOwnURL("Origin") {
			return refused
		}
	case post, v.native, mode != "navigate", dest != "document":
		return refused
	default: // "cross-site", and "same-site": another port of this computer
		v.crossSite = true
	}
	return nil
}

// isOwnURL reports whether the URL in a header field is one of the gateway. It is true without the
// field.
func (v guard) isOwnURL(name string) bool {
	value := v.headerValue(name)
	u, err := url.Parse(value)
	return value == "" || err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host == v.r.Host
}

// requestLink is the link to what the client has asked for. It leads to this gateway, also where
// the path begins with "//".
func (v *visit) requestLink() place.Link {
	return place.At("/" + strings.TrimLeft(v.r.URL.RequestURI(), "/"))
}

// mayShowAtOnce reports whether a link of another site may show v.loc at once: it is only read, and
// asks no server to search, log in or do anything else.
func (v *visit) mayShowAtOnce() bool {
	if v.headerValue("Sec-Fetch-Site") == "" || v.user != nil || v.r.Method == http.MethodPost {
		return false // without Sec-Fetch-Dest it could be an image that another site shows
	}
	for name := range v.query {
		if !slices.Contains([]string{"u", "raw", "sort", "page", "filter", "charset", "wrap", "info", "explain", "threads", "atom", "id", "part", "user", "at", "captures", "timemap"}, name) {
			return false
		}
	}
	switch l := v.loc.(type) {
	case *locator.Gopher:
		return !strings.ContainsRune("27", rune(l.Type)) && l.Search == "" && !filled(l)
	case *locator.WAIS:
		return l.Form != locator.WAISSearch
	}
	return true
}

// filled reports whether a URL is that of a form of Gopher+ with its values (RFC 1738 §3.4.9).
func filled(l locator.Locator) bool {
	g, ok := l.(*locator.Gopher)
	return ok && strings.ContainsAny(g.Plus, "\t\r\n")
}

// context is the context of an access: that of the request, and the rule that the gateway does not
// fetch from itself. It records what is sent.
func (v *visit) context() context.Context {
	return fetch.WithTrace(fetch.WithAllow(v.r.Context(), guard{v}.notItself), &fetch.Trace{Sent: v.record})
}

// notItself is the part of the policy that no Resolver can relax: the gateway fetches nothing from
// itself, and it sends a form only if the user has clicked on its button. It judges every
// connection, also one to a proxy.
func (v guard) notItself(_ context.Context, t fetch.Target) error {
	if v.r.Method != http.MethodPost && filled(t.Locator) {
		return errors.New("denied (rule state-changing-link): a filled Gopher+ form")
	}
	itself := errors.New("denied (rule own-listener): the gateway does not fetch from itself")
	name := net.JoinHostPort(strings.TrimSuffix(t.Host, "."), strconv.Itoa(int(t.Port)))
	if slices.ContainsFunc(v.h.Hosts, func(own string) bool { return strings.EqualFold(own, name) }) {
		return itself
	}
	local, addr := localAddr(v.r), t.Addr.Addr()
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
