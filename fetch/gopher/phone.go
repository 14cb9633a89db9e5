package gopher

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/internal/cso"
	"github.com/fetch1738/fetch1738/internal/wire"
	"github.com/fetch1738/fetch1738/locator"
)

// phoneBook makes the access one to a CSO phone book (RFC 2378). The selector is not used. The
// server keeps the connection open until "quit", so that is sent along with the query.
func (a *access) phoneBook() error {
	if strings.ContainsAny(a.words, "\x00\t\r\n") {
		return errNoWords
	}
	a.commandPhone("query " + a.words)
	return nil
}

// commandPhone sets the command that is sent.
func (a *access) commandPhone(command string) {
	a.itemType = itemType{media: "text/plain"}
	a.kind = fetch.KindDirectory
	if !a.whole {
		a.kind = fetch.KindDocument
	}
	a.request = []byte(command + "\r\nquit\r\n")
}

// A PhoneField is a field that the entries of a phone book have (RFC 2378 §2).
type PhoneField struct {
	Name  string
	About string // the server's description
	// Lookup is set if a query may name the field. Every query must name at least one that is
	// Indexed. Default is set if the field is shown when the query does not say which.
	Lookup, Indexed, Default bool
}

// PhoneFieldsOf parses the Header that FindAttributes returns for a phone book.
func PhoneFieldsOf(header []fetch.Field) []PhoneField {
	var fields []PhoneField
	for _, h := range header {
		if last := len(fields) - 1; last >= 0 && fields[last].Name == h.Name {
			fields[last].About = h.Value
			continue
		}
		f := PhoneField{Name: h.Name}
		for _, property := range strings.Fields(h.Value) {
			f.Lookup = f.Lookup || strings.EqualFold(property, "Lookup")
			f.Indexed = f.Indexed || strings.EqualFold(property, "Indexed")
			f.Default = f.Default || strings.EqualFold(property, "Default")
		}
		fields = append(fields, f)
	}
	return fields
}

// phoneFields asks a phone book for its fields.
func (f *Fetcher) phoneFields(ctx context.Context, req *fetch.Request) (*fetch.Attributes, error) {
	l, err := itemOf(req.Locator)
	if err != nil {
		return nil, err
	}
	server, _ := locator.ServerOf(l)
	a := &access{loc: l, host: server.Host, port: server.Port, whole: true}
	a.commandPhone("fields")
	x, err := f.ask(ctx, req, a)
	if err != nil {
		return nil, err
	}
	defer x.conn.Close()
	res, err := x.resource(req)
	if err != nil {
		return nil, err
	}
	found := &fetch.Attributes{Size: -1}
	for it, err := range res.Items {
		if err != nil {
			return nil, err
		}
		found.Header = append(found.Header, it.Header...)
	}
	return found, nil
}

// phoneKinds maps reply codes to kinds of error (RFC 2378 §3.4).
var phoneKinds = map[int]fetch.ErrorKind{
	501: fetch.ErrNotFound, 502: fetch.ErrTooLarge, 503: fetch.ErrPermission, 504: fetch.ErrPermission, 505: fetch.ErrPermission,
	506: fetch.ErrPermission, 516: fetch.ErrPermission, 518: fetch.ErrTooLarge, 520: fetch.ErrTooLarge, 475: fetch.ErrBusy,
}

// phoneAnswer returns an error if the reply reports one.
func (x *exchange) phoneAnswer() error {
	for {
		rest := x.src.head
		for end := bytes.IndexByte(rest, '\n') + 1; end > 0; end = bytes.IndexByte(rest, '\n') + 1 {
			l, ok := cso.Parse(rest[:end])
			if !ok {
				return driver.Fail("query", x.loc, fetch.ErrProtocol, fmt.Errorf("unexpected reply from the phone book: %s", fetch.Printable(string(wire.TrimEOL(rest[:end])))))
			}
			if l.Entry > 0 || l.Code >= 200 && l.Code < 300 {
				return nil
			}
			if l.Code >= 400 {
				driver.ContextTrace(x.ctx).Received(x.src.head)
				kind := phoneKinds[l.Code]
				if l.Code < 500 {
					kind = fetch.ErrBusy
				}
				return &fetch.Error{Op: "query", URL: x.loc.Redacted(), Kind: kind, Code: l.Code, Reply: l.Text}
			}
			rest = rest[end:]
		}
		switch {
		case x.src.err == io.EOF:
			return driver.Fail("query", x.loc, fetch.ErrTruncated, errCut)
		case x.src.err != nil:
			return driver.Fail("query", x.loc, fetch.ErrOther, x.src.err)
		case len(x.src.head) >= maxErrorText:
			return nil
		}
		x.src.fill()
	}
}

// phoneReader reads the reply to a query, up to its last line. It does not wait for anything after
// that, such as the reply to "quit".
type phoneReader struct {
	lines *wire.LineReader
	info  *Info
	rest  []byte
	ended bool
}

// Read implements io.Reader.
func (r *phoneReader) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		if r.ended {
			return 0, io.EOF
		}
		line, err := r.lines.ReadLine()
		switch {
		case err == io.EOF:
			return 0, io.ErrUnexpectedEOF
		case errors.Is(err, wire.ErrLineTooLong):
			return 0, driver.Fail(fetch.OpRead, nil, fetch.ErrTooLarge, err)
		case err != nil:
			return 0, err
		}
		r.rest = line
		if l, ok := cso.Parse(line); ok && l.Final() {
			r.ended = bytes.HasSuffix(line, []byte("\n"))
			r.info.Complete = r.ended
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// phoneItems returns the entries of a phone book. The Name is the field "name", or else the first
// field. Header has all fields; the lines of a long value are separated by LF. The Items have no
// Locator.
func phoneItems(ctx context.Context, r io.Reader, a *access, limits fetch.Limits) iter.Seq2[fetch.Item, error] {
	return func(yield func(fetch.Item, error) bool) {
		yieldItems(yield, cso.Entries(wire.ReadAhead(ctx, r, a.stream), limits.Line, limits.Header), phoneItem, a.loc, limits, errors.New("an entry is longer than the limit"))
	}
}

func phoneItem(e cso.Entry) fetch.Item {
	it := fetch.Item{Attributes: fetch.Attributes{Size: -1}}
	for i, f := range e.Fields {
		if i == 0 || strings.EqualFold(f.Name, "name") {
			it.Name, _, _ = strings.Cut(f.Value, "\n")
		}
		it.Header = append(it.Header, fetch.Field{Name: f.Name, Value: f.Value})
	}
	return it
}
