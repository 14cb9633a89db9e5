package nntp

import (
	"errors"
	"fmt"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/locator"
)

// Options are the [fetch.Request.Options] of this package. The zero value and nil mean the
// defaults.
type Options struct {
	// Articles selects articles of the group that the URL names, by number and in the given
	// order: "1-500", "7", "480-" or "1-10,12,20-". Numbers without an article are skipped. If no
	// selected article exists, the error is of kind ErrNotFound.
	//
	// The Resource is then a KindDocument of media type application/mbox (RFC 4155). In its Body,
	// lines that begin with any number of ">" and "From " are quoted by one more ">", and lines
	// end in LF. Info.Articles yields the articles one by one.
	Articles string
	// List lists the articles that Articles selects, which then is one range, as the listing of the
	// group does, instead of fetching them. A range without articles is an empty listing.
	List bool
	// Newest limits the listing of a group, or Articles, to that many of its highest article numbers,
	// after Skip of them. There may be fewer articles, because not every number has one. Zero means
	// no limit.
	Newest, Skip int64
	// Match limits the listing of a group to the articles that one of the Matches selects, as far as
	// the server can find them (XPAT, RFC 2980). If it cannot, all are listed; Info.Matched tells. It
	// cannot be combined with Articles that are fetched.
	Match []Match
	// OverviewOnly makes the listing of a group fail with ErrUnsupported if the server has no overview,
	// instead of fetching the header of each article.
	OverviewOnly bool
	// Login is used if the server requires a login. If nil, Env.Credentials is called. Sessions are
	// shared only by requests with equal Logins, and a session that Env.Credentials has logged in
	// only by requests without one.
	Login *locator.Login
	// StartTLS starts TLS on an unencrypted connection before any other command, and fails if the
	// server refuses.
	StartTLS bool
	// TryTLS is like StartTLS, but continues without TLS if the server refuses STARTTLS. It does
	// not stop an active attacker, who can force such a refusal.
	TryTLS bool
}

// A Match selects articles by a header field.
type Match struct {
	// Header is the name of the field, such as "Subject".
	Header string
	// Pattern is a wildmat (RFC 3977 §4.1) of printable ASCII without spaces and commas, which the whole
	// value must match. Servers distinguish upper and lower case, and do not decode encoded words
	// (RFC 2047).
	Pattern string
}

// check returns an error if no command can carry m.
func (m Match) check() error {
	bad := func(r rune) bool { return r <= ' ' || r > '~' || r == ',' }
	if m.Header == "" || m.Pattern == "" || strings.ContainsFunc(m.Header+m.Pattern, bad) {
		return errors.New("a match must have a header field and a pattern of printable ASCII without spaces and commas")
	}
	return nil
}

// setOptions sets what req.Options request.
func (a *access) setOptions() (err error) {
	if a.opt, err = driver.OptionsOf[Options](a.req); err != nil {
		return err
	}
	o := &a.opt
	switch {
	case a.key.secure != plain:
	case o.StartTLS:
		a.key.secure = explicit
	case o.TryTLS:
		a.key.secure = tried
	}
	if o.Login != nil {
		a.key.login = *o.Login
	}
	if o.Newest < 0 || o.Skip < 0 {
		return &fetch.Error{Kind: fetch.ErrBadRange, Err: errors.New("a number of newest articles is negative")}
	}
	for _, m := range o.Match {
		if err := m.check(); err != nil {
			return &fetch.Error{Kind: fetch.ErrBadURL, Err: err}
		}
	}
	switch {
	case len(o.Match) > 0 && !a.isGroup():
		return &fetch.Error{Kind: fetch.ErrBadURL, Err: errors.New("a match requires a URL that names a newsgroup")}
	case o.Articles == "":
		return nil
	case !a.isGroup():
		return &fetch.Error{Kind: fetch.ErrBadURL, Err: errors.New("a range of articles requires a URL that names a newsgroup")}
	}
	list, err := parseSpans(o.Articles)
	switch {
	case err != nil:
	case !o.List && len(o.Match) > 0:
		err = errors.New("articles that match are listed, not fetched")
	case !o.List:
		a.articles = list
	case len(list) > 1:
		err = errors.New("articles are listed in one range, such as 1-500")
	default:
		a.within = &list[0]
	}
	if err != nil {
		return &fetch.Error{Kind: fetch.ErrBadRange, Err: err}
	}
	return nil
}

// span is a range of article numbers, both ends included.
type span struct{ from, to int64 }

// maxAsked limits the number of ranges in Options.Articles.
const maxAsked = 1000

// last is larger than any article number (RFC 3977 §6).
const last = int64(1e16) - 1

// parseSpans parses Options.Articles: numbers, "n-m" and "n-", separated by commas.
func parseSpans(s string) ([]span, error) {
	var list []span
	for part := range strings.SplitSeq(s, ",") {
		first, end, isRange := strings.Cut(strings.TrimSpace(part), "-")
		from, err := number(first)
		to := from
		switch {
		case err == nil && isRange && end == "":
			to = last
		case err == nil && isRange:
			to, err = number(end)
		}
		if err != nil || from == 0 || to < from {
			return nil, fmt.Errorf("invalid range of article numbers %q; use a form such as 1-500", part)
		}
		if list = append(list, span{from, to}); len(list) > maxAsked {
			return nil, fmt.Errorf("more than %d ranges of article numbers", maxAsked)
		}
	}
	return list, nil
}
