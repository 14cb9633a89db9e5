package fetch1738_test

import (
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/testserver"
)

// A walk that fetches the entries of a listing while it ranges over it keeps no connection for each
// level. Only listings that are too long to be read ahead do.
func TestWalk(t *testing.T) {
	const levels = 12
	tree := make(fstest.MapFS)
	path := ""
	for range levels {
		path += "pub/"
		tree[path+"a.txt"] = &fstest.MapFile{Data: []byte("text\n")}
	}
	ftp := testserver.NewFTP(t, func(s *testserver.FTP) { s.Content = tree })
	gopher := testserver.NewGopher(t, func(s *testserver.Gopher) { s.Content = tree })
	for _, root := range []string{ftp.URL + "/", gopher.URL + "/1/"} {
		var open openConnections
		r := fetch1738.Resolver{Env: fetch.Env{Dial: open.dial}}
		documents := walk(t, &r, root)
		if documents != levels {
			t.Errorf("%s: %d documents, want %d", root, documents, levels)
		}
		r.Close()
		// One control connection, and one data connection.
		if open.most > 2 || open.now > 0 {
			t.Errorf("%s: %d connections at once, %d at the end", root, open.most, open.now)
		}
	}
	sessions := 0
	for _, line := range ftp.Transcript() {
		sessions = max(sessions, line.Conn)
	}
	if sessions != 1 {
		t.Errorf("%d control connections", sessions)
	}
}

// walk is the walk that most programs would write.
func walk(t *testing.T, r *fetch1738.Resolver, url string) (documents int) {
	res, err := r.Get(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Close()
	if res.Items == nil {
		if text, err := io.ReadAll(res.Body); strings.TrimSpace(string(text)) != "text" || err != nil {
			t.Errorf("%s: %q, %v", url, text, err)
		}
		return 1
	}
	for item, err := range res.Items {
		if err != nil {
			t.Fatal(err)
		}
		documents += walk(t, r, item.Locator.String())
	}
	return documents
}

// openConnections counts open connections.
type openConnections struct {
	mu        sync.Mutex
	now, most int
}

func (o *openConnections) dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := (&net.Dialer{ControlContext: fetch.DialControl}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	o.count(1)
	return &openConnection{Conn: c, end: sync.OnceFunc(func() { o.count(-1) })}, nil
}

func (o *openConnections) count(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.now += n
	o.most = max(o.most, o.now)
}

type openConnection struct {
	net.Conn
	end func()
}

func (c *openConnection) Close() error {
	c.end()
	return c.Conn.Close()
}
