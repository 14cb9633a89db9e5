package waistest

import (
	"errors"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/internal/codec/z3950"
	"github.com/fetch1738/fetch1738/testserver/internal/tree"
)

// answering builds the answer to one Search.
type answering struct {
	srv   *Server
	req   *z3950.Search
	room  int  // what is left for the answer, in bytes
	plain bool // the client is too old for types
	open  *reading

	info    []byte
	records int
	good    bool // the search could be carried out
	failed  bool // there is a diagnostic
	tooLong bool
	crashed bool
}

// overhead is the maximum size of an answer without its documents.
const overhead = 64

// response returns the answer, with the fields of FreeWAIS if that is set.
func (a *answering) response() *z3950.SearchResponse {
	r := &z3950.SearchResponse{
		RecordsReturned: uint32(a.records), PresentStatus: z3950.Num(0),
		ReferenceID: a.req.ReferenceID, Info: a.info,
	}
	if a.failed {
		r.RecordsReturned++
	}
	if a.srv.FreeWAIS {
		if r.Info == nil && a.req.Query != nil {
			r.RecordsReturned = 1 // an empty record
		}
		if a.good {
			r.SearchStatus = 1
		}
	} else if a.failed {
		r.SearchStatus = 1
	}
	return r
}

// fail adds a diagnostic.
func (a *answering) fail(code, text string) {
	if !a.failed {
		a.info = z3950.AppendDiagnostic(a.info, z3950.Diagnostic{Code: code, Text: text, Surrogate: code == "SF"})
	}
	a.failed = true
}

// add adds a document if it fits.
func (a *answering) add(r z3950.Document) bool {
	if a.plain {
		r.Types = nil
	}
	with := z3950.AppendDocument(a.info, r)
	if len(with) > a.room-overhead {
		return false
	}
	a.info = with
	a.records++
	return true
}

// search answers a query of type "3".
func (a *answering) search() {
	name, _, _ := strings.Cut(a.req.DatabaseNames, "\x1f")
	if name == "" {
		name = infoDatabase
	}
	if strings.Contains(name, "@") {
		a.fail("SH", "this server forwards no searches")
		return
	}
	if a.srv.Library != nil {
		a.ask(strings.TrimSuffix(name, ".src"))
		return
	}
	index, err := a.srv.indexed()
	if err != nil {
		a.fail("S1", err.Error())
		return
	}
	db := index.databases[strings.TrimSuffix(name, ".src")]
	words := *a.req.Words
	asksHelp := strings.IndexByte("?*", (words.Seed + " ")[0]) >= 0
	empty := strings.Trim(words.Seed, " ") == ""
	switch {
	case db == nil && a.srv.FreeWAIS && asksHelp: // freeWAIS reads the query before it opens the database
		a.fail("S1", "query syntax error: "+words.Seed)
	case db == nil:
		a.fail("S1", "The following database is not available: "+a.srv.IndexDir+"/"+name)
	case len(words.Like) > 0 && a.srv.FreeWAIS && !empty:
		a.crashed = true
	case len(words.Like) > 0 && a.srv.FreeWAIS:
		a.refuse(db, "query syntax error: ")
	case len(words.Like) == 0 && empty:
		a.help(db)
		a.good = true
	case asksHelp:
		a.help(db)
		a.fail("S1", "query syntax error: "+words.Seed)
	default:
		a.find(db, words)
	}
}

// refuse answers a query that cannot be parsed. Like freeWAIS, it sends the catalogue, as in every
// answer without hits.
func (a *answering) refuse(db *database, text string) {
	if a.srv.FreeWAIS {
		a.catalogue(db)
	}
	a.fail("S1", text)
}

// catalogue adds the record that is sent when there are no hits.
func (a *answering) catalogue(db *database) {
	if a.srv.NoCatalog {
		return
	}
	r := a.srv.helpHeader(db, ".cat", "TEXT", "Search produced no result. Here's the Catalog for database: ")
	r.Score = z3950.Num(0)
	a.add(r)
}

// find searches a database.
func (a *answering) find(db *database, words z3950.Words) {
	like, ok := db.similarWords(a.srv, words.Like)
	if !ok {
		a.fail("S2", "Relevance feedback document is not available")
		return
	}
	hits, err := db.search(words.Seed, like)
	if err != nil {
		a.refuse(db, err.Error())
		return
	}
	a.good = true
	if len(hits) == 0 {
		a.catalogue(db)
		return
	}
	for i, h := range hits {
		if words.Max.Known && int64(i) >= int64(words.Max.Value) || !a.add(a.srv.header(db, h)) {
			return
		}
	}
}

// help adds the description and the catalogue of a database.
func (a *answering) help(db *database) {
	a.add(a.srv.helpHeader(db, ".src", "WSRC", "Information on database: "))
	a.add(a.srv.helpHeader(db, ".cat", "TEXT", "Catalog for database: "))
}

// header returns the header of a document that was found.
func (s *Server) header(db *database, h hit) z3950.Document {
	doc := &db.docs[h.doc]
	r := z3950.Document{
		Group: z3950.TagDocumentHeader, ID: s.docID(db.Name, s.pathOf(doc), doc.size),
		Score: z3950.Num(uint32(h.score)), BestMatch: z3950.Num(0),
		Length: z3950.Num(uint32(doc.size)), Lines: z3950.Num(uint32(doc.lines)),
		Types: doc.types, Source: s.IndexDir + "/" + db.Name, Date: "0", Headline: doc.headline,
	}
	if doc.date != "" {
		r.Date = doc.date
	}
	if s.NoLength {
		r.Length = z3950.Number{}
	}
	return r
}

// helpHeader returns the header of a description or catalogue.
func (s *Server) helpHeader(db *database, suffix, typ, headline string) z3950.Document {
	text := s.helpText(db, suffix)
	return z3950.Document{
		Group: z3950.TagDocumentHeader, ID: s.helpID(db.Name, suffix), Score: z3950.Num(1000),
		Length: z3950.Num(uint32(len(text))), Lines: z3950.Num(uint32(strings.Count(text, "\n"))),
		Types: []string{typ}, Source: db.Name, Headline: headline + db.Name,
	}
}

// retrieval is a request for one document in a query of type "1".
type retrieval struct {
	id         []byte
	typ        string
	unit       string // unit of the range: "wb" bytes, "wl" lines; "" without a range
	start, end int64
	bad        bool
}

// retrievals parses a query. Each document-id begins another retrieval.
func retrievals(query []z3950.Token) []retrieval {
	var list []retrieval
	for i := range query {
		t := &query[i]
		use, relation := t.Attribute(0), t.Attribute(1)
		if use == "un" && t.Operator == "" {
			list = append(list, retrieval{id: t.Term})
		}
		if len(list) == 0 || t.Operator != "" {
			continue
		}
		r := &list[len(list)-1]
		n, err := strconv.ParseInt(string(t.Term), 10, 64)
		switch {
		case use == "wt":
			r.typ = string(t.Term)
		case use == "wb" || use == "wl" || use == "wp":
			r.unit, r.bad = use, r.bad || err != nil || n < 0 || use == "wp"
			if relation == "ro" {
				r.start = n
			} else {
				r.end = n
			}
		}
	}
	return list
}

// retrieve answers a query of type "1".
func (a *answering) retrieve() {
	name, _, _ := strings.Cut(a.req.DatabaseNames, "\x1f")
	list := retrievals(a.req.Query)
	if len(list) == 0 {
		a.fail("SF", "Missing DocID in request")
		return
	}
	if a.srv.Library != nil {
		for _, r := range list {
			a.slice(strings.TrimSuffix(name, ".src"), r)
		}
		return
	}
	index, err := a.srv.indexed()
	if err != nil {
		a.fail("S1", err.Error())
		return
	}
	db := index.databases[strings.TrimSuffix(name, ".src")]
	for _, r := range list {
		switch {
		case db == nil && a.srv.FreeWAIS, r.typ == "" && a.srv.FreeWAIS:
			a.crashed = true
			return
		case db == nil:
			a.fail("S1", "The following database is not available: "+a.srv.IndexDir+"/"+name)
		case r.bad:
			a.fail("SF", "Bad ChunkType in Request")
		case r.unit == "" && a.srv.FreeWAIS:
		default:
			a.document(index, r)
		}
	}
}

// document adds a part of a document.
func (a *answering) document(index *index, r retrieval) {
	file, size, err := a.srv.open(index, r)
	switch {
	case errors.Is(err, fs.ErrPermission):
		a.fail("SH", "Record not authorized")
		return
	case err != nil:
		a.fail("SF", "Missing DocID in request")
		return
	}
	defer file.Close()
	start, end := r.start, r.end
	switch r.unit {
	case "":
		start, end = 0, size
	case "wl":
		start, end, err = linesAt(file, r.start, r.end)
	}
	if err != nil || start > end || start >= size && size > 0 {
		a.fail("SF", "Request out of range")
		return
	}
	text, err := part(file, start, min(end, size), a.room)
	switch {
	case errors.Is(err, tree.ErrTooLarge):
		a.tooLong = true
		return
	case err != nil:
		a.fail("SG", err.Error())
		return
	}
	a.tooLong = !a.add(z3950.Document{Group: z3950.TagDocumentTextGroup, ID: r.id, Version: z3950.Num(0), Text: text})
	if end > size && r.unit != "" {
		a.fail("SF", "Request out of range")
	}
}

// part reads bytes from start to end of a file.
func part(f io.ReadSeeker, start, end int64, limit int) ([]byte, error) {
	if end-start > int64(limit) {
		return nil, tree.ErrTooLarge
	}
	if _, err := f.Seek(start, io.SeekStart); err != nil {
		return nil, err
	}
	text := make([]byte, max(0, end-start))
	_, err := io.ReadFull(f, text)
	return text, err
}

// linesAt returns where the lines from first to last, counted from 0, begin and end.
func linesAt(f io.ReadSeeker, first, last int64) (start, end int64, err error) {
	text, err := io.ReadAll(f)
	if err != nil {
		return 0, 0, err
	}
	var line int64
	start = int64(len(text))
	for i := range text {
		if i == 0 || text[i-1] == '\n' {
			switch line {
			case first:
				start = int64(i)
			case last:
				return start, int64(i), nil
			}
			line++
		}
	}
	return start, int64(len(text)), nil
}
