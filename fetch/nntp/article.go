package nntp

import (
	"context"
	"io"
	"os"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/wire"
)

// mediaType is the media type of an article (RFC 5322 as amended by RFC 5536).
const mediaType = "message/rfc822"

// fetchArticle fetches one article.
func (f *Fetcher) fetchArticle(ctx context.Context, a *access) (*fetch.Resource, error) {
	var id string
	s, err := f.begin(ctx, a, func(s *session) (err error) {
		id, err = a.ask(s, "ARTICLE", 220)
		return err
	})
	if err != nil {
		return nil, err
	}
	res := a.resource(s)
	res.MediaType, res.Info.(*Info).MessageID = mediaType, id
	res.Body = newBody(a, s, "ARTICLE", f.release)
	return res, nil
}

// resource returns an empty Resource from s.
func (a *access) resource(s *session) *fetch.Resource {
	return &fetch.Resource{
		Attributes: fetch.Attributes{Size: -1}, Locator: a.loc, Body: io.NopCloser(strings.NewReader("")),
		Info: &Info{Greeting: s.greeting}, Peer: s.peer, TLS: s.State(),
	}
}

// ask sends a command about the article and returns its message-id from the reply. A reply about
// another article is an error.
func (a *access) ask(s *session, verb fetch.Op, want int) (id string, err error) {
	argument := a.article
	if a.id != "" {
		argument = "<" + a.id + ">"
	} else if err := s.ensureGroup(a.group); err != nil {
		return "", err
	}
	r, err := s.expect(string(verb)+" "+argument, want)
	if err != nil {
		return "", err
	}
	asked, _ := number(a.article)
	n, id := parseArticle(r.Text)
	if n != 0 && asked != 0 && n != asked || a.id != "" && id != "" && id != argument {
		return "", s.unexpected(verb, r)
	}
	return id, nil
}

// body is the Body of a Resource that is one multi-line block.
type body struct {
	a     *access
	s     *session
	op    fetch.Op
	block *wire.DotReader
	free  func(*session) // releases the session; nil after that
	err   error          // returned by every further Read
}

// newBody returns a body for the block that follows the reply just received.
func newBody(a *access, s *session, op fetch.Op, free func(*session)) *body {
	return &body{a: a, s: s, op: op, block: s.openBlock(), free: free}
}

// newListing is newBody for the lines of a listing.
func newListing(a *access, s *session, op fetch.Op, free func(*session)) *body {
	b := newBody(a, s, op, free)
	b.block.Listing()
	return b
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	if b.err == nil {
		b.err = b.canceled()
	}
	if b.err != nil || len(p) == 0 {
		return 0, b.err
	}
	n, err := b.block.Read(p)
	if n > 0 {
		b.a.trace.Took(p[:n])
	}
	switch {
	case err == io.EOF:
		b.err = io.EOF
		b.s.block = false
		b.release()
	case err != nil:
		b.err = b.a.bodyFailure(b.op, b.s.Fail(err))
	}
	return n, b.err
}

// canceled returns the error of a read after the end of the context, else nil.
func (b *body) canceled() error {
	if err := b.s.ctx.Err(); err != nil {
		return b.a.bodyFailure(b.op, b.s.Fail(err))
	}
	return nil
}

// release ends the use of the session. Further calls do nothing.
func (b *body) release() {
	if b.free != nil {
		b.free(b.s)
		b.free = nil
	}
}

// Close implements io.Closer. If the rest of the block has already arrived, Close reads it.
// Otherwise it closes the connection, because NNTP has no command to abort a block.
func (b *body) Close() error {
	if b.err == nil {
		b.err = b.a.fail(b.op, &fetch.Error{Kind: fetch.ErrConnectionFailed, Err: os.ErrClosed})
		if b.free != nil && b.s.Err == nil && b.block.Ends() {
			b.s.block = false
		}
	}
	b.release()
	return nil
}

// attributes requests the attributes of the resource without its content.
func (a *access) attributes(s *session, attr *fetch.Attributes) error {
	switch {
	case a.all:
		return nil // a list of groups has no attributes; the server replied, which is enough
	case a.article == "" && a.id == "":
		g, err := s.selectGroup(a.group)
		if err != nil {
			return err
		}
		attr.Header = g.fields()
		return nil
	}
	if a.id == "" {
		if err := s.ensureGroup(a.group); err != nil {
			return err
		}
	}
	_, err := a.ask(s, "HEAD", 221)
	if err != nil && isUnsupported(err) && s.Err == nil {
		_, err = a.ask(s, "STAT", 223)
		return err
	}
	if err != nil {
		return err
	}
	block := s.openBlock()
	h, err := readHeader(block.ReadLine, s.Limits.Header)
	if err == nil { // the block continues after an empty line; discard the rest
		_, err = io.Copy(io.Discard, block)
	}
	if err != nil && err != io.EOF {
		return a.bodyFailure("HEAD", s.Fail(err))
	}
	s.block = false
	attr.MediaType, attr.Header, attr.ModTime = mediaType, h.fields, h.date()
	return nil
}
