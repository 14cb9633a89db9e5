// Package nntp fetches news and nntp URLs (RFC 1738 §3.6, §3.7) with the Network News Transfer
// Protocol. It implements RFC 3977, RFC 977 for servers that support nothing newer, OVER and XOVER
// (RFC 2980), AUTHINFO USER (RFC 4643) and STARTTLS (RFC 4642).
//
// The schemes nntps and snews are extensions to RFC 1738: nntp and news over TLS on port 563.
package nntp

import (
	"context"
	"errors"
	"io"
	"iter"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	sessions "github.com/fetch1738/fetch1738/fetch/internal/session"
)

// Fetcher fetches news, nntp, nntps and snews URLs. The zero value is ready to use for URLs that
// name a server. News URLs name none and require Env.NewsServer. The fields must not be changed
// after the first request. A Fetcher is safe for concurrent use; concurrent requests use separate
// connections.
//
// Fetcher implements [driver.Fetcher], [driver.AttributeFinder] (HEAD), [driver.Updater] (POST) and
// [driver.Explainer]. It keeps idle sessions for reuse; [Fetcher.Close] closes them.
type Fetcher struct {
	// Env holds the connection settings, limits and credentials. If nil, the zero Env is used.
	// Env.NewsServer ("host" or "host:port") is the server for news URLs.
	Env *fetch.Env
	// MaxIdle is the maximum number of idle sessions kept for later requests. Zero means 8; a
	// negative number means that no sessions are kept.
	MaxIdle int
	// IdleTime is how long an idle session is kept. Zero means one minute.
	IdleTime time.Duration

	idle sessions.Keeper[key, *access, *session]
}

// Info is the [fetch.Resource.Info] of this package.
type Info struct {
	// Greeting is the server's first reply, without the code.
	Greeting string
	// MessageID is the message-id of an article as the server sent it, with its angle brackets. It
	// is empty for any other resource.
	MessageID string
	// Matched means that the server has selected the articles of the listing by Options.Match.
	Matched bool
	// Articles yields the articles selected by Options.Articles, each as the server sent it. It is
	// nil without that option. Articles and Body read the same data, so use only one of them. The
	// sequence can be used once. If it fails, the error is the last thing it yields.
	Articles iter.Seq2[*Article, error]
}

// Article is one article of a sequence that was requested with [Options].Articles.
type Article struct {
	// Number is the article's number in its group.
	Number int64
	// MessageID is the message-id as the server sent it, with its angle brackets.
	MessageID string
	// Body reads the whole article, header included. It is valid until the sequence yields the
	// next article.
	Body io.Reader
}

var errPart = errors.New("news articles have no ranges; request the whole article")

// Fetch implements [driver.Fetcher]. Request.Options is nil or an *[Options]. The kind of the
// Resource depends on the URL:
//
// An article is a KindDocument: header, empty line and body as the server sent them, without the
// dots that the protocol adds.
//
// A group is a KindDirectory of its articles. Body is their overview (RFC 3977 §8.3): number,
// subject, from, date, message-id, references, size in bytes, and lines, separated by tabs. If the
// server has no overview, Body is generated from the headers of the articles. The Name of an Item is
// the article's number. Its Header has Subject, From, Date, Message-ID, References and Lines. The
// Header of the Resource is that of FindAttributes.
//
// "news:*" and "nntp://host/" are a KindDirectory of all groups. Body is the server's reply to LIST ACTIVE. The Header
// of an Item has First, Last and Status. It also has Description if the server lists descriptions
// in about the same order as groups.
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
	case len(a.opt.Match) > 0:
		return f.fetchMatches(ctx, a)
	case a.isGroup():
		return f.fetchGroup(ctx, a)
	}
	return f.fetchArticle(ctx, a)
}

// FindAttributes implements [driver.AttributeFinder]. For an article it returns the header (HEAD).
// For a group it returns the number of articles and the first and last article number, in Articles,
// First and Last of Header. For all groups, which only the list itself tells, Header has Greeting, the
// first reply of the server, and Capabilities, the names that CAPABILITIES lists.
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

// Update implements [driver.Updater]. It posts body, an article with its header, to the group that
// the URL names. The header is checked before anything is sent: it must have From, Subject and
// Newsgroups, and Newsgroups must include that group. Lines may end in LF or CR LF. The Header of
// the returned Attributes has the Message-ID if the server sends it.
//
// If the connection breaks after the whole article has been sent, it is unknown whether the server
// accepted it. An article that has a Message-ID can safely be posted again.
func (f *Fetcher) Update(ctx context.Context, req *fetch.Request, body io.Reader) (*fetch.Attributes, error) {
	a, err := f.access(ctx, req)
	if err != nil {
		return nil, err
	}
	return f.post(ctx, a, body)
}

// Close closes the idle sessions. Sessions in use are closed together with the Bodies that use them.
func (f *Fetcher) Close() error { return f.idle.Close() }
