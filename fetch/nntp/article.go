package nntp

import (
	"context"
	"io"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
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
	res.Body = newBody(openBlock(s, "ARTICLE"))
	return res, nil
}

// resource returns an empty Resource from s.
func (a *access) resource(s *session) *fetch.Resource {
	return &fetch.Resource{
		Attributes: fetch.Attributes{Size: -1}, Locator: a.req.Locator, Body: io.NopCloser(strings.NewReader("")),
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

// attributes requests the attributes of the resource without its content.
func (a *access) attributes(s *session, attr *fetch.Attributes) error {
	switch {
	case a.all:
		attr.Header = said(s) // nothing says how many there are but the list
		return nil
	case a.isGroup():
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
	block := openBlock(s, "HEAD")
	h, err := block.header()
	if err == nil { // the block continues after an empty line; discard the rest
		_, err = io.Copy(io.Discard, block)
	}
	if err != nil && err != io.EOF {
		return err
	}
	attr.MediaType, attr.Header, attr.ModTime = mediaType, h.fields, h.date()
	return nil
}
