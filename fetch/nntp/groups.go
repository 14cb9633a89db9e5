package nntp

import (
	"context"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/wire"
)

// fetchGroups lists all groups.
func (f *Fetcher) fetchGroups(ctx context.Context, a *access) (*fetch.Resource, error) {
	s, err := f.begin(ctx, a, func(s *session) error {
		_, err := s.expect("LIST ACTIVE", 215)
		if err != nil && isUnsupported(err) && s.Err == nil {
			_, err = s.expect("LIST", 215) // RFC 977
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	res := a.resource(s)
	res.Kind = fetch.KindDirectory
	res.Body = newBody(openBlock(s, "LIST").listing())
	d := &descriptions{ctx: ctx, a: a}
	list := a.items(ctx, res.Body, func(line string) (fetch.Item, bool) { return a.groupItem(line, d.of) })
	res.Items = func(yield func(fetch.Item, error) bool) {
		defer d.close()
		list(yield)
	}
	return res, nil
}

// Limits of the descriptions held in memory.
const (
	maxAhead = 1 << 20 // bytes read ahead
	maxLate  = 4096    // lines kept after a later one has been used
)

// descriptions are the descriptions of groups (LIST NEWSGROUPS). They are read on a second session,
// in parallel with the list of groups. The two lists are usually in about the same order. A
// description that is far out of order is not found, so that the memory in use does not depend on
// the number of groups.
type descriptions struct {
	ctx   context.Context
	a     *access
	s     *session
	block *block // nil at the end of the list

	ahead map[string]description // nil before the list is requested
	order []string               // keys of ahead, oldest first; may include removed ones
	size  int                    // bytes in ahead
	read  int                    // lines read so far
}

type description struct {
	text string
	line int
}

// of returns the description of a group, or "".
func (d *descriptions) of(group string) string {
	if d.ahead == nil {
		d.begin()
	}
	for {
		if found, ok := d.ahead[group]; ok {
			d.remove(group)
			d.removeBefore(found.line - maxLate)
			return found.text
		}
		if d.block == nil || d.size > maxAhead {
			return ""
		}
		d.readOne()
	}
}

// begin requests the list. If the server does not send one, there are no descriptions.
func (d *descriptions) begin() {
	d.ahead = make(map[string]description)
	s, err := d.a.f.begin(d.ctx, d.a, func(s *session) error {
		_, err := s.expect("LIST NEWSGROUPS", 215)
		return err
	})
	if err != nil {
		d.a.trace.Note("the groups have no descriptions: " + err.Error())
		return
	}
	d.s, d.block = s, openBlock(s, "LIST").listing()
	for d.block != nil && d.size <= maxAhead {
		d.readOne() // releases the session at the end of the list
	}
}

// readOne reads one line into ahead.
func (d *descriptions) readOne() {
	line, err := d.block.dots.ReadLine()
	if d.block.ended(err) != nil {
		d.close()
		return
	}
	d.read++
	name, text, ok := strings.Cut(string(wire.TrimEOL(line)), "\t")
	if !ok {
		name, text, _ = strings.Cut(name, " ")
	}
	if _, twice := d.ahead[name]; twice {
		return
	}
	d.ahead[name] = description{strings.TrimSpace(text), d.read}
	d.order = append(d.order, name)
	d.size += len(line)
}

// removeBefore removes the descriptions before a line. They are too far behind to be used.
func (d *descriptions) removeBefore(line int) {
	for len(d.order) > 0 {
		at, ok := d.ahead[d.order[0]]
		if ok && at.line >= line {
			return
		}
		d.remove(d.order[0])
		d.order = d.order[1:]
	}
}

func (d *descriptions) remove(name string) {
	if at, ok := d.ahead[name]; ok {
		d.size -= min(d.size, len(name)+len(at.text)+len("\t\r\n"))
		delete(d.ahead, name)
	}
}

// close ends the list.
func (d *descriptions) close() {
	if d.s != nil {
		d.a.f.release(d.s)
		d.s, d.block = nil, nil
	}
}
