package testserver

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"strings"
)

// HTTP is an HTTP/1.1 server: GET and HEAD with ranges and conditions, PUT that stores a file, POST
// that appends to one. A directory is shown as a page of links. /echo answers with the request as
// received, unless Content has an "echo". The transcript has the heads of requests and responses.
// Responses have no Date, so that transcripts can be compared.
type HTTP struct {
	Server

	// Users, if not empty, are the accounts for Basic authentication, which is then required.
	Users map[string]User
	// Protected lists path prefixes that require a login. If nil, all paths do.
	Protected []string
	// Realm is the realm of 401 responses; "" means "testserver".
	Realm string
	// Redirects maps paths, such as "/old", to their new locations.
	Redirects map[string]Redirect
	// ReadOnly means that PUT and POST are refused with 405.
	ReadOnly bool
	// NoRanges means that Range is ignored, as by simple servers.
	NoRanges bool
	// MediaTypes maps suffixes such as ".txt" to media types. It has priority over the built-in
	// types.
	MediaTypes map[string]string
}

// Redirect is the response for a path that has moved.
type Redirect struct {
	Location string // sent unchanged
	Status   int    // 0 means 302
}

// NewHTTP starts an HTTP server that ends with the test.
func NewHTTP(tb TB, configure ...func(*HTTP)) *HTTP {
	tb.Helper()
	s, err := StartHTTP(context.Background(), "", configure...)
	if err != nil {
		tb.Fatalf("%v", err)
	}
	s.endWith(tb)
	return s
}

// StartHTTP starts an HTTP server on addr, such as "127.0.0.1:8080"; "" means a free loopback port.
// The server ends with ctx or by Close.
func StartHTTP(ctx context.Context, addr string, configure ...func(*HTTP)) (*HTTP, error) {
	s := new(HTTP)
	s.faults.server, s.faults.known = "HTTP", streaming(fData, fStatus, fHeader, fContentLength, fChunked, fEndlessHeader, fFromStart)
	for _, f := range configure {
		f(s)
	}
	if s.Realm == "" {
		s.Realm = "testserver"
	}
	if err := s.start(ctx, "http", 80, addr, s.serve); err != nil {
		return nil, err
	}
	return s, nil
}

const (
	maxHead  = 64 << 10 // bytes of a request before its body
	maxDrain = 1 << 20  // bytes of an unused body that are read to keep the connection
)

// serve answers the requests of a connection in order.
func (s *HTTP) serve(c *conn) {
	r := bufio.NewReaderSize(c, maxHead)
	for {
		head, req, err := s.readRequest(c, r)
		if req == nil {
			if len(head) > 0 {
				_ = c.answer(new(plan), badRequest(err))
			}
			return
		}
		plan := s.faults.at("REQUEST", req.Method, req.Method+" "+req.URL.EscapedPath())
		err = c.preempt(plan)
		switch {
		case errors.Is(err, errSilent):
			c.wait()
			return
		case err != nil:
			return
		}
		if plan.reply != nil {
			_ = c.answer(plan, *plan.reply)
			return
		}
		w := newResponse(c, req, plan)
		s.route(w, req, head)
		if !w.finish() {
			return
		}
	}
}

// readRequest reads and records a request's head and leaves its body unread. If there is no valid
// request, it returns an error and the bytes received.
func (s *HTTP) readRequest(c *conn, r *bufio.Reader) (head []byte, req *http.Request, err error) {
	head, err = peekHead(r)
	if len(head) > 0 {
		_, _ = c.received.Write(head)
		c.received.end()
		head = bytes.Clone(head)
	}
	if err != nil {
		return head, nil, err
	}
	if req, err = http.ReadRequest(r); err != nil {
		return head, nil, err
	}
	return head, req.WithContext(s.ctx), nil
}

// handshakeRecord is the first byte from a client that starts TLS.
const handshakeRecord = 0x16

var (
	errTLS         = errors.New("this port speaks HTTP without TLS")
	errRequestLine = errors.New("malformed request line")
)

// peekHead waits until r has buffered a whole head, or a first line that cannot begin one: a client
// of another protocol may not send more.
func peekHead(r *bufio.Reader) ([]byte, error) {
	for seen := 0; ; {
		have, _ := r.Peek(r.Buffered())
		if len(have) > 0 && have[0] == handshakeRecord {
			return have, errTLS
		}
		if line, _, whole := bytes.Cut(have, []byte("\n")); whole && bytes.Count(line, []byte(" ")) < 2 && len(bytes.TrimSpace(line)) > 0 {
			return have, errRequestLine
		}
		for _, end := range []string{"\r\n\r\n", "\n\n"} {
			if i := bytes.Index(have[max(0, seen-3):], []byte(end)); i >= 0 {
				return have[:max(0, seen-3)+i+len(end)], nil
			}
		}
		seen = len(have)
		if _, err := r.Peek(seen + 1); err != nil {
			return have, err
		}
	}
}

func badRequest(err error) string {
	status := http.StatusBadRequest
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		status = http.StatusRequestHeaderFieldsTooLarge
	case errors.Is(err, os.ErrDeadlineExceeded):
		status = http.StatusRequestTimeout
	}
	return fmt.Sprintf("HTTP/1.1 %d %s\nContent-Length: 0\nConnection: close\n", status, http.StatusText(status))
}

// route answers one request.
func (s *HTTP) route(w *response, req *http.Request, head []byte) {
	name := clean(req.URL.Path)
	if r, ok := s.Redirects[req.URL.Path]; ok {
		w.redirect(r)
		return
	}
	if s.locked(req) {
		w.Header().Set("WWW-Authenticate", `Basic realm="`+s.Realm+`"`)
		w.text(http.StatusUnauthorized, "who are you?")
		return
	}
	if _, err := s.tree.stat(name); name == "echo" && errors.Is(err, fs.ErrNotExist) {
		s.echo(w, req, head)
		return
	}
	switch {
	case req.Method == http.MethodGet || req.Method == http.MethodHead:
		s.get(w, req, name)
	case s.ReadOnly || req.Method != http.MethodPut && req.Method != http.MethodPost:
		w.Header().Set("Allow", s.allow())
		w.text(http.StatusMethodNotAllowed, "not allowed")
	default:
		s.upload(w, req, name)
	}
}

func (s *HTTP) allow() string {
	if s.ReadOnly {
		return "GET, HEAD"
	}
	return "GET, HEAD, PUT, POST"
}

// locked reports whether the request lacks a login that it requires.
func (s *HTTP) locked(req *http.Request) bool {
	if len(s.Users) == 0 {
		return false
	}
	needed := s.Protected == nil
	for _, prefix := range s.Protected {
		needed = needed || strings.HasPrefix(req.URL.Path, prefix)
	}
	user, pass, _ := req.BasicAuth()
	return needed && !allowed(s.Users, user, pass)
}
