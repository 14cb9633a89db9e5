package archive

import (
	"bytes"
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/locator"
)

// An exchange is a request and its response, of HTTP. Its heads are those that are recorded.
type exchange struct {
	url               locator.Locator
	began             time.Time
	addr              netip.Addr
	protocol          string // WARC-Protocol
	request, response []byte
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

// request returns the request of the event with Options that hand on the exchanges of HTTP.
func (e *event) request() *fetch.Request {
	options, err := driver.OptionsOf[fetchhttp.Options](e.req)
	if err != nil || !e.isHTTP() {
		return e.req
	}
	then := options.Exchanged
	options.Exchanged = func(x fetchhttp.Exchange) {
		e.exchanged(x)
		if then != nil {
			then(x)
		}
	}
	req := *e.req
	req.Options = &options
	return &req
}

// exchanged is called with an exchange.
func (e *event) exchanged(x fetchhttp.Exchange) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if statusOf(x.Response) == 0 {
		return
	}
	version, _, _ := strings.Cut(string(x.Response), " ")
	last := exchange{url: x.Locator, began: x.Began, protocol: strings.ToLower(version), request: x.Request, response: unchunked(x.Response)}
	if x.HTTP2 {
		last.translate()
	}
	if e.proxied() == nil { // else it is that of the proxy
		last.addr = x.Peer.Addr()
	}
	e.exchanges = append(e.exchanges, last)
}

// translate gives the heads of HTTP/2 the form of HTTP/1.1: some programs that read WARC files refuse
// any other. HTTP/2 has no reason phrase: nothing follows the space before it (RFC 9112 §4).
func (x *exchange) translate() {
	x.protocol = "h2"
	if x.url.Scheme() == "http" {
		x.protocol = "h2c"
	}
	line, fields, _ := bytes.Cut(x.request, []byte("\r\n"))
	x.request = fmt.Appendf(nil, "%s HTTP/1.1\r\n%s", bytes.TrimSuffix(line, []byte(" HTTP/2")), fields)
	line, fields, _ = bytes.Cut(x.response, []byte("\r\n"))
	x.response = fmt.Appendf(nil, "HTTP/1.1 %d \r\n%s", statusOf(line), fields)
}

// response returns the last exchange, or nil.
func (e *event) response() *exchange {
	if len(e.exchanges) == 0 {
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
