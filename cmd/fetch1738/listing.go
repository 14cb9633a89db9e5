package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/gopher"
	"github.com/fetch1738/fetch1738/locator"
)

// lists reports whether a directory or menu is to be shown as a listing and not
// as the server's octets. A menu on a terminal is.
func (t *transfer) lists(res *fetch.Resource) bool {
	return res.Items != nil && (t.op.list || t.op.json || t.browses(res))
}

// browses reports whether a menu is shown to somebody who may want to go on from
// there.
func (t *transfer) browses(res *fetch.Resource) bool {
	asked := t.op.list || t.op.json || t.op.raw
	return res.Kind == fetch.KindMenu && !asked && t.dest == (destination{}) && term.IsTerminal(t.std.out)
}

// list writes a listing to the sink.
func (t *transfer) list(res *fetch.Resource) error {
	_, isProspero := res.Locator.(*locator.Prospero)
	list := listing{charset: t.op.charset, detailed: res.Kind != fetch.KindMenu || res.MediaType == "application/gopher+-menu" || isProspero}
	if t.browses(res) {
		list.references = new(strings.Builder)
	}
	t.sink.charset, _ = term.CharsetNamed("utf-8") // the listing is, whatever the names were in
	r, w := io.Pipe()
	go func() {
		out := bufio.NewWriter(w)
		list.w = out
		err := list.write(res, t.op.json)
		w.CloseWithError(errors.Join(err, out.Flush()))
	}()
	defer r.Close() // ends the goroutine if the sink fails
	return t.sink.take(t.paced(r))
}

// A listing is a directory or menu as people and programs are shown it, by
// whatever scheme it came.
type listing struct {
	w        io.Writer
	charset  term.Charset
	detailed bool // with sizes and times
	number   int  // of the last link, as --number counts them

	references *strings.Builder // the links' URLs, to be written behind the items; nil for none
}

// maxReferences bounds the URLs that are kept until the end of a listing, in octets.
const maxReferences = 1 << 20

// write writes one line for each item.
func (l *listing) write(res *fetch.Resource, asJSON bool) error {
	write := l.text
	if asJSON {
		write = l.json
	}
	for item, err := range res.Items {
		if err != nil {
			return err
		}
		if err := write(&item); err != nil {
			return err
		}
	}
	if l.references == nil || l.references.Len() == 0 {
		return nil
	}
	_, err := fmt.Fprintf(l.w, "\nReferences\n\n%s", l.references)
	return err
}

// refer keeps the URL of the last link.
func (l *listing) refer(url string) {
	if l.references.Len() >= maxReferences {
		return
	}
	fmt.Fprintf(l.references, "%4d. %s\n", l.number, url)
	if l.references.Len() >= maxReferences {
		l.references.WriteString("      (no more are shown; --json has all)\n")
	}
}

// marks are what stands before a name, by what it is.
var marks = map[fetch.Kind]string{
	fetch.KindDocument: "file", fetch.KindDirectory: "dir", fetch.KindMenu: "menu", fetch.KindQuery: "find", fetch.KindInteractive: "term", fetch.KindAdvice: "note",
}

// kindMark is what an item is, in one word of at most five letters.
func kindMark(it *fetch.Item) string {
	switch family, _, _ := strings.Cut(it.MediaType, "/"); {
	case it.Kind != fetch.KindDocument:
	case family == "text" || family == "image" || family == "audio" || family == "video":
		return family
	}
	if l, ok := it.Locator.(*locator.Gopher); ok && it.Kind == fetch.KindQuery && l.Type == '2' {
		return "phone"
	}
	return marks[it.Kind]
}

// text writes an item for people: its number, what it is, size, time, name.
func (l *listing) text(it *fetch.Item) error {
	name := term.SafeLine(l.charset.Decode(it.Name), maxMessage)
	number, what := "", ""
	switch {
	case it.Locator != nil:
		l.number++
		number, what = fmt.Sprint(l.number), kindMark(it)
		if l.references != nil {
			l.refer(it.Locator.Redacted())
		}
	case field(it, gopher.HeaderError) != nil:
		what = "error"
	}
	line := fmt.Sprintf("%4s %-5s ", number, what)
	if l.detailed {
		size, when := "", ""
		if it.Size >= 0 {
			size = fmt.Sprint(it.Size)
		}
		if !it.ModTime.IsZero() {
			when = it.ModTime.UTC().Format("2006-01-02 15:04")
		}
		line += fmt.Sprintf("%10s %16s ", size, when)
	}
	_, err := fmt.Fprintln(l.w, strings.TrimRight(line+" "+name+suffix(it), " "))
	return err
}

// suffix says what else is of note about an item.
func suffix(it *fetch.Item) string {
	switch plus := field(it, gopher.HeaderPlus); {
	case field(it, gopher.HeaderMirror) != nil:
		return " (mirror)"
	case plus != nil && *plus == "?":
		return " (form)"
	}
	return ""
}

// field is the value of a header field of an item, or nil.
func field(it *fetch.Item, name string) *string {
	for i := range it.Header {
		if it.Header[i].Name == name {
			return &it.Header[i].Value
		}
	}
	return nil
}

// jsonItem is an item for programs. What is not known is left out.
type jsonItem struct {
	Name  string `json:"name"`
	URL   string `json:"url,omitempty"`
	Kind  string `json:"kind"`
	Size  *int64 `json:"size,omitempty"`
	MTime string `json:"mtime,omitempty"`
	Type  string `json:"type,omitempty"`
}

// json writes an item for programs: one object a line.
func (l *listing) json(it *fetch.Item) error {
	j := jsonItem{Name: l.charset.Decode(it.Name), Kind: "text", Type: it.MediaType}
	switch {
	case it.Locator != nil:
		j.URL, j.Kind = it.Locator.Redacted(), it.Kind.String()
	case field(it, gopher.HeaderError) != nil:
		j.Kind = "error"
	}
	if it.Size >= 0 {
		j.Size = &it.Size
	}
	if !it.ModTime.IsZero() {
		j.MTime = it.ModTime.UTC().Format(time.RFC3339)
	}
	return json.NewEncoder(l.w).Encode(j)
}

// pick is the n-th link of a listing, counted from 1, and the mirrors below it.
func pick(items iter.Seq2[fetch.Item, error], n int) (chosen *fetch.Item, mirrors []locator.Locator, err error) {
	links := 0
	for item, err := range items {
		switch {
		case err != nil:
			return nil, nil, err
		case item.Locator == nil:
			if chosen != nil {
				return chosen, mirrors, nil
			}
			continue
		}
		links++
		switch {
		case chosen != nil && field(&item, gopher.HeaderMirror) == nil:
			return chosen, mirrors, nil
		case chosen != nil:
			mirrors = append(mirrors, item.Locator)
		case links == n:
			chosen = &item
		}
	}
	if chosen == nil {
		err = &usageError{fmt.Sprintf("--number %d: there are %d links", n, links)}
	}
	return chosen, mirrors, err
}

// addNumber adds the number of a link to follow.
func addNumber(c *commandLine, value string) error {
	n, err := natural(value)
	switch {
	case err != nil:
		return err
	case n == 0 || n > math.MaxInt32:
		return errors.New("expected the number of a link, as --list counts them from 1")
	}
	c.op.numbers = append(c.op.numbers, int(n))
	return nil
}

// follow fetches the n-th link of a listing, and closes the listing. The policy
// judges the link as the link that it is.
func (t *transfer) follow(ctx context.Context, res *fetch.Resource, n int) (*fetch.Resource, error) {
	defer res.Close()
	if res.Items == nil {
		return nil, &usageError{fmt.Sprintf("--number %d: this is neither a directory nor a menu: %s", n, res.Locator.Redacted())}
	}
	item, mirrors, err := pick(res.Items, n)
	if err != nil {
		return nil, err
	}
	res.Close()
	t.picked.Store(true)
	next, err := t.op.request(item.Locator)
	if err != nil {
		return nil, err
	}
	next.From = res.Origin()
	if plus := field(item, gopher.HeaderPlus); plus != nil && *plus == "?" {
		next.Locator = withForm(next.Locator)
	}
	if _, isGopher := item.Locator.(*locator.Gopher); isGopher && len(mirrors) > 0 {
		options, _ := next.Options.(*gopher.Options)
		if options == nil {
			options = new(gopher.Options)
		}
		options.Mirrors, next.Options = mirrors, options
	}
	t.locator, t.result.effective = next.Locator, next.Locator
	found, err := t.resolver.Fetch(ctx, next)
	if err != nil {
		return nil, err
	}
	return t.answered(ctx, next, found)
}
