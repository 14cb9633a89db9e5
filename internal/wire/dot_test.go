package wire

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
)

func TestDotReader(t *testing.T) {
	for _, tt := range []struct {
		name, wire, want string
		err              error
		rest             string // left after the block
	}{
		{"empty", ".\r\n", "", nil, ""},
		{"lines", "one\r\ntwo\r\n.\r\nnext\r\n", "one\r\ntwo\r\n", nil, "next\r\n"},
		{"empty lines", "\r\n\r\n.\r\n", "\r\n\r\n", nil, ""},
		{"dots", "..\r\n...\r\n..x\r\nx.\r\n.\r\n", ".\r\n..\r\n.x\r\nx.\r\n", nil, ""},
		{"a dot that was not doubled", ".x\r\n.\r\n", "x\r\n", nil, ""},
		{"bare LF before a dot", "a\n.\r\nb\r\n.\r\n", "a\n.\r\nb\r\n", nil, ""},
		{"a dot with a bare LF", "a\r\n.\nb\r\n.\r\n", "a\r\n\nb\r\n", nil, ""},
		{"CR", "a\r.\r\r\n\r\n.\r\n", "a\r.\r\r\n\r\n", nil, ""},
		{"octets", "\x00\xff\x80\r\n.\r\n", "\x00\xff\x80\r\n", nil, ""},
		{"nothing", "", "", io.ErrUnexpectedEOF, ""},
		{"no dot", "one\r\n", "one\r\n", io.ErrUnexpectedEOF, ""},
		{"cut in a line", "one\r\ntw", "one\r\ntw", io.ErrUnexpectedEOF, ""},
		{"cut after a dot", "one\r\n.", "one\r\n", io.ErrUnexpectedEOF, ""},
		{"cut after a dot and CR", "one\r\n.\r", "one\r\n", io.ErrUnexpectedEOF, ""},
		{"cut after two dots", "one\r\n..", "one\r\n.", io.ErrUnexpectedEOF, ""},
		{"cut after a bare LF and a dot", "one\n.", "one\n.", io.ErrUnexpectedEOF, ""},
		{"too long", strings.Repeat("x", 101) + "\r\n.\r\n", "", ErrLineTooLong, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, slow := range []bool{false, true} {
				var in io.Reader = strings.NewReader(tt.wire)
				if slow {
					in = iotest.OneByteReader(in)
				}
				lines := NewLineReader(in, 100)
				got, err := io.ReadAll(NewDotReader(lines))
				if string(got) != tt.want || !errors.Is(err, tt.err) {
					t.Errorf("got  %q, %v\nwant %q, %v", got, err, tt.want, tt.err)
				}
				if rest, _ := io.ReadAll(lines); tt.err == nil && string(rest) != tt.rest {
					t.Errorf("after the block is %q, want %q", rest, tt.rest)
				}
			}
		})
	}
}

// TestDotReaderListing has listings of servers that end lines in LF.
func TestDotReaderListing(t *testing.T) {
	for _, tt := range []struct {
		name, wire, want string
		err              error
		rest             string // left after the block
	}{
		{"CR LF", "one\r\n..two\r\n.\r\nnext\r\n", "one\r\n.two\r\n", nil, "next\r\n"},
		{"LF, dot with CR LF", "one\n..two\n.\r\nnext\r\n", "one\n.two\n", nil, "next\r\n"},
		{"LF", "one\ntwo\n.\nnext\r\n", "one\ntwo\n", nil, "next\r\n"},
		{"LF, then CR LF", "one\ntwo\r\n.\r\nnext\r\n", "one\ntwo\r\n", nil, "next\r\n"},
		{"an LF in a later line", "one\r\ntwo\n.\r\nthree\r\n.\r\n", "one\r\ntwo\n.\r\nthree\r\n", nil, ""},
		{"empty", ".\r\nnext\r\n", "", nil, "next\r\n"},
		{"empty, LF", ".\nnext\r\n", "", nil, "next\r\n"},
		{"cut", "one\n.", "one\n", io.ErrUnexpectedEOF, ""},
		{"an LF and a dot in the first line", "one\n.\ntwo\r\nthree\r\n.\r\nnext\r\n", "one\n\ntwo\r\nthree\r\n", nil, "next\r\n"},
	} {
		in := io.MultiReader(strings.NewReader(strings.TrimSuffix(tt.wire, tt.rest)), strings.NewReader(tt.rest)) // comes later
		lines := NewLineReader(in, 100)
		got, err := io.ReadAll(NewDotReader(lines).Listing())
		if string(got) != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("%s: got  %q, %v\nwant %q, %v", tt.name, got, err, tt.want, tt.err)
		}
		if rest, _ := io.ReadAll(lines); tt.err == nil && string(rest) != tt.rest {
			t.Errorf("%s: after the block is %q, want %q", tt.name, rest, tt.rest)
		}
	}
}

func TestDotReaderAsReader(t *testing.T) {
	want := ".\r\nabc\r\n\r\n" + strings.Repeat("long", 2000) + "\r\n"
	wire := "..\r\nabc\r\n\r\n" + strings.Repeat("long", 2000) + "\r\n.\r\n"
	if err := iotest.TestReader(NewDotReader(NewLineReader(strings.NewReader(wire), 0)), []byte(want)); err != nil {
		t.Error(err)
	}
}

// Data that have arrived are returned before the reader waits for more.
func TestDotReaderDoesNotWait(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	go io.WriteString(w, "one\r\ntw")
	d := NewDotReader(NewLineReader(r, 0))
	p := make([]byte, 100)
	if n, err := d.Read(p); string(p[:n]) != "one\r\n" || err != nil {
		t.Errorf("got %q, %v", p[:n], err)
	}
}

func TestDotReaderEnds(t *testing.T) {
	for wire, want := range map[string]bool{"a\r\nb\r\n.\r\nnext": true, "a\r\nb\r\n": false, "a\r\nb\r\n.": false} {
		d := NewDotReader(NewLineReader(strings.NewReader(wire), 0))
		if line, err := d.ReadLine(); string(line) != "a\r\n" || err != nil {
			t.Fatalf("%q, %v", line, err)
		}
		if got := d.Ends(); got != want {
			t.Errorf("%q: ends %t, want %t", wire, got, want)
		}
	}
}

// A line that never ends requires no more memory than its limit (CVE-2005-0101).
func TestDotReaderBounded(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	d := NewDotReader(NewLineReader(io.LimitReader(endless{}, 16<<20), 16<<10))
	n, err := io.Copy(io.Discard, d)
	runtime.ReadMemStats(&after)
	if n != 0 || !errors.Is(err, ErrLineTooLong) {
		t.Errorf("%d bytes, %v", n, err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20 {
		t.Errorf("%d bytes were allocated", used)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestDotWriter(t *testing.T) {
	for in, want := range map[string]string{
		"":                  ".\r\n",
		"a":                 "a\r\n.\r\n",
		"a\r\n":             "a\r\n.\r\n",
		".":                 "..\r\n.\r\n",
		".\r\n..\r\n.x":     "..\r\n...\r\n..x\r\n.\r\n",
		"a\r":               "a\r\r\n.\r\n",
		"a\n.b\r\n":         "a\n.b\r\n.\r\n",
		"\r\n\r\n":          "\r\n\r\n.\r\n",
		"\r\n.\r\nQUIT\r\n": "\r\n..\r\nQUIT\r\n.\r\n",
	} {
		for _, step := range []int{1, 2, 3, 100} {
			var out bytes.Buffer
			w := NewDotWriter(&out)
			for rest := []byte(in); len(rest) > 0; {
				n, err := w.Write(rest[:min(step, len(rest))])
				if err != nil {
					t.Fatal(err)
				}
				rest = rest[n:]
			}
			if err := w.Close(); err != nil || out.String() != want {
				t.Errorf("%q by %d: %q, %v; want %q", in, step, out.String(), err, want)
			}
		}
	}
}

// FuzzDotStuff: what is written is read again, with a line end at the end, in pieces of any size.
// When anything else is read, nothing is lost or invented.
func FuzzDotStuff(f *testing.F) {
	for _, seed := range []string{"", ".", "..\r\n.", "a\r\n.\r\nb", "\r", "\n.\r\n", "\r\n.\n", ".\r", "a\r\r\n.\r\r\n", "\x00\xff"} {
		f.Add([]byte(seed), uint8(3))
	}
	f.Fuzz(func(t *testing.T, data []byte, step uint8) {
		var wire bytes.Buffer
		w := NewDotWriter(&wire)
		for rest := data; len(rest) > 0; {
			n, err := w.Write(rest[:min(int(step)+1, len(rest))])
			if err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		want := bytes.Clone(data)
		if len(want) > 0 && !bytes.HasSuffix(want, []byte("\r\n")) {
			want = append(want, "\r\n"...)
		}
		wire.WriteString("next\r\n")
		lines := NewLineReader(&wire, 0)
		got, err := io.ReadAll(NewDotReader(lines))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%q came back as %q, %v", data, got, err)
		}
		if next, err := lines.ReadLine(); string(next) != "next\r\n" || err != nil {
			t.Errorf("after %q is %q, %v", data, next, err)
		}
		raw, err := io.ReadAll(NewDotReader(NewLineReader(bytes.NewReader(data), 0)))
		if len(raw) > len(data) || err == nil && !bytes.Contains(append([]byte("\r\n"), data...), []byte("\r\n.\r\n")) {
			t.Errorf("%q was read as %q, %v", data, raw, err)
		}
	})
}
