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
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver/memnet"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// parse parses a URL as a user may type it.
func parse(t testing.TB, url string) *locator.Gopher {
	t.Helper()
	ref, err := locator.Parser{Tolerate: locator.TolerateAll}.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	return ref.Locator.(*locator.Gopher)
}

// recorded returns a recorded trace: the request to a server, and its answer.
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

// answering returns an Env whose connections all lead to a server that reads one request and sends
// the answer. If requests is not nil, it receives the requests.
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

// serving returns an Env whose connections are all served by serve, and then closed.
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

// get fetches and reads to the end. If the Body fails, it returns the error and what was read
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

// accessOf returns an access to an item, without any options.
func accessOf(l *locator.Gopher) *access { return &access{loc: l, host: l.Host} }
