package testserver

import (
	"bufio"
	"context"
	"io"
	"strings"
)

// Finger is a server of RFC 1288. The users are the files of Content. For any other user the
// response is a text that says so, because the protocol has no errors.
type Finger struct{ Server }

// NewFinger starts a finger server that ends with the test.
func NewFinger(tb TB, configure ...func(*Finger)) *Finger {
	tb.Helper()
	s, err := StartFinger(context.Background(), "", configure...)
	if err != nil {
		tb.Fatalf("%v", err)
	}
	s.endWith(tb)
	return s
}

// StartFinger starts a finger server on addr; "" means a free loopback port. It runs until ctx is
// done or Close is called.
func StartFinger(ctx context.Context, addr string, configure ...func(*Finger)) (*Finger, error) {
	s := new(Finger)
	s.faults.server, s.faults.known = "Finger", streaming()
	for _, f := range configure {
		f(s)
	}
	if err := s.start(ctx, "finger", 79, addr, s.serve); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Finger) serve(c *conn) {
	line, err := bufio.NewReaderSize(c, maxRequest).ReadSlice('\n')
	if err != nil {
		return
	}
	c.quote(line)
	user := strings.TrimRight(string(line), "\r\n")
	if file, _, err := s.tree.open(clean(user)); err == nil {
		defer file.Close()
		_, _ = io.Copy(c.body(), file)
		return
	}
	_, _ = io.WriteString(c, "Login: "+user+"\r\nno such user\r\n")
}
