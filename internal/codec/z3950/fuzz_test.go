package z3950

import (
	"bytes"
	"errors"
	"io"
	"testing"
)

// FuzzWAISHeader reads arbitrary data as a message. An accepted message must have the length in its
// header, and the header must be written again unchanged.
func FuzzWAISHeader(f *testing.F) {
	for _, seed := range []string{
		"0000000003z2wais        0abc", "0000000000N1            1", "9999999999z2wais        0", "-000000001z2wais        0",
		"+1", "0x10", "0000000047z3wais        0", "0000000047z2wais      u 0", "0000000047z2wais       h0", "220 hello\r\n", "",
	} {
		f.Add([]byte(seed))
	}
	for _, rec := range recordings(f) {
		f.Add(rec.messages[0])
	}
	f.Fuzz(func(t *testing.T, octets []byte) {
		const limit = 1 << 20
		h, message, err := ReadMessage(bytes.NewReader(octets), nil, limit)
		if err != nil {
			known := errors.Is(err, ErrNotWAIS) || errors.Is(err, ErrTooLong) || errors.Is(err, ErrUnsupported) || err == io.EOF || err == io.ErrUnexpectedEOF
			if !known {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		if int64(len(message)) != HeaderSize+h.Length || h.Length > limit || !bytes.HasPrefix(octets, message) {
			t.Fatalf("%d bytes for %+v", len(message), h)
		}
		if again := h.append(nil); !bytes.EqualFold(again[:HeaderSize], message[:HeaderSize]) {
			t.Fatalf("%q is written %q", message[:HeaderSize], again)
		}
		Annotate(message)
		Summary(message)
	})
}

// FuzzAPDU decodes arbitrary data as a PDU. An accepted PDU must be encoded and decoded again without
// change, and every octet must be annotated.
func FuzzAPDU(f *testing.F) {
	f.Add(searching(f, NewWordSearch("db", Words{Seed: "words"})))
	f.Add(searching(f, NewRetrieval("db", []byte("id"), "TEXT", 0, 1<<40)))
	f.Add(searching(f, NewRetrieval("db", []byte("\x08\x00"), "", 0, 0)))
	for _, rec := range recordings(f) {
		for _, m := range rec.messages {
			if len(m) < 20000 {
				f.Add(m[HeaderSize:])
			}
		}
	}
	for _, number := range []string{"\x19", "\x1a", "\x1b", "\x1f"} {
		f.Add([]byte("\x00\x01" + number + "\x00"))
	}
	f.Add([]byte("\x00\x05\x17\x00\x00\x00\x00"))
	f.Add([]byte("\x00\x01\x14"))
	f.Add([]byte("\x00\x07\x14\x03\x00\x04\x00\x05\x01"))
	f.Add([]byte("\x00\x0d\x14\x03\x00\x04\x00\x05\x01\x00\x06\x01\x00")) // bits without any
	many := appendText(nil, TagSeedWordsUsed, "a record, and more complaints than a line takes")
	many = AppendDocument(many, Document{Group: TagDocumentTextGroup, Types: []string{"A"}, City: "x"})
	many = appendElement(many, TagType, "outside of a block")
	for range maxAnnotated {
		many = AppendDiagnostic(many, Diagnostic{Code: "S1"})
	}
	f.Add(searching(f, &SearchResponse{Info: many}))
	f.Add(searching(f, &SearchResponse{Info: appendElement(nil, 300, "unknown")}))
	f.Add(searching(f, &Search{QueryType: "1", Query: make([]Token, maxTokens+1)}))
	f.Add(searching(f, NewWordSearch("d", Words{Like: make([]Feedback, maxTokens+1)})))
	f.Add([]byte("\x00\x0b\x17\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" + deep(20)))
	for _, pdu := range hostile() {
		if len(pdu) < 10000 {
			f.Add([]byte(pdu))
		}
	}
	for _, sample := range samples() {
		p, err := AppendPDU(nil, sample)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(p)
		for i := 1; i < len(p); i += 7 {
			f.Add(p[:i])
		}
	}
	for _, d := range []string{"S2", "S3", "S5", "S6", "S7", "S8", "S9", "SA", "SB", "SC", "SD", "SG", "SH", "SI", "SJ", "SK", "ST", "T1", "T2", "??"} {
		p, err := AppendPDU(nil, &SearchResponse{Info: AppendDiagnostic(nil, Diagnostic{Code: d, Text: d, Surrogate: true})})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, octets []byte) {
		message := append(Header{int64(len(octets)), 'z', '2', "wais", ' ', ' ', '0'}.append(nil), octets...)
		lines := Annotate(message)
		if len(lines) < maxAnnotated && !covers(lines, message) {
			t.Fatalf("the lines do not cover the whole message:\n%s", text(lines))
		}
		Summary(message)
		p, err := Decode(octets)
		if err != nil {
			var bad *SyntaxError
			if !errors.As(err, &bad) || bad.Offset < 0 || bad.Offset > len(octets) {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		once, err := AppendPDU(nil, rebuilt(p))
		if err != nil {
			t.Fatalf("a decoded PDU cannot be encoded: %v", err)
		}
		q, err := Decode(once)
		if err != nil {
			t.Fatalf("an encoded PDU cannot be decoded: %v\n%q", err, once)
		}
		if twice, err := AppendPDU(nil, rebuilt(q)); err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("%v\n once %q\ntwice %q", err, once, twice)
		}
		for _, id := range documentIDs(p) {
			if written, ok := DocIDText(id); ok {
				if back, err := ParseDocIDText(written); err != nil || !bytes.Equal(back, id) {
					t.Fatalf("%q is written %q and read as %q, %v", id, written, back, err)
				}
			}
			if parsed, ok := ParseDocID(id); ok {
				AppendDocID(nil, parsed)
			}
		}
	})
}

// searching returns the PDU of a message.
func searching(f *testing.F, s PDU) []byte {
	m, err := AppendMessage(nil, NewHeader(), s)
	if err != nil {
		f.Fatal(err)
	}
	return m[HeaderSize:]
}
