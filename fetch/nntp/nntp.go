// Package nntp fetches news and nntp URLs (RFC 1738 §3.6, §3.7) by the Network
// News Transfer Protocol: RFC 3977, RFC 977 where the server knows no better,
// OVER or XOVER (RFC 2980), AUTHINFO USER (RFC 4643), STARTTLS (RFC 4642).
//
// The schemes nntps and snews, which RFC 1738 does not know, are nntp and news
// over TLS on port 563.
package nntp

import (
	"context"
	"io"
	"iter"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	sessions "github.com/fetch1738/fetch1738/internal/session"
)

// Fetcher fetches news, nntp, nntps and snews URLs. The zero value works, for
// news URLs as soon as Env.NewsServer is set. Its fields must not be changed
// once it is in use. It is safe for concurrent use; accesses that run at once
// have a connection each.
//
// Besides [fetch.Fetcher] it is a [fetch.AttributeFinder] (HEAD), a
// [fetch.Updater] (POST), a [fetch.Explainer], and an [io.Closer] for the
// sessions that it keeps.
type Fetcher struct {
	// Env is how to connect and whom to ask; nil is the zero Env. News URLs name
	// no server: Env.NewsServer, "host" or "host:port", does.
	Env *fetch.Env
	// MaxIdle is how many idle sessions are kept for another access to the same
	// server; 0 is 8, a negative number keeps none.
	MaxIdle int
	// IdleTime is how long they are kept; 0 is a minute.
	IdleTime time.Duration

	idle sessions.Keeper[key, *access, *session]
}

// Options are the Request.Options of this package. The zero value, as nil, asks
// for nothing special.
type Options struct {
	// Articles asks for articles of the group that the URL names, such as "1-500",
	// "7", "480-" or "1-10,12,20-", in that order. Numbers without an article are
	// passed over; it is an error of kind ErrNotFound if there is none at all.
	//
	// The Resource is then a KindDocument of media type application/mbox (RFC
	// 4155, with lines that begin with ">"s and "From " quoted by one ">" more,
	// and ending in LF), and its Info.Articles gives the articles one by one.
	Articles string
	// StartTLS puts an unencrypted connection under TLS before anything else is
	// said, or fails.
	StartTLS bool
	// TryTLS does so, and goes on without TLS where the server refuses STARTTLS.
	// Whoever sits on the way can make that look so.
	TryTLS bool
}

// Info is the Resource.Info of this package.
type Info struct {
	// Greeting is the server's first reply, without the code.
	Greeting string
	// MessageID is that of an article, with its angle brackets, as the server
	// told it; empty for anything else.
	MessageID string
	// Articles gives the articles that Options.Articles asked for, each as the
	// server sent it. It is a view of the same octets as Body: use one of them. It
	// can be ranged over once and yields an error last, if at all. nil otherwise.
	Articles iter.Seq2[*Article, error]
}

// Article is one of several that were asked for together.
type Article struct {
	// Number is the article's number in its group.
	Number int64
	// MessageID is as in Info.
	MessageID string
	// Body is the article, header and all. It is valid until the next one is asked
	// for.
	Body io.Reader
}

// Fetch implements [fetch.Fetcher]. Request.Options is nil or an *[Options].
//
// An article is a KindDocument: header, empty line and body as the server sent
// them, without the dots that the protocol adds. A group is a KindDirectory of
// its articles: Body is their overview (RFC 3977 §8.3: number, subject, from,
// date, message-id, references, octets, lines, separated by tabs), from the
// server where it has one, else made from the articles' headers. Its Items are
// called by their numbers; their Header has Subject, From, Date, Message-ID,
// References and Lines.
//
// "news:*" is a KindDirectory of all groups: Body is the answer to LIST ACTIVE.
// The Items' Header has First, Last and Status and, where the server tells it
// in about the same order, Description.
func (f *Fetcher) Fetch(ctx context.Context, req *fetch.Request) (*fetch.Resource, error) {
	a, err := f.access(ctx, req)
	if err != nil {
		return nil, err
	}
	switch {
	case req.Offset != 0 || req.Length != 0:
		return nil, a.fail(fetch.OpCheck, &fetch.Error{Kind: fetch.ErrUnsupported, Err: errPart})
	case a.articles != nil:
		return f.fetchArticles(ctx, a)
	case a.all:
		return f.fetchGroups(ctx, a)
	case a.article == "" && a.id == "":
		return f.fetchGroup(ctx, a)
	}
	return f.fetchArticle(ctx, a)
}

// FindAttributes implements [fetch.AttributeFinder]: the header of an article
// (HEAD), the number of articles in a group and its first and last number.
func (f *Fetcher) FindAttributes(ctx context.Context, req *fetch.Request) (*fetch.Attributes, error) {
	a, err := f.access(ctx, req)
	if err != nil {
		return nil, err
	}
	attr := &fetch.Attributes{Size: -1}
	s, err := f.begin(ctx, a, func(s *session) error { return a.attributes(s, attr) })
	if err != nil {
		return nil, err
	}
	f.release(s)
	return attr, nil
}

// Update implements [fetch.Updater]: it posts body, an article with its header,
// to the group that the URL names. The header is checked before anything is
// sent: it must name the author, the subject and that group. Lines may end in LF
// or CR LF. The Attributes' Header has the Message-ID if the server told it.
//
// Where the connection breaks after all has been sent nobody knows whether the
// article was accepted; one with a Message-ID of its own can be posted again
// without harm.
func (f *Fetcher) Update(ctx context.Context, req *fetch.Request, body io.Reader) (*fetch.Attributes, error) {
	a, err := f.access(ctx, req)
	if err != nil {
		return nil, err
	}
	return f.post(ctx, a, body)
}

// Close ends the idle sessions; those in use end with their Bodies.
func (f *Fetcher) Close() error { return f.idle.Close() }

// terms are how sessions are kept.
func (f *Fetcher) terms() sessions.Terms { return sessions.Terms{Limit: f.MaxIdle, Age: f.IdleTime} }

// begin finds an idle session or makes one, and starts on it. After an error there
// is nothing to release.
func (f *Fetcher) begin(ctx context.Context, a *access, start func(*session) error) (*session, error) {
	open := func() (*session, error) { return dial(ctx, a) }
	again := func(err error) { a.trace.Retry(fetch.Retry{Attempt: 1, Err: err}) }
	return f.idle.Begin(ctx, a.key, a, f.terms(), open, start, again)
}

// release ends an access: its session is kept or closed.
func (f *Fetcher) release(s *session) { f.idle.Release(s.key, s, f.terms()) }
