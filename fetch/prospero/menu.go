package prospero

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	proto "github.com/fetch1738/fetch1738/internal/codec/prospero"
	"github.com/fetch1738/fetch1738/internal/wire"
)

// Limits for the union links of a directory.
const (
	maxUnions     = 64
	maxUnionDepth = 8
)

// menu returns the Resource of a directory. Body is the reply as received; Items parses Body.
func (c *call) menu(a *answer) (*fetch.Resource, error) {
	if asked, _ := targetOf(c.loc, c.req.From); asked.version != 0 && c.hops == 0 {
		c.trace.Note(fmt.Sprintf("version %d was requested; servers may send the current version", asked.version))
	}
	b := newBody(c, a.x, io.MultiReader(bytes.NewReader(a.raw), a.r.Rest()))
	if err := b.part(c.req.Offset, c.req.Length); err != nil {
		b.Close()
		return nil, err
	}
	info := c.info
	res := &fetch.Resource{Attributes: fetch.Attributes{Size: -1}, Locator: c.loc, Body: b, Info: &info, Peer: a.peer}
	if c.req.Offset == 0 && c.req.Length == 0 { // a range may begin inside a line
		res.Kind = fetch.KindMenu
		res.Items = c.items(b, a)
	}
	return res, nil
}

// items parses a directory.
func (c *call) items(r io.Reader, a *answer) iter.Seq2[fetch.Item, error] {
	return func(yield func(fetch.Item, error) bool) {
		l := &lister{call: c, yield: yield, merged: map[string]bool{a.at.key(): true}}
		whole := &answer{r: proto.NewReader(wire.ReadAhead(c.ctx, r, c.req.Stream), c.env.Limits.Line, a.plain), plain: a.plain, at: a.at, peer: a.peer}
		if err := l.list(whole, 0); err != nil && !l.stopped {
			yield(fetch.Item{}, wrapError(fetch.OpRead, c.loc, err))
		}
	}
}

// lister yields the items of a directory and of the directories of its union links.
type lister struct {
	*call
	yield   func(fetch.Item, error) bool
	stopped bool
	n       int
	merged  map[string]bool // directories already listed
}

var errStopped = errors.New("stopped")

// list yields the links of a reply. The lines after a link are its attributes.
func (l *lister) list(a *answer, depth int) error {
	var link *proto.Link
	var attributes []proto.Attribute
	octets := 0
	for {
		lines, err := a.next()
		if err == io.EOF {
			return l.link(a, link, attributes, depth)
		}
		if err != nil {
			return err
		}
		for _, tokens := range lines {
			switch strings.TrimRight(tokens[0], ">") {
			case "LINK":
				if err := l.link(a, link, attributes, depth); err != nil {
					return err
				}
				next, err := proto.ParseLink(tokens)
				if err != nil {
					return err
				}
				link, attributes, octets = &next, nil, 0
			case "ATTRIBUTE":
				if octets += len(a.r.Raw()); l.env.Limits.Header > 0 && octets > l.env.Limits.Header {
					return driver.Fail(fetch.OpRead, l.loc, fetch.ErrTooLarge, fmt.Errorf("a link has more than %d bytes of attributes", l.env.Limits.Header))
				}
				attr, err := proto.ParseAttribute(tokens)
				if err != nil {
					return err
				}
				attributes = append(attributes, attr)
			case "NONE-FOUND", "UNRESOLVED", "VERSION":
			default:
				if f := proto.ParseFailure(tokens); f != nil {
					return f
				}
				l.note(tokens)
			}
		}
	}
}

// link yields a link with its attributes, or the entries of a union link.
func (l *lister) link(a *answer, link *proto.Link, attributes []proto.Attribute, depth int) error {
	switch {
	case link == nil, link.Kind == proto.KindInvisible && !l.Invisible:
		return nil
	case link.Kind == proto.KindUnion:
		return l.union(a, link, depth)
	}
	if limit := l.env.Limits.Items; limit > 0 && l.n >= limit {
		return driver.Fail(fetch.OpRead, l.loc, fetch.ErrTooLarge, fmt.Errorf("the directory has more than %d links", limit))
	}
	l.n++
	if !l.yield(item(link, attributes), nil) {
		l.stopped = true
		return errStopped
	}
	return nil
}

// union lists the directory of a union link, each directory only once. A directory that fails is
// omitted with a note.
func (l *lister) union(a *answer, link *proto.Link, depth int) error {
	to, err := targetOfObject(link.Object, fetch.Provenance{Kind: fetch.OriginRemote, By: a.at.locator(), Peer: a.peer.Addr()})
	if err != nil {
		l.trace.Note("omitting an invalid union link: " + err.Error())
		return nil
	}
	if l.merged[to.key()] {
		return nil
	}
	where := to.locator().String()
	if len(l.merged) > maxUnions || depth == maxUnionDepth {
		l.trace.Note("too many union links; omitting " + where)
		return nil
	}
	l.merged[to.key()] = true
	// A separate call, so that its hops are counted separately.
	c := &call{Fetcher: l.Fetcher, ctx: l.ctx, env: l.env, req: l.req, loc: to.locator(), trace: l.trace, at: to, seen: make(map[string]bool)}
	c.info.Protocol = 5
	sub, err := c.ask(listRequest)
	if err == nil {
		sub.r = proto.NewReader(wire.ReadAhead(l.ctx, sub.r.Rest(), false), l.env.Limits.Line, sub.plain)
		err = l.list(sub, depth+1)
		sub.x.Close()
	}
	switch {
	case err == nil:
	case l.stopped, l.ctx.Err() != nil, fetch.KindOf(err) == fetch.ErrTooLarge:
		return err
	default:
		l.trace.Note("omitting a union link: " + wrapError("union", c.loc, err).Error())
	}
	return nil
}
