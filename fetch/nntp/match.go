package nntp

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/wire"
)

// fetchMatches lists the articles of a group that the Options match. Articles are found by XPAT (RFC
// 2980 §2.9). If the server does not support it, all articles are listed.
func (f *Fetcher) fetchMatches(ctx context.Context, a *access) (*fetch.Resource, error) {
	var whole groupInfo
	var found []span
	supported := true
	s, err := f.begin(ctx, a, func(s *session) (err error) {
		if whole, err = s.selectGroup(a.group); err != nil {
			return err
		}
		if g := a.listed(whole); !g.empty() {
			found, supported, err = a.askMatches(s, g)
		}
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case !supported:
		f.release(s)
		a.trace.Note("the server has no XPAT; all articles of the group are listed")
		return f.fetchGroup(ctx, a)
	}
	res := a.resource(s)
	res.Kind, res.Header = fetch.KindDirectory, whole.fields()
	res.Info.(*Info).Matched = true
	if res.Body, err = newMatches(s, found); err != nil {
		f.release(s)
		return nil, err
	}
	res.Items = a.items(ctx, res.Body, a.overviewItem)
	return res, nil
}

// askMatches requests the numbers of the articles that match. It reports whether the server supports
// that.
func (a *access) askMatches(s *session, g groupInfo) (found []span, supported bool, err error) {
	var numbers []int64
	for _, m := range a.opt.Match {
		_, err := s.expect(fmt.Sprintf("XPAT %s %d-%d %s", m.Header, g.low, g.high, m.Pattern), 221)
		switch {
		case err == nil:
		case isMissing(code(err)) && s.Err == nil:
			continue
		case isUnsupported(err) && s.Err == nil:
			return nil, false, nil
		default:
			return nil, false, err
		}
		if numbers, err = readMatches(s, g, numbers); err != nil {
			return nil, false, err
		}
	}
	slices.Sort(numbers)
	for _, n := range slices.Compact(numbers) {
		if found, err = addNumber(found, n); err != nil {
			return nil, false, s.wrapError("XPAT", err)
		}
	}
	return found, true, nil
}

// maxMatches limits the numbers of articles that are held in memory.
const maxMatches = 1_000_000

// readMatches reads the block of a reply to XPAT: lines of a number and a value. It adds the numbers in
// g to numbers.
func readMatches(s *session, g groupInfo, numbers []int64) ([]int64, error) {
	for line, err := range openBlock(s, "XPAT").listing().lines() {
		if err != nil {
			return nil, err
		}
		text, _, _ := strings.Cut(line, " ")
		n, err := number(text)
		switch {
		case text == "":
			continue // leafnode sends an empty line
		case err != nil:
			return nil, s.violation("XPAT", text, "invalid article number in the reply to XPAT")
		case n < max(g.low, 1) || n > g.high:
			continue
		case len(numbers) == maxMatches:
			return nil, s.wrapError("XPAT", s.Fail(&fetch.Error{Kind: fetch.ErrTooLarge, Err: fmt.Errorf("more than %d articles match", maxMatches)}))
		}
		numbers = append(numbers, n)
	}
	return numbers, nil
}

// newMatches returns the Body of the articles in list: their overview, or, if the server has none, one
// that is generated from their headers.
func newMatches(s *session, list []span) (*body, error) {
	if len(list) == 0 {
		b := &body{s: s}
		b.finish()
		return b, nil
	}
	verb := s.can.overviews(s.overview)[0]
	if verb == byHead {
		return newHeads(s, list), nil
	}
	p := &pipeline{s: s, verb: verb, want: 224, left: slices.Clone(list)}
	err := p.nextListing()
	switch {
	case err == io.EOF: // there are no articles, also for the pipeline
	case err != nil && isUnsupported(err) && s.Err == nil:
		s.overview = byHead
		return newHeads(s, list), nil
	case err != nil:
		return nil, err
	}
	s.overview = verb
	return newText(s, verb, func(to []byte) ([]byte, error) {
		if p.block == nil {
			return to, io.EOF
		}
		line, err := p.block.readLine()
		if err == io.EOF {
			return to, p.nextListing()
		}
		if err != nil {
			return to, err
		}
		return append(append(to, wire.TrimEOL(line)...), '\n'), nil
	}), nil
}
