package traffic

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Recorder records the connections of servers whose field Recorder it is. Its methods may be called
// concurrently, also those of a nil Recorder, which records nothing.
type Recorder struct {
	mu    sync.Mutex
	w     io.Writer
	start time.Time
	conns int
	err   error
}

// NewRecorder returns a Recorder that writes each event to w with one call as it happens. The caller
// closes w after the servers.
func NewRecorder(w io.Writer) *Recorder { return &Recorder{w: w, start: time.Now()} }

// Err returns the first error of writing. After it, nothing more is recorded.
func (r *Recorder) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// add writes an event, with the time since the start.
func (r *Recorder) add(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.addLocked(e)
}

// addLocked is add with mu held.
func (r *Recorder) addLocked(e Event) {
	if r.err != nil {
		return
	}
	e.T = Duration(time.Since(r.start))
	line, err := json.Marshal(e)
	if err == nil {
		_, err = r.w.Write(append(line, '\n'))
	}
	r.err = err
}

// Started records that a server has started.
func (r *Recorder) Started(url, addr string) {
	if r != nil {
		r.add(Event{Event: Listen, URL: url, Addr: addr})
	}
}

// Accepted returns nc, which a server has accepted, so that what goes over it is recorded. If of is not
// nil, nc is a data connection of it.
func (r *Recorder) Accepted(nc, of net.Conn) net.Conn {
	if r == nil {
		return nc
	}
	if c, ok := nc.(*conn); ok { // accepted at a port that is not only for data
		r.add(Event{Conn: c.id, Event: Data, Of: number(of)})
		return nc
	}
	return r.record(nc, Event{Event: Open, Addr: nc.LocalAddr().String(), Of: number(of)})
}

// Connected is Accepted for a connection that the server has opened.
func (r *Recorder) Connected(nc, of net.Conn) net.Conn {
	if r == nil {
		return nc
	}
	return r.record(nc, Event{Event: Connect, Addr: nc.RemoteAddr().String(), Of: number(of)})
}

// record numbers a connection and writes its first event.
func (r *Recorder) record(nc net.Conn, e Event) net.Conn {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.conns++
	e.Conn = r.conns
	r.addLocked(e)
	return &conn{Conn: nc, r: r, id: e.Conn}
}

// number returns the number of a connection, which may use TLS, or 0.
func number(nc net.Conn) int {
	switch c := nc.(type) {
	case *conn:
		return c.id
	case *secure:
		return c.below.id
	}
	return 0
}

// conn is a connection that is recorded.
type conn struct {
	net.Conn
	r      *Recorder
	id     int
	abort  atomic.Bool // Close resets
	secure atomic.Bool // octets are recorded above TLS
	eof    sync.Once
	shut   sync.Once
	closed sync.Once
}

func (c *conn) add(kind Kind, octets []byte) {
	c.r.add(Event{Conn: c.id, Event: kind, Octets: octets})
}

// received records what Read of a connection has returned.
func (c *conn) received(octets []byte, err error) {
	if len(octets) > 0 {
		c.add(Client, octets)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		c.eof.Do(func() { c.add(EOF, nil) })
	}
}

func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if !c.secure.Load() {
		c.received(p[:n], err)
	}
	return n, err
}

func (c *conn) Write(p []byte) (int, error) {
	if c.secure.Load() {
		return c.Conn.Write(p)
	}
	return c.send(c.Conn, p)
}

// send writes p to nc, and records it.
func (c *conn) send(nc net.Conn, p []byte) (int, error) {
	if len(p) > 0 {
		c.add(Server, p)
	}
	n, err := nc.Write(p)
	if n < len(p) {
		c.r.add(Event{Conn: c.id, Event: Cut, Lost: len(p) - n})
	}
	return n, err
}

func (c *conn) CloseWrite() error {
	half, ok := c.Conn.(interface{ CloseWrite() error })
	if !ok {
		return errors.ErrUnsupported
	}
	c.shut.Do(func() { c.add(Shut, nil) })
	return half.CloseWrite()
}

func (c *conn) SetLinger(sec int) error {
	l, ok := c.Conn.(interface{ SetLinger(sec int) error })
	if !ok {
		return errors.ErrUnsupported
	}
	c.abort.Store(sec == 0)
	return l.SetLinger(sec)
}

// SyscallConn implements syscall.Conn. What it returns has no other methods: by those, package os would
// send files past Write.
func (c *conn) SyscallConn() (syscall.RawConn, error) {
	s, ok := c.Conn.(syscall.Conn)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	raw, err := s.SyscallConn()
	return struct{ syscall.RawConn }{raw}, err
}

func (c *conn) Close() error {
	c.closed.Do(func() {
		if c.abort.Load() {
			c.add(Reset, nil)
		} else {
			c.add(Close, nil)
		}
	})
	return c.Conn.Close()
}

// Secure is a connection that uses TLS.
type Secure interface {
	net.Conn
	CloseWrite() error
	ConnectionState() tls.ConnectionState
	NetConn() net.Conn
}

// StartTLS starts TLS on nc, as the server. If nc is recorded, so is what TLS carries.
func StartTLS(ctx context.Context, nc net.Conn, config *tls.Config) (Secure, error) {
	t := tls.Server(nc, config)
	c, recorded := nc.(*conn)
	if recorded {
		c.add(TLS, certificate(config))
		c.secure.Store(true)
	}
	if err := t.HandshakeContext(ctx); err != nil {
		return nil, err
	}
	if !recorded {
		return t, nil
	}
	return &secure{Conn: t, below: c}, nil
}

// certificate returns the first certificate of config with its key, in PEM.
func certificate(config *tls.Config) (text []byte) {
	if len(config.Certificates) == 0 {
		return nil
	}
	first := config.Certificates[0]
	for _, der := range first.Certificate {
		text = append(text, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})...)
	}
	key, err := x509.MarshalPKCS8PrivateKey(first.PrivateKey)
	if err != nil {
		return nil
	}
	return append(text, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})...)
}

// secure is a connection with TLS that is recorded.
type secure struct {
	*tls.Conn
	below  *conn
	closed sync.Once
}

func (s *secure) Read(p []byte) (int, error) {
	n, err := s.Conn.Read(p)
	s.below.received(p[:n], err)
	return n, err
}

func (s *secure) Write(p []byte) (int, error) { return s.below.send(s.Conn, p) }

func (s *secure) CloseWrite() error {
	s.closed.Do(func() { s.below.add(Notify, nil) })
	return s.Conn.CloseWrite()
}

func (s *secure) Close() error {
	s.closed.Do(func() { s.below.add(Notify, nil) })
	return s.Conn.Close()
}
