package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fetch1738/fetch1738/archive"
	"github.com/fetch1738/fetch1738/fetch/wais"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/waistest"
)

func startWAIS(ctx context.Context, s *site, addr string, set func(*testserver.Server)) (*testserver.Server, error) {
	server, err := waistest.Start(ctx, addr, func(srv *waistest.Server) {
		set(&srv.Server)
		l := &library{site: s}
		l.documents = sync.OnceValues(l.index)
		srv.Library, srv.MaxMessage = l, maxMessage
	})
	if err != nil {
		return nil, err
	}
	return &server.Server, nil
}

// maxMessage is the maximum size of a message in bytes: the one that our client asks for.
const maxMessage = 4 << 20

// A library answers for a WAIS server. It has the answers to the searches that were recorded. Other
// searches are refused: an answer that the server has never given would be an invention.
type library struct {
	site      *site
	documents func() (map[documentKey]string, error) // URLs
}

// documentKey is what a request for a document names.
type documentKey struct{ database, typ, id string }

// maxDocuments limits the index of documents in memory.
const maxDocuments = 500_000

// index returns the URLs of all documents.
func (l *library) index() (map[documentKey]string, error) {
	found := make(map[documentKey]string)
	for c, err := range l.site.captures(func(at locator.HostPort) locator.Locator { return &locator.WAIS{HostPort: at} }, "") {
		if err != nil {
			return nil, err
		}
		u := parseWAIS(c.URL)
		if u == nil || u.Form != locator.WAISDocument {
			continue
		}
		if id, _, err := wais.DocumentID(u); err == nil {
			if len(found) == maxDocuments {
				return nil, fmt.Errorf("the archive has more than %d documents of this server", maxDocuments)
			}
			found[documentKey{u.Database, typeOf(u), string(id)}] = c.URL
		}
	}
	return found, nil
}

// typeOf returns the type in the URL of a document. The default is that of WAIS servers.
func typeOf(u *locator.WAIS) string {
	if u.WType == "" {
		return "TEXT"
	}
	return u.WType
}

// waisParser reads URLs in the form that WAIS browsers write, too.
var waisParser = locator.Parser{Tolerate: locator.ReservedOctets | locator.ModernHosts}

// parseWAIS returns a wais URL, or nil.
func parseWAIS(url string) *locator.WAIS {
	ref, err := waisParser.Parse(url)
	if err != nil {
		return nil
	}
	l, _ := ref.Locator.(*locator.WAIS)
	return l
}

// Open implements waistest.Library.
func (l *library) Open(database string, id []byte, typ string) (io.ReadCloser, error) {
	documents, err := l.documents()
	if err != nil {
		return nil, err
	}
	url, ok := documents[documentKey{database, typ, string(id)}]
	if !ok {
		return nil, errNoCapture
	}
	c, err := l.site.replay.archive.Find(url, l.site.replay.at)
	if err != nil {
		return nil, err
	}
	doc, err := l.site.open(c)
	if err != nil {
		return nil, err
	}
	return doc.Body, nil
}

// Search implements waistest.Library. A database is described by the search "?", which a client may
// send before it asks for a search: that has the answer of no documents.
func (l *library) Search(database, text string) (*waistest.Answer, error) {
	known := false
	var recorded []string
	var found *archive.Capture
	in := func(at locator.HostPort) locator.Locator { return &locator.WAIS{HostPort: at, Database: database} }
	for c, err := range l.site.captures(in, "") {
		if err != nil {
			return nil, err
		}
		u := parseWAIS(c.URL)
		if u == nil || u.Database != database {
			continue
		}
		known = true
		if u.Form == locator.WAISSearch {
			recorded = append(recorded, u.Search)
			if u.Search == text {
				found = c
			}
		}
	}
	switch {
	case found != nil:
		return l.answer(found)
	case !known:
		return nil, fmt.Errorf("the archive has nothing of the database %.80q", database)
	case text == "?" || strings.TrimSpace(text) == "":
		return new(waistest.Answer), nil
	}
	return nil, errors.New("the archive has no capture of this search" + others(recorded))
}

// others says which searches there are.
func others(recorded []string) string {
	const most = 10
	if len(recorded) == 0 {
		return ", nor of another one in this database"
	}
	var quoted []string
	for _, text := range recorded[:min(len(recorded), most)] {
		quoted = append(quoted, fmt.Sprintf("%.60q", text))
	}
	if len(recorded) > most {
		quoted = append(quoted, "…")
	}
	return "; it has " + strings.Join(quoted, ", ")
}

// answer returns a recorded answer, of which the archive has the text that package wais makes.
func (l *library) answer(c *archive.Capture) (*waistest.Answer, error) {
	doc, err := l.site.open(c)
	if err != nil {
		return nil, err
	}
	defer doc.Body.Close()
	text, err := io.ReadAll(io.LimitReader(doc.Body, maxMessage))
	if err != nil {
		return nil, err
	}
	a, err := parseAnswer(string(text))
	if err != nil {
		return nil, fmt.Errorf("the recorded answer cannot be sent again: %w", err)
	}
	return a, nil
}

// parseAnswer reads the text of an answer: two lines for each document, as in
//
//  1. The lighthouse  (score 1000, 12 lines, TEXT, 162 bytes, 1994-12-01)
//     wais://host/files/TEXT/162/1=…;
//
// and behind them what there is in place of documents, and the diagnostics.
func parseAnswer(text string) (*waistest.Answer, error) {
	a := new(waistest.Answer)
	for n := 1; ; n++ {
		line, rest, _ := strings.Cut(text, "\n")
		line, is := strings.CutPrefix(line, fmt.Sprintf("%3d. ", n))
		if !is {
			break
		}
		hit, err := parseHit(line)
		if err != nil {
			return nil, err
		}
		if text = rest; strings.HasPrefix(text, waisIndent) {
			line, text, _ = strings.Cut(text[len(waisIndent):], "\n")
			setID(&hit, line)
		}
		if last := len(a.Hits) - 1; last >= 0 && isOtherType(&a.Hits[last], &hit) {
			a.Hits[last].Types = append(a.Hits[last].Types, hit.Types...)
			continue
		}
		a.Hits = append(a.Hits, hit)
	}
	if rest, none := strings.CutPrefix(text, "Nothing was found in "); none {
		_, text, _ = strings.Cut(rest, "\n")
	}
	if rest, is := strings.CutPrefix(text, "Its catalogue:\n"+waisIndent); is {
		line, rest, _ := strings.Cut(rest, "\n")
		hit := waistest.Hit{Headline: "Catalogue", Lines: -1, Length: -1} // known by its score of 0
		text = rest
		setID(&hit, line)
		a.Hits = append(a.Hits, hit)
	}
	for text != "" {
		note, is := strings.CutPrefix(text, waisDiagnostic)
		if !is || len(note) < 2 {
			return nil, fmt.Errorf("its line %.60q is not known", text)
		}
		note, text, _ = strings.Cut(note, "\n"+waisDiagnostic)
		if text != "" {
			text = waisDiagnostic + text
		}
		code := note[:2]
		note = strings.TrimPrefix(strings.TrimSuffix(note, "\n"), wais.Diagnostic{Code: code}.Error())
		a.Diagnostics = append(a.Diagnostics, waistest.Note{Code: code, Text: strings.TrimPrefix(note, ": ")})
	}
	return a, nil
}

const (
	waisIndent     = "     "
	waisDiagnostic = "Diagnostic from the server: "
)

// parseHit reads the first line of a document, without its number.
func parseHit(line string) (waistest.Hit, error) {
	h := waistest.Hit{Score: -1, Lines: -1, Length: -1}
	start := strings.LastIndex(line, "  (")
	facts, ended := strings.CutSuffix(line, ")")
	if start < 0 || !ended {
		return h, fmt.Errorf("its line %.60q is not known", line)
	}
	h.Headline = line[:start]
	words := strings.Split(facts[start+len("  ("):], ", ")
	take := func(i int, before, after string, n *int) { // a number that is not the only word
		digits, is := strings.CutPrefix(words[i], before)
		digits, ends := strings.CutSuffix(digits, after)
		if value, err := strconv.ParseUint(digits, 10, 32); err == nil && is && ends && len(words) > 1 {
			*n, words = int(value), slices.Delete(words, i, i+1)
		}
	}
	take(0, "score ", "", &h.Score)
	take(0, "", " lines", &h.Lines)
	take(0, "", " line", &h.Lines)
	if date, err := time.Parse("2006-01-02", words[len(words)-1]); err == nil && len(words) > 1 {
		h.Date = date.Format("20060102")
		words = words[:len(words)-1]
	}
	take(len(words)-1, "", " bytes", &h.Length)
	h.Types = []string{strings.Join(words, ", ")}
	return h, nil
}

// setID sets what the URL of a document says. The URL of a document of type URL is its headline.
func setID(h *waistest.Hit, url string) {
	u := parseWAIS(url)
	if u == nil || u.Form != locator.WAISDocument || len(h.Types) > 0 && h.Types[0] == "URL" {
		return
	}
	id, length, err := wais.DocumentID(u)
	if err != nil {
		return
	}
	if h.ID = id; len(h.Types) == 0 { // the catalogue
		h.Types, h.Length = []string{typeOf(u)}, int(length)
	}
}

// isOtherType reports whether a document is another type of the one before. Its length and lines are
// not known then.
func isOtherType(before, h *waistest.Hit) bool {
	return h.Lines < 0 && h.Length < 0 && len(h.ID) > 0 && string(h.ID) == string(before.ID) &&
		h.Headline == before.Headline && h.Score == before.Score && h.Date == before.Date
}
