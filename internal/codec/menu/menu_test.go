package menu

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/fetch1738/fetch1738/internal/wire"
)

// show formats a Line: a link, or why it is not one.
func show(l *Line) string {
	if !l.Link() {
		s := fmt.Sprintf("%c %q", l.Type, l.Display)
		if l.Fault != "" {
			s += " (" + l.Fault + ")"
		}
		return s
	}
	s := fmt.Sprintf("%c %q -> %s:%d %q", l.Type, l.Display, l.Host, l.Port, l.Selector)
	if l.Plus != 0 {
		s += " " + string(rune(l.Plus))
	}
	if l.Mirror {
		s += " mirror"
	}
	return s
}

func showAll(t *testing.T, r io.Reader) []string {
	t.Helper()
	var got []string
	for l, err := range Lines(r, 16<<10) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, show(l))
	}
	return got
}

// TestFaults has lines that real servers send.
func TestFaults(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"as in RFC 1436", "0About\tStuff:About us\trawBits.micro.umn.edu\t70\r\n", `0 "About" -> rawBits.micro.umn.edu:70 "Stuff:About us"`},
		{"bare LF", "0a\tb\th\t70\n", `0 "a" -> h:70 "b"`},
		{"two CRs", "0a\tb\th\t70\r\r\n", `0 "a" -> h:70 "b"`},
		{"no line end", "0a\tb\th\t70", `0 "a" -> h:70 "b"`},
		{"a name only", "0Only name\r\n", `i "0Only name" (not a menu line)`},
		{"plain text", "Welcome to my server\r\n", `i "Welcome to my server" (not a menu line)`},
		{"no host and port", "0a\tb\r\n", `0 "a" (no host)`},
		{"no port", "0a\tb\th\r\n", `0 "a" -> h:0 "b"`},
		{"empty port", "0a\tb\th\t\r\n", `0 "a" (bad port)`},
		{"port of letters", "0a\tb\th\tabc\r\n", `0 "a" (bad port)`},
		{"port with junk", "0a\tb\th\t70x\r\n", `0 "a" (bad port)`},
		{"port 0", "0a\tb\th\t0\r\n", `0 "a" (bad port)`},
		{"port -1", "0a\tb\th\t-1\r\n", `0 "a" (bad port)`},
		{"port 65535", "0a\tb\th\t65535\r\n", `0 "a" -> h:65535 "b"`},
		{"port 65536", "0a\tb\th\t65536\r\n", `0 "a" (bad port)`},
		{"port 99999", "0a\tb\th\t99999\r\n", `0 "a" (bad port)`},
		{"port beyond any integer", "0a\tb\th\t" + strings.Repeat("9", 40) + "\r\n", `0 "a" (bad port)`},
		{"port 00070", "0a\tb\th\t00070\r\n", `0 "a" -> h:70 "b"`},
		{"info alone", "ifoo\r\n", `i "foo"`},
		{"info, empty fields", "ifoo\t\t\t\r\n", `i "foo"`},
		{"info of pygopherd", "ifoo\tfake\t(NULL)\t0\r\n", `i "foo"`},
		{"info of gophernicus", "ifoo\t\tnull.host\t1\r\n", `i "foo"`},
		{"info of bucktooth", "ifoo\t\terror.host\t1\r\n", `i "foo"`},
		{"title of gophernicus", "i[/]\tTITLE\tnull.host\t1\r\n", `i "[/]"`},
		{"error", "3nothing there\t\terror.host\t1\r\n", `3 "nothing there"`},
		{"error alone", "3nothing there\r\n", `3 "nothing there"`},
		{"gopherd's block file without its item", "3(NULL)\t0/recipes/pups.txt\tlocalhost\t7072\t+\r\n", `3 "(NULL)"`},
		{"link to nowhere", "0a\tb\terror.host\t1\r\n", `0 "a" (bad host)`},
		{"link to (NULL)", "1a\tb\t(NULL)\t70\r\n", `1 "a" (bad host)`},
		{"blank line", "\r\n", `i ""`},
		{"blank text", "i\tfake\th\t70\r\n", `i ""`},
		{"blank title", "i\tTITLE\terror.host\t1\r\n", `i ""`},
		{"blank text without a selector", "i\r\n", `i ""`},
		{"error without a text", "3\tno such item\terror.host\t1\r\n", `3 "no such item"`},
		{"copy of nothing without a name", "+\t/copy\th\t70\r\n", `i "/copy" (mirror without an item above it)`},
		{"empty display", "1\t/x\th\t70\r\n", `1 "/x" -> h:70 "/x"`},
		{"empty selector", "1top\t\th\t70\r\n", `1 "top" -> h:70 ""`},
		{"Gopher+ item", "0a\tb\th\t70\t+\r\n", `0 "a" -> h:70 "b" +`},
		{"Gopher+ form", "0a\tb\th\t70\t?\r\n", `0 "a" -> h:70 "b" ?`},
		{"Gopher+ and more", "0a\tb\th\t70\t+\tmore\r\n", `0 "a" -> h:70 "b" +`},
		{"junk behind the port", "0a\tb\th\t70\t+x\tmore\r\n", `0 "a" -> h:70 "b"`},
		{"doubled type", "0a\t0/about.txt\th\t70\r\n", `0 "a" -> h:70 "0/about.txt"`},
		{"spaces in a selector", "0a\t /with  spaces \th\t70\r\n", `0 "a" -> h:70 " /with  spaces "`},
		{"gophernicus' octal space", "1a\t/with#040space/\th\t70\r\n", `1 "a" -> h:70 "/with#040space/"`},
		{"unknown type", "za\tb\th\t70\r\n", `z "a" -> h:70 "b"`},
		{"type is a TAB", "\tb\th\t70\r\n", `i "\tb\th\t70" (not a menu line)`},
		{"type is a space", " a\tb\th\t70\r\n", `i " a\tb\th\t70" (not a menu line)`},
		{"type is 8-bit", "\xe9a\tb\th\t70\r\n", `i "\xe9a\tb\th\t70" (not a menu line)`},
		{"8-bit name", "0caf\xe9\t/caf\xe9\th\t70\r\n", `0 "caf\xe9" -> h:70 "/caf\xe9"`},
		{"IPv4", "0a\tb\t127.0.0.1\t70\r\n", `0 "a" -> 127.0.0.1:70 "b"`},
		{"IPv6", "0a\tb\t::1\t70\r\n", `0 "a" -> ::1:70 "b"`},
		{"IPv6 with a zone", "0a\tb\tfe80::1%eth0\t70\r\n", `0 "a" (bad host)`},
		{"host and port in one", "0a\tb\th:70\t70\r\n", `0 "a" (bad host)`},
		{"user in the host", "0a\tb\tu@h\t70\r\n", `0 "a" (bad host)`},
		{"path in the host", "0a\tb\th/x\t70\r\n", `0 "a" (bad host)`},
		{"host too long", "0a\tb\t" + strings.Repeat("h", 256) + "\t70\r\n", `0 "a" (bad host)`},
		{"web link", "hWeb\tURL:http://e.org/\th\t70\r\n", `h "Web" -> :0 "URL:http://e.org/"`},
		{"web link without a server", "hWeb\tURL:http://e.org/\r\n", `h "Web" -> :0 "URL:http://e.org/"`},
		{"UMN web link", "hWeb\tGET /\twww.example.org\t80\r\n", `h "Web" -> www.example.org:80 "GET /"`},
		{"mirror of nothing", "+a\tb\th\t70\r\n", `i "a" (mirror without an item above it)`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff([]string{tc.want}, showAll(t, strings.NewReader(tc.in))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLines(t *testing.T) {
	const in = "1One\t/1\th\t70\r\n" +
		"+its mirror\t/one\tm\t70\t+\r\n" +
		"itext between\r\n" +
		"+its other mirror\t/uno\tn\t70\r\n" +
		"9broken\t/2\t\t70\n" +
		"+mirror of the one above the broken one\t/1\th\t70\n" +
		"7find\t/q\th\t70\n" +
		"+find there\t/q\tm\t70\n" +
		"hweb\tURL:http://e.org/\n" +
		"+web page here\t/w\tm\t70\n" +
		".\r\n" +
		"0behind the end\t/3\th\t70\r\n"
	want := []string{
		`1 "One" -> h:70 "/1"`,
		`1 "its mirror" -> m:70 "/one" + mirror`,
		`i "text between"`,
		`1 "its other mirror" -> n:70 "/uno" mirror`,
		`9 "broken" (no host)`,
		`1 "mirror of the one above the broken one" -> h:70 "/1" mirror`,
		`7 "find" -> h:70 "/q"`,
		`7 "find there" -> m:70 "/q" mirror`,
		`h "web" -> :0 "URL:http://e.org/"`,
		`h "web page here" -> m:70 "/w" mirror`,
	}
	for name, r := range map[string]io.Reader{
		"whole":          strings.NewReader(in),
		"octet by octet": iotest.OneByteReader(strings.NewReader(in)),
		"data with EOF":  iotest.DataErrReader(strings.NewReader(in)),
	} {
		if diff := cmp.Diff(want, showAll(t, r)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestSameServer has hosts and ports with a common prefix.
func TestSameServer(t *testing.T) {
	in := "0a\ta\thost\t70\n0b\tb\thost\t7070\n0c\tc\thost\t70\t+\n0d\td\thost.org\t70\n0e\te\thost\t70x\n0f\tf\thos\t70\n0g\tg\thost\n0h\th\thost\t70\n"
	want := []string{
		`0 "a" -> host:70 "a"`, `0 "b" -> host:7070 "b"`, `0 "c" -> host:70 "c" +`, `0 "d" -> host.org:70 "d"`,
		`0 "e" (bad port)`, `0 "f" -> hos:70 "f"`, `0 "g" -> host:0 "g"`, `0 "h" -> host:70 "h"`,
	}
	if diff := cmp.Diff(want, showAll(t, strings.NewReader(in))); diff != "" {
		t.Error(diff)
	}
}

// TestCuts parses a menu line truncated at every byte and with none to six fields (CVE-2023-46728).
// A truncated line is text, or a link to the place that its bytes name.
func TestCuts(t *testing.T) {
	const line = "0Name\t/selector\thost.example\t70\t+\r\n"
	for n := range len(line) {
		for _, got := range showAll(t, strings.NewReader(line[:n])) {
			if strings.Contains(got, "->") && n < len("0Name\t/selector\t")+1 {
				t.Errorf("%q gives the link %s", line[:n], got)
			}
		}
	}
	for n := range 7 {
		if got := showAll(t, strings.NewReader("0"+strings.Repeat("\t", n)+"\r\n")); len(got) != 1 || strings.Contains(got[0], "->") {
			t.Errorf("%d empty fields: %q", n, got)
		}
	}
}

func TestReadError(t *testing.T) {
	broken := errors.New("broken")
	r := io.MultiReader(strings.NewReader("0a\tb\th\t70\n0c\td"), iotest.ErrReader(broken))
	var lines, failures int
	for l, err := range Lines(r, 0) {
		switch {
		case err == nil && show(l) == `0 "a" -> h:70 "b"`:
			lines++
		case err == broken && l == nil:
			failures++
		default:
			t.Errorf("%v, %v", l, err)
		}
	}
	if lines != 1 || failures != 1 {
		t.Errorf("%d lines and %d errors; want one of each, the cut line dropped", lines, failures)
	}
}

func TestLineTooLong(t *testing.T) {
	for _, tc := range []struct {
		length int
		ok     bool
	}{{99, true}, {100, true}, {101, false}, {1 << 20, false}} {
		in := strings.Repeat("x", tc.length-1) + "\n0a\tb\th\t70\n"
		var got []error
		for _, err := range Lines(strings.NewReader(in), 100) {
			got = append(got, err)
		}
		if tc.ok && (len(got) != 2 || got[0] != nil || got[1] != nil) {
			t.Errorf("%d bytes: %v", tc.length, got)
		}
		if !tc.ok && (len(got) != 1 || got[0] != wire.ErrLineTooLong) {
			t.Errorf("%d bytes: %v", tc.length, got)
		}
	}
}

// endless is a menu, or a line, that never ends.
type endless struct {
	text string
	read int
}

func (e *endless) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		n += copy(p[n:], e.text[(e.read+n)%len(e.text):])
	}
	e.read += n
	return n, nil
}

// TestEndlessLine checks that reading ends at the limit, whatever is sent.
func TestEndlessLine(t *testing.T) {
	for _, text := range []string{"x", "\x00", "\t", "0a\t"} {
		r := &endless{text: text}
		for _, err := range Lines(r, 16<<10) {
			if err != wire.ErrLineTooLong {
				t.Errorf("%q: %v", text, err)
			}
		}
		if r.read > 64<<10 {
			t.Errorf("%q: %d bytes read", text, r.read)
		}
	}
}

// TestConstantMemory streams a million lines (CVE-2021-46784 has six bytes each) through one
// buffer.
func TestConstantMemory(t *testing.T) {
	for _, line := range []string{"0\t0\t0\n", "0Name\t/sel\thost.example\t70\r\n"} {
		allocs := testing.AllocsPerRun(1, func() {
			n := 0
			for _, err := range Lines(&endless{text: line}, 16<<10) {
				if err != nil {
					t.Fatal(err)
				}
				if n++; n == 1e6 {
					break
				}
			}
		})
		if allocs > 20 {
			t.Errorf("%q: %.0f allocations for a million lines", line, allocs)
		}
	}
}

// TestLinear reads one long line without a limit: each byte is searched once for a line end, and
// the buffer grows as rarely as possible (CVE-2021-23392). BenchmarkLongLine measures the time.
func TestLinear(t *testing.T) {
	const size = 8 << 20
	for _, text := range longLines {
		in := bytes.Repeat([]byte(text), size/len(text))
		looked, found := 0, 0
		count := func(s []byte, c byte) int {
			looked += len(s)
			return bytes.LastIndexByte(s, c)
		}
		allocs := testing.AllocsPerRun(1, func() {
			looked, found = 0, 0
			for _, err := range lines(bytes.NewReader(in), 0, count) {
				if err != nil {
					t.Fatal(err)
				}
				found++
			}
		})
		if looked != size || found != 1 {
			t.Errorf("%q: for %d lines of %d bytes %d bytes were searched", text, found, size, looked)
		}
		if allocs > 100 { // it grows by a quarter each time
			t.Errorf("%q: %.0f allocations for one line", text, allocs)
		}
	}
}

// longLines are the contents of long lines.
var longLines = []string{"x", "\t", "\r", "0\t", ".\r"}

func FuzzMenu(f *testing.F) {
	for _, seed := range []string{
		"", ".\r\n", "\r\n", "i\n", "3\n", "0a\tb\th\t70\t+\r\n+m\tb\tn\t70\r\n.\r\n", "0\t0\t0\n", "hW\tURL:http://h/\t\t\r\n",
		"0Only name\n0No port\t/x\n\t\t\t\t\t\n", "0a\tb\th\t99999999999999999999\n", "1x\t\t::1\t70\n1x\t\t:\t70\n", "0a\tb\th\t70\n0a\tb\th\t700\n",
		"7Search the lab\t7/find.sh\tlocalhost\t7072\r\n9Binary blob via .cap\t9/data\tlocalhost\t7072\t+\r\n",
		"hA web page\tGET /\twww.example.org\t80\r\n8Telnet BBS\tguest\tbbs.example.org\t23\r\n2Phone book\t\tph.example.org\t105\r\n",
		"iAn abstract given in .names,\tfake\t(NULL)\t0\r\n0survey\t0/survey\tlocalhost\t7072\t?\r\n",
		"i[/]\tTITLE\tnull.host\t1\r\n1..    \t/\t127.0.0.1\t17075\r\n", "3(NULL)\t0/recipes/pups.txt\tlocalhost\t7072\t+\r\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		const max = 64
		var whole []string
		for l, err := range Lines(bytes.NewReader(in), max) {
			if err != nil {
				whole = append(whole, err.Error())
				continue
			}
			whole = append(whole, show(l))
			if l.Link() && l.URL() == nil && (len(l.Host) == 0 || bytes.ContainsAny(l.Host, "\x00\r\n\t /@%") || IsPlaceholder(l.Host)) {
				t.Fatalf("%q is a link", l.Host)
			}
			if bytes.ContainsAny(l.Selector, "\t\n") {
				t.Fatalf("selector %q", l.Selector)
			}
			if display, selector := l.Strings(); display != string(l.Display) || selector != string(l.Selector) {
				t.Fatalf("strings %q and %q of %q and %q", display, selector, l.Display, l.Selector)
			}
		}
		if len(whole) > bytes.Count(in, []byte("\n"))+1 {
			t.Fatalf("%d lines from %q", len(whole), in)
		}
		// The result does not depend on how the data is split.
		var drip []string
		for l, err := range Lines(iotest.OneByteReader(bytes.NewReader(in)), max) {
			if err != nil {
				drip = append(drip, err.Error())
				continue
			}
			drip = append(drip, show(l))
		}
		if diff := cmp.Diff(whole, drip); diff != "" {
			t.Fatal(diff)
		}
	})
}
