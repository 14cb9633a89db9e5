package scene

import (
	"bytes"
	"io"
	"net"
	"sync"
)

// spy is a listener that should not be reached, or not by what is secret: it keeps what it hears.
type spy struct {
	net.Listener
	about string // what it must not hear, for the message
	says  string // what it sends at once

	mu   sync.Mutex
	got  bytes.Buffer
	open map[net.Conn]bool
}

// Another is the address of another host. All of 127.0.0.0/8 is this host, on Linux and Windows.
const Another = "127.0.0.2"

// SpyAt starts a spy at an address, such as "127.0.0.2:0".
func (s *Stage) SpyAt(addr, says, about string) *spy {
	l, err := new(net.ListenConfig).Listen(s.Ctx, "tcp", addr)
	s.Check(err)
	spy := &spy{Listener: l, about: about, says: says, open: make(map[net.Conn]bool)}
	s.spies = append(s.spies, spy)
	go spy.accept()
	return spy
}

// Port returns the port of the spy.
func (y *spy) Port() int { return y.Addr().(*net.TCPAddr).Port }

func (y *spy) accept() {
	for {
		nc, err := y.Accept()
		if err != nil {
			return
		}
		y.mu.Lock()
		y.open[nc] = true
		y.mu.Unlock()
		go y.hear(nc)
	}
}

// hear sends what the spy says, and keeps at most a mebibyte of what comes.
func (y *spy) hear(nc net.Conn) {
	_, _ = io.WriteString(nc, y.says)
	if half, ok := nc.(*net.TCPConn); ok && y.says != "" {
		_ = half.CloseWrite()
	}
	buf := make([]byte, 4096)
	for total := 0; total < 1<<20; {
		n, err := nc.Read(buf)
		y.mu.Lock()
		y.got.Write(buf[:n])
		y.mu.Unlock()
		if total += n; err != nil {
			break
		}
	}
	_ = nc.Close()
}

// heard returns what the spy has heard.
func (y *spy) heard() []byte {
	y.mu.Lock()
	defer y.mu.Unlock()
	return bytes.Clone(y.got.Bytes())
}

func (y *spy) close() {
	_ = y.Listener.Close()
	y.mu.Lock()
	defer y.mu.Unlock()
	for nc := range y.open {
		_ = nc.Close()
	}
}
