package waistest

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"

	"github.com/fetch1738/fetch1738/internal/codec/z3950"
)

// A Library answers the searches of a [Server] and has its documents, in place of Databases and
// Content, such as those of an archive. It need not hold them in memory. Its methods are called
// concurrently. Their errors are sent as diagnostics: SF for fs.ErrNotExist of Open, else S1 with
// the text of the error.
type Library interface {
	// Search answers a search for words in a database. An empty database means INFO.
	Search(database, words string) (*Answer, error)
	// Open returns a document, from its first octet. An error before its end closes the connection,
	// so that no client takes a part for the whole. So does an error in place of the io.EOF after
	// the last octet: the last octets are not sent before the end has been read.
	Open(database string, id []byte, typ string) (io.ReadCloser, error)
}

// An Answer is what a search has found.
type Answer struct {
	// Hits are the documents, the best first. Those that do not fit into a message are left out, and
	// the diagnostic T1 says so. How many the client wants is not considered.
	Hits []Hit
	// Diagnostics are sent with the Hits.
	Diagnostics []Note
}

// Hit is a document in an Answer. A number below 0 is not sent.
type Hit struct {
	Headline string
	ID       []byte // opaque
	Types    []string
	Score    int
	Lines    int
	Length   int // in bytes, of the first type
	Date     string
}

// Note is a diagnostic, such as {"T1", "a partial result"}.
type Note struct{ Code, Text string }

// ask answers a search from the Library.
func (a *answering) ask(database string) {
	answer, err := a.srv.Library.Search(database, a.req.Words.Seed)
	if err != nil {
		a.fail("S1", err.Error())
		return
	}
	a.good = true
	for _, d := range answer.Diagnostics {
		a.note(d)
	}
	a.room -= overhead // for the diagnostic
	for _, h := range answer.Hits {
		if !a.add(h.header(database)) {
			a.note(Note{"T1", "more documents do not fit"})
			return
		}
	}
}

// note adds a diagnostic that is no failure of the search.
func (a *answering) note(d Note) {
	a.info = z3950.AppendDiagnostic(a.info, z3950.Diagnostic{Code: d.Code, Text: d.Text})
	a.records++
}

func (h *Hit) header(database string) z3950.Document {
	number := func(n int) (sent z3950.Number) {
		if n >= 0 {
			sent = z3950.Num(uint32(n))
		}
		return sent
	}
	return z3950.Document{
		Group: z3950.TagDocumentHeader, ID: h.ID, Score: number(h.Score), Lines: number(h.Lines), Length: number(h.Length),
		Types: h.Types, Source: database, Date: h.Date, Headline: h.Headline,
	}
}

// reading is the document of a Library that a connection reads slice by slice.
type reading struct {
	database, id, typ string
	at                int64 // of the next octet of text
	file              io.ReadCloser
	text              *bufio.Reader // nil without a document
}

func (r *reading) close() {
	if r.text != nil {
		r.file.Close()
	}
	*r = reading{}
}

// seek moves to an octet of a document. It reports false if that is behind the end.
func (r *reading) seek(l Library, database string, want retrieval) (found bool, err error) {
	same := r.text != nil && r.database == database && r.id == string(want.id) && r.typ == want.typ
	if !same || r.at > want.start {
		r.close()
		file, err := l.Open(database, want.id, want.typ)
		if err != nil {
			return false, err
		}
		*r = reading{database: database, id: string(want.id), typ: want.typ, file: file, text: bufio.NewReaderSize(file, 32<<10)}
	}
	n, err := io.CopyN(io.Discard, r.text, want.start-r.at)
	if r.at += n; err == io.EOF {
		return false, nil
	}
	return err == nil, err
}

// slice adds a part of a document of the Library.
func (a *answering) slice(database string, r retrieval) {
	if r.unit == "wl" {
		a.fail("SF", "Bad ChunkType in Request")
		return
	}
	found, err := a.open.seek(a.srv.Library, database, r)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		a.fail("SF", "Missing DocID in request")
		return
	case err != nil && a.open.text == nil:
		a.fail("S1", err.Error())
		return
	case err != nil:
		a.crashed = true
		return
	case !found && r.start > 0:
		a.fail("SF", "Request out of range")
		return
	}
	want := int64(a.room)
	if r.unit != "" {
		want = r.end - r.start
	}
	var text bytes.Buffer
	n, err := io.CopyN(&text, a.open.text, min(want, int64(a.room)))
	a.open.at += n
	if err == nil {
		_, err = a.open.text.Peek(1)
	}
	ended := err == io.EOF
	switch a.crashed = err != nil && !ended; {
	case a.crashed:
		return
	case ended && n == 0 && r.start > 0:
		a.fail("SF", "Request out of range")
		return
	}
	part := z3950.Document{Group: z3950.TagDocumentTextGroup, ID: r.id, Version: z3950.Num(0), Text: append([]byte{}, text.Bytes()...)}
	a.tooLong = n < want && !ended || !a.add(part)
	if n < want && r.unit != "" {
		a.fail("SF", "Request out of range")
	}
}
