package fetchtest_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/wire"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver"
)

// mini is a Fetcher of a protocol invented for this test: the client sends
//
//	GET "user" "password" OFFSET LENGTH "name"
//
// and receives "200 doc SIZE LENGTH" or "200 dir …" and that many bytes, or another code. Or it
// sends PUT, with LENGTH bytes after the line, and receives "200". Names are in ftp URLs. With a
// flaw it does one thing wrong.
type mini struct {
	env  *driver.Env
	flaw string

	mu     sync.Mutex
	idle   map[string]*miniConn // by server and login
	closed bool
}

type miniConn struct {
	*wire.Conn
	lines *wire.LineReader
	key   string
	peer  fetch.Target
	used  bool
	trace *fetch.Trace
}

func (m *mini) Fetch(ctx context.Context, req *fetch.Request) (*fetch.Resource, error) {
	return m.do(ctx, req, nil)
}

func (m *mini) FindAttributes(ctx context.Context, req *fetch.Request) (*fetch.Attributes, error) {
	res, err := m.Fetch(ctx, req)
	if err != nil {
		return nil, err
	}
	res.Close()
	return &res.Attributes, nil
}

func (m *mini) Replace(ctx context.Context, req *fetch.Request, body io.Reader) (*fetch.Attributes, error) {
	data, err := io.ReadAll(body)
	if err != nil && m.flaw != "stores what it could read" {
		return nil, driver.Fail("PUT", req.Locator, fetch.ErrLocalIO, err)
	}
	res, err := m.do(ctx, req, data)
	if err != nil {
		return nil, err
	}
	res.Close()
	driver.ContextTrace(ctx).Body(int64(len(data)))
	return &fetch.Attributes{Size: -1}, nil
}

func (m *mini) Explain(req *fetch.Request) (*fetch.Explanation, error) {
	l := req.Locator.(*locator.FTP)
	if err := driver.CheckOctets(l); err != nil {
		return nil, err
	}
	var login locator.Login
	if l.Login != nil {
		login = *l.Login
	}
	if m.flaw != "explains the password" && login.Password != "" {
		login.Password = "****"
	}
	command := m.command(req, l, login, nil)
	if m.flaw == "explains another command" {
		command = "FETCH " + command
	}
	server, _ := locator.ServerOf(l)
	return &fetch.Explanation{Network: "tcp", Host: server.Host, Port: server.Port, Steps: []fetch.Step{{Send: command}}}, nil
}

// do fetches or, if data is not nil, stores.
func (m *mini) do(ctx context.Context, req *fetch.Request, data []byte) (*fetch.Resource, error) {
	l, ok := req.Locator.(*locator.FTP)
	if !ok {
		return nil, driver.Fail("GET", req.Locator, fetch.ErrUnsupported, errors.New("locator not supported"))
	}
	if _, err := driver.OptionsOf[struct{}](req); err != nil {
		return nil, err
	}
	if m.flaw != "sends any octet" {
		if err := driver.CheckOctets(l); err != nil {
			return nil, err
		}
	}
	switch m.flaw {
	case "modifies the request":
		req.Offset++
	case "logs":
		log.Print("fetching")
	case "asks for TLS in the clear":
		if _, err := m.env.TLSConfig(); err != nil {
			return nil, driver.Fail(fetch.OpTLS, l, fetch.ErrOther, err)
		}
	case "leaks a goroutine":
		go func() { <-make(chan int) }()
	case "is deaf to the context":
		ctx = fetch.WithTrace(context.Background(), driver.ContextTrace(ctx))
	}
	login := locator.Login{}
	if l.Login != nil {
		login = *l.Login
	}
	res, err := m.try(ctx, req, l, login, data)
	var fail *fetch.Error
	if errors.As(err, &fail) && fail.Kind == fetch.ErrUnauthenticated && !login.HasPassword {
		login, err = m.env.Login(ctx, fetch.Challenge{Locator: l, User: login.User})
		if strings.ContainsAny(login.User+login.Password, "\x00\r\n") && m.flaw != "sends any octet of a login" {
			err = driver.Fail("login", l, fetch.ErrBadURL, errors.New("a byte that ends a line"))
		}
		if err == nil {
			return m.try(ctx, req, l, login, data)
		}
	}
	switch {
	case err == nil && m.flaw == "takes a search for an empty document":
		res.Close()
		return &fetch.Resource{Locator: l, Kind: fetch.KindQuery, Body: http.NoBody}, nil
	case err == nil:
		return res, nil
	case m.flaw == "gives untyped errors":
		return nil, fmt.Errorf("mini: %w", err)
	case m.flaw == "shows the password in errors":
		return nil, &fetch.Error{Op: "GET", URL: l.Redacted(), Kind: fetch.KindOf(err), Err: fmt.Errorf("%s: %w", l, err)}
	}
	return nil, err
}

// try does one exchange; it repeats it once if a kept connection has broken.
func (m *mini) try(ctx context.Context, req *fetch.Request, l *locator.FTP, login locator.Login, data []byte) (*fetch.Resource, error) {
	for {
		c, err := m.connect(ctx, req, l, login)
		if err != nil {
			return nil, err
		}
		res, err := m.exchange(c, req, l, login, data)
		if err == nil {
			return res, nil
		}
		if data != nil && m.flaw == "believes in uploads" {
			c.Close()
			return &fetch.Resource{Body: http.NoBody}, nil
		}
		var fail *fetch.Error
		if errors.As(err, &fail) && fail.Code != 0 { // the connection can still be used
			m.keep(c)
			return nil, driver.Fail("GET", l, fetch.ErrOther, err)
		}
		if m.flaw != "leaks a connection" {
			c.Close()
		}
		if kind := fetch.KindOf(err); c.used && (kind == fetch.ErrConnectionFailed || kind == fetch.ErrTruncated) && m.flaw != "trusts dead sessions" {
			continue
		}
		return nil, driver.Fail("GET", l, fetch.ErrOther, err)
	}
}

func (m *mini) connect(ctx context.Context, req *fetch.Request, l *locator.FTP, login locator.Login) (*miniConn, error) {
	if m.flaw == "dials around Env" {
		return m.dialAround(ctx, l)
	}
	server, _ := locator.ServerOf(l)
	target := fetch.Target{Locator: l, From: req.From, Network: "tcp", Host: server.Host, Port: server.Port}
	key := fmt.Sprintf("%s:%d %q %q", server.Host, server.Port, login.User, login.Password)
	if m.flaw == "shares sessions between users" {
		key = fmt.Sprintf("%s:%d", server.Host, server.Port)
	}
	m.mu.Lock()
	c := m.idle[key]
	delete(m.idle, key)
	m.mu.Unlock()
	if c != nil {
		target.Addr = c.peer.Addr
		if m.flaw != "reuses without asking" {
			if err := m.env.Permit(ctx, target); err != nil {
				c.Close()
				return nil, err
			}
		}
		c.trace = driver.ContextTrace(ctx)
		c.trace.Reused(fetch.Connection{Network: "tcp", Host: server.Host})
		c.SetContext(ctx)
		c.used = true
		return c, nil
	}
	if m.flaw == "dials on in spite of a cancel" {
		ctx = context.WithoutCancel(ctx)
	}
	conn, err := m.env.Connect(ctx, target)
	if err != nil {
		return nil, err
	}
	target.Addr = conn.RemoteAddr().(*net.TCPAddr).AddrPort()
	return m.conn(ctx, conn, key, target), nil
}

func (m *mini) conn(ctx context.Context, conn net.Conn, key string, t fetch.Target) *miniConn {
	limits := m.env.Limits
	switch m.flaw {
	case "waits for ever":
		limits.Reply = 0
	case "reads endless lines":
		limits.Line = 0
	}
	c := &miniConn{Conn: wire.NewConn(ctx, conn, limits.Reply), key: key, peer: t, trace: driver.ContextTrace(ctx)}
	c.lines = wire.NewLineReader(c.Conn, limits.Line)
	return c
}

func (m *mini) dialAround(ctx context.Context, l *locator.FTP) (*miniConn, error) {
	conn, err := miniNet.Dial(ctx, "tcp", "127.0.0.1:21")
	if err != nil {
		return nil, driver.Fail("connect", l, fetch.ErrOther, err)
	}
	return m.conn(ctx, conn, "", fetch.Target{}), nil
}

var miniNet *testserver.Network // the last server in memory, for the flaw "dials around Env"

func (m *mini) exchange(c *miniConn, req *fetch.Request, l *locator.FTP, login locator.Login, data []byte) (*fetch.Resource, error) {
	if _, err := io.WriteString(c, m.command(req, l, login, data)+string(data)); err != nil {
		return nil, err
	}
	if login.Password != "" && m.flaw != "shows the password in the trace" {
		login.Password = "****"
	}
	c.trace.Sent([]byte(m.command(req, l, login, data)))
	line, err := c.lines.ReadLine()
	if err != nil {
		if errors.Is(err, wire.ErrLineTooLong) {
			return nil, driver.Fail("GET", l, fetch.ErrProtocol, err)
		}
		return nil, err
	}
	c.trace.Received(line)
	var code int
	var kind string
	var size, length int64
	if n, err := fmt.Sscanf(string(line), "%d %s %d %d\r\n", &code, &kind, &size, &length); n < 1 || code == 200 && (err != nil || length < 0 || length > size) {
		return nil, &fetch.Error{Kind: fetch.ErrProtocol, Reply: string(line)}
	}
	if code != 200 {
		return nil, m.refusal(code, string(wire.TrimEOL(line)))
	}
	if m.flaw != "waits for a body for ever" {
		c.SetTimeout(m.env.Limits.Idle)
	} else {
		c.SetTimeout(0)
	}
	if m.flaw == "reads on in spite of a cancel" {
		c.SetContext(context.Background())
	}
	body := &miniBody{m: m, c: c, l: l, left: length, last: time.Now()}
	res := &fetch.Resource{Locator: l, Body: body, Peer: c.peer.Addr, Attributes: fetch.Attributes{Size: size}}
	if m.flaw == "guesses the size" {
		res.Size = length / 2
	}
	if kind == "dir" {
		res.Kind, res.Size = fetch.KindDirectory, -1
		res.Items = body.items
	}
	return res, nil
}

func (m *mini) command(req *fetch.Request, l *locator.FTP, login locator.Login, data []byte) string {
	verb, length := "GET", req.Length
	if data != nil {
		verb, length = "PUT", int64(len(data))
	}
	offset := req.Offset
	if m.flaw == "ignores the offset" {
		offset = 0
	}
	name := path.Join(path.Join(l.CWD...), l.Name)
	return fmt.Sprintf("%s %q %q %d %d %q\r\n", verb, login.User, login.Password, offset, length, name)
}

func (m *mini) refusal(code int, reply string) error {
	kinds := map[int]fetch.ErrorKind{401: fetch.ErrUnauthenticated, 403: fetch.ErrPermission, 404: fetch.ErrNotFound, 416: fetch.ErrBadRange}
	if m.flaw == "calls everything missing" {
		kinds[403] = fetch.ErrNotFound
	}
	kind, ok := kinds[code]
	if !ok {
		kind = fetch.ErrProtocol
	}
	_, text, _ := strings.Cut(reply, " ")
	return &fetch.Error{Kind: kind, Code: code, Reply: text}
}

// keep makes a connection available to the next fetch.
func (m *mini) keep(c *miniConn) {
	c.SetContext(context.Background())
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed || m.idle[c.key] != nil {
		c.Close()
		return
	}
	if m.idle == nil {
		m.idle = make(map[string]*miniConn)
	}
	m.idle[c.key] = c
}

func (m *mini) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	for _, c := range m.idle {
		c.Close()
	}
	m.idle = nil
	return nil
}

type miniBody struct {
	m    *mini
	c    *miniConn // nil once it was returned
	l    *locator.FTP
	left int64
	last time.Time // time of the last Read
	err  error
}

func (b *miniBody) Read(p []byte) (int, error) {
	if b.err == nil && b.left == 0 {
		b.finish(io.EOF)
	}
	if b.err != nil || len(p) == 0 {
		return 0, b.err
	}
	if b.m.flaw == "times the reader" && time.Since(b.last) > b.m.env.Limits.Idle {
		b.finish(driver.Fail("GET", b.l, fetch.ErrTimeout, nil))
		return 0, b.err
	}
	b.last = time.Now()
	if err := b.c.Arm(); err != nil { // what is buffered must not be read after the context has ended
		b.finish(driver.Fail("GET", b.l, fetch.ErrOther, err))
		return 0, b.err
	}
	n, err := b.c.lines.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	if b.m.flaw == "changes octets" {
		for i := range p[:n] {
			if p[i] == '\r' {
				p[i] = '\n'
			}
		}
	}
	if b.m.flaw != "does not tell of the body" {
		b.c.trace.Took(p[:n])
	}
	if err == io.EOF && b.m.flaw != "takes a cut for the end" {
		err = driver.Fail("GET", b.l, fetch.ErrTruncated, io.ErrUnexpectedEOF)
	} else if err != nil && err != io.EOF {
		err = driver.Fail("GET", b.l, fetch.ErrOther, err)
	}
	if err != nil {
		b.finish(err)
	}
	return n, err
}

func (b *miniBody) finish(err error) {
	b.err = err
	if b.c != nil {
		if b.left == 0 && err == io.EOF || b.m.flaw == "keeps half-read sessions" {
			b.m.keep(b.c)
		} else if b.m.flaw != "leaks a connection" {
			b.c.Close()
		}
		b.c = nil
	}
}

func (b *miniBody) Close() error {
	switch {
	case b.m.flaw == "can be read after Close":
		return nil
	case b.err == nil && b.left == 0:
		b.finish(io.EOF)
	case b.err == nil:
		b.finish(driver.Fail("GET", b.l, fetch.ErrLocalIO, fs.ErrClosed))
	}
	return nil
}

func (b *miniBody) items(yield func(fetch.Item, error) bool) {
	var whole io.Reader = b
	if b.m.flaw != "lists while it goes" {
		whole = wire.ReadAhead(context.Background(), b, false)
	}
	lines := bufio.NewReader(whole)
	for n := 0; ; n++ {
		line, err := lines.ReadString('\n')
		if err == io.EOF {
			return
		}
		if max := b.m.env.Limits.Items; err == nil && max > 0 && n == max && b.m.flaw != "lists more than it may" {
			err = driver.Fail("GET", b.l, fetch.ErrTooLarge, nil)
		}
		if err != nil {
			if b.m.flaw != "hides that a listing is cut" {
				yield(fetch.Item{}, err)
			}
			return
		}
		name, dir := strings.CutSuffix(strings.TrimSuffix(line, "\n"), "/")
		c := *b.l
		c.CWD, c.Name = slices.Concat(c.CWD, []string{c.Name}), name
		item := fetch.Item{Name: name, Locator: &c, Attributes: fetch.Attributes{Size: -1}}
		if dir {
			item.Kind = fetch.KindDirectory
		}
		if !yield(item, nil) {
			return
		}
	}
}
