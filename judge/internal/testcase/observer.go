package testcase

import (
	"bytes"
	"context"
	"io"
	"net"
	"sync"
)

// observer is a listener that a client should not reach, or not with what is secret: it records
// what it receives.
type observer struct {
	net.Listener
	about string // what it must not receive, for the message
	says  string // what it sends at once

	mu   sync.Mutex
	got  bytes.Buffer
	open map[net.Conn]bool
}

// Another is the address of another host. All of 127.0.0.0/8 is this host, on Linux and Windows.
const Another = "127.0.0.2"

// observe starts an observer at an address.
func observe(ctx context.Context, addr, says, about string) *observer {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	Check(err)
	o := &observer{Listener: l, about: about, says: says, open: make(map[net.Conn]bool)}
	go o.accept()
	return o
}

func (o *observer) accept() {
	for {
		nc, err := o.Accept()
		if err != nil {
			return
		}
		o.mu.Lock()
		o.open[nc] = true
		o.mu.Unlock()
		go o.receive(nc)
	}
}

// receive sends what the observer says, and records at most a mebibyte of what comes.
func (o *observer) receive(nc net.Conn) {
	_, _ = io.WriteString(nc, o.says)
	if half, ok := nc.(*net.TCPConn); ok && o.says != "" {
		_ = half.CloseWrite()
	}
	buf := make([]byte, 4096)
	for total := 0; total < 1<<20; {
		n, err := nc.Read(buf)
		o.mu.Lock()
		o.got.Write(buf[:n])
		o.mu.Unlock()
		if total += n; err != nil {
			break
		}
	}
	_ = nc.Close()
}

// received returns what was recorded.
func (o *observer) received() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	return bytes.Clone(o.got.Bytes())
}

func (o *observer) close() {
	_ = o.Listener.Close()
	o.mu.Lock()
	defer o.mu.Unlock()
	for nc := range o.open {
		_ = nc.Close()
	}
}
