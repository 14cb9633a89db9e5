package cjk

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"strings"
	"testing"
	"testing/iotest"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

var xtext = [...]encoding.Encoding{
	Big5: traditionalchinese.Big5, GBK: simplifiedchinese.GBK, GB18030: simplifiedchinese.GB18030,
	EUCKR: korean.EUCKR, EUCJP: japanese.EUCJP, ShiftJIS: japanese.ShiftJIS, ISO2022JP: japanese.ISO2022JP,
}

// Every text of up to two bytes, and of more where a charset has longer codes, becomes what x/text
// makes of it: at the end of the input, before other bytes, and in each set of ISO-2022-JP.
func TestAsText(t *testing.T) {
	for c, theirs := range xtext {
		for src := range sequences(Charset(c)) {
			for _, suffix := range []string{"", "a", "0\xA1\xA1"} {
				compare(t, Charset(c), theirs, append(src[:len(src):len(src)], suffix...))
			}
			if t.Failed() {
				break
			}
		}
	}
}

// sequences yields the beginnings of texts for a charset.
func sequences(c Charset) iter.Seq[[]byte] {
	prefixes := []string{""}
	switch c {
	case EUCJP:
		prefixes = append(prefixes, "\x8F")
	case ISO2022JP:
		prefixes = append(prefixes, "\x1B", "\x1B$", "\x1B(", "\x1B$(", "\x1B(I", "\x1B$@", "\x1B$B", "\x1B$(D", "\x1B$B\x30\x21\x1B(J", "\x1B$B\n")
	}
	return func(yield func([]byte) bool) {
		for _, prefix := range prefixes {
			for i := range 1 << 16 {
				if !yield([]byte(prefix + string([]byte{byte(i >> 8), byte(i)}))) {
					return
				}
			}
			for i := range 1 << 8 {
				if !yield([]byte(prefix + string([]byte{byte(i)}))) {
					return
				}
			}
			if !yield([]byte(prefix)) {
				return
			}
		}
		if c == GB18030 {
			fours(yield)
		}
	}
}

// fours yields the codes of four bytes of the first plane, some of the others, whose numbers are those
// of the characters, and codes that differ in one byte.
func fours(yield func([]byte) bool) {
	const end = supplementary + 0x100000 // after U+10FFFF
	for i := range 126 * 10 * 126 * 10 {
		if i > 40_000 && i%13 != 0 && i != supplementary && i != supplementary-1 && i != end && i != end-1 {
			continue
		}
		src := fourBytes(i)
		if !yield(src) {
			return
		}
		if i%1259 != 0 {
			continue
		}
		for at := range src {
			for _, b := range []byte{0, 0x2F, 0x30, 0x39, 0x3A, 0x3F, 0x40, 0x7F, 0x80, 0x81, 0xFE, 0xFF} {
				other := bytes.Clone(src)
				other[at] = b
				if !yield(other) || !yield(other[:3]) {
					return
				}
			}
		}
	}
}

// A text may arrive in parts, and the room for the result may be small.
func TestParts(t *testing.T) {
	for c, theirs := range xtext {
		text := strings.Repeat("a\x88\x62\xB0\xA1\x8E\xB1\x8F\xB0\xA1\x81\x30\x81\x30\x1B$B0!\n\x1B(I1\x1B$(D0!\x1B(B\xFF\x80", 400)
		want, err := theirs.NewDecoder().String(text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(Charset(c).NewDecoder().Reader(iotest.OneByteReader(strings.NewReader(text))))
		if err != nil || string(got) != want {
			t.Errorf("%v, byte by byte: %q, %v", theirs, got, err)
		}
		for split := range 40 {
			compareTransform(t, Charset(c), theirs, []byte(text[:60]), split)
		}
	}
}

// A decoder can be used again: it begins in ASCII.
func TestReset(t *testing.T) {
	d := ISO2022JP.NewDecoder()
	for _, src := range []string{"\x1B$B0!", "0!"} {
		got, err := d.String(src)
		want, _ := japanese.ISO2022JP.NewDecoder().String(src)
		if err != nil || got != want {
			t.Errorf("%q: %q, %v; want %q", src, got, err, want)
		}
	}
}

func compare(t *testing.T, c Charset, theirs encoding.Encoding, src []byte) {
	t.Helper()
	var got, want [128]byte
	n, m := 0, 0
	var err error
	n, _, err = c.NewDecoder().Transformer.Transform(got[:], src, true)
	m, _, _ = theirs.NewDecoder().Transformer.Transform(want[:], src, true)
	if err != nil || !bytes.Equal(got[:n], want[:m]) {
		t.Errorf("%v: % x: %q, %v; want %q", theirs, src, got[:n], err, want[:m])
	}
}

// compareTransform compares what a step of the decoders does that has room for a few bytes only, and
// may not see the end of src, and the step after it.
func compareTransform(t *testing.T, c Charset, theirs encoding.Encoding, src []byte, split int) {
	t.Helper()
	ours, their := c.NewDecoder().Transformer, theirs.NewDecoder().Transformer
	split = min(split, len(src))
	for _, step := range []struct {
		room, end int
		atEOF     bool
	}{{split, split, false}, {2 * split, len(src), false}, {4 * len(src), len(src), true}} {
		got, want := make([]byte, step.room), make([]byte, step.room)
		n, nSrc, err := ours.Transform(got, src[:step.end], step.atEOF)
		m, mSrc, wantErr := their.Transform(want, src[:step.end], step.atEOF)
		if n != m || nSrc != mSrc || !errors.Is(err, wantErr) || !bytes.Equal(got[:n], want[:m]) {
			t.Fatalf("%v: % x to %d bytes: %q, %d, %v; want %q, %d, %v", theirs, src[:step.end], step.room, got[:n], nSrc, err, want[:m], mSrc, wantErr)
		}
	}
}

func FuzzAsText(f *testing.F) {
	f.Add([]byte("a\x88\x62\xB0\xA1\x8E\xB1\x8F\xB0\xA1\x81\x30\x81\x30"), uint8(3))
	f.Add([]byte("\x1B$B0!\n\x1B(I1\x1B$(D0!\x1B(B\xFF\x80\x1B$("), uint8(7))
	f.Fuzz(func(t *testing.T, src []byte, split uint8) {
		for c, theirs := range xtext {
			compareTransform(t, Charset(c), theirs, src, int(split))
		}
	})
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		unpack()
	}
}
