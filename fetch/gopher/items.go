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
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/codec/menu"
	"github.com/fetch1738/fetch1738/internal/wire"
	"github.com/fetch1738/fetch1738/locator"
)

// The names of an item's Header fields.
const (
	// HeaderType is the item type, a single character. A mirror ("+") has the type of the item it
	// mirrors.
	HeaderType = "gophertype"
	// HeaderPlus is "+" for a Gopher+ item and "?" for one with a form.
	HeaderPlus = "gopher+"
	// HeaderMirror is present if the item is an alternative of the item above.
	HeaderMirror = "mirror"
	// HeaderError is the text of an error line (type 3).
	HeaderError = "error"
	// HeaderFault says why a line that looks like a link is not one.
	HeaderFault = "fault"
)

// items returns the items of a menu.
func items(ctx context.Context, r io.Reader, a *access, limits fetch.Limits) iter.Seq2[fetch.Item, error] {
	return func(yield func(fetch.Item, error) bool) {
		tooLong := fmt.Errorf("a menu line is longer than %d bytes", limits.Line)
		lines := menu.Lines(wire.ReadAhead(ctx, r, a.stream), limits.Line)
		if a.loc.Type == '1' || a.loc.Type == 0 { // some servers answer a search with a text
			lines = checked(lines)
		}
		yieldItems(yield, lines, newItemMaker(a).item, a.loc, limits, tooLong)
	}
}

// checked yields lines, and an error at the end if they are not those of a menu: none has several
// fields, and not all are texts or errors. gophernicus sends such a text in place of a menu that does
// not exist.
func checked(lines iter.Seq2[*menu.Line, error]) iter.Seq2[*menu.Line, error] {
	return func(yield func(*menu.Line, error) bool) {
		isMenu, other := false, "" // the first line that no menu has
		for l, err := range lines {
			if err == nil {
				isMenu = isMenu || l.Tabbed
				if other == "" && l.Fault != "" {
					other = string(l.Display)
				}
			}
			if !yield(l, err) || err != nil {
				return
			}
		}
		if !isMenu && other != "" {
			yield(nil, &fetch.Error{Kind: fetch.ErrProtocol, Reply: other, Err: errNoMenu})
		}
	}
}

var errNoMenu = errors.New("not a menu; a text has item type 0")

// attributeItems returns the items of a list of attributes.
func attributeItems(ctx context.Context, r io.Reader, a *access, limits fetch.Limits) iter.Seq2[fetch.Item, error] {
	return func(yield func(fetch.Item, error) bool) {
		tooLong := fmt.Errorf("the attributes of an item are longer than %d bytes, or one line is longer than %d bytes", limits.Header, limits.Line)
		s := attributeScanner{lines: wire.NewLineReader(wire.ReadAhead(ctx, r, a.stream), limits.Line), bound: limits.Header}
		yieldItems(yield, s.all, newItemMaker(a).fromAttributes, a.loc, limits, tooLong)
	}
}

// yieldItems yields an Item for each part of a list. tooLong is the error for a part that exceeds
// the limit.
func yieldItems[T any](yield func(fetch.Item, error) bool, parts iter.Seq2[T, error], item func(T) fetch.Item, l locator.Locator, limits fetch.Limits, tooLong error) {
	n := 0
	for part, err := range parts {
		switch {
		case errors.Is(err, wire.ErrLineTooLong):
			err = driver.Fail(fetch.OpRead, l, fetch.ErrTooLarge, tooLong)
		case err == nil && limits.Items > 0 && n >= limits.Items:
			err = driver.Fail(fetch.OpRead, l, fetch.ErrTooLarge, fmt.Errorf("the listing has more than %d items", limits.Items))
		case err != nil:
			err = driver.Fail(fetch.OpRead, l, fetch.ErrOther, err)
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

// fromAttributes returns the item that attributes describe.
func (m *itemMaker) fromAttributes(blocks []Block) fetch.Item {
	attributes := parseAttributes(blocks)
	line := menu.Parse([]byte(attributes.Descriptor))
	it := m.item(&line)
	attributes.apply(&it.Attributes)
	it.Header = append(it.Header, attributes.header...)
	return it
}

// itemMaker converts menu lines to Items.
type itemMaker struct {
	host   string            // of the last item, since most items are on the same host
	err    error             // whether host is invalid
	secure *locator.HostPort // the server of the menu, if the connection uses TLS
}

// newItemMaker returns a maker for the items of a response. If the connection uses TLS, so do the
// links to the same server.
func newItemMaker(a *access) *itemMaker {
	m := new(itemMaker)
	if a.loc.Secure {
		m.secure = &locator.HostPort{Host: a.host, Port: a.port}
	}
	return m
}

// item returns the Item of a menu line.
func (m *itemMaker) item(line *menu.Line) fetch.Item {
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

// locate returns the target of a link.
func (m *itemMaker) locate(line *menu.Line, selector string) (locator.Locator, error) {
	if url := line.URL(); url != nil {
		return parseLink(string(url))
	}
	if bytes.IndexByte(line.Selector, '\r') >= 0 || bytes.IndexByte(line.Selector, 0) >= 0 {
		return nil, errSelector
	}
	if string(line.Host) != m.host {
		m.host = string(line.Host)
		// The grammar of URLs defines what a valid host is.
		_, m.err = linkParser.Parse((&locator.Gopher{HostPort: locator.HostPort{Host: m.host}}).String())
	}
	if m.err != nil {
		return nil, errHost
	}
	switch line.Type {
	case '8', 'T':
		l := sessionLocator(line.Type, selector, m.host, line.Port)
		return l, driver.CheckOctets(l)
	case 'h':
		if l, ok := webLocator(line); ok {
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

// portCSO is the port of CSO phone books.
const portCSO = 105

// header returns the Header of an Item.
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

// typeHeaders are shared by the many lines whose Header has only a type. They have no spare
// capacity, so that append copies them. They are created for the first menu, because most runs of a
// program read no menu.
var typeHeaders = sync.OnceValue(func() *[256][]fetch.Field {
	h := new([256][]fetch.Field)
	for t := range h {
		h[t] = []fetch.Field{{Name: HeaderType, Value: string([]byte{byte(t)})}}
	}
	return h
})
