package replay

import (
	"bufio"
	"context"
	"io"
	"iter"
	"net/mail"
	"net/url"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/archive"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/gopher"
	"github.com/fetch1738/fetch1738/internal/text/charset"
	"github.com/fetch1738/fetch1738/internal/text/hypertext"
	"github.com/fetch1738/fetch1738/internal/text/mime822"
	"github.com/fetch1738/fetch1738/locator"
)

// A Hit is a document that a search has found.
type Hit struct {
	URL string
	// Title is how a menu calls the document, its subject, or its HTML title, as the server has sent
	// it. It is "" if only the URL has the words.
	Title string
	// Time is that of the capture.
	Time time.Time
}

// Search yields the documents whose URL or title has all of the words, without regard to case, each
// once. It reads the index, and of the captures the menus, articles and pages of HTML. An error is
// the last pair.
func (r *Replay) Search(ctx context.Context, words string) iter.Seq2[Hit, error] {
	return func(yield func(Hit, error) bool) {
		s := search{r, strings.Fields(strings.ToLower(words)), make(map[string]bool), yield}
		for c, err := range r.each("") {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(Hit{}, err)
				return
			}
			if !s.look(c) {
				return
			}
		}
	}
}

// A search is a call of Replay.Search.
type search struct {
	*Replay
	words []string // in lower case
	found map[string]bool
	yield func(Hit, error) bool
}

// has reports whether a text has all the words.
func (s *search) has(text string) bool {
	text = strings.ToLower(text)
	for _, w := range s.words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return len(s.words) > 0
}

// hit yields a hit, unless its URL was found before. It returns false if the search has ended.
func (s *search) hit(h Hit) bool {
	if s.found[h.URL] {
		return true
	}
	s.found[h.URL] = true
	return s.yield(h, nil)
}

// look searches a capture. What cannot be read has no titles.
func (s *search) look(c *archive.Capture) bool {
	mediaType, _, _ := strings.Cut(c.MediaType, ";")
	switch mediaType {
	case "application/gopher-menu":
		if !s.menu(c) {
			return false
		}
	case "message/rfc822", "text/html":
		if title := s.title(c, mediaType); title != "" && s.has(title) {
			return s.hit(Hit{c.URL, title, c.Time})
		}
	}
	text, err := url.PathUnescape(c.URL)
	if err != nil {
		text = c.URL
	}
	return !s.has(text) || s.hit(Hit{URL: c.URL, Time: c.Time})
}

// menu searches the items of a menu. Those that are not in the archive are not found.
func (s *search) menu(c *archive.Capture) bool {
	ref, err := locator.Parser{Tolerate: locator.TolerateUsual}.Parse(c.URL)
	if err != nil {
		return true
	}
	doc, err := s.archive.Open(c)
	if err != nil {
		return true
	}
	defer doc.Body.Close()
	items, err := gopher.Menu(doc.Body, ref.Locator, fetch.Limits{}.WithDefaults())
	if err != nil {
		return true
	}
	for item, err := range items {
		if err != nil {
			break
		}
		if item.Locator == nil || !s.has(item.Name) || s.found[item.Locator.String()] {
			continue
		}
		if of, err := s.archive.Find(item.Locator.String(), s.at); err == nil && !s.hit(Hit{of.URL, item.Name, of.Time}) {
			return false
		}
	}
	return true
}

// maxTitled is how much of a document is searched for its title, in octets.
const maxTitled = 16 << 10

// title returns the title of a page or an article, or "".
func (s *search) title(c *archive.Capture, mediaType string) string {
	doc, err := s.archive.Open(c)
	if err != nil {
		return ""
	}
	defer doc.Body.Close()
	begins := bufio.NewReader(io.LimitReader(doc.Body, maxTitled))
	if mediaType == "message/rfc822" {
		m, err := mail.ReadMessage(begins)
		if err != nil {
			return ""
		}
		return mime822.Text(m.Header.Get("Subject"), charset.Charset{})
	}
	text, _ := io.ReadAll(begins)
	return hypertext.Title(string(text))
}
