package prospero

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// FuzzProsperoText reads any text by lines, by tokens and as a stream, and writes the parsed lines
// again.
func FuzzProsperoText(f *testing.F) {
	for _, m := range messages(f, "*") {
		if len(m.text) < 4000 {
			f.Add([]byte(m.text), m.plain())
		}
	}
	for _, text := range []string{
		"'", "''", "a'", "'\n", "\r\n\r", " \t", "LINK  L FILE x INTERNET-D h(1 ASCII x -1 DEST-EXP\n", "ATTRIBUTE>> A FIELD ID\n", "FORWARDED\n", "ATTRIBUTE OBJECT FIELD X\n", "LINK\n", "FAILURE\n", "FAILURE> x\n",
		"FORWARDED a\n", "FORWARDED a b c d e\n", "LINK  L NULL NULL NULL NULL NULL NULL NULL\n", "ATTRIBUTE\n", "ATTRIBUTE LINK FIELD ACCESS-METHOD GOPHER\n", "0123456789" + strings.Repeat("x", 5000) + "\n",
		"ATTRIBUTE LINK FIELD OWNER x y\n", "LINK  L FILE x INTERNET-D h ASCII x 0 DEST-EXP 19940517120000Z\n", "LINK  L EXTERNAL x INTERNET-D h(0) ASCII x 0\n",
	} {
		f.Add([]byte(text), false)
		f.Add([]byte(text), true)
	}
	f.Add([]byte("'a b' c'd\nLINK L x\nLINK-INFO x\nLINK L EXTERNAL(AFTP,TEXT) 'a b' T h A n 0 7\n"), true)
	f.Fuzz(func(t *testing.T, text []byte, plain bool) {
		const max = 4096
		whole, _, wholeErr := lines(string(text), max, plain)
		r := NewReader(iotest.OneByteReader(bytes.NewReader(text)), max, plain)
		var pieces [][]string
		var err error
		for err == nil {
			var tokens []string
			if tokens, err = r.ReadLine(); len(tokens) > 0 {
				pieces = append(pieces, tokens)
			}
		}
		if err == io.EOF {
			err = nil
		}
		if fmt.Sprintf("%q", whole) != fmt.Sprintf("%q", pieces) || !errors.Is(err, wholeErr) && err != wholeErr {
			t.Fatalf("read byte by byte: %q, %v; read at once: %q, %v", pieces, err, whole, wholeErr)
		}
		for _, tokens := range whole {
			checkLine(t, tokens, plain)
		}
		if plain {
			return
		}
		r = NewReader(bytes.NewReader(text), max, false)
		streamed, streamErr := io.ReadAll(r.Stream())
		if token, ok, err := NewReader(bytes.NewReader(text), 0, false).ReadToken(); ok && err == nil && streamErr == nil && string(streamed) != token {
			t.Fatalf("streamed: %q; at once: %q", streamed, token)
		}
		io.Copy(io.Discard, r.Rest())
	})
}

// checkLine writes a line again and checks that it is read as the same tokens.
func checkLine(t *testing.T, tokens []string, plain bool) {
	ups := [][]string{tokens}
	if plain {
		var err error
		if ups, err = Upgrade(tokens); err != nil {
			return
		}
	}
	for _, up := range ups {
		if f := ParseFailure(up); f != nil && f.Error() == "" {
			t.Fatalf("%q has no text", up)
		}
		if l, err := ParseLink(up); err == nil {
			SplitHost(l.Host)
			var attributes []Attribute
			for _, m := range []Method{{Name: "AFTP", Args: []string{"TEXT"}}, {Name: l.Name}} {
				a := m.In(l.Object).Attribute()
				b := m.Attribute()
				attributes = append(attributes, b, a, Attribute{Name: "ID", Value: []string{"REMOTE", "7"}})
			}
			l.Downgrade(nil)
			l.Downgrade(attributes)
		}
		text, err := parse(up)
		if err != nil || text == "" {
			continue
		}
		if a, err := ParseAttribute(up); err == nil {
			a.Downgrade()
			a.Method()
		}
		again, _, err := lines(text, 0, false)
		if err != nil || len(again) != 1 {
			t.Fatalf("%q is written as %q, and that is read as %q, %v", up, text, again, err)
		}
		second, err := parse(again[0])
		if err != nil || second != text {
			t.Fatalf("%q is written as %q, and that as %q, %v", up, text, second, err)
		}
	}
}
