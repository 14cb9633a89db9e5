package gateway

import (
	"context"
	"iter"
	"time"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/locator"
)

// An Archive is what a Handler shows if its Resolver answers from an archive. Its pages have no links
// to URLs of http and https, which would lead to the servers of today. Its functions are called
// concurrently; any of them may be nil. For a time, the zero Time means the last captures.
type Archive struct {
	// About is a sentence about the archive, such as its time.
	About string
	// Sites are its sites.
	Sites []Site
	// Time is that of the captures which the Resolver answers from.
	Time time.Time
	// Search yields the documents whose URL or title has all of the words, and ends with an error if
	// it cannot go on.
	Search func(ctx context.Context, at time.Time, words string) iter.Seq2[Hit, error]
	// Documents yields the documents whose URL begins with prefix.
	Documents func(ctx context.Context, at time.Time, prefix string) iter.Seq2[Hit, error]
	// Captures yields the times of the captures of a URL, sorted.
	Captures func(l locator.Locator) iter.Seq2[time.Time, error]
	// At returns a Resolver that answers as of a time: the last capture that is not later, or else the
	// first one. The Handler calls done after its last access. If At is nil, there are no pages of
	// other times.
	At func(at time.Time) (resolver *fetch1738.Resolver, done func())
}

// A Site is a site of an Archive.
type Site struct {
	URL string
	// Pages are the URLs where reading it begins, such as its first menu or its newsgroups. Without
	// them the front page of the archive leads to a list of its documents.
	Pages []string
}

// A Hit is a document that a search in an archive has found.
type Hit struct {
	URL   string
	Title string    // "" if only the URL has the words
	Time  time.Time // of the capture
}
