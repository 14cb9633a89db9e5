package search

import (
	"context"
	"fmt"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/listing"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/nntp"
	"github.com/fetch1738/fetch1738/internal/entry"
	"github.com/fetch1738/fetch1738/internal/text/mime822"
	"github.com/fetch1738/fetch1738/internal/text/newssearch"
	"github.com/fetch1738/fetch1738/locator"
)

// maxShown is how many searches of a menu a message lists.
const maxShown = 5

// gopherSearch returns the search at l: l itself, or, if l is a menu, the only search in it,
// which must be on the same server.
func (q *query) gopherSearch(ctx context.Context, l *locator.Gopher) (locator.Locator, error) {
	switch l.Type {
	case '7':
		return l, nil
	case '2':
		return nil, localerr.Usagef("%[1]s is a phone book, whose entries have no URLs; use fetch1738 '%[1]s?%[2]s'", l.Redacted(), strings.Join(q.words, "+"))
	case 0, '1':
	default:
		return nil, localerr.Usagef("%s is not a search; the URL of one has the item type 7: gopher://HOST/7SELECTOR", l.Redacted())
	}
	res, err := q.t.Resolver.Fetch(ctx, &fetch.Request{Locator: l})
	if err != nil {
		return nil, err
	}
	defer res.Close()
	var searches []locator.Locator
	for item, err := range res.Items {
		if err != nil {
			return nil, err
		}
		if found, ok := item.Locator.(*locator.Gopher); ok && found.Type == '7' {
			searches = append(searches, found)
		}
	}
	if len(searches) == 1 && sameServer(l, searches[0]) {
		return searches[0], nil
	}
	return nil, localerr.Usagef("%s is a menu; %s", l.Redacted(), listed(searches))
}

// sameServer reports whether two Locators name the same host and port.
func sameServer(a, b locator.Locator) bool {
	one, _ := locator.ServerOf(a)
	other, _ := locator.ServerOf(b)
	return strings.EqualFold(one.Host, other.Host) && one.Port == other.Port
}

// listed returns the part of a message that names the searches of a menu.
func listed(searches []locator.Locator) string {
	if len(searches) == 0 {
		return "it has no searches, whose item type is 7"
	}
	text := "search at one of its searches:"
	for i, l := range searches {
		if i == maxShown {
			return fmt.Sprintf("%s and %d others", text, len(searches)-i)
		}
		text += " " + stdio.Line(l.Redacted())
	}
	return text
}

// archieKinds maps the kinds of search to the letters of the archie protocol.
var archieKinds = map[string]string{"exact": "=", "substring": "S", "case": "C", "regex": "R"}

// The number of files that an archie server is asked for: what old servers return without being
// asked, and the maximum of all.
const (
	archieHits    = 95
	maxArchieHits = 2500
)

// archieSearch returns the search of an archie server, without words.
func (q *query) archieSearch(l *locator.Prospero) (locator.Locator, error) {
	switch {
	case len(q.words) > 1:
		return nil, localerr.Usagef("an archie server searches for one name; quote a name with spaces, or use --match regex")
	case q.max > maxArchieHits:
		return nil, localerr.Usagef("--max-hits %d: an archie server returns at most %d", q.max, maxArchieHits)
	case strings.HasPrefix(l.HSOName, "ARCHIE/MATCH("):
		return l, nil
	case strings.Trim(l.HSOName, "/") != "":
		return nil, localerr.Usagef("%s cannot be searched; the URL of an archie server is prospero://HOST", l.Redacted())
	}
	kind, hits := archieKinds[q.kind], q.max
	if kind == "" {
		kind = archieKinds["substring"]
	}
	if hits == 0 {
		hits = archieHits
	}
	at := *l
	at.HSOName = fmt.Sprintf("ARCHIE/MATCH(%d,%d,%d,0,%s)/", hits, hits, hits, kind)
	return &at, nil
}

// explained adds to the error of a directory server that it may not be an archie server.
func (q *query) explained(err error) error {
	if _, ok := q.t.Locator.(*locator.Prospero); ok && fetch.KindOf(err) == fetch.ErrNotFound {
		return fmt.Errorf("%w; this Prospero server is not an archie server", err)
	}
	return err
}

// matchNews has the server select the articles that the words may fit.
func (q *query) matchNews(req *fetch.Request) {
	options, ok := req.Options.(*nntp.Options)
	if !ok || !entry.IsGroup(req.Locator) {
		return
	}
	options.List = options.Articles != ""
	options.Match = matches(q.words)
}

// matches returns what an article that has all words matches. It may match others, too: the patterns
// are those of one word, and let encoded words (RFC 2047) pass. It returns nil if all articles are
// candidates.
func matches(words []string) []nntp.Match {
	best := newssearch.Pattern(words)
	if best == "" {
		return nil
	}
	const encoded = newssearch.Encoded
	return []nntp.Match{{Header: "Subject", Pattern: best}, {Header: "Subject", Pattern: encoded}, {Header: "From", Pattern: best}, {Header: "From", Pattern: encoded}}
}

// fits reports whether all words are in the subject or the author of an article, or in the name or the
// description of a newsgroup, in lower or upper case.
func (q *query) fits(it *fetch.Item) bool {
	texts := []string{it.Name, listing.Field(it, "Description")}
	if entry.IsArticle(it.Locator) {
		texts = []string{listing.Field(it, "Subject"), listing.Field(it, "From")}
	}
	for i, text := range texts {
		texts[i] = mime822.Text(text, q.t.Op.Output.Charset)
	}
	return newssearch.HasAll(q.words, texts...)
}
