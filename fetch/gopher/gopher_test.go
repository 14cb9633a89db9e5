package gopher

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
	"github.com/fetch1738/fetch1738/testserver/memnet"
)

// noConnection returns an Env that fails the test when something is dialed.
func noConnection(t *testing.T) *fetch.Env {
	return &fetch.Env{Dial: func(_ context.Context, _, address string) (net.Conn, error) {
		t.Errorf("%s was dialled", address)
		return nil, errors.New("not to be dialled")
	}}
}

// TestWithoutConnection has the items for which no connection is made.
func TestWithoutConnection(t *testing.T) {
	f := &Fetcher{Env: noConnection(t)}
	for url, want := range map[string]fetch.Resource{
		"gopher://h/7/q":         {Kind: fetch.KindQuery},
		"gopher://h/7/q?x%09":    {Kind: fetch.KindQuery},
		"gopher://h/7/q?":        {Kind: fetch.KindQuery},
		"gopher://h/7/q%09%09+":  {Kind: fetch.KindQuery},
		"gopher://h:105/2":       {Kind: fetch.KindQuery},
		"gopher://h:105/2?":      {Kind: fetch.KindQuery},
		"gopher://h/8":           {Kind: fetch.KindAdvice, Advice: "connect to h, port 23, with telnet"},
		"gopher://h:2323/8a%1Bb": {Kind: fetch.KindAdvice, Advice: `connect to h, port 2323, with telnet and log in as "a\x1bb"`},
		"gopher://h/Tguest":      {Kind: fetch.KindAdvice, Advice: `connect to h, port 23, with tn3270 and log in as "guest"`},
	} {
		res, err := f.Fetch(t.Context(), &fetch.Request{Locator: parse(t, url)})
		if err != nil {
			t.Error(err)
			continue
		}
		if res.Kind != want.Kind || res.Advice != want.Advice || res.Items != nil {
			t.Errorf("%s: %v, %q", url, res.Kind, res.Advice)
		}
		if octets, err := io.ReadAll(res.Body); len(octets) > 0 || !errors.Is(err, fetch.ErrNoOctets) {
			t.Errorf("%s: %q, %v", url, octets, err)
		}
	}
	from := fetch.Provenance{Kind: fetch.OriginRemote, By: parse(t, "gopher://h/1")}
	for url, want := range map[string]string{
		"gopher://h/hURL:http://www.example.org/a%3Fb": "http://www.example.org/a?b",
		"gopher://h/h/URL:ftp://e.org/x":               "ftp://e.org/x",
		"gopher://h/hurl:gopher://e.org/1x":            "gopher://e.org/1x",
	} {
		_, err := f.Fetch(t.Context(), &fetch.Request{Locator: parse(t, url), From: from})
		var ref *fetch.Referral
		if !errors.As(err, &ref) || !errors.Is(err, fetch.ErrMoved) || ref.To.String() != want || ref.From != from {
			t.Errorf("%s: %v, want a referral to %s", url, err, want)
		}
	}
	for url, kind := range map[string]fetch.ErrorKind{
		"gopher://h/hURL:javascript:alert(1)":   fetch.ErrBadURL,
		"gopher://h/hURL:file:///etc/passwd":    fetch.ErrBadURL,
		"gopher://h/hURL:http://user:pw@e.org/": fetch.ErrBadURL,
		"gopher://h/hURL:not%20a%20url":         fetch.ErrBadURL,
		"gopher://h/0a%09%09x":                  fetch.ErrBadURL,
	} {
		if _, err := f.Fetch(t.Context(), &fetch.Request{Locator: parse(t, url)}); !errors.Is(err, kind) {
			t.Errorf("%s: %v, want %v", url, err, kind)
		}
	}
}

// TestServer fetches a menu, a text, a binary and a search from a server.
func TestServer(t *testing.T) {
	srv := gophertest.New(t, func(s *gophertest.Server) {
		s.Content = fstest.MapFS{
			"readme.txt":  {Data: []byte("hello\n.dot\n")},
			"data.bin":    {Data: []byte("a\r\n.\r\n..b\r\n")},
			"sub/c d.txt": {Data: []byte("words to find\n")},
		}
	})
	f := new(Fetcher)
	root := parse(t, srv.URL+"/1")
	list := func(req *fetch.Request) (got []string) {
		res, err := f.Fetch(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Close()
		if res.Kind != fetch.KindMenu || res.MediaType != "application/gopher-menu" || !res.Guessed || res.Size != -1 || !res.Peer.IsValid() {
			t.Errorf("%+v", res)
		}
		for item, err := range res.Items {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprintf("%s %v %s", item.Name, item.Kind, strings.TrimPrefix(item.Locator.String(), srv.URL)))
		}
		if !res.Info.(*Info).Complete {
			t.Error("the menu includes its last line \".\"")
		}
		return got
	}
	want := []string{"data.bin document /9/data.bin", "readme.txt document /0/readme.txt", "sub menu /1/sub"}
	if diff := cmp.Diff(want, list(&fetch.Request{Locator: root})); diff != "" {
		t.Error(diff)
	}
	want = []string{"c d.txt document /0/sub/c%20d.txt"}
	if diff := cmp.Diff(want, list(&fetch.Request{Locator: parse(t, srv.URL+"/7/"), Query: "words find"})); diff != "" {
		t.Error(diff)
	}
	for url, want := range map[string]string{
		"/0/readme.txt": "hello\r\n.dot\r\n", "/9/data.bin": "a\r\n.\r\n..b\r\n", "/0/sub/c%20d.txt": "words to find\r\n",
	} {
		res, got, err := get(t, nil, &fetch.Request{Locator: parse(t, srv.URL+url)})
		if got != want || err != nil {
			t.Errorf("%s: %q, %v; want %q", url, got, err, want)
		} else if res.Info.(*Info).Complete != strings.HasPrefix(url, "/0") {
			t.Errorf("%s: %+v", url, res.Info)
		}
	}
	_, _, err := get(t, nil, &fetch.Request{Locator: parse(t, srv.URL+"/0/none")})
	var e *fetch.Error
	if !errors.As(err, &e) || e.Kind != fetch.ErrNotFound || e.Reply != "'/none' does not exist" {
		t.Errorf("a missing item: %#v", err)
	}
	wire := []string{`"\r\n"`, `"/\twords find\r\n"`}
	for _, line := range srv.Transcript() {
		if line.From == testserver.FromClient && len(wire) > 0 {
			if line.Text != wire[0] {
				t.Errorf("sent %s, want %s", line.Text, wire[0])
			}
			wire = wire[1:]
		}
	}
}

// TestErrorTexts has answers that say that the item does not exist.
func TestErrorTexts(t *testing.T) {
	from := func(server, name string) string {
		_, answer := recorded(t, server, name)
		return string(answer)
	}
	for _, tc := range []struct {
		name, types, answer string
		reply               string // "" for no error
	}{
		{"gopherd", "0917I", from("gopherd-2.3.0", "80-err-plain"), "'/nosuch.txt' does not exist!!"},
		{"pygopherd", "0917I", from("pygopherd-3.0.0", "80-err-plain"), "'/nosuch.txt' does not exist (no handler found)"},
		{"pygopherd, dots", "0917", from("pygopherd-3.0.0", "97-dotdot"), "'/../etc/passwd' does not exist (no handler found)"},
		{"gophernicus, menu", "17", from("gophernicus-3.1.1", "missing-menu"), "Error: File or directory not found! (null)"},
		{"gophernicus, menu, as text", "09", from("gophernicus-3.1.1", "missing-menu"), "Error: File or directory not found! (null)"},
		{"gophernicus, text", "09", from("gophernicus-3.1.1", "missing"), "File or directory not found! (null)"},
		{"gophernicus, text about it", "09", from("gophernicus-3.1.1", "missing") + "more\r\n", ""},
		{"gophernicus, text without a footer", "09", "Error: no\r\n", ""},
		{"Err", "09", "Err", ""},
		{"geomyidae", "0917", "3Sorry, but the requested token 'x' could not be found.\tErr\tlocalhost\t70\r\n.\r\n\r\n", "Sorry, but the requested token 'x' could not be found."},
		{"a field short", "0917", "3 x doesn't exist!\terror.host\t1\r\n", " x doesn't exist!"},
		{"Malformed command", "0917", "0Malformed command\t\terror.host\t1\r\n.\r\n", "Malformed command"},
		{"without a line end", "0917", "3no\t\terror.host\t1", "no"},
		{"bare LF", "0917", "3no\t\terror.host\t1\n.\n", "no"},
		{"dot without a line end", "0917", "3no\t\terror.host\t1\r\n.", "no"},
		{"error alone, menu", "17", "3no\r\n", "no"},
		{"errors, menu", "17", "3no\r\n3really not\r\niso it is\r\n\r\n", "no"},
		{"an item behind the error", "17", "3no\r\n0a\t/\th\t70\r\n", ""},
		{"an item before the error", "17", "0a\t/\th\t70\r\n3no\r\n", ""},
		{"an error item elsewhere", "17", "3no\t/x\th\t70\r\n", "no"},
		{"an error item, as a text", "09", "3no\t/x\th\t70\r\n", ""},
		{"gopher2000, as text", "09", "i  Oops\tnull\t(FALSE)\t0\r\ni\tnull\t(FALSE)\t0\r\n3Error 400\tnull\t(FALSE)\t0\r\n1back\t/\th\t70\r\n\r\n.\r\n", "Error 400"},
		{"a menu with an error, as text", "09", "iHi\tnull\t(FALSE)\t0\r\n3no\tnull\t(FALSE)\t0\r\n1a\t/\th\t70\r\n1b\t/b\th\t70\r\n.\r\n", ""},
		{"a menu without an error, as text", "09", "iHi\tnull\t(FALSE)\t0\r\n1a\t/\th\t70\r\n.\r\n", ""},
		{"a table", "09", "id\tname\tcount\t0\n3\tx\ty\t1\n", ""},
		{"text about a menu", "09", "iHi\tnull\t(FALSE)\t0\r\n3no\tnull\t(FALSE)\t0\r\nlike this\r\n", ""},
		{"a table of one line", "09", "3\t1\t4\t1\r\n", ""},
		{"text about it", "09", "3no\t\terror.host\t1\r\nmore\r\n", ""},
		{"text about it with dots", "09", "3no\t\terror.host\t1\r\n..\r\n", ""},
		{"info with error.host", "17", "ino\t\terror.host\t1\r\n", ""},
		{"empty", "0917", "", ""},
		{"digit", "09", "3", ""},
	} {
		for _, typ := range tc.types {
			for _, step := range []int{1, 7, 1 << 20} {
				l := parse(t, "gopher://h/0x")
				l.Type = byte(typ)
				req := &fetch.Request{Locator: l}
				if typ == '7' {
					req.Query = "x"
				}
				var received string
				ctx := fetch.WithTrace(t.Context(), &fetch.Trace{Received: func(p []byte) { received += string(p) }})
				env := answering([]byte(tc.answer), nil)
				env.Dial = stepping(env.Dial, step)
				res, err := (&Fetcher{Env: env}).Fetch(ctx, req)
				if err == nil {
					res.Close()
				}
				if tc.reply == "" {
					if err != nil {
						t.Errorf("%s, type %c, by %d: %v", tc.name, typ, step, err)
					}
					continue
				}
				var e *fetch.Error
				if !errors.As(err, &e) || e.Kind != fetch.ErrNotFound || e.Reply != tc.reply || !strings.HasPrefix(tc.answer, received) || received == "" {
					t.Errorf("%s, type %c, by %d: %v, received %q; want not found: %q", tc.name, typ, step, err, received, tc.reply)
				}
			}
		}
	}
}

// stepping reads at most n octets at a time.
func stepping(dial func(context.Context, string, string) (net.Conn, error), n int) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		return &stepConn{c, n}, err
	}
}

type stepConn struct {
	net.Conn
	n int
}

func (c *stepConn) Read(p []byte) (int, error) { return c.Conn.Read(p[:min(c.n, len(p))]) }

// TestParts requests parts of answers with framing.
func TestParts(t *testing.T) {
	text := []byte("abc\r\n..d\r\n.\r\n")
	menu := []byte("0a\t/\th\t70\r\n.\r\n")
	for _, tc := range []struct {
		typ            byte
		answer         []byte
		offset, length int64
		want           string
		kind           fetch.ErrorKind
	}{
		{'0', text, 5, 0, ".d\r\n", fetch.ErrOther},
		{'0', text, 5, 2, ".d", fetch.ErrOther},
		{'0', text, 0, 3, "abc", fetch.ErrOther},
		{'0', text, 9, 0, "", fetch.ErrOther},
		{'0', text, 10, 0, "", fetch.ErrBadRange},
		{'9', text, 5, 0, "..d\r\n.\r\n", fetch.ErrOther},
		{'9', text, 13, 0, "", fetch.ErrOther},
		{'9', text, 14, 5, "", fetch.ErrBadRange},
		{'1', menu, 1, 1, "a", fetch.ErrOther},
		{'1', menu, 11, 0, "", fetch.ErrOther},
		{'1', menu, 12, 0, "", fetch.ErrBadRange},
		{'0', text, -1, 0, "", fetch.ErrUnsupported},
		{'0', text, 0, -1, "", fetch.ErrBadRange},
	} {
		l := parse(t, "gopher://h/0x")
		l.Type = tc.typ
		res, got, err := get(t, answering(tc.answer, nil), &fetch.Request{Locator: l, Offset: tc.offset, Length: tc.length})
		if tc.kind != fetch.ErrOther {
			if !errors.Is(err, tc.kind) {
				t.Errorf("%+v: %q, %v", tc, got, err)
			}
		} else if err != nil || got != tc.want || res.Kind != fetch.KindDocument || res.Items != nil {
			t.Errorf("%+v: %q, %v", tc, got, err)
		}
	}
}

func TestBodyLimit(t *testing.T) {
	for _, typ := range "09" {
		for limit, ok := range map[int64]bool{0: true, -1: true, 1001: true, 1000: true, 999: false, 1: false} {
			answer := []byte(strings.Repeat("x", 1000))
			env := answering(answer, nil)
			env.Limits.Body = limit
			_, got, err := get(t, env, &fetch.Request{Locator: parse(t, fmt.Sprintf("gopher://h/%cx", typ))})
			if ok && (err != nil || len(got) != 1000) || !ok && (!errors.Is(err, fetch.ErrTooLarge) || len(got) != int(limit)) {
				t.Errorf("type %c, limit %d: %d bytes, %v", typ, limit, len(got), err)
			}
		}
	}
}

// TestSilence checks that a silent server causes a timeout exactly at the limit.
func TestSilence(t *testing.T) {
	for _, typ := range []byte("019") {
		for _, said := range []string{"", "3", "0a\t/\th\t70\r\n", "3no\t\terror.host\t1\r\n.", "a\r\n.", "a\r\n..b\r\n"} {
			synctest.Test(t, func(t *testing.T) {
				env := serving(func(c net.Conn) {
					c.Write([]byte(said))
					io.Copy(io.Discard, c)
				})
				env.Limits = fetch.Limits{Reply: time.Minute, Idle: time.Second}
				l := parse(t, "gopher://h/0x")
				l.Type = typ
				start := time.Now()
				_, got, err := get(t, env, &fetch.Request{Locator: l})
				want := time.Second
				if said == "" {
					want = time.Minute
				}
				if took := time.Since(start); !errors.Is(err, fetch.ErrTimeout) || took != want || !strings.HasPrefix(said, got) {
					t.Errorf("type %c, said %q: got %q, %v after %v; want a timeout after %v", typ, said, got, err, took, want)
				}
			})
		}
	}
}

// TestReset checks that a reset connection is an error, whatever was received before.
func TestReset(t *testing.T) {
	for _, typ := range []byte("019") {
		for _, said := range []string{"", "3no", "a\r\nb", "a\r\n.", "a\r\n..b\r\n"} {
			env := serving(func(c net.Conn) {
				c.Read(make([]byte, 100))
				c.Write([]byte(said))
				c.(*memnet.Conn).Reset()
			})
			l := parse(t, "gopher://h/0x")
			l.Type = typ
			if _, got, err := get(t, env, &fetch.Request{Locator: l}); !errors.Is(err, fetch.ErrConnectionFailed) || !errors.Is(err, syscall.ECONNRESET) || !strings.HasPrefix(said, got) {
				t.Errorf("type %c, said %q: got %q, %v", typ, said, got, err)
			}
		}
	}
}

// TestOneWrite checks that a request is sent in one write, because a server may take the first
// segment for all of it.
func TestOneWrite(t *testing.T) {
	for _, url := range []string{"gopher://h/", "gopher://h/7q%09two%20words", "gopher://h/0survey%09%09+%091%0D%0A+-1%0D%0A220%0D%0A.%0D%0A"} {
		var sent []string
		env := answering([]byte("+-2\r\n"), nil)
		dial := env.Dial
		env.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := dial(ctx, network, address)
			return &writeConn{c, &sent}, err
		}
		var traced string
		ctx := fetch.WithTrace(t.Context(), &fetch.Trace{Sent: func(p []byte) { traced += string(p) }})
		res, err := (&Fetcher{Env: env}).Fetch(ctx, &fetch.Request{Locator: parse(t, url)})
		if err != nil {
			t.Fatal(err)
		}
		res.Close()
		if len(sent) != 1 || sent[0] != traced || string(res.Info.(*Info).Request) != traced {
			t.Errorf("%s: wrote %q, Trace.Sent has %q, Info %q", url, sent, traced, res.Info.(*Info).Request)
		}
	}
}

type writeConn struct {
	net.Conn
	sent *[]string
}

func (c *writeConn) Write(p []byte) (int, error) {
	*c.sent = append(*c.sent, string(p))
	return c.Conn.Write(p)
}

// TestToFile copies a binary from a TCP connection to a file: whole, in part, beyond a limit, and
// slowly.
func TestToFile(t *testing.T) {
	data := make([]byte, 3<<20+12345)
	for i := range data {
		data[i] = byte(i * 7 / 3)
	}
	srv := gophertest.New(t, func(s *gophertest.Server) { s.Content = fstest.MapFS{"data.bin": {Data: data}} })
	for _, tc := range []struct {
		offset, length, limit int64
		want                  []byte
		kind                  fetch.ErrorKind
	}{
		{0, 0, 0, data, fetch.ErrOther},
		{0, 10, 0, data[:10], fetch.ErrOther},
		{70000, 0, 0, data[70000:], fetch.ErrOther},
		{70000, 2 << 20, 0, data[70000 : 70000+2<<20], fetch.ErrOther},
		{0, 0, int64(len(data)), data, fetch.ErrOther},
		{0, 0, 2 << 20, data[:2<<20], fetch.ErrTooLarge},
	} {
		var reported int64
		ctx := fetch.WithTrace(t.Context(), &fetch.Trace{Body: func(n int64) { reported += n }})
		f := &Fetcher{Env: &fetch.Env{Limits: fetch.Limits{Body: tc.limit}}}
		res, err := f.Fetch(ctx, &fetch.Request{Locator: parse(t, srv.URL+"/9/data.bin"), Offset: tc.offset, Length: tc.length})
		if err != nil {
			t.Fatal(err)
		}
		file, err := os.Create(filepath.Join(t.TempDir(), "file"))
		if err != nil {
			t.Fatal(err)
		}
		n, err := res.Body.(io.WriterTo).WriteTo(file)
		file.Close()
		if tc.kind == fetch.ErrOther && err != nil || tc.kind != fetch.ErrOther && !errors.Is(err, tc.kind) || n != int64(len(tc.want)) || reported != n {
			t.Errorf("%+v: %d bytes, %d reported, %v", tc.kind, n, reported, err)
		}
		if got, err := os.ReadFile(file.Name()); err != nil || string(got) != string(tc.want) {
			t.Errorf("offset %d, length %d, limit %d: %d bytes in the file, want %d", tc.offset, tc.length, tc.limit, len(got), len(tc.want))
		}
		res.Close()
	}
}

// TestToFileIdle has a server that is slow, which is not an error, and then silent, which is a
// timeout.
func TestToFileIdle(t *testing.T) {
	const (
		idle = time.Hour
		said = "some octets"
		more = 3
	)
	synctest.Test(t, func(t *testing.T) {
		env := serving(func(c net.Conn) {
			c.Write([]byte(said))
			for range more {
				time.Sleep(idle - time.Minute)
				c.Write([]byte(said))
			}
			io.Copy(io.Discard, c)
		})
		env.Limits.Idle = idle
		reported := 0
		ctx := fetch.WithTrace(t.Context(), &fetch.Trace{Body: func(int64) { reported++ }})
		res, err := (&Fetcher{Env: env}).Fetch(ctx, &fetch.Request{Locator: parse(t, "gopher://h/9x")})
		if err != nil {
			t.Fatal(err)
		}
		defer res.Close()
		f, err := os.Create(filepath.Join(t.TempDir(), "file"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		body := res.Body.(*rawBody)
		want := int64((1 + more) * len(said))
		if n, err := body.toFile(f, body.conn.Conn); n != want || !errors.Is(err, fetch.ErrTimeout) {
			t.Errorf("%d bytes, %v; want %d and a timeout", n, err, want)
		}
		if reported != 1+more {
			t.Errorf("Trace.Body was called %d times, want %d", reported, 1+more)
		}
	})
}
