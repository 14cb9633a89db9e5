package prospero

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	proto "github.com/fetch1738/fetch1738/internal/codec/prospero"
)

// contents reads an object by the Prospero protocol itself. Its content is the value of the
// attribute CONTENTS, one token of any length. An error from the server is a *proto.Failure.
func (c *call) contents(attributes []proto.Attribute) (*fetch.Resource, error) {
	a, err := c.exchange(contentsRequest)
	if err != nil {
		return nil, err
	}
	src := &contents{call: c, r: a.r}
	if err := src.next(); err != nil && err != io.EOF {
		a.x.Close()
		return nil, err
	}
	if !src.found {
		a.x.Close()
		return nil, &proto.Failure{Word: "NONE-FOUND", Text: "CONTENTS"}
	}
	a.x.SetLimit(c.env.Limits.Idle)
	b := newBody(c, a.x, src)
	if err := b.part(c.req.Offset, c.req.Length); err != nil {
		b.Close()
		return nil, err
	}
	info := c.info
	res := &fetch.Resource{Attributes: describe(attributes), Locator: c.loc, Kind: fetch.KindDocument, Body: b, Info: &info, Peer: a.peer}
	return res, nil
}

// contents reads the values of the attribute CONTENTS, one after the other.
type contents struct {
	*call
	r     *proto.Reader
	token io.Reader // the current value; nil before the next one is found
	tag   string    // the text to return before the value
	found bool
	err   error
}

// Read implements io.Reader.
func (s *contents) Read(p []byte) (int, error) {
	for {
		switch {
		case s.err != nil:
			return 0, s.err
		case s.token == nil:
			s.err = s.next()
			continue
		case s.tag != "":
			n := copy(p, s.tag)
			s.tag = s.tag[n:]
			return n, nil
		}
		n, err := s.token.Read(p)
		if err == io.EOF {
			s.token = nil
		} else {
			s.err = err
		}
		if n > 0 {
			return n, nil
		}
	}
}

// next advances to the next value. It returns io.EOF if there are no more.
func (s *contents) next() error {
	for {
		var words []string
		for len(words) < 6 {
			w, ok, err := s.r.ReadToken()
			if err != nil && !(errors.Is(err, proto.ErrCut) && len(words) > 0 && words[0] == "VERSION-NOT-SUPPORTED") {
				return err
			}
			if !ok {
				break
			}
			words = append(words, w)
			if len(words) == 6 && w == "TAGGED" || len(words) > 4 && w == "DATA" {
				break
			}
		}
		if len(words) == 0 {
			continue
		}
		if strings.TrimRight(words[0], ">") == "ATTRIBUTE" && len(words) > 4 && words[3] == "CONTENTS" {
			return s.value(words)
		}
		if err := s.other(words); err != nil {
			return err
		}
	}
}

// value begins a value.
func (s *contents) value(words []string) error {
	switch words[len(words)-1] {
	case "DATA":
	case "TAGGED":
		tag, ok, err := s.r.ReadToken()
		if err != nil || !ok {
			return fmt.Errorf("%w: CONTENTS without a tag", proto.ErrLine)
		}
		s.tag = tag + ": "
	default:
		return fmt.Errorf("%w: CONTENTS of the form %.40q", proto.ErrLine, words[len(words)-1])
	}
	s.found, s.token = true, s.r.Stream()
	return nil
}

// other handles a line that is not a value. Its first words have been read.
func (s *contents) other(words []string) error {
	if len(words) == 6 {
		for {
			w, ok, err := s.r.ReadToken()
			if err != nil {
				return err
			}
			if !ok {
				break
			}
			words = append(words, w)
		}
	}
	if f := proto.ParseFailure(words); f != nil {
		return f
	}
	switch words[0] {
	case "NONE-FOUND", "ATTRIBUTE":
	default:
		s.note(words)
	}
	return nil
}
