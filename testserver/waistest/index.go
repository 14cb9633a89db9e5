package waistest

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/internal/codec/z3950"
	"github.com/fetch1738/fetch1738/testserver/internal/tree"
)

// infoDatabase is the database that describes the others.
const infoDatabase = "INFO"

// index is the index of Content.
type index struct {
	seq       int // sequence number of the tree that was indexed
	databases map[string]*database
	files     map[string]bool // all documents
}

// database is one database with its index.
type database struct {
	Database
	docs  []document
	words map[string][]posting
}

// document is a document.
type document struct {
	name     string // in Content; for a description, the name of the database
	source   bool   // a description, which is not a file
	size     int64
	lines    int
	headline string
	date     string // yymmdd
	types    []string
}

// posting is the number of occurrences of a word in a document.
type posting struct{ doc, count int }

// headlineWeight is the weight of a word in the headline.
const headlineWeight = 5

// Limits of the index.
const (
	maxSearched = 1 << 20 // bytes of a file
	maxDepth    = 32      // directories below one another
)

// indexed returns the index. It is built at the first request and again after every change.
func (s *Server) indexed() (*index, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	seq := s.m.Tree.Version()
	if s.index != nil && s.index.seq == seq {
		return s.index, nil
	}
	index := &index{seq: seq, databases: make(map[string]*database), files: make(map[string]bool)}
	info := newDatabase(Database{Name: infoDatabase, Description: "The databases of this server."})
	databases, err := s.databases()
	if err != nil {
		return nil, err
	}
	for _, d := range databases {
		db := newDatabase(d)
		for _, name := range d.files() {
			s.addFiles(db, name, 0)
		}
		index.databases[d.Name] = db
		for _, doc := range db.docs {
			index.files[doc.name] = true
		}
		src := s.helpText(db, ".src")
		info.add(document{
			name: d.Name, source: true, size: int64(len(src)), lines: strings.Count(src, "\n"),
			headline: d.Name + ".src", types: []string{"WSRC"},
		}, src)
	}
	index.databases[infoDatabase] = info
	s.index = index
	return index, nil
}

func newDatabase(d Database) *database {
	return &database{Database: d, words: make(map[string][]posting)}
}

// databases returns the configured databases, or the default ones for Content.
func (s *Server) databases() ([]Database, error) {
	if s.Databases != nil {
		return s.Databases, nil
	}
	list := []Database{{Name: "files"}}
	entries, err := s.m.Tree.List("")
	for _, e := range entries {
		if e.Dir && e.Name != infoDatabase {
			list = append(list, Database{Name: e.Name, Files: []string{e.Name}})
		}
	}
	return list, err
}

// files returns the names of the files of the database.
func (d *Database) files() []string {
	if d.Files == nil {
		return []string{""}
	}
	return d.Files
}

// addFiles adds a file, or all that is below a directory.
func (s *Server) addFiles(db *database, name string, depth int) {
	name = tree.Clean(name)
	entries, err := s.m.Tree.List(name)
	if err != nil {
		s.addFile(db, name)
		return
	}
	for _, e := range entries {
		if depth < maxDepth {
			s.addFiles(db, path.Join(name, e.Name), depth+1)
		}
	}
}

// addFile adds a file that can be read.
func (s *Server) addFile(db *database, name string) {
	file, e, err := s.m.Tree.Open(name)
	if err != nil {
		return
	}
	defer file.Close()
	var text bytes.Buffer
	if _, err := io.CopyN(&text, file, maxSearched); err != nil && err != io.EOF {
		return
	}
	doc := document{name: name, size: e.Size, headline: path.Base(name), types: db.Types}
	if !e.ModTime.Equal(tree.Epoch) {
		doc.date = e.ModTime.UTC().Format("060102")
	}
	doc.lines = bytes.Count(text.Bytes(), []byte{'\n'}) + countLines(file)
	if doc.types == nil {
		doc.types = []string{typeOf(name)}
	}
	if bytes.IndexByte(text.Bytes(), 0) >= 0 {
		text.Reset() // do not index these words
	}
	if firstLine := firstLineOf(text.Bytes()); doc.types[0] == "TEXT" && firstLine != "" {
		doc.headline = firstLine
	}
	db.add(doc, text.String())
}

// countLines counts the remaining line ends.
func countLines(r io.Reader) (n int) {
	buf := make([]byte, 32<<10)
	for {
		m, err := r.Read(buf)
		n += bytes.Count(buf[:m], []byte{'\n'})
		if err != nil {
			return n
		}
	}
}

// firstLineOf returns the first line that is not empty, cut to the length of headlines.
func firstLineOf(text []byte) string {
	const most = 600
	line, _, _ := bytes.Cut(bytes.TrimLeft(text, "\r\n\t "), []byte{'\n'})
	return string(bytes.TrimRight(line[:min(len(line), most)], "\r\t "))
}

// typeOf returns the type of a file, by its suffix.
func typeOf(name string) string {
	switch ext := strings.ToLower(strings.TrimPrefix(path.Ext(name), ".")); ext {
	case "", "txt", "text", "md":
		return "TEXT"
	case "html", "htm":
		return "HTML"
	case "jpg", "jpeg":
		return "JPEG"
	case "src":
		return "WSRC"
	case "ps", "gif", "tiff", "pict", "ppm", "dvi":
		return strings.ToUpper(ext)
	}
	return "BINARY"
}

// add puts a document into the index.
func (db *database) add(doc document, text string) {
	n := len(db.docs)
	db.docs = append(db.docs, doc)
	counts := make(map[string]int)
	for word := range wordsOf(text) {
		counts[word]++
	}
	for word := range wordsOf(doc.headline) {
		counts[word] += headlineWeight
	}
	for word, count := range counts {
		db.words[word] = append(db.words[word], posting{n, count})
	}
}

// wordsOf returns the words of a text in lower case: runs of ISO 8859-1 letters and digits.
func wordsOf(text string) func(func(string) bool) {
	return func(yield func(string) bool) {
		isWord := func(c byte) bool {
			return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= 0xC0
		}
		for i := 0; i < len(text); i++ {
			if !isWord(text[i]) {
				continue
			}
			start := i
			for i < len(text) && isWord(text[i]) {
				i++
			}
			if !yield(toLower(text[start:i])) {
				return
			}
		}
	}
}

// toLower returns a word in lower case; characters beyond ASCII stay.
func toLower(word string) string {
	b := []byte(word)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// pathOf returns the path of a document in document-ids.
func (s *Server) pathOf(doc *document) string {
	if doc.source {
		return s.IndexDir + "/" + doc.name + ".src"
	}
	return s.DocDir + "/" + doc.name
}

// nameOf returns the name in Content of the file in a document-id.
func (s *Server) nameOf(id []byte) string {
	_, p, _, _, _ := pathOf(id)
	return strings.TrimPrefix(p, s.DocDir+"/")
}

// open opens the document of a retrieval.
func (s *Server) open(index *index, r retrieval) (io.ReadSeekCloser, int64, error) {
	database, p, start, end, ok := pathOf(r.id)
	if !ok || index.databases[strings.TrimPrefix(database, s.IndexDir+"/")] == nil {
		return nil, 0, fs.ErrNotExist
	}
	if name, below := strings.CutPrefix(p, s.IndexDir+"/"); below {
		suffix := path.Ext(name)
		db := index.databases[strings.TrimSuffix(name, suffix)]
		if db == nil || suffix != ".src" && suffix != ".cat" {
			return nil, 0, fs.ErrNotExist
		}
		text := s.helpText(db, suffix)
		return within(tree.MemFile{Reader: bytes.NewReader([]byte(text))}, int64(len(text)), start, end)
	}
	name, below := strings.CutPrefix(p, s.DocDir+"/")
	if !below {
		return nil, 0, fs.ErrNotExist
	}
	name = tree.Clean(name)
	if other := strings.TrimSuffix(name, path.Ext(name)) + "." + r.typ; r.typ != "" && other != name && index.files[name] {
		if f, size, err := s.file(other); err == nil {
			return f, size, nil
		}
	}
	f, size, err := s.file(name)
	if err != nil {
		return nil, 0, err
	}
	return within(f, size, start, end)
}

// file opens a file as a seekable one.
func (s *Server) file(name string) (io.ReadSeekCloser, int64, error) {
	f, e, err := s.m.Tree.Open(name)
	if err != nil {
		return nil, 0, err
	}
	if r, ok := f.(io.ReadSeekCloser); ok {
		return r, e.Size, nil
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	return tree.MemFile{Reader: bytes.NewReader(data)}, int64(len(data)), err
}

// within returns the part of a file from start to end; equal bounds mean the whole file.
func within(f io.ReadSeekCloser, size, start, end int64) (io.ReadSeekCloser, int64, error) {
	if start >= end || start == 0 && end >= size {
		return f, size, nil
	}
	defer f.Close()
	data, err := part(f, start, min(end, size), maxSearched)
	return tree.MemFile{Reader: bytes.NewReader(data)}, int64(len(data)), err
}

// helpText returns the description (".src") or the catalogue (".cat") of a database.
func (s *Server) helpText(db *database, suffix string) string {
	var b strings.Builder
	if suffix == ".cat" {
		fmt.Fprintf(&b, "Catalog for database: %s/%s\n%d total documents\n", s.IndexDir, db.Name, len(db.docs))
		for i, doc := range db.docs {
			fmt.Fprintf(&b, "\nDocument # %d\nHeadline: %s\nDocID: 0 %d %s\n", i+1, doc.headline, doc.size, s.pathOf(&doc))
		}
		return b.String()
	}
	host, port := s.hostPort()
	description := db.Description
	if description == "" {
		description = fmt.Sprintf("%d documents, served for tests.", len(db.docs))
	}
	fmt.Fprintf(&b, "\n(:source\n   :version  3\n   :ip-address %s\n   :ip-name %s\n   :tcp-port %d\n   :database-name %s\n"+
		"   :cost 0.00\n   :cost-unit :free\n   :maintainer \"nobody@%s\"\n   :description %s\n)\n",
		lispQuoted("127.0.0.1"), lispQuoted(host), port, lispQuoted(db.Name), host, lispQuoted(description))
	return b.String()
}

// lispQuoted quotes a string as descriptions do.
func lispQuoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// similarWords returns words of the feedback documents, for a search for similar ones. The number
// of words from each document is limited.
func (db *database) similarWords(s *Server, feedback []z3950.Feedback) ([]string, bool) {
	const most = 50
	var words []string
	for _, f := range feedback {
		name := s.nameOf(f.ID)
		n := slices.IndexFunc(db.docs, func(d document) bool { return d.name == name || s.pathOf(&d) == name })
		if n < 0 {
			return nil, false
		}
		var counted []string
		for word, postings := range db.words {
			if slices.ContainsFunc(postings, func(p posting) bool { return p.doc == n }) {
				counted = append(counted, word)
			}
		}
		slices.Sort(counted)
		// Words that occur in the fewest documents are the most significant.
		slices.SortStableFunc(counted, func(a, b string) int { return len(db.words[a]) - len(db.words[b]) })
		words = append(words, counted[:min(len(counted), most)]...)
	}
	return words, true
}
