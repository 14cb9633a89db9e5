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
		if err != nil && unknown(err) && s.Err == nil {
			_, err = s.expect("LIST", 215) // RFC 977
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	res := a.resource(s)
	res.Kind = fetch.KindDirectory
	res.Body = newBody(a, s, fetch.OpLIST, f.release)
	d := &descriptions{f: f, ctx: ctx, a: a}
	list := a.items(ctx, res.Body, func(line string) (fetch.Item, bool) { return a.groupItem(line, d.of) })
	res.Items = func(yield func(fetch.Item, error) bool) {
		defer d.close()
		list(yield)
	}
	return res, nil
}

// groupItem reads "group last first status" (RFC 3977 §7.6.3).
func (a *access) groupItem(line string, describe func(group string) string) (fetch.Item, bool) {
	fields := strings.Fields(line)
	if len(fields) < 3 {
		return fetch.Item{}, false
	}
	item := fetch.Item{
		Name: fields[0], Locator: a.theGroup(fields[0]), Kind: fetch.KindDirectory, Attributes: fetch.Attributes{Size: -1},
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

// Limits of what is known of descriptions at once.
const (
	maxAhead = 1 << 20 // octets
	maxLate  = 4096    // groups
)

// descriptions are what a server says of its groups (LIST NEWSGROUPS), read on a
// session of their own beside the list of the groups. The two lists are mostly
// in the same order; what is far out of it is not found, so that the memory
// stays the same however many groups there are.
type descriptions struct {
	f     *Fetcher
	ctx   context.Context
	a     *access
	begun bool
	s     *session
	block *wire.DotReader // nil when there is no more

	ahead  map[string]description
	order  []string // of ahead, oldest first, with what is gone from it
	octets int      // in ahead
	read   int      // lines so far
}

type description struct {
	text string
	line int
}

// of is the description of a group, or "".
func (d *descriptions) of(group string) string {
	if !d.begun {
		d.begin()
	}
	for {
		if found, ok := d.ahead[group]; ok {
			d.forget(group)
			d.passBy(found.line - maxLate)
			return found.text
		}
		if d.block == nil || d.octets > maxAhead {
			return ""
		}
		d.readOne()
	}
}

// begin asks for the list. Without one there are no descriptions.
func (d *descriptions) begin() {
	d.begun, d.ahead = true, make(map[string]description)
	s, err := d.f.begin(d.ctx, d.a, func(s *session) error {
		_, err := s.expect("LIST NEWSGROUPS", 215)
		return err
	})
	if err != nil {
		d.a.trace.Note("no descriptions of the groups: " + err.Error())
		return
	}
	d.s, d.block = s, s.openBlock()
	for d.block != nil && d.octets <= maxAhead {
		d.readOne() // and is done with the session, if that is all
	}
}

// readOne reads a line ahead.
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
	d.octets += len(line)
}

// passBy forgets what stands before a line, which nobody has asked for and
// nobody will.
func (d *descriptions) passBy(line int) {
	for len(d.order) > 0 {
		at, ok := d.ahead[d.order[0]]
		if ok && at.line >= line {
			return
		}
		d.forget(d.order[0])
		d.order = d.order[1:]
	}
}

func (d *descriptions) forget(name string) {
	if at, ok := d.ahead[name]; ok {
		d.octets -= min(d.octets, len(name)+len(at.text)+len("\t\r\n"))
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
