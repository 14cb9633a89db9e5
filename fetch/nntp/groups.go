package nntp

import (
	"context"
	"io"
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
	res.Body = newListing(a, s, "LIST", f.release)
	d := &descriptions{f: f, ctx: ctx, a: a}
	list := a.items(ctx, res.Body, func(line string) (fetch.Item, bool) { return a.groupItem(line, d.of) })
	res.Items = func(yield func(fetch.Item, error) bool) {
		defer d.close()
		list(yield)
	}
	return res, nil
}

// groupItem parses "group last first status" (RFC 3977 §7.6.3).
func (a *access) groupItem(line string, describe func(group string) string) (fetch.Item, bool) {
	fields := strings.Fields(line)
	if len(fields) < 3 {
		return fetch.Item{}, false
	}
	item := fetch.Item{
		Name: fields[0], Locator: a.groupLocator(fields[0]), Kind: fetch.KindDirectory, Attributes: fetch.Attributes{Size: -1},
	}
	fields = append(fields, "")
	for _, f := range []fetch.Field{
		{Name: "First", Value: fields[2]}, {Name: "Last", Value: fields[1]}, {Name: "Status", Value: fields[3]},
		{Name: "Description", Value: describe(fields[0])},
	} {
		if f.Value != "" {
			item.Header = append(item.Header, f)
		}
	}
	return item, true
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
	f     *Fetcher
	ctx   context.Context
	a     *access
	begun bool
	s     *session
	block *wire.DotReader // nil at the end of the list

	ahead map[string]description
	order []string // keys of ahead, oldest first; may include removed ones
	size  int      // bytes in ahead
	read  int      // lines read so far
}

type description struct {
	text string
	line int
}

// of returns the description of a group, or "".
func (d *descriptions) of(group string) string {
	if !d.begun {
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
	d.begun, d.ahead = true, make(map[string]description)
	s, err := d.f.begin(d.ctx, d.a, func(s *session) error {
		_, err := s.expect("LIST NEWSGROUPS", 215)
		return err
	})
	if err != nil {
		d.a.trace.Note("the groups have no descriptions: " + err.Error())
		return
	}
	d.s, d.block = s, s.openBlock().Listing()
	for d.block != nil && d.size <= maxAhead {
		d.readOne() // releases the session at the end of the list
	}
}

// readOne reads one line into ahead.
func (d *descriptions) readOne() {
	line, err := d.block.ReadLine()
	if err != nil {
		d.s.block = err != io.EOF
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
		d.f.release(d.s)
		d.s, d.block = nil, nil
	}
	d.begun = true
}
