package nntp

import (
	"context"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/text/date822"
	"github.com/fetch1738/fetch1738/internal/wire"
	"github.com/fetch1738/fetch1738/locator"
)

// items returns the Items of a listing. It skips lines that parse does not accept.
func (a *access) items(ctx context.Context, r io.Reader, parse func(line string) (fetch.Item, bool)) iter.Seq2[fetch.Item, error] {
	return func(yield func(fetch.Item, error) bool) {
		lines := wire.NewLineReader(wire.ReadAhead(ctx, r, a.req.Stream), a.env.Limits.Line)
		for n := 0; ; {
			line, err := lines.ReadLine()
			switch {
			case err == io.EOF:
				return
			case err != nil:
				yield(fetch.Item{}, a.fail(fetch.OpList, err))
				return
			}
			item, ok := parse(string(wire.TrimEOL(line)))
			if !ok {
				continue
			}
			if n++; a.env.Limits.Items > 0 && n > a.env.Limits.Items {
				yield(fetch.Item{}, a.fail(fetch.OpList, &fetch.Error{Kind: fetch.ErrTooLarge, Err: fmt.Errorf("the listing has more than %d entries", a.env.Limits.Items)}))
				return
			}
			if !yield(item, nil) {
				return
			}
		}
	}
}

// overviewItem parses a line of an overview (RFC 3977 §8.3.2).
func (a *access) overviewItem(line string) (fetch.Item, bool) {
	fields := strings.Split(line, "\t")
	if _, err := number(fields[0]); err != nil {
		return fetch.Item{}, false
	}
	at := func(i int) string {
		if i < len(fields) {
			return fields[i]
		}
		return ""
	}
	date := date822.Parse(at(3))
	for i := 4; date.IsZero() && i+1 < len(fields); i++ {
		// A server may not replace the tabs of a subject: the author is before the date.
		if strings.HasPrefix(fields[i+1], "<") {
			if date = date822.Parse(fields[i]); !date.IsZero() {
				fields = slices.Concat(fields[:1], []string{strings.Join(fields[1:i-1], " ")}, fields[i-1:])
			}
		}
	}
	item := fetch.Item{
		Name: fields[0], Kind: fetch.KindDocument, Locator: a.articleLocator(fields[0], at(4)),
		Attributes: fetch.Attributes{Size: -1, MediaType: mediaType, ModTime: date},
	}
	if n, err := number(at(6)); err == nil {
		item.Size = n
	}
	for i, name := range []string{1: "Subject", 2: "From", 3: "Date", 4: "Message-ID", 5: "References", 7: "Lines"} {
		if name != "" && at(i) != "" {
			item.Header = append(item.Header, fetch.Field{Name: name, Value: at(i)})
		}
	}
	return item, true
}

// articleLocator returns the Locator of an article of the current group, in the scheme of the
// request.
func (a *access) articleLocator(number, id string) locator.Locator {
	at := &locator.NNTP{HostPort: locator.HostPort{Host: a.key.host, Port: a.key.port}, Group: a.group, Article: number, Secure: a.key.secure == implicit}
	switch l := a.req.Locator.(type) {
	case *locator.NNTP:
		at.HostPort = l.HostPort
	case *locator.News:
		named := *l
		named.Group, named.MessageID = "", strings.TrimSuffix(strings.TrimPrefix(id, "<"), ">")
		ref, err := locator.Parser{}.Parse(named.String())
		if err == nil && locator.Equal(ref.Locator, &named) && len(id) <= maxID && driver.CheckOctets(ref.Locator) == nil {
			return ref.Locator
		}
	}
	return at
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

// groupLocator returns the Locator of a group of the current server, or nil if no command can carry
// the name.
func (a *access) groupLocator(name string) locator.Locator {
	var l locator.Locator
	switch all := a.req.Locator.(type) {
	case *locator.NNTP:
		l = &locator.NNTP{HostPort: all.HostPort, Group: name, Secure: all.Secure}
	case *locator.News:
		l = &locator.News{HostPort: all.HostPort, Group: name, Secure: all.Secure}
	}
	if name == "" || tooLong(name) || driver.CheckOctets(l) != nil {
		return nil
	}
	return l
}
