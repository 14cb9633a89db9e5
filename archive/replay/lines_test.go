package replay_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/archive"
	"github.com/fetch1738/fetch1738/archive/replay"
	"github.com/fetch1738/fetch1738/archive/warc"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver"
)

// A past is servers by "host:port", what was recorded of them, and a Replay of that.
type past struct {
	t       testing.TB
	servers map[string]*testserver.Server
	file    string
	writer  *warc.Writer
	live    *fetch1738.Resolver
	replay  *replay.Replay
	again   *fetch1738.Resolver
}

func newPast(t testing.TB, servers map[string]*testserver.Server) *past {
	p := &past{t: t, servers: servers, file: filepath.Join(t.TempDir(), "past.warc")}
	var err error
	if p.writer, err = warc.CreateFile(p.file, warc.Options{}); err != nil {
		t.Fatal(err)
	}
	p.live = &fetch1738.Resolver{
		Recorder: (&archive.Recorder{Writer: p.writer}).Record,
		Env: fetch.Env{
			NewsServer: "news.example.org",
			Allow:      func(context.Context, fetch.Target) error { return nil },
			Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
				target, _ := fetch.ContextTarget(ctx)
				if server, _ := locator.ServerOf(target.Locator); target.Purpose == fetch.PurposeData {
					return servers[fmt.Sprintf("%s:%d", server.Host, server.Port)].Dial(ctx, network, address)
				}
				s := servers[address]
				if s == nil {
					return nil, fmt.Errorf("there is no server at %s", address)
				}
				return s.Dial(ctx, network, s.Addr)
			},
		},
	}
	t.Cleanup(func() { p.live.Close() })
	return p
}

// begin ends the recording and begins the Replay.
func (p *past) begin() *fetch1738.Resolver {
	p.t.Helper()
	if err := p.writer.Close(); err != nil {
		p.t.Fatal(err)
	}
	a, err := archive.Open(p.t.Context(), p.file)
	if err != nil {
		p.t.Fatal(err)
	}
	if p.replay, err = replay.New(a, time.Time{}); err != nil {
		p.t.Fatal(err)
	}
	p.again = p.replay.Resolver()
	p.t.Cleanup(func() { p.again.Close(); p.replay.Close(); a.Close() })
	return p.again
}

// damage replaces text in the closed file by another one of the same length.
func (p *past) damage(old, new string) {
	p.t.Helper()
	if err := p.writer.Close(); err != nil {
		p.t.Fatal(err)
	}
	octets, err := os.ReadFile(p.file)
	if err != nil || !bytes.Contains(octets, []byte(old)) {
		p.t.Fatalf("%q is not there: %v", old, err)
	}
	if err := os.WriteFile(p.file, bytes.ReplaceAll(octets, []byte(old), []byte(new)), 0o666); err != nil {
		p.t.Fatal(err)
	}
}

// fails fetches a URL that must not be read to a clean end.
func fails(t testing.TB, r *fetch1738.Resolver, url string) (body []byte, err error) {
	t.Helper()
	res, err := r.Get(t.Context(), url)
	if err != nil {
		return nil, err
	}
	defer res.Close()
	if body, err = io.ReadAll(res.Body); err == nil {
		t.Errorf("%s ends without an error after %d octets", url, len(body))
	}
	return body, err
}

// A page is what a Resolver returns for a URL.
type page struct {
	kind  fetch.Kind
	body  []byte
	items []string
}

// get fetches a URL, and a second time for its items.
func get(t testing.TB, r *fetch1738.Resolver, url string) page {
	t.Helper()
	res, err := r.Get(t.Context(), url)
	if err != nil {
		t.Fatalf("%s: %v", url, err)
	}
	defer res.Close()
	p := page{kind: res.Kind}
	if res.Kind == fetch.KindQuery || res.Kind == fetch.KindAdvice {
		return p
	}
	if p.body, err = io.ReadAll(res.Body); err != nil {
		t.Fatalf("%s: %v", url, err)
	}
	if res.Items == nil {
		return p
	}
	second, err := r.Get(t.Context(), url)
	if err != nil {
		t.Fatalf("%s: %v", url, err)
	}
	defer second.Close()
	for item, err := range second.Items {
		if err != nil {
			t.Fatalf("%s: %v", url, err)
		}
		text := item.Name
		if item.Locator != nil {
			text += " " + item.Locator.String()
		}
		p.items = append(p.items, text)
	}
	return p
}

// same compares what a Replay returns with what was recorded.
func (p *past) same(before map[string]page) {
	p.t.Helper()
	for url, want := range before {
		got := get(p.t, p.again, url)
		if got.kind != want.kind || !bytes.Equal(got.body, want.body) || !slices.Equal(got.items, want.items) {
			p.t.Errorf("%s: the replay has %v, %.300q, %.300q\nrecorded was %v, %.300q, %.300q", url, got.kind, got.body, got.items, want.kind, want.body, want.items)
		}
	}
}

// record fetches URLs.
func (p *past) record(urls ...string) map[string]page {
	p.t.Helper()
	pages := make(map[string]page)
	for _, url := range urls {
		pages[url] = get(p.t, p.live, url)
	}
	return pages
}

// talkNews sends lines to a news server on a loopback port, and returns all that it answers.
func talkNews(t testing.TB, url string, lines ...string) string {
	t.Helper()
	_, addr, _ := strings.Cut(url, "://")
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, strings.Join(append(lines, "QUIT"), "\r\n")+"\r\n")
	answer, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	return string(answer)
}
