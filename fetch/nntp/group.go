package nntp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/fetch1738/fetch1738/fetch"
)

// fetchGroup lists the articles of a group.
func (f *Fetcher) fetchGroup(ctx context.Context, a *access) (*fetch.Resource, error) {
	var whole, g groupInfo // of the group; of the listing
	var verb fetch.Op      // of the listing; empty if there are no articles
	var list []span
	s, err := f.begin(ctx, a, func(s *session) (err error) {
		whole, err = s.selectGroup(a.group)
		g = a.listed(whole)
		if err != nil || g.empty() {
			return err
		}
		verb, err = a.askOverview(s, g)
		switch {
		case err != nil:
		case verb == byHead:
			list, err = a.askNumbers(s, g, []span{{g.low, g.high}})
		case verb == "" && g == whole: // the reply to GROUP says otherwise
			if list, err = a.askNumbers(s, g, nil); len(list) > 0 {
				verb = byHead
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	res := a.resource(s)
	res.Kind, res.Header = fetch.KindDirectory, whole.fields()
	switch {
	case verb == "":
		f.release(s)
	case verb == byHead:
		res.Body = newHeads(s, list)
	default:
		res.Body = newBody(openBlock(s, verb).listing())
	}
	res.Items = a.items(ctx, res.Body, a.overviewItem)
	return res, nil
}

// listed returns the part of a group that the Options select.
func (a *access) listed(g groupInfo) groupInfo {
	if g.high -= a.opt.Skip; a.opt.Newest > 0 {
		g.low = max(g.low, g.high-a.opt.Newest+1)
	}
	if a.within != nil {
		g.low, g.high = max(g.low, a.within.from), min(g.high, a.within.to)
	}
	return g
}

// byHead is the session.overview for a server without overviews: the headers come from HEAD.
const byHead = "HEAD"

// askOverview requests the overview of a group with the first command that the server supports, and returns
// that; its block follows. If it supports none, askOverview returns byHead and no block follows. If the server
// says that there are no such articles, it returns "".
func (a *access) askOverview(s *session, g groupInfo) (fetch.Op, error) {
	known := s.overview == byHead
	for _, verb := range s.can.overviews(s.overview) {
		if verb == byHead {
			break
		}
		_, err := s.expect(fmt.Sprintf("%s %d-%d", verb, g.low, g.high), 224)
		switch {
		case err == nil:
			s.overview = verb
			return verb, nil
		case code(err) == 420 || code(err) == 423:
			return "", nil
		case !isUnsupported(err) || s.Err != nil:
			return "", err
		}
	}
	s.overview = byHead
	switch {
	case a.opt.OverviewOnly:
		return "", a.fail(fetch.OpList, &fetch.Error{Kind: fetch.ErrUnsupported, Err: errors.New("the server has no overview")})
	case !known:
		a.trace.Note("the server has no overview; it is generated from the article headers")
	}
	return byHead, nil
}

// overviews returns the commands for overviews, the best one first, or only the one that is known to
// work.
func (c capabilities) overviews(known fetch.Op) []fetch.Op {
	switch {
	case known != "":
		return []fetch.Op{known}
	case c["OVER"]:
		return []fetch.Op{"OVER", "XOVER"}
	}
	return []fetch.Op{"XOVER", "OVER"}
}

// newHeads returns the Body of a group without an overview. It generates the overview from the
// headers of the articles.
func newHeads(s *session, list []span) *body {
	p := &pipeline{s: s, verb: byHead, want: 221, left: list}
	return newText(s, byHead, func(to []byte) ([]byte, error) {
		if err := p.next(); err != nil {
			return to, err
		}
		h, err := p.block.header()
		if err != nil && err != io.EOF {
			return to, err
		}
		return append(to, h.overviewLine(strconv.FormatInt(p.number, 10))...), nil
	})
}

// askNumbers requests the numbers of the articles in a group. RFC 977 has no command for that; then it returns
// otherwise. Numbers that the Options exclude are left out.
func (a *access) askNumbers(s *session, g groupInfo, otherwise []span) ([]span, error) {
	if _, err := s.expect("LISTGROUP "+a.group, 211); err != nil {
		if s.Err == nil && (isUnsupported(err) || otherwise == nil && code(err) >= 400) {
			return otherwise, nil
		}
		return nil, err
	}
	var list []span
	for text, err := range openBlock(s, "LISTGROUP").listing().lines() {
		if err != nil {
			return nil, err
		}
		n, err := number(text)
		if err != nil {
			return nil, s.violation("LISTGROUP", text, "invalid article number in the reply to LISTGROUP")
		}
		if (a.opt.Newest > 0 || a.within != nil) && n < g.low || (a.opt.Skip > 0 || a.within != nil) && n > g.high {
			continue
		}
		if list, err = addNumber(list, n); err != nil {
			return nil, s.wrapError("LISTGROUP", s.Fail(err))
		}
	}
	return list, nil
}

// maxSpans limits the memory for the article numbers of a group.
const maxSpans = 100_000

// addNumber adds n to list. If it follows the last number, it extends the last range.
func addNumber(list []span, n int64) ([]span, error) {
	if last := len(list) - 1; last >= 0 && list[last].to+1 == n {
		list[last].to = n
		return list, nil
	}
	if len(list) == maxSpans {
		return nil, &fetch.Error{Kind: fetch.ErrTooLarge, Err: fmt.Errorf("the group has more than %d separate ranges of article numbers", maxSpans)}
	}
	return append(list, span{n, n}), nil
}
