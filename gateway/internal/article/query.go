package article

import (
	"iter"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/nntp"
	"github.com/fetch1738/fetch1738/internal/text/charset"
	"github.com/fetch1738/fetch1738/internal/text/mime822"
	"github.com/fetch1738/fetch1738/internal/text/newssearch"
)

// maxWords is the number of words of a Query.
const maxWords = 20

// A Query is what a reader searches for in a group. The zero value means that nothing is searched for.
type Query struct {
	Words  []string // all are in the subject or the author
	Author []string // all are in the author
}

// NewQuery returns the Query of a form with words and an author, whose name may have spaces.
func NewQuery(words, author string) Query {
	q := Query{Words: strings.Fields(words)}
	q.Words = q.Words[:min(len(q.Words), maxWords)]
	if author = strings.TrimSpace(author); author != "" {
		q.Author = []string{author}
	}
	return q
}

// Empty reports whether nothing is searched for.
func (q Query) Empty() bool { return len(q.Words)+len(q.Author) == 0 }

// Matches returns what the server is asked for. If nil, all articles are candidates.
func (q Query) Matches() (matches []nntp.Match) {
	fields, pattern := []string{"From"}, newssearch.Pattern(q.Author)
	if pattern == "" {
		fields, pattern = []string{"Subject", "From"}, newssearch.Pattern(q.Words)
	}
	if pattern == "" {
		return nil
	}
	for _, field := range fields {
		matches = append(matches, nntp.Match{Header: field, Pattern: pattern}, nntp.Match{Header: field, Pattern: newssearch.Encoded})
	}
	return matches
}

// Found returns the articles of a listing that the Query finds.
func (q Query) Found(items iter.Seq2[fetch.Item, error]) iter.Seq2[fetch.Item, error] {
	return func(yield func(fetch.Item, error) bool) {
		for item, err := range items {
			if err == nil && !q.finds(item.Header) {
				continue
			}
			if !yield(item, err) {
				return
			}
		}
	}
}

func (q Query) finds(h Fields) bool {
	subject, from := mime822.Text(h.Get("Subject"), charset.Charset{}), mime822.Text(h.Get("From"), charset.Charset{})
	return newssearch.HasAll(q.Words, subject, from) && newssearch.HasAll(q.Author, from)
}
