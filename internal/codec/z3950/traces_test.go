package z3950

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// A recording is one direction of a recorded conversation.
type recording struct {
	name     string
	messages [][]byte // headers included
}

// recordings returns all recordings. Reading them also tests ReadMessage.
func recordings(t testing.TB) []recording {
	t.Helper()
	paths, err := filepath.Glob("testdata/traces/*.bin")
	if err != nil || len(paths) < 70 {
		t.Fatalf("%d recordings, %v", len(paths), err)
	}
	var all []recording
	for _, path := range paths {
		octets, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		rec := recording{name: strings.TrimSuffix(filepath.Base(path), ".bin")}
		r := bytes.NewReader(octets)
		for {
			_, message, err := ReadMessage(r, nil, 100000)
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("%s, message %d: %v", path, len(rec.messages)+1, err)
			}
			rec.messages = append(rec.messages, message)
		}
		if !bytes.Equal(bytes.Join(rec.messages, nil), octets) {
			t.Fatalf("%s: the messages do not cover the whole file", path)
		}
		all = append(all, rec)
	}
	return all
}

// eachMessage runs f for every recorded message that is not empty.
func eachMessage(t *testing.T, f func(t *testing.T, message []byte)) (count int) {
	for _, rec := range recordings(t) {
		t.Run(rec.name, func(t *testing.T) {
			for _, m := range rec.messages {
				if len(m) > HeaderSize {
					f(t, m)
				}
				count++
			}
		})
	}
	return count
}

// TestTracesDecode decodes every recorded message and encodes it to the same octets.
func TestTracesDecode(t *testing.T) {
	types := make(map[Type]int)
	n := eachMessage(t, func(t *testing.T, message []byte) {
		h, err := ParseHeader(message)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Decode(message[HeaderSize:])
		if err != nil {
			t.Fatal(err)
		}
		types[p.Type()]++
		again, err := AppendMessage(nil, h, rebuilt(p))
		if err != nil || !bytes.Equal(again, message) {
			t.Errorf("%v is encoded differently, %v\n got %q\nwant %q", p.Type(), err, again, message)
		}
	})
	t.Logf("%d messages: %v", n, types)
	for _, typ := range []Type{TypeInit, TypeInitResponse, TypeSearch, TypeSearchResponse, 24} {
		if types[typ] == 0 {
			t.Errorf("the recordings have no %v", typ)
		}
	}
}

// rebuilt returns p with its user information encoded again from its documents.
func rebuilt(p PDU) PDU {
	r, ok := p.(*SearchResponse)
	if !ok {
		return p
	}
	c := *r
	c.Info = appendText(nil, TagSeedWordsUsed, r.SeedWordsUsed())
	for d := range r.Documents() {
		c.Info = AppendDocument(c.Info, d)
	}
	for d := range r.Diagnostics() {
		c.Info = AppendDiagnostic(c.Info, d)
	}
	return &c
}

// TestTracesTruncated truncates every recorded message after every octet.
func TestTracesTruncated(t *testing.T) {
	eachMessage(t, func(t *testing.T, message []byte) {
		if testing.Short() && len(message) > 2000 {
			return
		}
		whole, _ := Decode(message[HeaderSize:])
		for n := range len(message) {
			if n > 200 && n < len(message)-200 && n%97 != 0 {
				continue // inside a text one octet is like the other
			}
			_, _, err := ReadMessage(iotest.OneByteReader(bytes.NewReader(message[:n])), nil, 100000)
			if n == 0 && err != io.EOF || n > 0 && err != io.ErrUnexpectedEOF {
				t.Fatalf("%d bytes of a message: %v", n, err)
			}
			if n < HeaderSize || mayEnd(whole, message[HeaderSize:n]) {
				continue
			}
			var bad *SyntaxError
			if p, err := Decode(message[HeaderSize:n]); !errors.As(err, &bad) {
				t.Fatalf("%d of %d bytes of a PDU: %+v, %v", n-HeaderSize, len(message)-HeaderSize, p, err)
			}
			Annotate(message[:n])
		}
	})
}

// mayEnd reports whether p may be complete without user information, if b is the whole PDU.
func mayEnd(p PDU, b []byte) bool {
	if t := p.Type(); t == TypeSearch || t == TypeSearchResponse || len(b) < 2 {
		return false
	}
	return len(b) >= 2+int(b[0])<<8+int(b[1])
}

// TestTracesDocumentIDs writes every recorded document-id in the form of browsers and parses it again.
func TestTracesDocumentIDs(t *testing.T) {
	seen := make(map[string]bool)
	eachMessage(t, func(t *testing.T, message []byte) {
		p, err := Decode(message[HeaderSize:])
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range documentIDs(p) {
			text, ok := DocIDText(id)
			back, err := ParseDocIDText(text)
			if !ok || err != nil || !bytes.Equal(back, id) {
				t.Errorf("%q is written %q, %t, and read as %q, %v", id, text, ok, back, err)
			}
			parsed, ok := ParseDocID(id)
			if again := AppendDocID(nil, parsed); ok && parsed.OriginalServer != "" && !bytes.Equal(again, id) {
				t.Errorf("%q is read as %+v and written %q", id, parsed, again)
			}
			seen[text] = true
		}
	})
	// Just as lynx wrote it.
	const whale = "1=localhost%3A210;2=/wais/db/stories;3=0%20162%20/wais/docs/whale.txt;4=localhost%3A210;5=/wais/db/stories;6=0%20162%20/wais/docs/whale.txt;7=%00;"
	if !seen[whale] {
		t.Errorf("no document-id has the form %q", whale)
	}
}

func documentIDs(p PDU) (ids [][]byte) {
	switch p := p.(type) {
	case *SearchResponse:
		for r := range p.Documents() {
			ids = append(ids, r.ID)
		}
	case *Search:
		for _, t := range p.Query {
			if t.Attribute(0) == "un" {
				ids = append(ids, t.Term)
			}
		}
		if p.Words != nil {
			for _, f := range p.Words.Like {
				ids = append(ids, f.ID)
			}
		}
	}
	return ids
}

// TestTracesRequests checks that the package creates the same requests as real clients.
func TestTracesRequests(t *testing.T) {
	recorded := make(map[string][][]byte)
	for _, rec := range recordings(t) {
		recorded[rec.name] = rec.messages
	}
	whale, err := ParseDocIDText("1=localhost%3A210;2=/wais/db/stories;3=0%20162%20/wais/docs/whale.txt;4=localhost%3A210;5=/wais/db/stories;6=0%20162%20/wais/docs/whale.txt;7=%00;")
	if err != nil {
		t.Fatal(err)
	}
	part := Feedback{ID: whale, Part: true, Code: Num(2), Start: []byte{1}, End: []byte{4}}
	for _, tc := range []struct {
		name string
		n    int
		pdu  PDU
	}{
		{"lynx-search.c2s", 0, NewWordSearch("stories", Words{Seed: "lighthouse", Dates: Num(1), Max: Num(200)})},
		{"search-hits.c2s", 1, NewWordSearch("stories", Words{Seed: "lighthouse", Dates: Num(1), Max: Num(40)})},
		{"lynx-document.c2s", 0, NewRetrieval("stories", whale, "TEXT", 0, 162)},
		{"x-search-relevance-chunk.c2s", 1, NewWordSearch("stories", Words{Seed: "lighthouse", Like: []Feedback{part}, Dates: Num(1), Max: Num(10)})},
	} {
		got, err := AppendMessage(nil, NewHeader(), tc.pdu)
		if want := recorded[tc.name][tc.n]; err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %v\n got %q\nwant %q", tc.name, err, got, want)
		}
	}
}

// TestTracesAnswers checks the content of recorded answers.
func TestTracesAnswers(t *testing.T) {
	recorded := make(map[string]*SearchResponse)
	for _, rec := range recordings(t) {
		for _, m := range rec.messages {
			if len(m) == HeaderSize {
				continue
			}
			if p, err := Decode(m[HeaderSize:]); err == nil && p.Type() == TypeSearchResponse {
				recorded[strings.TrimSuffix(rec.name, ".s2c")] = p.(*SearchResponse)
			}
		}
	}
	var headlines []string
	for r := range recorded["search-hits"].Documents() {
		headlines = append(headlines, r.Headline)
		if len(r.Types) != 1 || r.Types[0] != "TEXT" || !r.Score.Known || r.Version.Known || r.Source != "/wais/db/stories" || r.Date != "0" {
			t.Errorf("%+v", r)
		}
	}
	if want := []string{"A Whale off the Point", "Drawing a Map of the Parish", "The Keeper of the North Light"}; !slices.Equal(headlines, want) {
		t.Errorf("headlines %q, want %q", headlines, want)
	}
	diagnostics := slices.Collect(recorded["search-unknown-db"].Diagnostics())
	want := []Diagnostic{{Code: "S1", Text: "The following database is not available: /wais/db/nosuchdb"}}
	if !slices.Equal(diagnostics, want) || want[0].Meaning() == "" {
		t.Errorf("%+v, want %+v", diagnostics, want)
	}
	help := recorded["search-empty-help"]
	if n := len(slices.Collect(help.Documents())); n != 2 || len(slices.Collect(help.Diagnostics())) != 1 {
		t.Errorf("help has %d records", n)
	}
	if r := recorded["x-retrieve-whole-nochunk"]; len(r.Info) > 0 || string(r.ReferenceID) != "3" {
		t.Errorf("%+v", r)
	}
}
