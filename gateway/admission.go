package gateway

import (
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/gateway/internal/webapp"
	"github.com/fetch1738/fetch1738/locator"
)

// An admission decides whether a request may be answered at all.
type admission struct {
	*request
	header http.Header // of the response
}

// check returns why the request is refused, or nil. It sets native and crossSite.
//
// The order matters: no answer depends on more about a request than what the checks before it have
// established.
func (a admission) check() error {
	for _, check := range []func() *failure{a.checkLength, a.checkTarget, a.checkLoop, a.checkClient, func() *failure { return checkToken(a.request, a.header) }, a.checkMethod, a.checkSite} {
		if refused := check(); refused != nil {
			return refused
		}
	}
	return nil
}

// maxURL is the maximum length of the target of a request, in bytes.
const maxURL = 8 << 10

func (a admission) checkLength() *failure {
	if len(a.r.RequestURI) <= maxURL {
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
func (a admission) checkTarget() *failure {
	whole := a.r.Method == http.MethodConnect || !strings.HasPrefix(a.r.RequestURI, "/")
	switch {
	case whole && !a.h.Proxy && a.r.Method == http.MethodConnect:
		return &failure{Status: http.StatusForbidden, Text: "The gateway is not a proxy."}
	case whole && !a.h.Proxy:
		return &failure{Status: http.StatusBadRequest, Text: "The gateway is not a proxy.", Do: "Ask for a path of the gateway.", Field: "Handler.Proxy"}
	case whole && !(a.r.URL.Scheme == "http" && a.ownHost()):
		a.native = true
	case !a.ownHost():
		return &failure{Status: http.StatusMisdirectedRequest, Text: "The gateway does not have this name.", Do: "Use the address that the gateway printed when it started.", Field: "Handler.Hosts"}
	}
	return nil
}

// checkLoop ends a request that has passed this gateway before (RFC 9110 §7.6.3).
func (a admission) checkLoop() *failure {
	for _, field := range a.r.Header.Values("Via") {
		for hop := range strings.SplitSeq(field, ",") {
			if words := strings.Fields(hop); len(words) > 1 && words[1] == a.h.pseudonym {
				return &failure{Status: http.StatusLoopDetected, Text: "The request has passed this gateway before."}
			}
		}
	}
	if a.native {
		a.header.Set("Via", "1.1 "+a.h.pseudonym)
	}
	return nil
}

// checkClient accepts the clients of this computer and those of AllowClients.
func (a admission) checkClient() *failure {
	client := a.client().Addr()
	if client.IsLoopback() || slices.ContainsFunc(a.h.AllowClients, func(p netip.Prefix) bool { return p.Contains(client) }) {
		return nil
	}
	return &failure{Status: http.StatusForbidden, Text: "The gateway does not serve this client.", Field: "Handler.AllowClients"}
}

// checkMethod accepts GET, HEAD, the POST of a form of Gopher+, and CONNECT, which only a proxy
// gets to see. An OPTIONS is that of a browser which asks whether a page of another site may do
// something, or read the answer. It may not.
func (a admission) checkMethod() *failure {
	switch a.r.Method {
	case http.MethodGet, http.MethodHead, http.MethodConnect:
		return nil
	case http.MethodOptions:
		return &failure{Status: http.StatusForbidden, Text: "The gateway permits nothing to other sites."}
	case http.MethodPost:
		path := strings.TrimPrefix(a.r.URL.EscapedPath(), a.prefix)
		if !a.native && (strings.HasPrefix(path, "/gopher/") || strings.HasPrefix(path, "/gophers/") || path == "/url") {
			return nil
		}
	}
	a.header.Set("Allow", "GET, HEAD")
	return &failure{Status: http.StatusMethodNotAllowed, Text: "The gateway only reads."}
}

// checkSite refuses what a page of another site asks for, except a navigation: the user sees its
// result, and the other site does not. A browser says where a request comes from in the fields
// Sec-Fetch-Site, Sec-Fetch-Mode and Sec-Fetch-Dest. It sends them only to this computer and over
// TLS. Without them there is Origin, and perhaps Referer.
func (a admission) checkSite() *failure {
	refused := &failure{Status: http.StatusForbidden, Text: "Another site asked for this."}
	from, mode, dest := a.headerValue("Sec-Fetch-Site"), a.headerValue("Sec-Fetch-Mode"), a.headerValue("Sec-Fetch-Dest")
	post := a.r.Method == http.MethodPost
	switch {
	case post && new(http.CrossOriginProtection).Check(a.r) != nil:
		return refused
	case from == "" && mode+dest != "":
		return refused
	case from == "":
		if !a.isOwnURL("Origin") || post && !a.isOwnURL("Referer") {
			return refused
		}
		if !a.native && !a.isOwnURL("Referer") {
			a.crossSite = true
		}
	case from == "same-origin", from == "none":
		// Neither has a page of the gateway a frame, an object or a worker, nor does a document from
		// a server get to be one. One file is a script, and one the manifest.
		own, isOwn := strings.CutPrefix(a.r.URL.EscapedPath(), a.prefix)
		if isOwn && !a.native && (dest == "script" && own == "/script.js" || dest == "manifest" && own == webapp.Path) {
			return nil
		}
		if !slices.Contains([]string{"", "document", "empty", "image", "audio", "video", "track", "style"}, dest) || post && !a.isOwnURL("Origin") {
			return refused
		}
	case post, a.native, mode != "navigate", dest != "document":
		return refused
	default: // "cross-site", and "same-site": another port of this computer
		a.crossSite = true
	}
	return nil
}

// isOwnURL reports whether the URL in a header field is one of the gateway. It is true without the
// field.
func (a admission) isOwnURL(name string) bool {
	value := a.headerValue(name)
	u, err := url.Parse(value)
	return value == "" || err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host == a.r.Host
}

// mayShowAtOnce reports whether a link of another site may show the Locator at once: it is only read,
// and asks no server to search, log in or do anything else.
func mayShowAtOnce(q *request) bool {
	if q.headerValue("Sec-Fetch-Site") == "" || q.user != nil || q.r.Method == http.MethodPost {
		return false // without Sec-Fetch-Dest it could be an image that another site shows
	}
	for name := range q.query {
		if !slices.Contains([]string{"u", "raw", "sort", "page", "filter", "charset", "wrap", "info", "explain", "threads", "atom", "id", "part", "user", "at", "captures", "timemap"}, name) {
			return false
		}
	}
	switch l := q.loc.(type) {
	case *locator.Gopher:
		return !strings.ContainsRune("27", rune(l.Type)) && l.Search == "" && !place.Filled(l)
	case *locator.WAIS:
		return l.Form != locator.WAISSearch
	}
	return true
}
