package gopher

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/policy"
)

// TestHostileMenus has menus that broke other clients, by the id of the vulnerability.
func TestHostileMenus(t *testing.T) {
	many := func(line string, n int) io.Reader { return io.LimitReader(&repeat{line: line}, int64(n*len(line))) }
	for _, tc := range []struct {
		id     string
		answer io.Reader
		items  int // before the error, if any
		err    error
	}{
		{"CVE-2002-0371", many("x", 1<<20), 0, fetch.ErrTooLarge},
		{"CVE-2002-0371, fields", many("0\t", 1<<19), 0, fetch.ErrTooLarge},
		{"CVE-2002-0371, many lines", many("0a\tb\th\t70\r\n", 1e6), 1e6, nil},
		{"CVE-2005-0094 and CVE-2011-3205", io.MultiReader(many("0a\tb\th\t70\r\n", 1), many("<", 64<<10), many("\t", 3)), 1, fetch.ErrTooLarge},
		{"CVE-2021-46784", many("0\t0\t0\n", 1e6), 1e6, nil},
		{"CVE-2023-46728", many("0\n", 1000), 1000, fetch.ErrProtocol},
		{"no line ends but NUL", many("\x00", 1<<20), 0, fetch.ErrTooLarge},
		{"an endless menu of nothing", many("\n", 1e6), 1e6, nil},
	} {
		t.Run(tc.id, func(t *testing.T) {
			// Uses the Body's reader directly, because a connection would take longer.
			b := &textReader{src: tc.answer, menu: true, info: new(Info)}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			n, peak := 0, uint64(0)
			var last error
			for _, err := range items(t.Context(), b, accessOf(parse(t, "gopher://h/1")), fetch.Limits{}.WithDefaults()) {
				if last = err; err == nil {
					n++
				}
				if n%100000 == 0 {
					runtime.GC()
					runtime.ReadMemStats(&after)
					peak = max(peak, after.HeapAlloc)
				}
			}
			if n != tc.items || !errors.Is(last, tc.err) {
				t.Errorf("%d items, %v; want %d, %v", n, last, tc.items, tc.err)
			}
			if peak > before.HeapAlloc+8<<20 {
				t.Errorf("the heap has grown by %d bytes", peak-before.HeapAlloc)
			}
		})
	}
}

// repeat is a line that repeats forever.
type repeat struct {
	line string
	at   int
}

func (r *repeat) Read(p []byte) (n int, err error) {
	for n < len(p) {
		c := copy(p[n:], r.line[r.at:])
		r.at = (r.at + c) % len(r.line)
		n += c
	}
	return n, nil
}

// TestSmuggling checks that nothing is sent for a URL that contains a line end (curl test 1609), or
// to a port of another service (RFC 1738 §6).
func TestSmuggling(t *testing.T) {
	env := noConnection(t)
	env.Allow = policy.User
	for _, url := range []string{
		"gopher://h/0sel%0d%0aMAIL%20FROM", "gopher://h/0sel%0aQUIT", "gopher://h/0sel%0dQUIT", "gopher://h/0sel%00", "gopher://h/%0asel",
		"gopher://h/7q%09words%0d%0aDELE", "gopher://h/0x%09%09+%0d%0aDELE", "gopher://h/0x%09%09+%091%0D%0A+-1%0D%0Ax%0D%0A.%0D%0ADELE",
		"gopher://h/0x%09a%09!%09b",
	} {
		_, err := (&Fetcher{Env: env}).Fetch(t.Context(), &fetch.Request{Locator: parse(t, url)})
		var octet *locator.EncodedControl
		if !errors.Is(err, fetch.ErrBadURL) || !errors.As(err, &octet) || octet.Scheme != "gopher" {
			t.Errorf("%s: %v", url, err)
		}
	}
	for _, url := range []string{"gopher://h:25/0HELO%20x", "gopher://h:110/0x", "gopher://h:6667/0x", "gopher://h:80/hGET%20/"} {
		_, err := (&Fetcher{Env: env}).Fetch(t.Context(), &fetch.Request{Locator: parse(t, url)})
		var denied *policy.Denied
		if !errors.Is(err, fetch.ErrRefused) || !errors.As(err, &denied) {
			t.Errorf("%s: %v", url, err)
		}
	}
	link := fetch.Provenance{Kind: fetch.OriginRemote, By: parse(t, "gopher://h/1")}
	for _, scheme := range []string{"gopher", "gophers"} {
		form := parse(t, scheme+"://h/0survey%09%09+%091%0D%0A+-1%0D%0A220%0D%0A.%0D%0A")
		if _, err := (&Fetcher{Env: env}).Fetch(t.Context(), &fetch.Request{Locator: form, From: link}); !errors.Is(err, fetch.ErrRefused) {
			t.Errorf("a filled form in a link: %v", err)
		}
	}
}

// TestNoScriptLinks checks that an item that would run a program has no locator (CVE-2010-3177).
func TestNoScriptLinks(t *testing.T) {
	for _, url := range []string{"javascript:alert(1)", "JavaScript:alert(1)", " javascript:alert(1)", "java\rscript:x", "vbscript:x", "data:text/html,<script>", "file:///etc/passwd", "http://u:p@e.org/", "x:", "http://",
		"gopher://h/0x%09%09+%091%0D%0A+-1%0D%0A220%0D%0A.%0D%0A", "gophers://h/0x%09%09+%091%0D%0A+-1%0D%0A220%0D%0A.%0D%0A"} {
		for _, prefix := range []string{"URL:", "url:", "/URL:"} {
			item := new(itemMaker).item(menuLine("hclick\t" + prefix + url + "\th\t70"))
			if item.Locator != nil {
				t.Errorf("%q leads to %v", prefix+url, item.Locator)
			}
		}
	}
}

// TestUnsendableLinks checks that an item whose URL no Fetcher accepts has no locator.
func TestUnsendableLinks(t *testing.T) {
	for _, line := range []string{"8service\tg\xffst\th\t23", "hclick\tURL:telnet://a%FF@e.org/\th\t70", "hclick\tURL:ftp://e.org/a%0D%0Ab\th\t70"} {
		item := new(itemMaker).item(menuLine(line))
		reported := slices.ContainsFunc(item.Header, func(f fetch.Field) bool { return f.Name == HeaderFault })
		if item.Locator != nil || !reported {
			t.Errorf("%q leads to %v, with %+v", line, item.Locator, item.Header)
		}
	}
}

// FuzzSession fetches any answer as any type, in pieces of any size: the result is part of the
// answer, or an error of the right kind.
func FuzzSession(f *testing.F) {
	for server, names := range map[string][]string{
		"gopherd-2.3.0":     {"01-root-plain", "06-dir-plain", "20-text-plain", "80-err-plain", "40-binary-plain"},
		"pygopherd-3.0.0":   {"01-root-plain", "20-text-plain", "80-err-plain", "94-html"},
		"gophernicus-3.1.1": {"root", "map", "about", "missing-menu", "search", "lastdot"},
	} {
		for i, name := range names {
			_, answer := recorded(f, server, name)
			f.Add(answer, "017"[i%3], uint16(i*5))
		}
	}
	f.Add([]byte("3no\t\terror.host\t1\r\n.\r\n"), byte('1'), uint16(1))
	f.Add([]byte("8x\tg\xffst\th\t23\r\nhx\tURL:telnet://a%FF@e.org/\th\t70\r\n.\r\n"), byte('1'), uint16(1))
	f.Add([]byte("..a\r\n.b\r\n..\r\n.\r\n"), byte('0'), uint16(1))
	f.Fuzz(func(t *testing.T, answer []byte, typ byte, step uint16) {
		l := &locator.Gopher{HostPort: locator.HostPort{Host: "h"}, Type: typ, Selector: "x", HasPath: true}
		env := answering(answer, nil)
		env.Dial = stepping(env.Dial, int(step)+1)
		env.Limits.Line = 1000
		req := &fetch.Request{Locator: l}
		if typ == '7' {
			req.Query = "words"
		}
		res, got, err := get(t, env, req)
		var e *fetch.Error
		if err != nil && !errors.As(err, &e) {
			t.Fatalf("%T: %v", err, err)
		}
		if e != nil && (e.Kind == fetch.ErrOther || e.Kind == fetch.ErrConnectionFailed) {
			t.Fatalf("%v", e)
		}
		if res == nil || res.Kind == fetch.KindQuery || res.Kind == fetch.KindAdvice {
			return
		}
		if !isPart(got, string(answer)) || types[typ].framing == untilClose && got != string(answer) {
			t.Fatalf("%q is not part of %q", got, answer)
		}
		if res.Kind != fetch.KindMenu {
			return
		}
		again, err := (&Fetcher{Env: env}).Fetch(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		defer again.Close()
		n := 0
		for item, err := range again.Items {
			if err == nil && item.Locator != nil {
				if err := driver.CheckOctets(item.Locator); err != nil {
					t.Fatalf("an item that cannot be fetched: %v", err)
				}
				if back, err := (locator.Parser{Tolerate: locator.TolerateAll}).Parse(item.Locator.String()); err != nil || !locator.Equal(back.Locator, item.Locator) {
					t.Fatalf("%v becomes %v, %v", item.Locator, back.Locator, err)
				}
			}
			n++
		}
		if n > bytes.Count(answer, []byte("\n"))+2 {
			t.Fatalf("%d items", n)
		}
	})
}

// isPart reports whether got is whole without some of its dots and its end.
func isPart(got, whole string) bool {
	for i := range len(got) {
		at := strings.IndexByte(whole, got[i])
		if at < 0 || strings.Trim(whole[:at], ".") != "" {
			return false
		}
		whole = whole[at+1:]
	}
	return true
}

// TestEndlessText checks that an endless text is streamed, and ends when the caller closes it.
func TestEndlessText(t *testing.T) {
	for _, line := range []string{"x", "..\r\n", "..x\r\n", "..", "\r\n", ".\r\n"} {
		r := &textReader{src: iotest.HalfReader(&repeat{line: line}), info: new(Info), note: func(string) {}}
		if n, err := io.CopyN(io.Discard, r, 8<<20); n != 8<<20 || err != nil {
			t.Errorf("%q: %d bytes, %v", line, n, err)
		}
		if cap(r.buf) > 4*maxHeld {
			t.Errorf("%q: a buffer of %d bytes", line, cap(r.buf))
		}
	}
}
