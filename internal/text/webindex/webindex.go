// Package webindex reads the pages in which web servers list a directory: those of nginx, Apache,
// h2o, lighttpd, Python and of the test server.
package webindex

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/internal/text/hypertext"
	"github.com/fetch1738/fetch1738/internal/urls/percent"
	"github.com/fetch1738/fetch1738/locator"
)

// An Entry is one of a directory.
type Entry struct {
	Name    string
	Locator *locator.HTTP // of a directory, it ends in a slash
	IsDir   bool          // false if the page does not say it, as those of h2o
	Size    int64         // bytes; -1 if the page does not say it, or rounds it
	ModTime time.Time     // by the clock of the server, as UTC; zero if the page does not say it
}

// Entries returns the entries of a page that lists the directory at base. It reports false if the page is
// another one: no title or a title without the path, or no link to what is in the directory, unless the
// title is that of an index.
func Entries(base *locator.HTTP, page string) ([]Entry, bool) {
	title := hypertext.Title(page)
	path := strings.Trim(percent.Decode(base.Path), "/")
	isIndex := false
	for _, begins := range []string{"Index of ", "Directory listing for "} {
		isIndex = isIndex || strings.HasPrefix(title, begins)
	}
	if !isIndex && (strings.Trim(title, "/") != path || title == "") {
		return nil, false
	}
	r := &reader{base: base, seen: make(map[string]bool)}
	for token := range hypertext.Tokens(page) {
		r.take(&token)
	}
	r.end()
	return r.entries, isIndex || len(r.entries) > 0
}

// A reader collects the entries of a page.
type reader struct {
	base    *locator.HTTP
	seen    map[string]bool
	entries []Entry
	current *Entry          // whose link has been read; nil without one
	facts   strings.Builder // the text behind its link
	inLink  bool
}

// take takes a tag or a text.
func (r *reader) take(t *hypertext.Token) {
	switch {
	case t.Name == "a" && !t.End:
		r.end()
		r.current, r.inLink = r.entry(t.Value("href")), true
	case t.Name == "a":
		r.inLink = false
	case t.Name == "tr" || t.Name == "li":
		r.end()
	case t.Name != "":
		r.facts.WriteByte(' ') // between the cells of a table
	case r.current != nil && !r.inLink:
		text, _, ended := strings.Cut(t.Text, "\n") // in front of the next link in <pre>
		if strings.TrimSpace(text) == "" {
			return
		}
		if r.facts.WriteString(text); ended {
			r.end()
		}
	}
}

// entry returns the entry that a link leads to, or nil if that is not in the directory.
func (r *reader) entry(href string) *Entry {
	if href == "" || strings.HasPrefix(href, "?") || strings.HasPrefix(href, "#") {
		return nil
	}
	to, err := hypertext.Resolve(r.base, href)
	l, ok := to.(*locator.HTTP)
	if err != nil || !ok || l.HasSearch || !locator.SameServer(l, r.base) {
		return nil
	}
	folder := strings.TrimSuffix(r.base.Path, "/") + "/"
	if folder == "/" {
		folder = ""
	}
	name, inside := strings.CutPrefix(l.Path, folder)
	name, isDir := strings.CutSuffix(name, "/")
	if !inside || name == "" || strings.Contains(name, "/") || r.seen[name] {
		return nil
	}
	r.seen[name] = true
	return &Entry{Name: percent.Decode(name), Locator: l, IsDir: isDir, Size: -1}
}

// end ends the current entry.
func (r *reader) end() {
	if r.current != nil {
		r.current.addFacts(r.facts.String())
		r.entries = append(r.entries, *r.current)
		r.current = nil
	}
	r.facts.Reset()
}

// times are the formats of times: of nginx, of Apache, and of lighttpd.
var times = []struct {
	found  *regexp.Regexp
	layout string
}{
	{regexp.MustCompile(`\b\d{2}-[A-Z][a-z]{2}-\d{4} \d{2}:\d{2}\b`), "02-Jan-2006 15:04"},
	{regexp.MustCompile(`\b\d{4}-\d{2}-\d{2} \d{2}:\d{2}\b`), "2006-01-02 15:04"},
	{regexp.MustCompile(`\b\d{4}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2}\b`), "2006-Jan-02 15:04:05"},
}

// addFacts adds the time and the size in the text behind a link. A size with a unit is rounded.
func (e *Entry) addFacts(text string) {
	for _, t := range times {
		at := t.found.FindStringIndex(text)
		if at == nil {
			continue
		}
		if when, err := time.Parse(t.layout, text[at[0]:at[1]]); err == nil {
			e.ModTime = when
		}
		text = text[at[1]:]
		break
	}
	words := strings.Fields(text)
	if e.IsDir || e.ModTime.IsZero() || len(words) == 0 {
		return
	}
	if n, err := strconv.ParseInt(words[0], 10, 64); err == nil && n >= 0 {
		e.Size = n
	}
}
