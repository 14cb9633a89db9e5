package charset

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestCharset(t *testing.T) {
	for _, tc := range []struct{ name, octets, want string }{
		{"auto", "gr\u00fcn", "gr\u00fcn"},
		{"auto", "gr\xfcn, na\xefve", "gr\u00fcn, na\u00efve"},
		{"", "\xc9\xcd\xcd\xcd\xbb\n\xba x \xba", "\u2554\u2550\u2550\u2550\u2557\n\u2551 x \u2551"},
		{"auto", "\x93quoted\x94", "\u201cquoted\u201d"},
		{"Latin1", "\x93caf\xe9", "\u0093caf\u00e9"},
		{"cp437", "\x81", "\u00fc"},
		{"UTF-8", "\xff", "\xff"},
		{"auto", "plain", "plain"},
		{"auto", "caf\xe9", "caf\u00e9"},
	} {
		c, err := Named(tc.name)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Decode(tc.octets); got != tc.want {
			t.Errorf("%s: %q is %q, want %q", tc.name, tc.octets, got, tc.want)
		}
		for name, r := range map[string]io.Reader{"whole": strings.NewReader(tc.octets), "in parts": iotest.OneByteReader(strings.NewReader(tc.octets))} {
			if got, err := io.ReadAll(c.Reader(r)); string(got) != tc.want || err != nil {
				t.Errorf("%s: %q is read %s as %q, %v; want %q", tc.name, tc.octets, name, got, err, tc.want)
			}
		}
		var b bytes.Buffer
		d := NewDecoder(&b, c)
		for i := range len(tc.octets) {
			if n, err := d.Write([]byte(tc.octets[i : i+1])); n != 1 || err != nil {
				t.Fatal(n, err)
			}
		}
		if err := d.Flush(); err != nil || b.String() != tc.want {
			t.Errorf("%s: %q is written as %q, %v; want %q", tc.name, tc.octets, b.String(), err, tc.want)
		}
	}
	if _, err := Named("ebcdic"); err == nil {
		t.Error("EBCDIC is known")
	}
	long := bytes.Repeat([]byte("\xe9x\n"), 3000)
	var b bytes.Buffer
	d := NewDecoder(&b, Charset{})
	d.Write(long)
	d.Write(long)
	if err := d.Flush(); err != nil || b.Len() != 2*3000*4 {
		t.Errorf("%d octets, %v", b.Len(), err)
	}
}

// TestDeclared has names as servers send them, and what they mean.
func TestDeclared(t *testing.T) {
	for name, want := range map[string]string{
		"UTF-8": "UTF-8", "utf8": "UTF-8", "KOI8-R": "KOI8-R", "iso-8859-15": "ISO-8859-15", "cp1252": "windows-1252",
		"iso-8859-1": "windows-1252", "ISO-8859-1": "windows-1252", "latin1": "windows-1252",
		"us-ascii": "", "ASCII": "", "": "", "x-unknown": "",
	} {
		if got := Declared(name).Name(); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestReader has texts that are longer than what is examined, and one that breaks off.
func TestReader(t *testing.T) {
	for text, want := range map[string]string{
		strings.Repeat("\xe9x\n", 3000):                                   strings.Repeat("éx\n", 3000),
		strings.Repeat("é", 3000):                                         strings.Repeat("é", 3000),
		"x" + strings.Repeat("é", 3000):                                   "x" + strings.Repeat("é", 3000), // cut within a character
		strings.Repeat("x", guessed) + "\xe9":                             strings.Repeat("x", guessed) + "\xe9",
		strings.Repeat("\xcd", guessed) + strings.Repeat("\xe9", guessed): strings.Repeat("═", guessed) + strings.Repeat("Θ", guessed),
	} {
		if got, err := io.ReadAll(Charset{}.Reader(strings.NewReader(text))); string(got) != want || err != nil {
			t.Errorf("%.20q: %.20q, %d bytes, %v", text, got, len(got), err)
		}
	}
	broken := errors.New("broken")
	got, err := io.ReadAll(Charset{}.Reader(io.MultiReader(strings.NewReader("caf\xe9"), iotest.ErrReader(broken))))
	if string(got) != "café" || err != broken {
		t.Errorf("%q, %v", got, err)
	}
}

// Each name of the list leads to the charset of this name.
func TestNames(t *testing.T) {
	listed := make(map[string]bool)
	for _, name := range Names() {
		if c, err := Named(name); err != nil || c.Name() != name {
			t.Errorf("%s: %q, %v", name, c.Name(), err)
		}
		listed[name] = true
	}
	for name, c := range charsets {
		if c.Name() != "" && !listed[c.Name()] {
			t.Errorf("%s is not listed", name)
		}
	}
}

// A character of UTF-8 that the examined part cuts does not change the guess.
func TestCutCharacter(t *testing.T) {
	text := append(bytes.Repeat([]byte("x"), guessed-1), "\u00e9\n"...)
	var b bytes.Buffer
	d := NewDecoder(&b, Charset{})
	for _, part := range [][]byte{text[:guessed], text[guessed:]} {
		if _, err := d.Write(part); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Flush(); err != nil || !bytes.Equal(b.Bytes(), text) {
		t.Errorf("the text ends in %q, %v", b.Bytes()[guessed-2:], err)
	}
}
