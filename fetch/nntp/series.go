package nntp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"slices"
	"strconv"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/text/mbox"
	"github.com/fetch1738/fetch1738/internal/wire"
)

// series is a Body made of the replies to many commands.
type series struct {
	pipeline
	fill    func() error // appends to pending, or returns io.EOF
	pending []byte
	store   []byte // pending is a part of it
	free    func(*session)
	err     error // returned by every further Read
}

// portion is how many bytes fill produces at a time.
const portion = 16 << 10

// Read implements io.Reader.
func (b *series) Read(p []byte) (int, error) {
	if b.err == nil && b.s.ctx.Err() != nil {
		b.err = b.s.wrapError(b.verb, b.s.Fail(b.s.ctx.Err()))
	}
	for len(b.pending) == 0 && b.err == nil && len(p) > 0 {
		b.pending = b.store[:0]
		if err := b.fill(); err == io.EOF {
			b.finish()
		} else if err != nil {
			b.err = err
		}
		b.store = b.pending
	}
	if len(b.pending) == 0 {
		return 0, b.err
	}
	n := copy(p, b.pending)
	b.pending = b.pending[n:]
	b.a.trace.Took(p[:n])
	return n, nil
}

// finish ends a series that is complete.
func (b *series) finish() {
	b.err = io.EOF
	b.release()
}

// release ends the use of the session. Further calls do nothing.
func (b *series) release() {
	if b.free != nil {
		b.free(b.s)
		b.free = nil
	}
}

// Close implements io.Closer. If the series is not at its end, Close closes the connection, because
// more replies are on the way.
func (b *series) Close() error {
	if b.err == nil {
		b.err = b.a.fail(b.verb, &fetch.Error{Kind: fetch.ErrConnectionFailed, Err: os.ErrClosed})
		b.s.block = true
	}
	b.pending = nil
	b.release()
	return nil
}

// newHeads returns the Body of a group without an overview. It generates the overview from the
// headers of the articles.
func newHeads(a *access, s *session, list []span, free func(*session)) *series {
	b := &series{pipeline: pipeline{a: a, s: s, verb: "HEAD", want: 221, left: list}, free: free}
	b.fill = func() error {
		ok, err := b.next()
		if err != nil {
			return err
		}
		if !ok {
			return io.EOF
		}
		h, err := readHeader(b.block.ReadLine, a.limits.Header)
		if err != nil && err != io.EOF {
			return a.bodyFailure(b.verb, s.Fail(err))
		}
		b.pending = append(b.pending, h.overviewLine(strconv.FormatInt(b.got.number, 10))...)
		return nil
	}
	return b
}

// fetchArticles fetches the articles selected by Options.Articles.
func (f *Fetcher) fetchArticles(ctx context.Context, a *access) (*fetch.Resource, error) {
	b := &series{free: f.release}
	s, err := f.begin(ctx, a, func(s *session) error {
		g, err := s.selectGroup(a.group)
		if err != nil {
			return err
		}
		b.pipeline = pipeline{a: a, s: s, verb: "ARTICLE", want: 220, left: clamp(slices.Clone(a.articles), a.listed(g))}
		found, err := b.next()
		if err == nil && !found {
			err = a.fail("ARTICLE", &fetch.Error{Kind: fetch.ErrNotFound, Err: errors.New("the group has no articles in that range")})
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	b.fill = (&joined{series: b, first: true}).fill
	res := a.resource(s)
	res.MediaType, res.Body = "application/mbox", b
	res.Info.(*Info).Articles = b.each()
	return res, nil
}

// each yields the articles one by one. The first one is already open.
func (b *series) each() iter.Seq2[*Article, error] {
	return func(yield func(*Article, error) bool) {
		for found := true; b.err == nil; {
			if !found {
				b.finish()
				return
			}
			if !yield(&Article{Number: b.got.number, MessageID: b.got.id, Body: wire.ReaderFunc(b.readArticle)}, nil) {
				return
			}
			if b.err != nil { // the caller has closed the Body
				break
			}
			var err error
			if found, err = b.next(); err != nil {
				b.err = err
			}
		}
		if b.err != io.EOF {
			yield(nil, b.err)
		}
	}
}

// readArticle reads from the current article.
func (b *series) readArticle(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	if err := b.s.ctx.Err(); err != nil {
		b.err = b.s.wrapError(b.verb, b.s.Fail(err))
		return 0, b.err
	}
	n, err := b.block.Read(p)
	if n > 0 {
		b.a.trace.Took(p[:n])
	}
	if err != nil && err != io.EOF {
		b.err = b.a.bodyFailure(b.verb, b.s.Fail(err))
		err = b.err
	}
	return n, err
}

// joined are articles in one file, of package mbox.
type joined struct {
	*series
	first  bool // the first article is already open
	inside bool // inside an article
}

// fill appends a portion of the mbox to pending.
func (m *joined) fill() error {
	if !m.inside {
		if err := m.begin(); err != nil {
			return err
		}
	}
	for m.inside && len(m.pending) < portion {
		line, err := m.block.ReadLine()
		switch {
		case err == io.EOF:
			m.end()
		case err != nil:
			return m.a.bodyFailure(m.verb, m.s.Fail(err))
		default:
			m.line(line)
		}
	}
	return nil
}

// begin appends the separator and the header of the next article.
func (m *joined) begin() error {
	if found := m.first; !found {
		var err error
		if found, err = m.next(); err != nil {
			return err
		}
		if !found {
			return io.EOF
		}
	}
	m.first = false
	h, err := readHeader(m.block.ReadLine, m.a.limits.Header)
	if err != nil && err != io.EOF {
		return m.a.bodyFailure(m.verb, m.s.Fail(err))
	}
	m.pending = append(append(m.pending, mbox.Separator(h.get("From"), h.date())...), '\n')
	for line := range bytes.SplitAfterSeq(h.octets, []byte("\n")) {
		m.line(line)
	}
	if m.inside = err == nil; !m.inside {
		m.end()
	}
	return nil
}

// end appends the empty line after an article.
func (m *joined) end() {
	m.inside = false
	m.pending = append(m.pending, '\n')
}

// line appends a line, ending in LF. A line that looks like a separator gets a ">". A truncated
// line is dropped, because its full text is unknown; the next read returns the error.
func (m *joined) line(line []byte) {
	text, whole := bytes.CutSuffix(line, []byte("\n"))
	if !whole {
		return
	}
	if mbox.IsQuoted(line) {
		m.pending = append(m.pending, '>')
	}
	m.pending = append(m.pending, bytes.TrimSuffix(text, []byte("\r"))...)
	m.pending = append(m.pending, '\n')
}
