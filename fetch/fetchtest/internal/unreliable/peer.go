package unreliable

import (
	"context"
	"net"
	"strings"
	"sync/atomic"
	"syscall"
)

// Script is what a hostile peer does with a connection.
type Script func(c net.Conn)

// Peer returns a dial that connects to a script. What the client sends is discarded.
func Peer(s Script) DialFunc {
	return func(context.Context, string, string) (net.Conn, error) {
		here, there := net.Pipe()
		go func() {
			buf := make([]byte, 4096)
			for {
				if _, err := there.Read(buf); err != nil {
					return
				}
			}
		}()
		go s(there)
		return here, nil
	}
}

// SayNothing sends nothing.
func SayNothing(net.Conn) {}

// Say sends a text and closes.
func Say(text string) Script {
	return func(c net.Conn) {
		if text != "" { // a write of nothing to a pipe waits for a reader
			c.Write([]byte(text))
		}
		c.Close()
	}
}

// enough is the number of bytes after which a peer that sends without end stops.
const enough = 4 << 20

// SayForever sends a text again and again, and counts the bytes.
func SayForever(text string, said *atomic.Int64) Script {
	chunk := []byte(strings.Repeat(text, 4096/len(text)+1))
	return func(c net.Conn) {
		defer c.Close()
		for said.Load() < enough {
			n, err := c.Write(chunk)
			said.Add(int64(n))
			if err != nil {
				return
			}
		}
	}
}

// Refuse is a dial that fails at once.
func Refuse(context.Context, string, string) (net.Conn, error) {
	return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
}

// NoAnswer is a dial that never answers.
func NoAnswer(ctx context.Context, _, _ string) (net.Conn, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}
