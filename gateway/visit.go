package gateway

import (
	"bytes"
	"cmp"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/gateway/internal/memento"
	"github.com/fetch1738/fetch1738/locator"
)

// A visit is one request, with what the parts of the package find out about it.
type visit struct {
	h       *Handler
	w       *countingWriter
	r       *http.Request
	arrived time.Time

	loc       locator.Locator // what the page shows; nil for a page of the gateway's own
	native    bool            // the client uses the gateway as its proxy
	crossSite bool            // a link of another site, which the user may have followed, leads here
	query     url.Values      // of the request, where loc does not include it
	user      *locator.Login  // the login of the client for loc, which contains no login; nil without one

	timeline memento.Timeline // the captures of loc in an archive
	done     func()           // ends the use of a Resolver of an archive; may be nil

	page string // for the log
	err  error  // for the log; also that of a listing which ended early

	flush func() // sends what has been rendered

	mu           sync.Mutex
	conversation []byte // what has been sent to servers, for the page of an error; its beginning
}

// maxConversation is how much of a conversation is recorded.
const maxConversation = 2 << 10

// record keeps what is sent to a server. It may be called concurrently.
func (v *visit) record(octets []byte) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.conversation = append(v.conversation, octets[:min(len(octets), maxConversation-len(v.conversation))]...)
}

// sent is what was sent to servers.
func (v *visit) sent() []byte {
	v.mu.Lock()
	defer v.mu.Unlock()
	return bytes.Clone(v.conversation)
}

// wants reports whether the query of the request has a name, such as "raw".
func (v *visit) wants(name string) bool { return !v.native && v.query.Has(name) }

// isA tests for a type of Locator.
func isA[L locator.Locator](v *visit) bool { _, ok := v.loc.(L); return ok }

// isNews reports whether a URL is one of news or nntp.
func isNews(v *visit) bool { return isA[*locator.News](v) || isA[*locator.NNTP](v) }

// accepts reports whether the client asks for a media type by its name. "*/*" is not enough.
func (v *visit) accepts(mediaType string) bool {
	for _, field := range v.r.Header.Values("Accept") {
		for part := range strings.SplitSeq(field, ",") {
			name, _, _ := strings.Cut(part, ";")
			if strings.EqualFold(strings.TrimSpace(name), mediaType) {
				return true
			}
		}
	}
	return false
}

// headerValue is the value of a header field that a browser sends once. Several values are one that
// no browser sends.
func (v *visit) headerValue(name string) string { return strings.Join(v.r.Header.Values(name), ", ") }

// client is the address of the client.
func (v *visit) client() netip.AddrPort {
	addr, _ := netip.ParseAddrPort(v.r.RemoteAddr)
	return netip.AddrPortFrom(addr.Addr().Unmap(), addr.Port())
}

// request is the request for a Locator. Its URL comes from the configuration as far as the policy
// is concerned: the operator's options count, but a form is never sent without the user's click.
func (v *visit) request(l locator.Locator) *fetch.Request {
	return &fetch.Request{Locator: l, From: fetch.Provenance{Kind: fetch.OriginConfig}, Stream: true}
}

// countingWriter counts the bytes of a response, for the log.
type countingWriter struct {
	http.ResponseWriter
	code   int // the status that goes before the body; 0 means 200
	status int // that has been sent; 0 before that
	bytes  int64
}

// begin sends the status, if it has not been sent.
func (w *countingWriter) begin() {
	if w.status == 0 {
		w.WriteHeader(cmp.Or(w.code, http.StatusOK))
	}
}

func (w *countingWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *countingWriter) Write(p []byte) (int, error) {
	w.begin()
	n, err := w.ResponseWriter.Write(p)
	w.bytes += int64(n)
	return n, err
}

// ReadFrom lets the system move bytes from a connection to that of the client.
func (w *countingWriter) ReadFrom(r io.Reader) (int64, error) {
	w.begin()
	n, err := io.Copy(w.ResponseWriter, r)
	w.bytes += n
	return n, err
}

// Unwrap lets [http.ResponseController] find the writer of the server.
func (w *countingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// log reports the request.
func (v *visit) log() {
	if v.h.Log == nil {
		return
	}
	a := Access{
		Time: v.arrived, Client: v.client(), Method: v.r.Method, URL: maskLogin(v.r.URL.Path), Page: v.page,
		Status: v.w.status, Bytes: v.w.bytes, Took: time.Since(v.arrived), Err: v.err,
	}
	if v.loc != nil {
		a.URL = wordless(v.loc).Redacted()
	}
	v.h.Log(a)
}

// wordless returns a Locator without the words of a search and the answers to a form, which are not
// for a log.
func wordless(l locator.Locator) locator.Locator {
	switch l := l.(type) {
	case *locator.Gopher:
		without := *l
		without.Search, without.Plus, without.Fields = "", "", 0
		return &without
	case *locator.WAIS:
		without := *l
		without.Search = ""
		return &without
	}
	return l
}

// maskLogin masks what may be a login in a path that is not that of a URL.
func maskLogin(path string) string {
	if _, after, ok := strings.Cut(path, "@"); ok {
		return "/***@" + after
	}
	return path
}
