package nntp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/internal/talk"
	"github.com/fetch1738/fetch1738/internal/text/date822"
	"github.com/fetch1738/fetch1738/internal/wire"
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
		res.Body = newHeads(a, s, list, f.release)
	default:
		res.Body = newListing(a, s, verb, f.release)
	}
	res.Items = a.items(ctx, res.Body, a.overviewItem)
	return res, nil
}

// listed returns the part of a group that the Options select.
func (a *access) listed(g groupInfo) groupInfo {
	g = g.newest(a.newest, a.skip)
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
	commands := []fetch.Op{"XOVER", "OVER"}
	switch {
	case s.overview == byHead && a.overviewOnly:
		return "", a.noOverview()
	case s.overview == byHead:
		return byHead, nil
	case s.overview != "":
		commands = []fetch.Op{s.overview}
	case s.can.has("OVER"):
		commands = []fetch.Op{"OVER", "XOVER"}
	}
	for _, verb := range commands {
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
	if a.overviewOnly {
		return "", a.noOverview()
	}
	a.trace.Note("the server has no overview; it is generated from the article headers")
	return byHead, nil
}

// noOverview is the error of Options.OverviewOnly.
func (a *access) noOverview() error {
	return a.fail(fetch.OpList, &fetch.Error{Kind: fetch.ErrUnsupported, Err: errors.New("the server has no overview")})
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
	for block := s.openBlock().Listing(); ; {
		line, err := block.ReadLine()
		if err == io.EOF {
			s.block = false
			return list, nil
		}
		if err != nil {
			return nil, a.bodyFailure("LISTGROUP", s.Fail(err))
		}
		if line[len(line)-1] != '\n' {
			continue // a truncated line; the next read returns the error
		}
		text := string(wire.TrimEOL(line))
		n, err := number(text)
		if err != nil {
			return nil, s.wrapError("LISTGROUP", s.Fail(talk.Violation(text, "invalid article number in the reply to LISTGROUP")))
		}
		if (a.newest > 0 || a.within != nil) && n < g.low || (a.skip > 0 || a.within != nil) && n > g.high {
			continue
		}
		if list, err = addNumber(list, n); err != nil {
			return nil, s.wrapError("LISTGROUP", s.Fail(err))
		}
	}
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

// items returns the Items of a listing. It skips lines that parse does not accept.
func (a *access) items(ctx context.Context, r io.Reader, parse func(line string) (fetch.Item, bool)) iter.Seq2[fetch.Item, error] {
	return func(yield func(fetch.Item, error) bool) {
		lines := wire.NewLineReader(wire.ReadAhead(ctx, r, a.req.Stream), a.limits.Line)
		for n := 0; ; {
			line, err := lines.ReadLine()
			switch {
			case err == io.EOF:
				return
			case err != nil:
				yield(fetch.Item{}, a.fail(fetch.OpList, err))
				return
			}
			item, ok := parse(string(wire.TrimEOL(line)))
			if !ok {
				continue
			}
			if n++; a.limits.Items > 0 && n > a.limits.Items {
				yield(fetch.Item{}, a.fail(fetch.OpList, &fetch.Error{Kind: fetch.ErrTooLarge, Err: fmt.Errorf("the listing has more than %d entries", a.limits.Items)}))
				return
			}
			if !yield(item, nil) {
				return
			}
		}
	}
}

// overviewItem parses a line of an overview (RFC 3977 §8.3.2).
func (a *access) overviewItem(line string) (fetch.Item, bool) {
	fields := strings.Split(line, "\t")
	if _, err := number(fields[0]); err != nil {
		return fetch.Item{}, false
	}
	at := func(i int) string {
		if i < len(fields) {
			return fields[i]
		}
		return ""
	}
	date := date822.Parse(at(3))
	for i := 4; date.IsZero() && i+1 < len(fields); i++ {
		// A server may not replace the tabs of a subject: the author is before the date.
		if strings.HasPrefix(fields[i+1], "<") {
			if date = date822.Parse(fields[i]); !date.IsZero() {
				fields = slices.Concat(fields[:1], []string{strings.Join(fields[1:i-1], " ")}, fields[i-1:])
			}
		}
	}
	item := fetch.Item{
		Name: fields[0], Kind: fetch.KindDocument, Locator: a.articleLocator(fields[0], at(4)),
		Attributes: fetch.Attributes{Size: -1, MediaType: mediaType, ModTime: date},
	}
	if n, err := number(at(6)); err == nil {
		item.Size = n
	}
	for i, name := range []string{1: "Subject", 2: "From", 3: "Date", 4: "Message-ID", 5: "References", 7: "Lines"} {
		if name != "" && at(i) != "" {
			item.Header = append(item.Header, fetch.Field{Name: name, Value: at(i)})
		}
	}
	return item, true
}
