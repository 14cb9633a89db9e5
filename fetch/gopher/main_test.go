package gopher

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/memnet"
	"github.com/fetch1738/fetch1738/locator"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// parse is a URL as a user may type it.
func parse(t testing.TB, url string) *locator.Gopher {
	t.Helper()
	ref, err := locator.Parser{Tolerate: locator.TolerateAll}.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	return ref.Locator.(*locator.Gopher)
}

// recorded is a trace: what was sent to a server, and its answer.
func recorded(t testing.TB, server, name string) (request, answer []byte) {
	t.Helper()
	path := filepath.Join("testdata", "traces", server, name)
	request, err := os.ReadFile(path + ".c2s")
	if err != nil {
		t.Fatal(err)
	}
	if answer, err = os.ReadFile(path + ".s2c"); err != nil {
		t.Fatal(err)
	}
	return request, answer
}

// answering is an Env whose every connection leads to a server that reads one
// request and sends the answer. The requests are sent to the channel, if it is
// not nil.
func answering(answer []byte, requests chan<- []byte) *fetch.Env {
	return serving(func(c net.Conn) {
		request := make([]byte, 4096)
		n, _ := c.Read(request)
		if requests != nil {
			requests <- bytes.Clone(request[:n])
		}
		c.Write(answer)
	})
}

// serving is an Env whose every connection leads to serve and is closed after it.
func serving(serve func(c net.Conn)) *fetch.Env {
	network := new(memnet.Network)
	return &fetch.Env{Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		l, err := network.Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		go func() {
			defer l.Close()
			if c, err := l.Accept(); err == nil {
				defer c.Close()
				serve(c)
			}
		}()
		return network.Dial(ctx, "tcp", l.Addr().String())
	}}
}

// get fetches and reads to the end. An error of the Body comes with what came
// before it.
func get(t testing.TB, env *fetch.Env, req *fetch.Request) (*fetch.Resource, string, error) {
	t.Helper()
	res, err := (&Fetcher{Env: env}).Fetch(t.Context(), req)
	if err != nil {
		return nil, "", err
	}
	defer res.Close()
	octets, err := io.ReadAll(res.Body)
	return res, string(octets), err
}

// accessOf is an access to an item and nothing more.
func accessOf(l *locator.Gopher) *access { return &access{loc: l, host: l.Host} }
