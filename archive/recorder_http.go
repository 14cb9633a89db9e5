package archive

import (
	"bytes"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/locator"
)

// An exchange is a request and its response, of HTTP.
type exchange struct {
	began             time.Time
	addr              netip.Addr
	request, response []byte // the heads; that of the request has its secrets masked
}

// isHTTP reports whether the messages of the access are those of HTTP. The answer of a proxy to a
// request for a URL of another scheme is a resource of that scheme.
func (e *event) isHTTP() bool {
	_, ok := e.asked().(*locator.HTTP)
	return ok
}

// proxied returns the URL that the server of the Locator is asked for as a proxy, or nil.
func (e *event) proxied() locator.Locator {
	if opt, ok := e.req.Options.(*fetchhttp.Options); ok && opt != nil {
		return opt.Proxied
	}
	return nil
}

// asked returns the URL that is accessed.
func (e *event) asked() locator.Locator {
	if l := e.proxied(); l != nil {
		return l
	}
	return searched(e.req.Locator, e.req.Query)
}

// head is called with what was said before the body. What is sent is the head of a request, what is
// received one of a response.
func (e *event) head(mark string, octets []byte, now time.Time) {
	if mark == "> " {
		if len(e.exchanges) == 0 {
			now = e.began
		}
		e.exchanges = append(e.exchanges, exchange{began: now, addr: e.peer.addr, request: bytes.Clone(octets)})
		return
	}
	code := statusOf(octets)
	if interim := code/100 == 1 && code != http.StatusSwitchingProtocols; code == 0 || interim || len(e.exchanges) == 0 {
		return
	}
	last := &e.exchanges[len(e.exchanges)-1]
	if bytes.HasPrefix(last.request, []byte("CONNECT ")) { // to a proxy
		e.exchanges = e.exchanges[:len(e.exchanges)-1]
	} else if last.response == nil {
		last.response = bytes.Clone(octets)
	}
}

// response returns the last exchange, if its response has arrived.
func (e *event) response() *exchange {
	if len(e.exchanges) == 0 || e.exchanges[len(e.exchanges)-1].response == nil {
		return nil
	}
	return &e.exchanges[len(e.exchanges)-1]
}

// statusOf returns the status of a response; 0 if it has no status.
func statusOf(head []byte) int {
	if !bytes.HasPrefix(head, []byte("HTTP/")) {
		return 0
	}
	_, status, _ := bytes.Cut(head, []byte(" "))
	status = bytes.TrimLeft(status, " ")
	code, _ := strconv.Atoi(string(status[:min(3, len(status))]))
	return code
}

// unchunked returns a head without Transfer-Encoding, because the octets of the body are recorded
// without it.
func unchunked(head []byte) []byte {
	kept := make([]byte, 0, len(head))
	drop := false
	for line := range bytes.Lines(head) {
		if line[0] != ' ' && line[0] != '\t' { // else the line continues the one before it
			name, _, _ := bytes.Cut(line, []byte(":"))
			drop = bytes.EqualFold(bytes.TrimSpace(name), []byte("Transfer-Encoding"))
		}
		if !drop {
			kept = append(kept, line...)
		}
	}
	return kept
}

// bodyless reports whether the response of an exchange has no body that was left unread.
func (x *exchange) bodyless() bool {
	switch statusOf(x.response) {
	case http.StatusNoContent, http.StatusNotModified:
		return true
	}
	if bytes.HasPrefix(x.request, []byte("HEAD ")) {
		return true
	}
	return x.field("Content-Length") == "0"
}

// field returns the value of the first field of a name in the response, or "".
func (x *exchange) field(wanted string) string {
	for line := range bytes.Lines(x.response) {
		name, value, _ := bytes.Cut(line, []byte(":"))
		if strings.EqualFold(string(name), wanted) {
			return string(bytes.TrimSpace(value))
		}
	}
	return ""
}

// redirected returns the URL that the response of x leads to, or l.
func (x *exchange) redirected(l locator.Locator) locator.Locator {
	code := statusOf(x.response)
	base, ok := l.(*locator.HTTP)
	if !ok || code/100 != 3 || code == http.StatusNotModified {
		return l
	}
	if to, err := fetchhttp.ResolveLocation(base, x.field("Location")); err == nil {
		return to
	}
	return l
}
