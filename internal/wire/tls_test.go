package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// TestStartTLS: a server that sends slowly or not at all cannot extend a handshake beyond the
// limits and the context. The error is then theirs.
func TestStartTLS(t *testing.T) {
	for name, tt := range map[string]struct {
		every  time.Duration // between the server's bytes; 0 sends none
		cancel time.Duration // of the caller
		limits []time.Duration
		took   time.Duration
		err    error
	}{
		"dripping":             {every: 200 * time.Millisecond, limits: []time.Duration{8 * time.Second}, took: 8 * time.Second, err: context.DeadlineExceeded},
		"silent":               {limits: []time.Duration{0, 9 * time.Second, 30 * time.Second}, took: 9 * time.Second, err: context.DeadlineExceeded},
		"given up":             {every: time.Second, cancel: 3 * time.Second, limits: []time.Duration{8 * time.Second}, took: 3 * time.Second, err: context.Canceled},
		"a deadline of before": {every: time.Second, limits: []time.Duration{2 * time.Second}, took: 2 * time.Second, err: context.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				here, there := net.Pipe()
				defer there.Close()
				if name == "a deadline of before" {
					here.SetDeadline(time.Now().Add(time.Second))
				}
				go io.Copy(io.Discard, there)
				done := make(chan struct{})
				defer func() { <-done }()
				go func() {
					defer close(done)
					if tt.every > 0 {
						drip(there, tt.every)
					}
				}()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if tt.cancel > 0 {
					time.AfterFunc(tt.cancel, cancel)
				}
				start := time.Now()
				_, err := StartTLS(ctx, here, with(new(tls.Config)), "h.example", tt.limits...)
				if took := time.Since(start); !errors.Is(err, tt.err) || took != tt.took {
					t.Errorf("%v after %v, want %v after %v", err, took, tt.err, tt.took)
				}
				if _, err := here.Write([]byte{0}); !errors.Is(err, io.ErrClosedPipe) {
					t.Errorf("the connection is open: %v", err)
				}
			})
		})
	}
}

// Without settings there is no handshake, and the connection is closed.
func TestStartTLSSettings(t *testing.T) {
	here, there := net.Pipe()
	defer there.Close()
	unreadable := errors.New("unreadable")
	c, err := StartTLS(t.Context(), here, func() (*tls.Config, error) { return nil, unreadable }, "h.example")
	if c != nil || !errors.Is(err, unreadable) {
		t.Errorf("%v, %v", c, err)
	}
	if _, err := there.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the connection is open, or something was said: %v", err)
	}
}

func with(config *tls.Config) func() (*tls.Config, error) {
	return func() (*tls.Config, error) { return config, nil }
}

// drip sends a TLS record, byte by byte, that would take hours.
func drip(w io.Writer, every time.Duration) {
	record := append([]byte{0x16, 3, 3, 0x40, 0}, make([]byte, 0x4000)...)
	for i := range record {
		if _, err := w.Write(record[i : i+1]); err != nil {
			return
		}
		time.Sleep(every)
	}
}

// The server's name is the host unless the configuration has another.
func TestStartTLSName(t *testing.T) {
	for _, config := range []*tls.Config{{}, {ServerName: "other.example"}} {
		synctest.Test(t, func(t *testing.T) {
			here, there := net.Pipe()
			defer there.Close()
			named := make(chan string, 1)
			go tls.Server(there, &tls.Config{GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
				named <- hello.ServerName
				return nil, io.EOF
			}}).Handshake()
			want := "h.example"
			if config.ServerName != "" {
				want = config.ServerName
			}
			_, err := StartTLS(t.Context(), here, with(config), "h.example")
			if got := <-named; err == nil || got != want {
				t.Errorf("%q, %v; want %q", got, err, want)
			}
		})
	}
}
