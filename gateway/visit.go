package gateway

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/locator"
)

// A visit is one request, with what the parts of the package find out about it.
type visit struct {
	h       *Handler
	w       *countingWriter
	r       *http.Request
	arrived time.Time

	loc    locator.Locator // what the page shows; nil for a page of the gateway's own
	native bool            // the client uses the gateway as its proxy
	site   site            // where the request comes from
	query  url.Values      // of the request, where loc does not include it
	user   *locator.Login  // the login of the client for loc, which contains no login; nil without one

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

// visitURL answers a request for the page or the octets of a Locator.
func (v *visit) visitURL() {
	if !v.native {
		v.query = v.r.URL.Query()
	}
	guard{v}.findLogin()
	if v.site == crossSite && !v.plain() {
		front{v}.interstitial()
		return
	}
	if (guard{v}).challenge() {
		return
	}
	gopherPages{v}.takeWords()
	if (gopherPages{v}).takeFields() || (gopherPages{v}).confirmFilled() {
		return
	}
	switch v.loc.(type) {
	case *locator.Telnet, *locator.Mailto:
		documentPages{v}.advice(nil)
		return
	}
	switch {
	case v.r.Method == http.MethodPost:
		gopherPages{v}.submit()
	case v.wants("explain"):
		documentPages{v}.explain()
	case v.wants("tar"):
		directoryPages{v}.tar()
	case v.wants("info"):
		gopherPages{v}.info()
	case v.wants("id"):
		newsPages{v}.findArticle()
	case v.wants("raw"):
		documentPages{v}.raw()
	case v.octets():
		documentPages{v}.raw()
	default:
		v.show()
	}
}

// octets reports whether the client gets a document rather than a page about it.
func (v *visit) octets() bool {
	if v.wants("part") {
		return false
	}
	if v.native || !v.accepts("text/html") || v.r.Header.Get("Range") != "" { // a page has no ranges
		return isDocument(v.loc)
	}
	return false
}

// isDocument reports whether a URL names a document, as far as it says.
func isDocument(l locator.Locator) bool {
	switch l := l.(type) {
	case *locator.FTP:
		return l.Name != "" && l.Type != 'd'
	case *locator.Gopher:
		return !strings.ContainsRune("127", rune(l.Type)) && l.Type != 0 && (l.Plus == "" || l.Plus[0] == '+')
	case *locator.News:
		return l.MessageID != ""
	case *locator.NNTP:
		return l.Article != ""
	case *locator.WAIS:
		return l.Form == locator.WAISDocument
	}
	return false
}

// show fetches what a Locator names, and shows it as a page of the right kind.
func (v *visit) show() {
	if (documentPages{v}).showsWithout() || (directoryPages{v}).showsDirectory() {
		return
	}
	req := v.request(v.loc)
	switch v.loc.(type) {
	case *locator.News, *locator.NNTP:
		req.Options = newsPages{v}.newsOptions()
	}
	v.prepare(req)
	res, err := v.h.resolver().Fetch(v.context(), req)
	if err != nil {
		if !(gopherPages{v}).phoneReply(err) {
			v.failToFetch(err)
		}
		return
	}
	defer res.Close()
	if res.Items != nil && !v.wants("atom") && (directoryPages{v}).formatted(res) {
		return
	}
	switch res.Kind {
	case fetch.KindDirectory:
		switch v.loc.(type) {
		case *locator.News, *locator.NNTP:
			newsPages{v}.group(res)
		case *locator.Gopher:
			gopherPages{v}.phoneBook(res)
		default:
			directoryPages{v}.directory(res)
		}
	case fetch.KindMenu:
		switch v.loc.(type) {
		case *locator.WAIS:
			documentPages{v}.hits(res)
		case *locator.Prospero:
			directoryPages{v}.directory(res)
		default:
			gopherPages{v}.menu(res)
		}
	case fetch.KindQuery:
		if _, ok := v.loc.(*locator.WAIS); ok {
			documentPages{v}.hits(res)
			return
		}
		gopherPages{v}.search(res)
	case fetch.KindAdvice, fetch.KindInteractive:
		documentPages{v}.advice(res)
	default:
		switch v.loc.(type) {
		case *locator.News, *locator.NNTP:
			newsPages{v}.article(res)
		default:
			if !(gopherPages{v}).attributes(res) {
				documentPages{v}.document(res)
			}
		}
	}
}

// redirectTo sends the client to another URL.
func (v *visit) redirectTo(l locator.Locator) {
	if !v.native {
		v.redirect(place.Of(l))
		return
	}
	v.seeOther(place.WithoutLogin(l).String())
}

// redirect sends the client to another path of the gateway.
func (v *visit) redirect(path string) {
	v.seeOther(v.h.Prefix + path)
}

func (v *visit) seeOther(url string) {
	v.page = "redirect"
	v.secure()
	v.w.Header().Set("Location", url)
	v.w.WriteHeader(http.StatusSeeOther)
}

// countingWriter counts the bytes of a response, for the log.
type countingWriter struct {
	http.ResponseWriter
	status int
	bytes  int64
}

func (w *countingWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *countingWriter) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(p)
	w.bytes += int64(n)
	return n, err
}

// ReadFrom lets the system move bytes from a connection to that of the client.
func (w *countingWriter) ReadFrom(r io.Reader) (int64, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
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
		Time: v.arrived, Client: clientOf(v.r), Method: v.r.Method, URL: maskLogin(v.r.URL.Path), Page: v.page,
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
