// Package webtest has an HTTP server for tests. Package testserver has what all servers have in
// common.
package webtest

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"strings"

	"golang.org/x/net/http2"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/internal/build"
	"github.com/fetch1738/fetch1738/testserver/internal/core"
	"github.com/fetch1738/fetch1738/testserver/internal/tree"
	"github.com/fetch1738/fetch1738/testserver/traffic"
)

// Server is a server of HTTP/1.1 and HTTP/2: GET and HEAD with ranges and conditions, PUT that stores a file,
// POST that appends to one. A directory is shown as a page of links. /echo answers with the request
// as received, unless Content has an "echo". The transcript has the heads of requests and
// responses. Responses have no Date, so that transcripts can be compared.
//
// With TLS, clients choose the version by ALPN; without, a client that begins with the preface of
// HTTP/2 gets that (RFC 9113 §3.3). A transcript shows the heads of HTTP/2 in the form of HTTP/1.1,
// with the names of fields as HTTP/1.1 has them: "GET /a.txt HTTP/2", "HTTP/2 200". The faults of a
// connection act on that: Close, Truncate and Reset end all its streams. Silence, Delay and Drip
// hold one stream only. Reply sends an HTTP/1.1 response as one of HTTP/2; any other text goes to
// the connection as it is, which is then closed.
type Server struct {
	testserver.Server `json:"-"`

	// Handler, if not nil, answers the requests instead of the server. If it panics with
	// http.ErrAbortHandler, or writes less than the Content-Length that it has set, the connection is
	// closed. Without a Content-Length, the end of the connection is the end of the body. In HTTP/2
	// that is the stream, which is reset instead of closed.
	Handler http.Handler `json:"-"`
	// Users, if not empty, are the accounts for Basic authentication, which is then required.
	Users map[string]testserver.User `json:"-"`
	// Protected lists path prefixes that require a login. If nil, all paths require one.
	Protected []string
	// Realm is the realm of 401 responses; "" means "testserver".
	Realm string
	// Redirects maps paths, such as "/old", to their new locations.
	Redirects map[string]Redirect
	// ReadOnly means that PUT and POST are refused with 405.
	ReadOnly bool
	// NoRanges means that Range is ignored, as by simple servers.
	NoRanges bool
	// Collections means that MKCOL creates directories, and that PUT into one that does not exist is refused
	// with 409, as by servers of WebDAV.
	Collections bool
	// Ranges says how requests for a range are answered otherwise than usual.
	Ranges Ranges
	// MediaTypes maps suffixes such as ".txt" to media types. It has priority over the built-in
	// types.
	MediaTypes map[string]string
	// HTTP1 means that the server does not speak HTTP/2.
	HTTP1 bool
	// MaxStreams is the maximum number of streams of an HTTP/2 connection at a time; 0 means 100.
	// Further ones are refused with REFUSED_STREAM.
	MaxStreams int

	m *core.Machine
}

// Ranges says how requests for a range are answered.
type Ranges struct {
	As   string // as if they asked for this range, such as "bytes=0-"; "" means the one that they ask for
	Most int64  // with at most that many bytes; 0 means all of the range
	// Says is the text of Content-Range, in which {first}, {last} and {size} are the numbers of the
	// usual one; "" means the usual one.
	Says string
}

// Redirect is the response for a path that has moved.
type Redirect struct {
	// Location is sent unchanged, but "{query}" in it is the search part of the request, decoded: a
	// redirect to a server whose port is not known before.
	Location string
	Status   int // 0 means 302
}

// New starts an HTTP server that ends with the test.
func New(tb testserver.TB, configure ...func(*Server)) *Server {
	tb.Helper()
	return build.New(tb, Start, configure)
}

// Start starts an HTTP server on addr, such as "127.0.0.1:8080"; "" means a free loopback port. The
// server ends with ctx or by Close.
func Start(ctx context.Context, addr string, configure ...func(*Server)) (*Server, error) {
	s := new(Server)
	return build.Start(ctx, s, &table, configure, func(m *core.Machine) (build.Service, error) {
		s.m, s.Realm, s.MaxStreams = m, cmp.Or(s.Realm, "testserver"), cmp.Or(max(0, s.MaxStreams), defaultStreams)
		if s.TLS != nil && s.TLS.NextProtos == nil && !s.HTTP1 {
			s.TLS = s.TLS.Clone()
			s.TLS.NextProtos = []string{http2.NextProtoTLS, "http/1.1", "http/1.0"}
		}
		return build.Service{Scheme: "http", Port: 80, SecureScheme: "https", SecurePort: 443, Addr: addr, Serve: s.serve}, nil
	})
}

// On arms faults for the n-th occurrence of a stage from now on, counted from 1 over all
// connections; 0 means every occurrence. See package testserver.
func (s *Server) On(stage string, n int, faults ...Fault) {
	build.On(&s.Server, stage, n, faults)
}

const (
	maxHead        = 64 << 10                 // bytes of a request before its body
	prefaceHead    = "PRI * HTTP/2.0\r\n\r\n" // what the preface of HTTP/2 begins with
	defaultStreams = 100

	maxDrain = 1 << 20 // bytes of an unused body that are read to keep the connection
)

// serve answers the requests of a connection in order.
func (s *Server) serve(c *core.Client) {
	r := bufio.NewReaderSize(c, maxHead)
	if t, ok := c.Conn.(traffic.Secure); ok && t.ConnectionState().NegotiatedProtocol == http2.NextProtoTLS {
		s.serveHTTP2(c, r)
		return
	}
	for first := true; ; first = false {
		head, req, err := s.readRequest(c, r, first && !s.HTTP1)
		if errors.Is(err, errHTTP2) {
			s.serveHTTP2(c, r)
			return
		}
		if req == nil {
			if len(head) > 0 {
				_ = c.Answer(new(core.Faults), badRequest(err))
			}
			return
		}
		faults := c.At("REQUEST", req.Method, req.Method+" "+req.URL.EscapedPath())
		if !c.MayAnswer(faults) {
			return
		}
		if reply, ok := faults.Take(core.Reply); ok {
			_ = c.Answer(faults, reply.Text)
			return
		}
		if faults.Has(core.Octets) {
			if c.Answer(faults, "") != nil || discard(req.Body) != nil {
				return
			}
			continue
		}
		w := newResponse(plain{c}, c, req, faults)
		s.route(w, req, head)
		if !w.finish() || faults.Acts(core.Hangup) {
			return
		}
	}
}

// discard reads the body of a request that nobody asks for, so that the next request can follow.
func discard(body io.Reader) error {
	if n, err := io.CopyN(io.Discard, body, maxDrain+1); err != io.EOF || n > maxDrain {
		return errors.New("the body is too large")
	}
	return nil
}

// readRequest reads and records a request's head and leaves its body unread. If there is no valid
// request, it returns an error and the bytes received. With preface, it returns errHTTP2 if the
// client speaks HTTP/2, and leaves all in r.
func (s *Server) readRequest(c *core.Client, r *bufio.Reader, preface bool) (head []byte, req *http.Request, err error) {
	head, err = peekHead(r)
	if preface && string(head) == prefaceHead {
		return nil, nil, errHTTP2
	}
	if len(head) > 0 {
		_, _ = c.Received.Write(head)
		c.Received.End()
		head = bytes.Clone(head)
	}
	if err != nil {
		return head, nil, err
	}
	if req, err = http.ReadRequest(r); err != nil {
		return head, nil, err
	}
	return head, req.WithContext(s.m.Ctx()), nil
}

// handshakeRecord is the first byte from a client that starts TLS.
const handshakeRecord = 0x16

var (
	errHTTP2       = errors.New("this is the preface of HTTP/2")
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

// badRequest returns the response to a request that cannot be read because of err.
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
func (s *Server) route(w *response, req *http.Request, head []byte) {
	if s.Handler != nil {
		w.handle(s.Handler)
		return
	}
	name := tree.Clean(req.URL.Path)
	if r, ok := s.Redirects[req.URL.Path]; ok {
		query, _ := url.QueryUnescape(req.URL.RawQuery)
		r.Location = strings.ReplaceAll(r.Location, "{query}", query)
		w.redirect(r)
		return
	}
	if s.lacksLogin(req) {
		w.Header().Set("WWW-Authenticate", `Basic realm="`+s.Realm+`"`)
		w.text(http.StatusUnauthorized, "who are you?")
		return
	}
	w.user, w.tree = s.userOf(req)
	if _, err := w.tree.Stat(name); name == "echo" && errors.Is(err, fs.ErrNotExist) {
		s.echo(w, req, head)
		return
	}
	switch {
	case req.Method == http.MethodGet || req.Method == http.MethodHead:
		s.get(w, req, name)
	case req.Method == "MKCOL" && s.Collections && !s.ReadOnly:
		s.makeCollection(w, name)
	case s.ReadOnly || req.Method != http.MethodPut && req.Method != http.MethodPost:
		w.Header().Set("Allow", s.allow())
		w.text(http.StatusMethodNotAllowed, "not allowed")
	default:
		s.upload(w, req, name)
	}
}

// allow returns the methods that the server supports.
func (s *Server) allow() string {
	if s.ReadOnly {
		return "GET, HEAD"
	}
	return "GET, HEAD, PUT, POST"
}

// lacksLogin reports whether the request lacks a login that it requires.
func (s *Server) lacksLogin(req *http.Request) bool {
	if len(s.Users) == 0 {
		return false
	}
	needed := s.Protected == nil
	for _, prefix := range s.Protected {
		needed = needed || strings.HasPrefix(req.URL.Path, prefix)
	}
	name, pass, _ := req.BasicAuth()
	return needed && !build.Allowed(s.Users, name, pass)
}

// userOf returns the user whose login the request has, and the files that the user sees.
func (s *Server) userOf(req *http.Request) (testserver.User, *tree.Tree) {
	name, pass, _ := req.BasicAuth()
	if !build.Allowed(s.Users, name, pass) {
		return testserver.User{}, &s.m.Tree
	}
	u := s.Users[name]
	return u, s.m.TreeOf(name, u.Content)
}
