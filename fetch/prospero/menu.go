package prospero

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	proto "github.com/fetch1738/fetch1738/internal/prospero"
	"github.com/fetch1738/fetch1738/internal/wire"
)

// Bounds of the union links of a directory.
const (
	maxUnions     = 64
	maxUnionDepth = 8
)

// menu is the resource of a directory. Body is the answer as it comes, and
// Items reads that.
func (c *call) menu(a *answer) (*fetch.Resource, error) {
	if asked, _ := targetOf(c.loc, c.req.From); asked.version != 0 && c.hops == 0 {
		c.trace.Note(fmt.Sprintf("version %d was asked for; servers may give the current one", asked.version))
	}
	b := newBody(c, a.x, io.MultiReader(bytes.NewReader(a.raw), a.r.Rest()))
	if err := b.part(c.req.Offset, c.req.Length); err != nil {
		b.Close()
		return nil, err
	}
	info := c.info
	res := &fetch.Resource{Attributes: fetch.Attributes{Size: -1}, Locator: c.loc, Body: b, Info: &info, Peer: a.peer}
	if c.req.Offset == 0 && c.req.Length == 0 { // a part may begin amid a line
		res.Kind = fetch.KindMenu
		res.Items = c.items(b, a)
	}
	return res, nil
}

// items reads a directory as items.
func (c *call) items(r io.Reader, a *answer) iter.Seq2[fetch.Item, error] {
	return func(yield func(fetch.Item, error) bool) {
		l := &lister{call: c, yield: yield, merged: map[string]bool{a.at.key(): true}}
		whole := &answer{r: proto.NewReader(wire.ReadAhead(c.ctx, r), c.env.Limits.Line, a.plain), plain: a.plain, at: a.at, peer: a.peer}
		if err := l.list(whole, 0); err != nil && !l.stopped {
			yield(fetch.Item{}, failed(fetch.OpRead, c.loc, err))
		}
	}
}

// lister yields the items of a directory and of those it is united with.
type lister struct {
	*call
	yield   func(fetch.Item, error) bool
	stopped bool
	n       int
	merged  map[string]bool // directories listed
}

var errStopped = errors.New("stopped")

// list yields the links of an answer. Lines behind a link are its attributes.
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
					return fetch.Fail(fetch.OpRead, l.loc, fetch.ErrTooLarge, fmt.Errorf("a link with more than %d octets of attributes", l.env.Limits.Header))
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
				l.remark(tokens)
			}
		}
	}
}

// link yields a link with its attributes, or what it is united with.
func (l *lister) link(a *answer, link *proto.Link, attributes []proto.Attribute, depth int) error {
	switch {
	case link == nil, link.Kind == proto.KindInvisible && !l.Invisible:
		return nil
	case link.Kind == proto.KindUnion:
		return l.union(a, link, depth)
	}
	if limit := l.env.Limits.Items; limit > 0 && l.n >= limit {
		return fetch.Fail(fetch.OpRead, l.loc, fetch.ErrTooLarge, fmt.Errorf("the directory has more than %d links", limit))
	}
	l.n++
	if !l.yield(item(link, attributes), nil) {
		l.stopped = true
		return errStopped
	}
	return nil
}

// union lists another directory in place of a link to it, each but once. One
// that fails is left out.
func (l *lister) union(a *answer, link *proto.Link, depth int) error {
	to, err := elsewhere(link.Object, fetch.Provenance{Kind: fetch.OriginRemote, By: a.at.locator(), Peer: a.peer.Addr()})
	if err != nil {
		l.trace.Note("a union link that leads nowhere is left out: " + err.Error())
		return nil
	}
	if l.merged[to.key()] {
		return nil
	}
	where := to.locator().String()
	if len(l.merged) > maxUnions || depth == maxUnionDepth {
		l.trace.Note("too many union links; left out: " + where)
		return nil
	}
	l.merged[to.key()] = true
	// A call of its own: what is forwarded there counts for itself.
	c := &call{Fetcher: l.Fetcher, ctx: l.ctx, env: l.env, req: l.req, loc: to.locator(), trace: l.trace, at: to, seen: make(map[string]bool)}
	c.info.Protocol = 5
	sub, err := c.ask(list)
	if err == nil {
		sub.r = proto.NewReader(wire.ReadAhead(l.ctx, sub.r.Rest()), l.env.Limits.Line, sub.plain)
		err = l.list(sub, depth+1)
		sub.x.Close()
	}
	switch {
	case err == nil:
	case l.stopped, l.ctx.Err() != nil, fetch.KindOf(err) == fetch.ErrTooLarge:
		return err
	default:
		l.trace.Note(failed(fetch.OpUnion, c.loc, err).Error() + "; it is left out")
	}
	return nil
}
