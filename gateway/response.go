package gateway

import (
	"bufio"
	"cmp"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/locator"
)

// A response is what the client gets, with what the log says about it.
type response struct {
	http.ResponseWriter
	code   int // the status that goes before the body; 0 means 200
	status int // that has been sent; 0 before that
	bytes  int64
	page   *bufio.Writer // what has been rendered; nil before that

	kind string          // the kind of page, for the log
	loc  locator.Locator // what the response is about, for the log; nil for a page of the gateway's own
	err  error           // for the log; also that of a listing which ended early
}

// begin sends the status, if it has not been sent.
func (w *response) begin() {
	if w.status == 0 {
		w.WriteHeader(cmp.Or(w.code, http.StatusOK))
	}
}

func (w *response) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *response) Write(p []byte) (int, error) {
	w.begin()
	n, err := w.ResponseWriter.Write(p)
	w.bytes += int64(n)
	return n, err
}

// ReadFrom lets the system move bytes from a connection to that of the client.
func (w *response) ReadFrom(r io.Reader) (int64, error) {
	w.begin()
	n, err := io.Copy(w.ResponseWriter, r)
	w.bytes += n
	return n, err
}

// Unwrap lets [http.ResponseController] find the writer of the server.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// flush sends what has been rendered. It does nothing before a page has begun.
func (w *response) flush() {
	if w.page != nil && w.page.Flush() == nil {
		_ = http.NewResponseController(w).Flush()
	}
}

// keepError keeps the error of reading what the page shows for its end.
func (w *response) keepError(err error) { w.err = err }

// cut says, after the rows of a page, why there are no more; empty if all were shown.
func (w *response) cut() string {
	if w.err == nil {
		return ""
	}
	return w.err.Error()
}

// abort breaks the connection to the client off, so that a part of a document does not look
// complete.
func (w *response) abort(r *http.Request, err error) {
	w.err = err
	_ = http.NewResponseController(w).Flush()
	// For a client of HTTP/1.0 the end of the connection is that of the document, unless it is reset.
	if !r.ProtoAtLeast(1, 1) && w.Header().Get("Content-Length") == "" {
		if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
			reset(conn)
			_ = conn.Close()
		}
	}
	panic(http.ErrAbortHandler)
}

// reset makes the client see a broken connection rather than an end.
func reset(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
}

// log reports the answer to a request.
func (w *response) log(q *request, arrived time.Time) {
	if q.h.Log == nil {
		return
	}
	e := LogEntry{
		Time: arrived, Client: q.client(), Method: q.r.Method, URL: maskLogin(q.r.URL.Path), Page: w.kind,
		Status: w.status, Bytes: w.bytes, Took: time.Since(arrived), Err: w.err,
	}
	if w.loc != nil {
		e.URL = wordless(w.loc).Redacted()
	}
	q.h.Log(e)
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
