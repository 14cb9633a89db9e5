package testserver

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
)

// httpFaults are the faults of HTTP.
type httpFaults struct {
	status  int
	header  []Fault
	length  *int64
	chunked bool
	endless bool
}

// Status answers with the status code given.
func Status(code int) Fault { return Fault{kind: fStatus, n: int64(code)} }

// Header sets a field of the response's header; "" removes it.
func Header(name, value string) Fault { return Fault{kind: fHeader, name: name, text: value} }

// ContentLength sends a Content-Length of n, whatever the length of the body, and closes after the
// body. A negative n sends no Content-Length, so that closing the connection ends the body.
func ContentLength(n int64) Fault { return Fault{kind: fContentLength, n: n} }

// Chunked sends the body in chunks. With Truncate the last chunk is missing.
func Chunked() Fault { return Fault{kind: fChunked} }

// EndlessHeaders answers with an endless header, until the client closes.
func EndlessHeaders() Fault { return Fault{kind: fEndlessHeader} }

// RedirectTo answers with a redirect; status 0 means 302.
func RedirectTo(location string, status int) Fault {
	if status == 0 {
		status = http.StatusFound
	}
	return Reply(fmt.Sprintf("HTTP/1.1 %d %s\nLocation: %s\nContent-Length: 0\nConnection: close\n", status, http.StatusText(status), location))
}

func (h *httpFaults) add(f Fault) {
	switch f.kind {
	case fStatus:
		h.status = int(f.n)
	case fHeader:
		h.header = append(h.header, f)
	case fContentLength:
		h.length = &f.n
	case fChunked:
		h.chunked = true
	case fEndlessHeader:
		h.endless = true
	}
}

// response is an [http.ResponseWriter] that writes the bytes itself, so that faults may be anywhere
// in them. The length of the body must be known.
type response struct {
	conn        *conn
	req         *http.Request
	plan        *plan
	header      http.Header
	noRanges    bool
	wrote       bool      // the head has been sent
	body        io.Writer // nil when the response has none
	instead     bool      // the body is that of a Data fault
	mayContinue bool      // 100 Continue has been sent or was not requested
	last        bool      // the connection ends after this response
	err         error
}

func newResponse(c *conn, req *http.Request, p *plan) *response {
	return &response{conn: c, req: req, plan: p, header: make(http.Header),
		last: req.Close, mayContinue: !strings.EqualFold(req.Header.Get("Expect"), "100-continue")}
}

func (w *response) Header() http.Header { return w.header }

// WriteHeader sends the head.
func (w *response) WriteHeader(status int) {
	if w.wrote {
		return
	}
	w.wrote = true
	if w.plan.http.status != 0 {
		status = w.plan.http.status
	}
	hasBody := w.req.Method != http.MethodHead && status != http.StatusNoContent && status != http.StatusNotModified
	if w.plan.data != nil {
		w.header.Set("Content-Length", strconv.Itoa(len(*w.plan.data)))
	}
	w.frame()
	if hasBody && w.header.Get("Content-Length") == "" && w.header.Get("Transfer-Encoding") == "" {
		w.last = true // the end of the connection marks the end of the body
	}
	if !w.mayContinue {
		w.last = true // the client may or may not send its body now
	}
	if w.last {
		w.header.Set("Connection", "close")
	}
	if w.sendHead(status); w.err != nil || !hasBody {
		return
	}
	w.body = shape(w.conn.srv.ctx, w.conn.body(), w.conn.Conn, &w.plan.octets)
	switch {
	case w.plan.endAtOnce(w.conn.Conn):
		w.err = errCut
	case w.plan.data != nil:
		_, w.err = io.WriteString(w.body, *w.plan.data)
		w.instead = true
	}
}

// frame sets the fields that determine where the body ends, and those of faults.
func (w *response) frame() {
	h := &w.plan.http
	if w.noRanges {
		w.header.Del("Accept-Ranges")
	}
	if h.length != nil {
		w.last = true
		w.header.Del("Content-Length")
		if *h.length >= 0 {
			w.header.Set("Content-Length", strconv.FormatInt(*h.length, 10))
		}
	}
	if h.chunked {
		w.header.Del("Content-Length")
		w.header.Set("Transfer-Encoding", "chunked")
	}
	for _, f := range h.header {
		if f.text == "" {
			w.header.Del(f.name)
		} else {
			w.header.Set(f.name, f.text)
		}
	}
}

func (w *response) sendHead(status int) {
	var head bytes.Buffer
	fmt.Fprintf(&head, "HTTP/1.1 %03d %s\r\n", status, http.StatusText(status))
	_ = w.header.Write(&head) // sorted by name
	w.conn.tap.mute = false
	if w.plan.http.endless {
		_, w.err = w.conn.Write(head.Bytes())
		for i := 0; w.err == nil; i++ {
			_, w.err = fmt.Fprintf(w.conn, "X-Endless-%d: and there is more to come\r\n", i)
		}
		return
	}
	head.WriteString("\r\n")
	_, w.err = w.conn.Write(head.Bytes())
}

// Write sends a part of the body.
func (w *response) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	switch {
	case w.err != nil:
		return 0, w.err
	case w.body == nil || w.instead || len(p) == 0:
		return len(p), nil
	case w.plan.http.chunked:
		return w.chunk(p)
	}
	var n int
	n, w.err = w.body.Write(p)
	return n, w.err
}

// chunk writes a chunk. Faults count the bytes of the body, not those of the chunk headers.
func (w *response) chunk(p []byte) (n int, err error) {
	raw := w.conn.body()
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
	if limited && w.err == nil && w.body == io.Writer(w.conn.Conn) && !w.instead && !w.plan.http.chunked {
		if _, ok := part.R.(*os.File); ok {
			n, err := io.Copy(w.body, src)
			w.err = err
			return n, err
		}
	}
	return io.CopyBuffer(struct{ io.Writer }{w}, src, make([]byte, copySize))
}

// finish ends the response. It returns false if the connection ends too.
func (w *response) finish() bool {
	w.WriteHeader(http.StatusOK)
	if w.err == nil && w.plan.http.chunked && w.body != nil && !w.instead {
		_, w.err = io.WriteString(w.conn.body(), "0\r\n\r\n")
	}
	w.conn.tap.mute = false
	if w.err != nil || w.last {
		return false
	}
	n, err := io.CopyN(io.Discard, w.req.Body, maxDrain)
	return err == io.EOF && n < maxDrain
}

// readBody reads the request's body, for which the client may await a 100 Continue.
func (w *response) readBody(req *http.Request, limit int64) ([]byte, error) {
	if !w.mayContinue {
		w.mayContinue = true
		if _, err := io.WriteString(w.conn, "HTTP/1.1 100 Continue\r\n\r\n"); err != nil {
			return nil, err
		}
	}
	var body bytes.Buffer
	n, err := io.Copy(&body, io.LimitReader(req.Body, limit+1))
	if n > limit {
		w.last = true
		return nil, errTooLarge
	}
	return body.Bytes(), err
}
