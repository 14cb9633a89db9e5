package webtest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/internal/core"
	"github.com/fetch1738/fetch1738/testserver/internal/tree"
)

// An exchange is how a response reaches its client: on a connection of HTTP/1.1, or on a stream of
// HTTP/2.
type exchange interface {
	// interim sends the head of an interim response.
	interim(status int, header http.Header) error
	// head sends the head of the response.
	head(w *response, status int, hasBody bool) error
	// body returns a writer for the body. It is called when the head has been sent.
	body() io.Writer
	// abort breaks the response off. It returns the error of what is written after it.
	abort() error
	// end ends a response that is complete. It reports whether other requests can follow.
	end(w *response) bool
}

// response is an [http.ResponseWriter] that writes the bytes itself, so that faults may be anywhere
// in them. The length of the body must be known.
type response struct {
	to          exchange
	client      *core.Client
	req         *http.Request
	faults      *core.Faults
	user        testserver.User
	tree        *tree.Tree // what the user sees
	header      http.Header
	noRanges    bool
	says        string    // the text of Content-Range; "" means the usual one
	wrote       bool      // the head has been sent
	body        io.Writer // nil when the response has none
	sent        int64     // bytes of the body
	instead     bool      // the body is that of a Data fault
	chunked     bool      // each part of the body is sent as a chunk
	mayContinue bool      // 100 Continue has been sent or was not requested
	last        bool      // the connection ends after this response
	err         error
}

func newResponse(to exchange, c *core.Client, req *http.Request, faults *core.Faults) *response {
	return &response{to: to, client: c, req: req, faults: faults, header: make(http.Header),
		last: req.Close, mayContinue: !strings.EqualFold(req.Header.Get("Expect"), "100-continue")}
}

func (w *response) Header() http.Header { return w.header }

// WriteHeader sends the head.
func (w *response) WriteHeader(status int) {
	if w.wrote {
		return
	}
	w.wrote = true
	status = int(w.faults.N(statusFault, int64(status)))
	hasBody := w.req.Method != http.MethodHead && status != http.StatusNoContent && status != http.StatusNotModified
	data, replaced := w.faults.Take(core.Data)
	if replaced {
		w.header.Set("Content-Length", strconv.Itoa(len(data.Text)))
	}
	for _, a := range w.faults.TakeAll(interim) {
		header := make(http.Header)
		if a.N == http.StatusEarlyHints {
			header.Set("Link", "</style.css>; rel=preload; as=style")
		}
		if w.err = w.to.interim(int(a.N), header); w.err != nil {
			return
		}
	}
	if w.err = w.to.head(w, status, hasBody); w.err != nil || !hasBody {
		return
	}
	w.body = w.faults.Shape(w.req.Context(), w.to.body(), w.client.Conn)
	switch {
	case w.faults.EndsAtOnce(w.client.Conn):
		w.err = core.ErrCut
	case replaced:
		_, w.err = io.WriteString(w.body, data.Text)
		w.instead = true
	}
}

// frame sets the fields that determine where the body ends, and those of faults.
func (w *response) frame() {
	if w.noRanges {
		w.header.Del("Accept-Ranges")
	}
	if usual := w.header.Get("Content-Range"); usual != "" && w.says != "" {
		w.header.Set("Content-Range", contentRange(w.says, usual))
	}
	if length, ok := w.faults.Take(contentLength); ok {
		w.last = true
		w.header.Del("Content-Length")
		if length.N >= 0 {
			w.header.Set("Content-Length", strconv.FormatInt(length.N, 10))
		}
	}
	if w.faults.Acts(chunked) {
		w.header.Del("Content-Length")
		w.header.Set("Transfer-Encoding", "chunked")
	}
	for _, f := range w.faults.TakeAll(headerField) {
		usual := w.header.Get(f.Field)
		if f.Text == "" || usual == "" && strings.Contains(f.Text, "{usual}") {
			w.header.Del(f.Field)
		} else {
			w.header.Set(f.Field, strings.ReplaceAll(f.Text, "{usual}", usual))
		}
	}
}

// Write sends a part of the body.
func (w *response) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	switch {
	case w.err != nil:
		return 0, w.err
	case w.body == nil || w.instead || len(p) == 0:
		return len(p), nil
	case w.chunked:
		return w.chunk(p)
	}
	var n int
	n, w.err = w.body.Write(p)
	w.sent += int64(n)
	return n, w.err
}

// chunk writes a chunk. Faults count the bytes of the body, not those of the chunk headers.
func (w *response) chunk(p []byte) (n int, err error) {
	raw := w.client.Body()
	if _, w.err = fmt.Fprintf(raw, "%x\r\n", len(p)); w.err == nil {
		n, w.err = w.body.Write(p)
	}
	if w.err == nil {
		_, w.err = io.WriteString(raw, "\r\n")
	}
	return n, w.err
}

// ReadFrom lets the kernel copy a file to the connection.
func (w *response) ReadFrom(src io.Reader) (int64, error) {
	w.WriteHeader(http.StatusOK)
	part, limited := src.(*io.LimitedReader)
	if limited && w.err == nil && w.body == io.Writer(w.client.Conn) && !w.instead && !w.chunked {
		if _, ok := part.R.(*os.File); ok {
			n, err := io.Copy(w.body, src)
			w.sent += n
			w.err = err
			return n, err
		}
	}
	return io.CopyBuffer(struct{ io.Writer }{w}, src, make([]byte, core.CopySize))
}

// handle lets h answer the request.
func (w *response) handle(h http.Handler) {
	defer func() {
		if v := recover(); v == http.ErrAbortHandler {
			w.wrote, w.err = true, w.to.abort()
		} else if v != nil {
			panic(v)
		}
	}()
	h.ServeHTTP(w, w.req)
	if length, err := strconv.ParseInt(w.header.Get("Content-Length"), 10, 64); w.body != nil && w.err == nil && err == nil && w.sent < length {
		w.err = w.to.abort()
	}
}

// finish ends the response. It reports whether other requests can follow.
func (w *response) finish() bool {
	w.WriteHeader(http.StatusOK)
	return w.to.end(w)
}

// readBody reads the request's body, for which the client may await a 100 Continue.
func (w *response) readBody(req *http.Request, limit int64) ([]byte, error) {
	if !w.mayContinue {
		w.mayContinue = true
		if err := w.to.interim(http.StatusContinue, nil); err != nil {
			return nil, err
		}
	}
	var body bytes.Buffer
	n, err := io.Copy(&body, io.LimitReader(req.Body, limit+1))
	if n > limit {
		w.last = true
		return nil, tree.ErrTooLarge
	}
	return body.Bytes(), err
}
