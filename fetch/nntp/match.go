package nntp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/internal/talk"
	"github.com/fetch1738/fetch1738/internal/wire"
)

// A Match selects articles by a header field.
type Match struct {
	// Header is the name of the field, such as "Subject".
	Header string
	// Pattern is a wildmat (RFC 3977 §4.1) of printable ASCII without spaces and commas, which the whole
	// value must match. Servers distinguish upper and lower case, and do not decode encoded words
	// (RFC 2047).
	Pattern string
}

// errMatch is the error for a Match that no command can carry.
var errMatch = errors.New("a match must have a header field and a pattern of printable ASCII without spaces and commas")

// check reports what is wrong with m.
func (m Match) check() error {
	bad := func(r rune) bool { return r <= ' ' || r > '~' || r == ',' }
	if m.Header == "" || m.Pattern == "" || strings.ContainsFunc(m.Header+m.Pattern, bad) {
		return errMatch
	}
	return nil
}

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
	if res.Body, err = a.newMatches(s, found, f.release); err != nil {
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
	for _, m := range a.matches {
		_, err := s.expect(fmt.Sprintf("XPAT %s %d-%d %s", m.Header, g.low, g.high, m.Pattern), 221)
		switch {
		case err == nil:
		case (code(err) == 420 || code(err) == 423 || code(err) == 430) && s.Err == nil: // no such articles
			continue
		case isUnsupported(err) && s.Err == nil:
			return nil, false, nil
		default:
			return nil, false, err
		}
		if numbers, err = a.readMatches(s, g, numbers); err != nil {
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
func (a *access) readMatches(s *session, g groupInfo, numbers []int64) ([]int64, error) {
	for block := s.openBlock().Listing(); ; {
		line, err := block.ReadLine()
		if err == io.EOF {
			s.block = false
			return numbers, nil
		}
		if err != nil {
			return nil, a.bodyFailure("XPAT", s.Fail(err))
		}
		if line[len(line)-1] != '\n' {
			continue // a truncated line; the next read returns the error
		}
		text, _, _ := strings.Cut(string(wire.TrimEOL(line)), " ")
		n, err := number(text)
		switch {
		case text == "":
			continue // leafnode sends an empty line
		case err != nil:
			return nil, s.wrapError("XPAT", s.Fail(talk.Violation(text, "invalid article number in the reply to XPAT")))
		case n < max(g.low, 1) || n > g.high:
			continue
		case len(numbers) == maxMatches:
			return nil, s.wrapError("XPAT", s.Fail(&fetch.Error{Kind: fetch.ErrTooLarge, Err: fmt.Errorf("more than %d articles match", maxMatches)}))
		}
		numbers = append(numbers, n)
	}
}

// newMatches returns the Body of the articles in list: their overview, or, if the server has none, one
// that is generated from their headers.
func (a *access) newMatches(s *session, list []span, free func(*session)) (*series, error) {
	if len(list) == 0 {
		free(s)
		return &series{err: io.EOF}, nil
	}
	verb := s.overview
	switch {
	case verb != "":
	case s.can.has("OVER"):
		verb = "OVER"
	default:
		verb = "XOVER"
	}
	if verb == byHead {
		return newHeads(a, s, list, free), nil
	}
	b := &series{pipeline: pipeline{a: a, s: s, verb: verb, want: 224, left: slices.Clone(list)}, free: free}
	found, err := b.nextListing()
	if err != nil && isUnsupported(err) && s.Err == nil {
		s.overview = byHead
		return newHeads(a, s, list, free), nil
	}
	if err != nil {
		return nil, err
	}
	s.overview = verb
	b.fill = func() error {
		if !found {
			return io.EOF
		}
		line, err := b.block.ReadLine()
		switch {
		case err == io.EOF:
			b.single = b.single || b.block.Bare()
			b.block = nil
			found, err = b.nextListing()
			return err
		case err != nil:
			return a.bodyFailure(verb, s.Fail(err))
		case line[len(line)-1] == '\n': // a truncated line is dropped; the next read returns the error
			b.pending = append(append(b.pending, wire.TrimEOL(line)...), '\n')
		}
		return nil
	}
	return b, nil
}

// nextListing is next for blocks that are listings. While other replies are on their way, such a block
// must end in CR LF: what shows the end of one whose lines end in LF is that nothing comes behind it.
func (p *pipeline) nextListing() (bool, error) {
	found, err := p.next()
	if found && err == nil && len(p.asked) == 0 {
		p.block.Listing()
	}
	return found, err
}
