package gopher

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/fetch1738/fetch1738/fetch"
)

// unframed reads an answer as text or menu.
func unframed(r io.Reader, menu bool) (text string, complete bool, err error) {
	info := new(Info)
	octets, err := io.ReadAll(&textReader{src: r, menu: menu, info: info, note: func(string) {}})
	return string(octets), info.Complete, err
}

// TestTexts reads answers of real servers for known files.
func TestTexts(t *testing.T) {
	const about = "About this lab server\n.\n..two dots\n .leading space dot\nThe line two above holds a single period.\nLast line.\n"
	crlf := func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
	for _, tc := range []struct {
		server, name string
		want         string
		complete     bool
	}{
		// Stuffs only the line ".", which cannot be detected here: "..two dots" loses one.
		{"gopherd-2.3.0", "20-text-plain", crlf(strings.Replace(about, "..two", ".two", 1)), true},
		{"gopherd-2.3.0", "27-noeol-plain", "no newline at end\r\n", true},
		{"gopherd-2.3.0", "29-latin1", "Latin-1: caf\xe9 na\xefve\r\nsecond\r\n", true},
		{"gopherd-2.3.0", "57-multi-plain", "Saumon, francais.\r\n", true},
		{"gopherd-2.3.0", "90-exec", "hello from script args=a b\r\nQUERY=\r\n", true},
		// Does not stuff dots and marks no end.
		{"pygopherd-3.0.0", "20-text-plain", about, false},
		{"pygopherd-3.0.0", "29-latin1", "Latin-1: caf\xe9 na\xefve\r\nsecond\r\n", false},
		{"gophernicus-3.1.1", "about", crlf("About\n.\n..two dots\n .lead\n.x\nLast line.\n"), false},
		{"gophernicus-3.1.1", "dots", crlf(".leading dot\n..two dots\n.\nafter a lone dot\n"), false},
		{"gophernicus-3.1.1", "noeol", "no newline at end\r\n", false},
		{"gophernicus-3.1.1", "empty", "", false},
		// Its own last line is ".", which looks like the end mark.
		{"gophernicus-3.1.1", "lastdot", "end\r\n", true},
	} {
		t.Run(tc.server+" "+tc.name, func(t *testing.T) {
			request, answer := recorded(t, tc.server, tc.name)
			requests := make(chan []byte, 1)
			l := parse(t, "gopher://h/0x")
			l.Selector = strings.TrimSuffix(string(request), "\r\n")
			res, got, err := get(t, answering(answer, requests), &fetch.Request{Locator: l})
			if err != nil {
				t.Fatal(err)
			}
			if info := res.Info.(*Info); got != tc.want || info.Complete != tc.complete {
				t.Errorf("%q, complete %t;\nwant %q", got, info.Complete, tc.want)
			}
			if sent := <-requests; !bytes.Equal(sent, request) {
				t.Errorf("sent %q, want %q", sent, request)
			}
		})
	}
}

// TestDots has one text for each rule about dots.
func TestDots(t *testing.T) {
	for _, tc := range []struct {
		name, in, want string
		complete       bool
	}{
		{"nothing", "", "", false},
		{"only the end", ".\r\n", "", true},
		{"RFC 1436", "a\r\n..\r\n...\r\n..dot\r\nend\r\n.\r\n", "a\r\n.\r\n..\r\n.dot\r\nend\r\n", true},
		{"bare LF", "a\n..dot\n.\n", "a\n.dot\n", true},
		{"end without a line end", "a\r\n..dot\r\n.", "a\r\n.dot\r\n", false},
		{"end cut in its line end", "a\r\n..dot\r\n.\r", "a\r\n.dot\r\n", false},
		{"no end", "a\r\n..\r\n..dot\r\n...\r\n", "a\r\n..\r\n..dot\r\n...\r\n", false},
		{"no end, cut after dots", "a\r\n..", "a\r\n..", false},
		{"a dot inside is text", "a\r\n.\r\nb\r\n", "a\r\n.\r\nb\r\n", false},
		{"and proves that none is stuffed", "a\r\n..b\r\n.\r\n..c\r\n...\r\nd\r\n.\r\n", "a\r\n..b\r\n.\r\n..c\r\n...\r\nd\r\n", true},
		{"two ends", "a\r\n.\r\n.\r\n", "a\r\n.\r\n", true},
		{"lines .x prove that no other is stuffed", "..a\r\n..\r\n.x\r\n..b\r\n..\r\nc\r\n.\r\n", "..a\r\n.\r\n.x\r\n..b\r\n.\r\nc\r\n", true},
		{"lines .x only", "..a\r\n.x\r\n..b\r\n.\r\n", "..a\r\n.x\r\n..b\r\n", true},
		{"dot and CR", "a\n.\rb\n..c\n.\n", "a\n.\rb\n..c\n", true},
		{"two CRs", "a\r\n.\r\r\nb\r\n", "a\r\n.\r\r\nb\r\n", false},
		{"gopherd 3.0.5: lines as on disk, none stuffed", "About\n.\n..two dots\n .lead\nLast line.\n.\r\n", "About\n.\n..two dots\n .lead\nLast line.\n", true},
		{"gopherd 3.0.5: no line end before the dot", "no newline\nat end.\r\n", "no newline\nat end.\r\n", false},
		{"dots within lines", "a.\r\nb..\r\n c\r\n.\r\n", "a.\r\nb..\r\n c\r\n", true},
	} {
		for split := range len(tc.in) + 1 {
			r := io.MultiReader(strings.NewReader(tc.in[:split]), strings.NewReader(tc.in[split:]))
			if got, complete, err := unframed(r, false); got != tc.want || complete != tc.complete || err != nil {
				t.Fatalf("%s, in two after %d: %q, %t, %v; want %q, %t", tc.name, split, got, complete, err, tc.want, tc.complete)
			}
		}
		if got, complete, err := unframed(iotest.OneByteReader(strings.NewReader(tc.in)), false); got != tc.want || complete != tc.complete || err != nil {
			t.Errorf("%s, byte by byte: %q, %t, %v; want %q, %t", tc.name, got, complete, err, tc.want, tc.complete)
		}
		if got, _, err := unframed(iotest.DataErrReader(strings.NewReader(tc.in)), false); got != tc.want || err != nil {
			t.Errorf("%s, with EOF: %q, %v; want %q", tc.name, got, err, tc.want)
		}
	}
}

// TestMenuDots checks that a menu ends at its dot, and that nothing else changes.
func TestMenuDots(t *testing.T) {
	for in, want := range map[string]string{
		"1a\t/\th\t70\r\n.\r\n1b\t/\th\t70\r\n": "1a\t/\th\t70\r\n",
		"1a\t/\th\t70\r\n.\n":                   "1a\t/\th\t70\r\n",
		"1a\t/\th\t70\n.":                       "1a\t/\th\t70\n",
		"1a\t/\th\t70\r\n":                      "1a\t/\th\t70\r\n",
		"..\r\n..a\r\n.a\r\n.\r\n":              "..\r\n..a\r\n.a\r\n",
		".\r\n":                                 "",
	} {
		for _, r := range []io.Reader{strings.NewReader(in), iotest.OneByteReader(strings.NewReader(in))} {
			if got, complete, err := unframed(r, true); got != want || complete != strings.Contains("\n"+in, "\n.\r") && complete != strings.Contains("\n"+in+"\n", "\n.\n") || err != nil {
				t.Errorf("%q: %q, %t, %v; want %q", in, got, complete, err, want)
			}
		}
	}
}

// TestComplete distinguishes an end that is marked, by a line "." or a length, from one that may be
// a broken connection. No truncated answer with such a mark is taken for complete.
func TestComplete(t *testing.T) {
	const item, more = "1a\t/\th\t70\r\n", "iand more\t\t\t\r\n"
	for _, tc := range []struct {
		name, url, answer string
		complete          bool
	}{
		{"no menu", "gopher://h/1", "", false},
		{"an empty menu", "gopher://h/1", ".\r\n", true},
		{"a menu of one item", "gopher://h/1", item + ".\r\n", true},
		{"a menu of one item without an end", "gopher://h/1", item, false},
		{"a menu cut within a line", "gopher://h/1", item + more[:5], false},
		{"a menu cut within a line end", "gopher://h/1", item + more[:len(more)-1], false},
		{"a menu cut before its end", "gopher://h/1", item + more, false},
		{"a menu in LF", "gopher://h/1", "1a\t/\th\t70\n.\n", true},
		{"octets behind the end", "gopher://h/1", item + ".\r\n" + more[:5], true},
		{"the results of a search", "gopher://h/7/s%09x", item + ".\r\n", true},
		{"nothing found", "gopher://h/7/s%09x", ".\r\n", true},
		{"no results", "gopher://h/7/s%09x", "", false},
		{"a text", "gopher://h/0x", "a\r\nb\r\n.\r\n", true},
		{"an empty text", "gopher://h/0x", ".\r\n", true},
		{"a text that does not come", "gopher://h/0x", "", false},
		{"a text without an end", "gopher://h/0x", "a\r\nb\r\n", false},
		{"a text cut within a line", "gopher://h/0x", "a\r\nb", false},
		{"a text cut within the end", "gopher://h/0x", "a\r\nb\r\n.", false},
		{"a text cut within the line end of the end", "gopher://h/0x", "a\r\nb\r\n.\r", false},
		{"a text with a dot inside", "gopher://h/0x", "a\r\n.\r\nb\r\n", false},
		{"a text with a dot inside and an end", "gopher://h/0x", "a\r\n.\r\nb\r\n.\r\n", true},
		{"a page", "gopher://h/hx", "<p>\r\n.\r\n", true},
		{"a page without an end", "gopher://h/hx", "<p>\r\n", false},
		{"a binary", "gopher://h/9x", "a\r\n.\r\n", false},
		{"Gopher+, a length", "gopher://h/0x%09%09+", "+3\r\na\r\n", true},
		{"Gopher+, a length, binary", "gopher://h/9x%09%09+", "+3\r\na\r\n", true},
		{"Gopher+, nothing", "gopher://h/9x%09%09+", "+0\r\n", true},
		{"Gopher+, too short", "gopher://h/9x%09%09+", "+4\r\na\r\n", false},
		{"Gopher+, a menu of a length", "gopher://h/1%09%09+", "+11\r\n" + item, true},
		{"Gopher+, a dot", "gopher://h/0x%09%09+", "+-1\r\na\r\n.\r\n", true},
		{"Gopher+, a dot that is missing", "gopher://h/0x%09%09+", "+-1\r\na\r\n", false},
		{"Gopher+, a menu", "gopher://h/1%09%09+", "+-1\r\n" + item + ".\r\n", true},
		{"Gopher+, a menu cut", "gopher://h/1%09%09+", "+-1\r\n" + item, false},
		{"Gopher+, to the close", "gopher://h/0x%09%09+", "+-2\r\na\r\n.\r\n", false},
		{"Gopher+, a menu to the close", "gopher://h/1%09%09+", "+-2\r\n" + item, false},
		{"Gopher+, attributes", "gopher://h/1%09%09$", "+-1\r\n+INFO: " + item + ".\r\n", true},
		{"Gopher+, attributes to the close", "gopher://h/1%09%09$", "+-2\r\n+INFO: " + item + "+INFO: " + item, false},
		{"Gopher+, attributes without a header", "gopher://h/7s%09x%09+", "+INFO: " + item + ".\r\n", true},
		{"Gopher+, attributes without a header or an end", "gopher://h/7s%09x%09+", "+INFO: " + item, false},
		{"Gopher+, attributes of one", "gopher://h/0x%09%09!", "+-1\r\n+INFO: " + item + ".\r\n", true},
		{"Gopher+, the page of a menu", "gopher://h/1%09%09+text/html", "+-1\r\n<p>\r\n", false},
		{"Gopher+, the page of a menu, with an end", "gopher://h/1%09%09+text/html", "+-1\r\n<p>\r\n.\r\n", true},
		{"Gopher+ unknown, a text", "gopher://h/0x%09%09+", "a\r\n.\r\n", true},
		{"Gopher+ unknown, a text without an end", "gopher://h/0x%09%09+", "a\r\n", false},
		{"a phone book", "gopher://h/2?x", "-200:1:name: A\r\n200:Ok.\r\n", true},
		{"a phone book cut", "gopher://h/2?x", "-200:1:name: A\r\n200:Ok.", false},
	} {
		for _, step := range []int{1, 1 << 20} {
			for _, byItems := range []bool{false, true} {
				env := answering([]byte(tc.answer), nil)
				env.Dial = stepping(env.Dial, step)
				res, err := (&Fetcher{Env: env}).Fetch(t.Context(), &fetch.Request{Locator: parse(t, tc.url)})
				if err != nil {
					t.Errorf("%s: %v", tc.name, err)
					continue
				}
				if byItems && res.Items != nil {
					for _, err = range res.Items {
						if err != nil {
							break
						}
					}
				} else {
					_, err = io.Copy(io.Discard, res.Body)
				}
				if got := res.Info.(*Info).Complete; got != tc.complete || got && err != nil {
					t.Errorf("%s, in steps of %d, by items %t: complete %t, %v", tc.name, step, byItems, got, err)
				}
				res.Close()
			}
		}
	}
}

// TestTextStreams checks that text is returned as soon as its dots are certain.
func TestTextStreams(t *testing.T) {
	in, out := io.Pipe()
	r := &textReader{src: in, info: new(Info), note: func(string) {}}
	buf := make([]byte, 100)
	for _, step := range []struct{ send, want string }{
		{"first\r\n", "first\r\n"},
		{"half", "half"},
		{" a line\r\n.", " a line\r\n"}, // the dot may be the end
		{"x\r\n", ".x\r\n"},
		{"..y\r\n", "..y\r\n"}, // no line is stuffed
		{".\r\nz", ".\r\nz"},
	} {
		go io.WriteString(out, step.send)
		n, err := r.Read(buf)
		if string(buf[:n]) != step.want || err != nil {
			t.Fatalf("sent %q: %q, %v; want %q", step.send, buf[:n], err, step.want)
		}
	}
	go out.Close()
	if n, err := r.Read(buf); n != 0 || err != io.EOF {
		t.Errorf("%d, %v", n, err)
	}
}

// TestTextBroken checks that a broken connection loses only the text that was held back.
func TestTextBroken(t *testing.T) {
	broken := errors.New("broken")
	for in, want := range map[string]string{
		"a\r\nb":             "a\r\nb",
		"a\r\n.":             "a\r\n",
		"a\r\n..b\r\nc\r\n":  "a\r\n",
		"a\r\n.x\r\n..b\r\n": "a\r\n.x\r\n..b\r\n",
	} {
		got, complete, err := unframed(io.MultiReader(strings.NewReader(in), iotest.ErrReader(broken)), false)
		if got != want || complete || err != broken {
			t.Errorf("%q: %q, %t, %v; want %q", in, got, complete, err, want)
		}
	}
}

// TestTextHeld checks that the amount of text held back is limited: a longer text with dots needs
// no more memory and is returned unchanged.
func TestTextHeld(t *testing.T) {
	line := "..all lines begin with dots\r\n"
	for _, lines := range []int{maxHeld/len(line) - 2, maxHeld/len(line) + 5000, 40 * maxHeld / len(line)} {
		in := strings.Repeat(line, lines) + ".\r\n"
		var notes int
		r := &textReader{src: strings.NewReader(in), info: new(Info), note: func(string) { notes++ }}
		got, err := io.ReadAll(r)
		want, wantNotes := strings.Repeat(line[1:], lines), 0
		if len(in) > maxHeld+headSize {
			want, wantNotes = strings.Repeat(line, lines), 1
		}
		if string(got) != want || err != nil || notes != wantNotes || !r.info.Complete {
			t.Errorf("%d lines: %d bytes, %v, %d notes; want %d and %d", lines, len(got), err, notes, len(want), wantNotes)
		}
		if cap(r.buf) > 4*maxHeld {
			t.Errorf("%d lines: a buffer of %d bytes", lines, cap(r.buf))
		}
	}
}

// stuffed returns a text as sent by a server that follows RFC 1436.
func stuffed(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, ".") {
			b.WriteByte('.')
		}
		b.WriteString(line)
	}
	return b.String() + ".\r\n"
}

// FuzzText sends a text with each kind of server; what can be restored exactly must be.
func FuzzText(f *testing.F) {
	for _, seed := range []string{"", ".", "..", ".\r\n", "a\r\n.\r\n..b\r\n.c\r\n", "\n.\n..\n...\n", "a\n.\r", "..\n.x\n..\n"} {
		f.Add(seed, 1)
	}
	for _, name := range []string{"20-text-plain", "27-noeol-plain"} {
		_, answer := recorded(f, "gopherd-2.3.0", name)
		f.Add(string(answer), 7)
	}
	f.Fuzz(func(t *testing.T, text string, step int) {
		chunks := func(s string) io.Reader { return &chunkReader{s, 1 + (step&0xff+256)%256} }
		check := func(what, sent, want string) {
			t.Helper()
			if got, _, err := unframed(chunks(sent), false); got != want || err != nil {
				t.Fatalf("%s: sent %q, got %q, %v; want %q", what, sent, got, err, want)
			}
		}
		whole := text
		if whole != "" && !strings.HasSuffix(whole, "\n") {
			whole += "\r\n"
		}
		check("RFC 1436", stuffed(whole), whole)
		if !endsInDot(text) {
			check("no framing at all", text, text)
		}
		if got, _, err := unframed(chunks(text), true); err != nil || !strings.HasPrefix(text, got) {
			t.Fatalf("as a menu: %q, %v of %q", got, err, text)
		}
	})
}

// endsInDot reports whether the last line of a text is ".".
func endsInDot(text string) bool {
	text = strings.TrimSuffix(text, "\n")
	text = strings.TrimSuffix(text, "\r")
	return strings.HasSuffix("\n"+text, "\n.")
}

// chunkReader returns n bytes at a time.
type chunkReader struct {
	s string
	n int
}

func (r *chunkReader) Read(p []byte) (int, error) {
	if r.s == "" {
		return 0, io.EOF
	}
	n := copy(p, r.s[:min(r.n, len(r.s))])
	r.s = r.s[n:]
	return n, nil
}

// TestBinary checks that the bytes of every type without lines are not changed.
func TestBinary(t *testing.T) {
	const octets = "a\r\n..b\r\n.\r\nc\r\n.\r\n"
	for _, typ := range "4569sIgdpP;<:!vqz~" {
		l := parse(t, "gopher://h/9x")
		l.Type = byte(typ)
		res, got, err := get(t, answering([]byte(octets), nil), &fetch.Request{Locator: l})
		if err != nil || got != octets || res.Info.(*Info).Complete || res.Kind != fetch.KindDocument || res.Items != nil {
			t.Errorf("type %c: %q, %v", typ, got, err)
		}
	}
	for _, server := range []string{"gopherd-2.3.0", "pygopherd-3.0.0"} {
		_, answer := recorded(t, server, "40-binary-plain")
		if _, got, err := get(t, answering(answer, nil), &fetch.Request{Locator: parse(t, "gopher://h/9x")}); got != string(answer) || err != nil {
			t.Errorf("%s: %d of %d bytes, %v", server, len(got), len(answer), err)
		}
	}
	for _, typ := range "0hMxcmrew" {
		if _, got, err := get(t, answering([]byte("a\r\n.\r\n"), nil), &fetch.Request{Locator: parse(t, fmt.Sprintf("gopher://h/%cx", typ))}); got != "a\r\n" || err != nil {
			t.Errorf("type %c: %q, %v; want the last dot removed", typ, got, err)
		}
	}
}
