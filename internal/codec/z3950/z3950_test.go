package z3950

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

func TestHeader(t *testing.T) {
	for _, tc := range []struct {
		in   string
		want Header
		err  error
	}{
		{"0000000047z2wais        0", Header{47, 'z', '2', "wais", ' ', ' ', '0'}, nil},
		{"0000000000Z1            \x00", Header{0, 'z', '1', "", ' ', ' ', 0}, nil},
		{"0000000003n2\xe9erver nam  0", Header{3, 'n', '2', "\xe9erver nam", ' ', ' ', '0'}, nil},
		{"9999999999z2wais        0", Header{9999999999, 'z', '2', "wais", ' ', ' ', '0'}, nil},
		{"0000000047z2wais       ", Header{}, io.ErrUnexpectedEOF},
		{"-000000001z2wais        0", Header{}, ErrNotWAIS},
		{"+1        z2wais        0", Header{}, ErrNotWAIS},
		{"0x10000000z2wais        0", Header{}, ErrNotWAIS},
		{"000000004 z2wais        0", Header{}, ErrNotWAIS},
		{"0000000047q2wais        0", Header{}, ErrNotWAIS},
		{"0000000047z3wais        0", Header{}, ErrUnsupported},
		{"0000000047z2wais      u 0", Header{}, ErrUnsupported},
		{"0000000047z2wais       h0", Header{}, ErrUnsupported},
	} {
		got, err := ParseHeader([]byte(tc.in))
		if !errors.Is(err, tc.err) || tc.err == nil && got != tc.want {
			t.Errorf("%q: %+v, %v; want %+v, %v", tc.in, got, err, tc.want, tc.err)
		}
		if again := got.append(nil); err == nil && !strings.EqualFold(string(again), tc.in) {
			t.Errorf("%q is written %q", tc.in, again)
		}
	}
}

// TestReadMessageStops checks that ReadMessage stops at the first octet that is not WAIS, so that the
// client does not wait for the rest of a header.
func TestReadMessageStops(t *testing.T) {
	for in, octets := range map[string]int{
		"220 hello\r\n": 4, "\x30\x84\x00\x00": 2, "\x16\x03\x01": 1, "0000000001x": 11, "": 0,
	} {
		r := &countedReader{strings.NewReader(in), 0}
		_, _, err := ReadMessage(iotest.OneByteReader(r), nil, 100)
		if octets > 0 && !errors.Is(err, ErrNotWAIS) || octets == 0 && err != io.EOF {
			t.Errorf("%q: %v", in, err)
		}
		if r.n != octets {
			t.Errorf("%q: %d bytes were read, want %d", in, r.n, octets)
		}
	}
	broken := errors.New("broken")
	if _, _, err := ReadMessage(iotest.ErrReader(broken), nil, 100); err != broken {
		t.Errorf("a reader's error became %v", err)
	}
}

type countedReader struct {
	io.Reader
	n int
}

func (c *countedReader) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += n
	return n, err
}

// TestHostile checks wrong lengths and endless nesting (security cases 59 to 61). Each must fail with a
// clear error and allocate no memory for data that has not arrived.
func TestHostile(t *testing.T) {
	for name, pdu := range hostile() {
		var bad *SyntaxError
		allocated := allocates(func() {
			if p, err := Decode([]byte(pdu)); !errors.As(err, &bad) {
				t.Errorf("%s: %+v, %v", name, p, err)
			}
		})
		if extra := int64(allocated) - int64(len(pdu)); extra > 64<<10 {
			t.Errorf("%s: %d bytes were allocated", name, extra)
		}
	}
	for _, length := range []string{"9999999999", "2147483647", "0000100001"} {
		allocated := allocates(func() {
			if _, _, err := ReadMessage(strings.NewReader(length+"z2wais        0short"), nil, 100000); !errors.Is(err, ErrTooLong) {
				t.Errorf("length %s: %v", length, err)
			}
		})
		if allocated > 64<<10 {
			t.Errorf("length %s: %d bytes were allocated", length, allocated)
		}
	}
	allocated := allocates(func() {
		if _, _, err := ReadMessage(strings.NewReader("2147483622z2wais        0short"), nil, 1<<31-1); err != io.ErrUnexpectedEOF {
			t.Errorf("a message that does not arrive: %v", err)
		}
	})
	if allocated > 64<<10 {
		t.Errorf("%d bytes were allocated for a message that did not arrive", allocated)
	}
}

// hostile returns invalid PDUs.
func hostile() map[string]string {
	response := func(info string) string {
		return "\x00\x0b\x17\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" + info
	}
	nested := strings.Repeat("\x81\x16\x87\xff\xff\x7f", 1e5)
	return map[string]string{
		"no octets":                "",
		"one octet":                "\x00",
		"a PDU without a type":     "\x00\x00",
		"a PDU longer than it is":  "\xff\xff\x17",
		"group longer than it is":  response("\x63\xff\xff\xff\x7f"),
		"length of five octets":    response("\x63\x87\xff\xff\xff\x7f"),
		"indefinite length":        response("\x63\x80"),
		"endless integer":          response(strings.Repeat("\xff", 100)),
		"endless zeros":            response(strings.Repeat("\x80", 1e6)),
		"nesting without contents": response(nested),
		"nesting with lengths":     response(deep(40)),
		"diagnostic of 0 octets":   response("\x63\x04\x1c\x00\x00\x1d"),
		"diagnostic of 64 KiB":     response("\x63\x08\x1c\xff\xffS1x\x00\x1d"),
		"diagnostic without end":   response("\x63\x08\x1c\x00\x04S1x\x00\x00"),
		"number of five octets":    response("\x63\x0a\x81\x16\x07\x76\x05\x00\x00\x00\x00\x07"),
		"number of none":           response("\x63\x05\x81\x16\x02\x76\x00"),
		"no user information":      response(""),
		"other user information":   response("\x6a\x00"),
		"many types":               response("\x63\x82\x39\x81\x16\x82\x35\x81\x04\x82\x31" + strings.Repeat("\x81\x05\x00", 101) + "\x01\x00"),
		"Init without sizes":       "\x00\x07\x14\x03\x01\x80\x04\x01\x80",
		"InitResponse of nothing":  "\x00\x01\x15",
		"Search of nothing":        "\x00\x01\x16",
		"Search without words":     "\x00\x0e\x16\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x14\x01\x33",
		"Search without a query":   "\x00\x0e\x16\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x14\x01\x31",
	}
}

// deep returns n nested groups with correct lengths.
func deep(n int) string {
	var b []byte
	for range n {
		b = appendElement(nil, TagUserInformation, b)
	}
	return string(b)
}

func allocates(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// samples returns PDUs with all fields, and with none.
func samples() []PDU {
	terms := Terms{0x80, 0xC0, 1, 1 << 30, "a", "b", "c", "d", []byte("e")}
	return []PDU{
		&Init{Terms: terms, Info: []byte("more")},
		&InitResponse{Accepted: true, Terms: terms, ChunkCode: Num(1), ChunkIDLength: Num(3)},
		&InitResponse{Terms: terms},
		&Search{SmallSetUpperBound: 1, LargeSetLowerBound: 1<<24 - 1, QueryType: "3", DatabaseNames: "a\x1fb", Words: &Words{
			Seed: "w", Like: []Feedback{{ID: []byte("a"), Type: "TEXT"}, {ID: []byte("b"), Part: true, Type: "PS", Code: Num(3), Start: []byte("s"), End: []byte("e")}},
			Dates: Num(4), Max: Num(1),
		}},
		&Search{QueryType: "1", Query: []Token{{Attributes: "un re ig ig ig ig", Term: []byte{}}, {Operator: "o"}}, ReferenceID: []byte("r")},
		&Search{QueryType: "0"},
		&SearchResponse{SearchStatus: 1, ResultCount: 2, RecordsReturned: 3, NextPosition: 4, PresentStatus: Num(0), ResultSetStatus: Num(1), ReferenceID: []byte("r"), Info: sampleInfo()},
		&Other{Number: 31, Header: []byte{1, 2}, Info: []byte{3}},
	}
}

// sampleDocument returns a document with all fields but Text.
func sampleDocument() Document {
	return Document{Group: TagDocumentLongHeader, ID: []byte("id"), Version: Num(1), Score: Num(1<<32 - 1), BestMatch: Num(70000),
		Length: Num(1 << 24), Lines: Num(0), Types: []string{"TEXT", "PS"}, Source: "src", Date: "941220", Headline: "head", City: "Bergen"}
}

// sampleInfo returns the user information of a SearchResponse.
func sampleInfo() []byte {
	info := appendText(nil, TagSeedWordsUsed, "words")
	info = AppendDocument(info, sampleDocument())
	info = AppendDocument(info, Document{Group: TagDocumentTextGroup, ID: []byte("id"), Text: []byte{}})
	info = AppendDiagnostic(info, Diagnostic{"T1", "", true})
	return info
}

// TestRoundTrip encodes and decodes PDUs that the recordings do not contain.
func TestRoundTrip(t *testing.T) {
	for _, p := range samples() {
		octets, err := AppendPDU(nil, p)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Decode(octets)
		if err != nil || !reflect.DeepEqual(back, p) {
			t.Errorf("%v, %v\n got %+v\nwant %+v", p.Type(), err, back, p)
		}
	}
	r := &SearchResponse{Info: sampleInfo()}
	if got := slices.Collect(r.Documents()); len(got) != 2 || !reflect.DeepEqual(got[0], sampleDocument()) || got[1].Text == nil {
		t.Errorf("records %+v", got)
	}
	if got := slices.Collect(r.Diagnostics()); len(got) != 1 || got[0] != (Diagnostic{"T1", "", true}) || r.SeedWordsUsed() != "words" {
		t.Errorf("%+v, %q", got, r.SeedWordsUsed())
	}
	for range r.Documents() {
		break
	}
	for range r.Diagnostics() {
		break
	}
}

// TestTolerated checks unusual encodings and unknown elements.
func TestTolerated(t *testing.T) {
	const start = "\x00\x0b\x17\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
	const info = "\xc8\x05\x01x" + "\x81\x16\x80\x08" + "\x76\x02\x00\x07" + "\x81\x05\x01A"
	if _, err := Decode([]byte(start + "\x63\x80\x11" + info)); err == nil {
		t.Fatal("a group longer than its contents passes")
	}
	p, err := Decode([]byte(start + "\x63\x80\x10" + info))
	if err != nil {
		t.Fatal(err)
	}
	records := slices.Collect(p.(*SearchResponse).Documents())
	if len(records) != 1 || records[0].Score != Num(7) || !slices.Equal(records[0].Types, []string{"A"}) {
		t.Errorf("%+v", records)
	}
}

func TestTooLong(t *testing.T) {
	long := strings.Repeat("x", maxHeader)
	b := []byte("before")
	got, err := AppendMessage(b, NewHeader(), NewWordSearch(long, Words{}))
	if !errors.Is(err, ErrTooLong) || string(got) != "before" {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	d := AppendDiagnostic(nil, Diagnostic{Code: "", Text: long})
	p, err := Decode(append([]byte("\x00\x0b\x17\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"), appendElement(nil, TagUserInformation, d)...))
	if err != nil {
		t.Fatal(err)
	}
	for d := range p.(*SearchResponse).Diagnostics() {
		if d.Code != "  " || len(d.Text) != maxHeader-3 || d.Meaning() != "" {
			t.Errorf("%.20q, %d bytes", d.Code, len(d.Text))
		}
	}
}

func TestManyTerms(t *testing.T) {
	s := &Search{QueryType: "1", Query: make([]Token, maxTokens+1)}
	w := NewWordSearch("d", Words{Like: make([]Feedback, maxTokens+1)})
	for _, p := range []PDU{s, w} {
		octets, err := AppendPDU(nil, p)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Decode(octets); err == nil {
			t.Error("too many of them pass")
		}
	}
}

func TestDocIDText(t *testing.T) {
	for text, id := range map[string]string{
		"1=;":               "\x01\x00",
		"3=a%3Bb%25;7=%00;": "\x03\x04a;b%\x07\x01\x00",
		"131=x;":            "\x81\x03\x01x",
	} {
		if got, ok := DocIDText([]byte(id)); got != text || !ok {
			t.Errorf("%q is written %q, %t; want %q", id, got, ok, text)
		}
		if got, err := ParseDocIDText(text); string(got) != id || err != nil {
			t.Errorf("%q is read as %q, %v; want %q", text, got, err, id)
		}
	}
	for text, id := range map[string]string{"1=%zz%;": "\x01\x04%zz%", "1=a=b;": "\x01\x03a=b"} {
		if got, err := ParseDocIDText(text); string(got) != id || err != nil {
			t.Errorf("%q is read as %q, %v; want %q", text, got, err, id)
		}
	}
	for _, text := range []string{"", "1", "1=x", "1;", "=x;", "a=x;", "-1=x;", "28=S1x;", "268435456=x;", "1=x;2"} {
		if got, err := ParseDocIDText(text); err == nil {
			t.Errorf("%q is read as %q", text, got)
		}
	}
	for _, id := range []string{"opaque", "\x01\x05x", "\x01\x80\x01x", "", "\x1c\x00\x03S1\x00\x1d"} {
		if text, ok := DocIDText([]byte(id)); ok {
			t.Errorf("%q is written %q", id, text)
		}
	}
	for _, id := range []string{"opaque", "", "\x08\x00", "\x00\x00"} {
		if got, ok := ParseDocID([]byte(id)); ok {
			t.Errorf("%q is read as %+v", id, got)
		}
	}
	if id, ok := ParseDocID([]byte("\x03\x01x\x07\x00")); !ok || id.OriginalID != "x" || id.Copyright != 0 {
		t.Errorf("%+v, %t", id, ok)
	}
}

// TestAnnotate checks that the lines about a message cover every octet exactly once.
func TestAnnotate(t *testing.T) {
	for _, rec := range recordings(t) {
		for _, m := range rec.messages {
			if lines := Annotate(m); !covers(lines, m) {
				t.Errorf("%s: the lines do not cover the whole message:\n%s", rec.name, text(lines))
			}
		}
	}
	id := AppendDocID(nil, DocID{OriginalServer: "h:210", OriginalID: "0 5 /x"})
	m, err := AppendMessage(nil, NewHeader(), NewRetrieval("db", id, "TEXT", 0, 5))
	if err != nil {
		t.Fatal(err)
	}
	got := text(Annotate(m))
	for _, want := range []string{
		`000000  30 30 30 30 30 30 30 31 ...  header: 164 bytes of type 'z', version '2', server "wais"`,
		`000019  00 2b 16                     Search, 43 bytes`,
		`000026  11 03 46 4f 4f                 17 ResultSetName "FOO"`,
		`00005d  01 05 68 3a 32 31 30               1 original server "h:210"`,
		`0000ba  2e 01 61                         46 Operator "a"`,
	} {
		if !strings.Contains(got, want+"\n") {
			t.Errorf("the annotation does not contain %q:\n%s", want, got)
		}
	}
	for _, other := range []string{"", "220 hello\r\n", "0000000047z2wais"} {
		if lines := Annotate([]byte(other)); lines != nil {
			t.Errorf("%q: %v", other, lines)
		}
	}
	broken := text(Annotate(append(bytes.Clone(m[:100]), "\xff\xff\xff\xff\xff"...)))
	if !strings.Contains(broken, "malformed") {
		t.Errorf("the annotation does not contain \"malformed\":\n%s", broken)
	}
	var info []byte
	for range 10000 {
		info = AppendDocument(info, Document{Group: TagDocumentHeader, ID: id})
	}
	m, err = AppendMessage(nil, NewHeader(), &SearchResponse{Info: info})
	if lines := Annotate(m); err != nil || len(lines) != maxAnnotated {
		t.Errorf("%d lines, %v", len(lines), err)
	}
}

func covers(lines []Line, m []byte) bool {
	at := 0
	for _, l := range lines {
		if l.Offset != at || !bytes.HasPrefix(m[at:], l.Octets) || l.String() == "" {
			return false
		}
		at += len(l.Octets)
	}
	return at == len(m)
}

func text(lines []Line) string {
	var b strings.Builder
	for _, l := range lines {
		fmt.Fprintln(&b, l)
	}
	return b.String()
}

func TestSummary(t *testing.T) {
	got := make(map[string]bool)
	for _, rec := range recordings(t) {
		for _, m := range rec.messages {
			got[Summary(m)] = true
		}
	}
	got[Summary([]byte("hello\r\n"))] = true
	got[Summary([]byte("0000000001z2wais        0x"))] = true
	for _, want := range []string{
		"Init 100000", "InitResponse 100000, accepted: true", `Search "stories" for "lighthouse", at most 200`,
		`Retrieve from "stories" un re "0 162 /wais/docs/whale.txt" wt re "TEXT" wb ro "0" wb rl "162"`,
		"SearchResponse: 3 headers", "SearchResponse: 162 bytes of text", "empty message of type 'z'", "Present",
		`Search "stories" for "lighthouse" like 1 document, at most 10`, `"hello\r\n"`, "SearchResponse: nothing",
		`SearchResponse: "SF" "Missing DocID in request"`, "malformed WAIS message: a truncated integer at byte 0",
	} {
		if !got[want] {
			t.Errorf("no message has the summary %q", want)
		}
	}
	if t.Failed() {
		for s := range got {
			t.Log(s)
		}
	}
}
