package gopher

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"sync"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/menu"
	"github.com/fetch1738/fetch1738/internal/wire"
	"github.com/fetch1738/fetch1738/locator"
)

// The names of an item's Header fields.
const (
	// HeaderType is the item's gophertype, a single character; a mirror ("+") has
	// the type of what it mirrors.
	HeaderType = "gophertype"
	// HeaderPlus is "+" for a Gopher+ item and "?" for one with a form.
	HeaderPlus = "gopher+"
	// HeaderMirror is there for an alternative of the item above.
	HeaderMirror = "mirror"
	// HeaderError is the text of a line that complains (type 3).
	HeaderError = "error"
	// HeaderFault says why a line that looks like a link is none.
	HeaderFault = "fault"
)

// items reads a menu as items.
func items(ctx context.Context, r io.Reader, a *access, limits fetch.Limits) iter.Seq2[fetch.Item, error] {
	return func(yield func(fetch.Item, error) bool) {
		tooLong := fmt.Errorf("a menu line is longer than %d octets", limits.Line)
		yieldItems(yield, menu.Lines(wire.ReadAhead(ctx, r), limits.Line), newMaker(a).item, a.loc, limits, tooLong)
	}
}

// attributeItems reads a list of the attributes of many items.
func attributeItems(ctx context.Context, r io.Reader, a *access, limits fetch.Limits) iter.Seq2[fetch.Item, error] {
	return func(yield func(fetch.Item, error) bool) {
		tooLong := fmt.Errorf("the attributes of an item are longer than %d octets, or a line than %d", limits.Header, limits.Line)
		s := attributeScanner{lines: wire.NewLineReader(wire.ReadAhead(ctx, r), limits.Line), bound: limits.Header}
		yieldItems(yield, s.all, newMaker(a).described, a.loc, limits, tooLong)
	}
}

// yieldItems yields an Item for each part of a list. tooLong is what becomes of a
// part that is longer than the limit.
func yieldItems[T any](yield func(fetch.Item, error) bool, parts iter.Seq2[T, error], item func(T) fetch.Item, l locator.Locator, limits fetch.Limits, tooLong error) {
	n := 0
	for part, err := range parts {
		switch {
		case errors.Is(err, wire.ErrLineTooLong):
			err = fetch.Fail(fetch.OpRead, l, fetch.ErrTooLarge, tooLong)
		case err == nil && limits.Items > 0 && n >= limits.Items:
			err = fetch.Fail(fetch.OpRead, l, fetch.ErrTooLarge, fmt.Errorf("there are more than %d items", limits.Items))
		case err != nil:
			err = fetch.Fail(fetch.OpRead, l, fetch.ErrOther, err)
		}
		if err != nil {
			yield(fetch.Item{}, err)
			return
		}
		if n++; !yield(item(part), nil) {
			return
		}
	}
}

// described is an item by its attributes.
func (m *maker) described(blocks []Block) fetch.Item {
	attributes := parseAttributes(blocks)
	line := menu.Parse([]byte(attributes.Descriptor))
	it := m.item(&line)
	attributes.apply(&it.Attributes)
	it.Header = append(it.Header, attributes.header...)
	return it
}

// maker makes Items.
type maker struct {
	host   string            // the last one: most items are on the same
	err    error             // of it
	secure *locator.HostPort // the server of the menu, if it is spoken to by TLS
}

// newMaker makes the Items of an answer. Those on a server that is spoken to by
// TLS are to be had in the same way.
func newMaker(a *access) *maker {
	m := new(maker)
	if a.loc.Secure {
		m.secure = &locator.HostPort{Host: a.host, Port: a.port}
	}
	return m
}

// item is a menu line as an Item.
func (m *maker) item(line *menu.Line) fetch.Item {
	display, selector := line.Strings()
	it := fetch.Item{Name: display, Attributes: fetch.Attributes{Size: -1, Header: header(line, display)}}
	if !line.Link() {
		return it
	}
	loc, err := m.locate(line, selector)
	if err != nil {
		it.Header = append(it.Header, fetch.Field{Name: HeaderFault, Value: err.Error()})
		return it
	}
	it.Locator = loc
	if l, ok := loc.(*locator.Gopher); ok {
		if m.secure != nil && l.Host == m.secure.Host && line.Port == m.secure.Port && line.URL() == nil {
			l.Secure = true
		}
		facts := &types[line.Type]
		it.Kind = facts.link
		it.MediaType, it.Guessed = facts.media, facts.media != ""
	} else if line.Type != 'h' {
		it.Kind = fetch.KindInteractive
	}
	return it
}

var (
	errSelector = errors.New("the selector cannot be sent")
	errHost     = errors.New("bad host")
)

// locate is what a link leads to.
func (m *maker) locate(line *menu.Line, selector string) (locator.Locator, error) {
	if url := line.URL(); url != nil {
		return linked(string(url))
	}
	if bytes.IndexByte(line.Selector, '\r') >= 0 || bytes.IndexByte(line.Selector, 0) >= 0 {
		return nil, errSelector
	}
	if string(line.Host) != m.host {
		m.host = string(line.Host)
		// What a host is, is up to the grammar of URLs.
		_, m.err = linkParser.Parse((&locator.Gopher{HostPort: locator.HostPort{Host: m.host}}).String())
	}
	if m.err != nil {
		return nil, errHost
	}
	switch line.Type {
	case '8', 'T':
		l := service(line.Type, selector, m.host, line.Port)
		return l, fetch.CheckOctets(l)
	case 'h':
		if l, ok := web(line); ok {
			return l, nil
		}
	}
	l := &locator.Gopher{HostPort: hostPort(m.host, line.Port, "gopher"), Type: line.Type, Selector: selector, HasPath: true}
	switch {
	case line.Type == '7' && bytes.IndexByte(line.Selector, '?') >= 0:
		l.Fields = 1 // "%09" keeps the "?" from being taken for the words
	case line.Type == '2' && line.Port == 0:
		l.Port = portCSO
	}
	return l, nil
}

// portCSO is where CSO phone books are.
const portCSO = 105

// header is what else a line says.
func header(line *menu.Line, display string) []fetch.Field {
	h := typeHeaders()[line.Type]
	if line.Plus != 0 {
		h = append(h, fetch.Field{Name: HeaderPlus, Value: string(rune(line.Plus))})
	}
	if line.Mirror {
		h = append(h, fetch.Field{Name: HeaderMirror})
	}
	if line.Type == menu.Error {
		h = append(h, fetch.Field{Name: HeaderError, Value: display})
	}
	if line.Fault != "" {
		h = append(h, fetch.Field{Name: HeaderFault, Value: line.Fault})
	}
	return h
}

// typeHeaders are the headers of the many lines that have nothing but a type.
// They have no room, so that appending to one makes a copy. They are made for the
// first menu, since most programs that start have none to read.
var typeHeaders = sync.OnceValue(func() *[256][]fetch.Field {
	h := new([256][]fetch.Field)
	for t := range h {
		h[t] = []fetch.Field{{Name: HeaderType, Value: string([]byte{byte(t)})}}
	}
	return h
})
