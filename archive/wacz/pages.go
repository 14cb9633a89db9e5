package wacz

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/archive"
	"github.com/fetch1738/fetch1738/archive/cdx"
	"github.com/fetch1738/fetch1738/archive/warc"
	"github.com/fetch1738/fetch1738/internal/codec/menu"
	"github.com/fetch1738/fetch1738/internal/file/disk"
	"github.com/fetch1738/fetch1738/internal/text/charset"
	"github.com/fetch1738/fetch1738/internal/text/hypertext"
	"github.com/fetch1738/fetch1738/locator"
)

// A page is a line of pages.jsonl.
type page struct {
	ID    string `json:"id"`
	URL   string `json:"url"`
	Time  string `json:"ts"`
	Title string `json:"title,omitempty"`
	Media string `json:"mime,omitempty"`
	Size  int64  `json:"size,omitempty"`
}

// menuType is the media type of gopher menus.
const menuType = "application/gopher-menu"

// isPage reports whether a reader would begin with a capture.
func isPage(c *archive.Capture) bool {
	media, _, _ := strings.Cut(c.MediaType, ";")
	scheme, rest, _ := strings.Cut(c.URL, ":")
	switch {
	case c.Status != 0:
		return media == "text/html" && c.Status/100 == 2
	case media == menuType, media == "text/html":
		return true
	case scheme == "nntp" || scheme == "nntps":
		return strings.Count(rest, "/") < 4 // a newsgroup, or all of them
	}
	return strings.HasSuffix(c.URL, "/")
}

// writePages writes a line for the last capture of each page that is complete, if there is one. It
// returns the page that was captured first.
func writePages(w io.Writer, a *archive.Archive) (first page, err error) {
	titles, file, err := menuTitles(a)
	if err != nil {
		return first, err
	}
	defer func() { err = errors.Join(err, disk.RemoveTemp(file)) }()
	if _, err := io.WriteString(w, "{\"format\":\"json-pages-1.0\",\"id\":\"pages\",\"title\":\"All Pages\"}\n"); err != nil {
		return first, err
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	var begun time.Time // first
	var last *archive.Capture
	write := func() error {
		if last == nil {
			return nil
		}
		p, err := pageOf(a, last, titles)
		if err != nil {
			return err
		}
		if first.URL == "" || last.Time.Before(begun) {
			first, begun = p, last.Time
		}
		return encoder.Encode(p)
	}
	for c, err := range a.Captures("") {
		if err != nil {
			return first, err
		}
		if !isPage(c) {
			continue
		}
		if last != nil && last.URL != c.URL {
			if err := write(); err != nil {
				return first, err
			}
			last = nil
		}
		if last == nil || c.Truncated == "" || last.Truncated != "" {
			last = c
		}
	}
	return first, write()
}

// pageOf returns the line for a capture.
func pageOf(a *archive.Archive, c *archive.Capture, titles *cdx.Index) (page, error) {
	media, _, _ := strings.Cut(c.MediaType, ";")
	p := page{ID: warc.NewID()[len("<urn:uuid:"):][:36], URL: c.URL, Time: c.Time.UTC().Format(time.RFC3339), Media: media, Size: max(c.Size, 0)}
	p.ID = strings.ReplaceAll(p.ID, "-", "")
	if c.Time.Nanosecond() != 0 {
		p.Time = c.Time.UTC().Format("2006-01-02T15:04:05.000Z")
	}
	var err error
	if media == "text/html" {
		p.Title, err = htmlTitle(a, c)
	}
	if p.Title == "" && err == nil {
		p.Title, err = linkTitle(c.URL, titles)
	}
	p.Title = cmp.Or(p.Title, folderTitle(c.URL))
	return p, err
}

// folderTitle returns the last part of the path, or the host.
func folderTitle(url string) string {
	_, rest, _ := strings.Cut(url, ":")
	rest = strings.Trim(rest, "/")
	host, path, ok := strings.Cut(rest, "/")
	if !ok || strings.HasPrefix(url, "gopher") && len(path) < 2 {
		return host
	}
	return unescape(path[strings.LastIndexByte(path, '/')+1:])
}

// unescape decodes a part of a URL for people.
func unescape(part string) string {
	if text, err := url.PathUnescape(part); err == nil {
		part = text
	}
	return oneLine(part)
}

// oneLine makes a text from a server a title.
func oneLine(s string) string {
	var c charset.Charset
	s = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7F {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(c.Decode(s), "\uFFFD"))), " ")
	const most = 300
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

// htmlTitle returns the title of an HTML document, if it is near the beginning.
func htmlTitle(a *archive.Archive, c *archive.Capture) (string, error) {
	doc, err := a.Open(c)
	if errors.Is(err, fs.ErrNotExist) { // the capture that a revisit refers to
		return "", nil
	} else if err != nil {
		return "", err
	}
	text, err := io.ReadAll(io.LimitReader(doc.Body, 64<<10))
	if c.Truncated != "" {
		err = nil
	}
	return oneLine(hypertext.Title(string(text))), errors.Join(err, doc.Body.Close())
}

// menuTitles returns an index of the links in all menus, with lines "KEY NUMBER TEXT", and its
// temporary file.
func menuTitles(a *archive.Archive) (titles *cdx.Index, file *os.File, err error) {
	var s cdx.Sorter
	n := 0
	for c, err := range a.Captures("gopher") {
		if err == nil && strings.HasPrefix(c.MediaType, menuType) && c.Type != warc.Revisit {
			err = addTitles(a, c, &s, &n)
		}
		if err != nil {
			return nil, nil, errors.Join(err, s.Close())
		}
	}
	if file, err = disk.TempFile(); err != nil {
		return nil, nil, errors.Join(err, s.Close())
	}
	size, err := s.WriteTo(file)
	if err != nil {
		return nil, nil, errors.Join(err, disk.RemoveTemp(file))
	}
	return cdx.NewIndex(file, size), file, nil
}

// maxMenuLine limits the lines of menus that are read for titles.
const maxMenuLine = 64 << 10

// addTitles adds the links of a menu.
func addTitles(a *archive.Archive, c *archive.Capture, s *cdx.Sorter, n *int) error {
	doc, err := a.Open(c)
	if err != nil {
		return err
	}
	defer doc.Body.Close()
	scheme, _, _ := strings.Cut(c.URL, ":")
	for line, err := range menu.Lines(doc.Body, maxMenuLine) {
		if err != nil {
			return nil // the titles up to here are good enough
		}
		if !line.Link() || line.Mirror {
			continue
		}
		display, selector := line.Strings()
		target := locator.Gopher{
			HostPort: locator.HostPort{Host: string(line.Host), Port: line.Port}, Type: line.Type, Selector: selector, HasPath: true, Secure: scheme == "gophers",
		}
		if display = oneLine(display); display == "" {
			continue
		}
		if err := s.Add(fmt.Appendf(nil, "%s %010d %s", gopherKey(&target), *n, display)); err != nil {
			return err
		}
		*n++
	}
	return nil
}

// gopherKey returns a text that is the same for all URLs of a document.
func gopherKey(l *locator.Gopher) string {
	same := *l
	same.Host, same.HasPath = strings.ToLower(l.Host), true
	if same.Port == locator.DefaultPort(l.Scheme()) {
		same.Port = 0
	}
	if same.Type == 0 && !l.HasPath {
		same.Type = '1'
	}
	return same.String()
}

// linkTitle returns the text of a link to a URL, or "".
func linkTitle(url string, titles *cdx.Index) (string, error) {
	parsed, err := locator.Parser{Tolerate: locator.TolerateUsual}.Parse(url)
	if err != nil {
		return "", nil
	}
	l, ok := parsed.Locator.(*locator.Gopher)
	if !ok {
		return "", nil
	}
	key := gopherKey(l) + " "
	for line, err := range titles.From(key) {
		if err != nil {
			return "", err
		}
		if rest, ok := bytes.CutPrefix(line, []byte(key)); ok {
			_, title, _ := strings.Cut(string(rest), " ")
			return title, nil
		}
		break
	}
	return "", nil
}
