package nntp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"slices"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/text/mbox"
	"github.com/fetch1738/fetch1738/internal/wire"
)

// fetchArticles fetches the articles selected by Options.Articles.
func (f *Fetcher) fetchArticles(ctx context.Context, a *access) (*fetch.Resource, error) {
	m := &series{first: true}
	s, err := f.begin(ctx, a, func(s *session) error {
		g, err := s.selectGroup(a.group)
		if err != nil {
			return err
		}
		m.pipeline = pipeline{s: s, verb: "ARTICLE", want: 220, left: clamp(slices.Clone(a.articles), a.listed(g))}
		if err = m.next(); err == io.EOF {
			err = a.fail("ARTICLE", &fetch.Error{Kind: fetch.ErrNotFound, Err: errors.New("the group has no articles in that range")})
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	m.body = newText(s, "ARTICLE", m.fill)
	res := a.resource(s)
	res.MediaType, res.Body = "application/mbox", m.body
	res.Info.(*Info).Articles = m.each()
	return res, nil
}

// clamp limits the spans to the range of a group.
func clamp(list []span, g groupInfo) []span {
	var in []span
	for _, s := range list {
		if s.from, s.to = max(s.from, g.low), min(s.to, g.high); s.from <= s.to && !g.empty() {
			in = append(in, s)
		}
	}
	return in
}

// series are articles, one by one or in one file, of package mbox. The first one is already open.
type series struct {
	pipeline
	body   *body
	first  bool // the next article is the first
	inside bool // inside an article
}

// each yields the articles one by one.
func (m *series) each() iter.Seq2[*Article, error] {
	b := m.body
	read := func(p []byte) (int, error) { return b.readFrom(m.block, p) }
	return func(yield func(*Article, error) bool) {
		for b.err == nil {
			if !yield(&Article{Number: m.number, MessageID: m.id, Body: wire.ReaderFunc(read)}, nil) {
				return
			}
			if b.err != nil { // such as that of a Body that the caller has closed
				break
			}
			if err := m.next(); err == io.EOF {
				b.finish()
				return
			} else if err != nil {
				b.err = err
			}
		}
		if b.err != io.EOF {
			yield(nil, b.err)
		}
	}
}

// fill appends a portion of the file to a slice.
func (m *series) fill(to []byte) ([]byte, error) {
	var err error
	if !m.inside {
		if to, err = m.begin(to); err != nil {
			return to, err
		}
	}
	for m.inside && len(to) < portion {
		line, err := m.block.readLine()
		switch {
		case err == io.EOF:
			to, m.inside = append(to, '\n'), false // the empty line after an article
		case err != nil:
			return to, err
		default:
			to = appendLine(to, line)
		}
	}
	return to, nil
}

// begin appends the separator and the header of the next article.
func (m *series) begin(to []byte) ([]byte, error) {
	if !m.first {
		if err := m.next(); err != nil {
			return to, err
		}
	}
	m.first = false
	h, err := m.block.header()
	if err != nil && err != io.EOF {
		return to, err
	}
	to = append(append(to, mbox.Separator(h.get("From"), h.date())...), '\n')
	for line := range bytes.Lines(h.octets) {
		to = appendLine(to, line)
	}
	if m.inside = err == nil; !m.inside {
		to = append(to, '\n')
	}
	return to, nil
}

// appendLine appends a line, ending in LF. A line that looks like a separator gets a ">".
func appendLine(to, line []byte) []byte {
	if mbox.IsQuoted(line) {
		to = append(to, '>')
	}
	return append(append(to, wire.TrimEOL(line)...), '\n')
}
