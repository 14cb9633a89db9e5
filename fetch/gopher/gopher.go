// Package gopher fetches gopher URLs (RFC 1738 §3.4) by the protocol of RFC 1436. The client opens
// a connection and sends one line. The response is all that the server sends until it closes.
//
// A Gopher+ string in a URL is sent as RFC 1738 §3.4.3 to §3.4.9 require. The header of the
// response says whether it is a document, a menu, the attributes of an item, or an error
// ([PlusError]). If the server does not support Gopher+, its plain response is returned and
// [Info].Fallback says so. CSO phone books (type 2, RFC 2378) are queried by their own protocol.
package gopher

import (
	"context"
	"errors"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/wire"
)

// Fetcher is a [driver.Fetcher], [driver.AttributeFinder] and [driver.Explainer] for gopher and
// gophers URLs. The zero value is ready to use. It keeps no state between requests. The fields must
// not be changed after first use.
//
// The kind of a Resource depends on the item:
//   - A menu is of KindMenu. A response that is only a server's error message is an error of kind
//     ErrNotFound.
//   - A search (type 7) or phone book (2) without words is of KindQuery. So is an item with a form
//     ("?"), which is then in its [Info].Attributes.
//   - A telnet session (8, T) is of KindAdvice. No connection is made.
//   - An item that links to a URL (type h, "URL:…") is a *[fetch.Referral].
//   - The entries of a phone book are of KindDirectory.
//
// Gopher has no sizes and no ranges. Size is -1, unless a Gopher+ server sends it. With an Offset,
// the data before it is received and discarded. Counting from the end is ErrUnsupported.
//
// [fetch.Request].Options must be nil or an *[Options].
type Fetcher struct {
	// Env provides connections, limits and TLS settings. If nil, the zero Env is used.
	Env *fetch.Env
	// Exact follows RFC 1738 §3.4 to the letter where real servers require something else. It sends
	// an empty search string with its TAB before a Gopher+ string (§3.4.3), and spaces between
	// attribute names (§3.4.7). It also leaves a "?" in the selector of a search, where otherwise
	// search words follow it.
	Exact bool
}

var (
	_ driver.Fetcher         = (*Fetcher)(nil)
	_ driver.AttributeFinder = (*Fetcher)(nil)
	_ driver.Explainer       = (*Fetcher)(nil)
)

// Info is the type of [fetch.Resource.Info] for gopher.
type Info struct {
	// Request is the request that was sent, with passwords in a form masked.
	Request []byte
	// Complete is set when the Body, or Items, has been read to an end that the server has marked:
	// the line "." of a text or menu, the last of the bytes that Gopher+ has announced, or the last
	// line of a phone book's reply.
	//
	// Any other end looks the same as a broken connection. A response without the line "." may be
	// empty or end within a line. A text whose last line "." has no line end might have continued.
	// All other responses end with the connection.
	Complete bool
	// Plus is set when the response has a Gopher+ header.
	Plus bool
	// Fallback says why the response to a Gopher+ request has no Gopher+ header. Otherwise it is
	// empty.
	Fallback string
	// Attributes is the response to a request for the attributes of an item ("!" and "?"),
	// otherwise nil.
	Attributes *Attributes
}

// Fetch implements [driver.Fetcher].
func (f *Fetcher) Fetch(ctx context.Context, req *fetch.Request) (*fetch.Resource, error) {
	res, err := f.fetch(ctx, req)
	options, _ := driver.OptionsOf[Options](req) // f.fetch refuses options of another type
	for _, mirror := range options.Mirrors {
		if !isDown(err) || ctx.Err() != nil {
			break
		}
		driver.ContextTrace(ctx).Note("the server cannot be reached; trying " + mirror.Redacted())
		again := *req
		again.Locator = mirror
		res, err = f.fetch(ctx, &again)
	}
	return res, err
}

// isDown reports whether a server could not be reached.
func isDown(err error) bool {
	var e *fetch.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Kind {
	case fetch.ErrUnresolved, fetch.ErrUnreachable:
		return true
	case fetch.ErrTimeout:
		return e.Op == fetch.OpConnect || e.Op == fetch.OpResolve
	}
	return false
}

// fetch fetches from one server.
func (f *Fetcher) fetch(ctx context.Context, req *fetch.Request) (*fetch.Resource, error) {
	a, err := f.prepare(req)
	if err != nil {
		return nil, err
	}
	if a.note != "" {
		driver.ContextTrace(ctx).Note(a.note)
	}
	switch {
	case a.referral != nil:
		return nil, driver.Fail(fetch.OpFetch, a.loc, fetch.ErrMoved, &fetch.Referral{To: a.referral, From: req.From})
	case a.kind == fetch.KindQuery || a.kind == fetch.KindAdvice:
		return a.resource(), nil
	case a.choose != nil:
		if err := f.choose(ctx, req, a); err != nil {
			return nil, err
		}
	}
	x, err := f.ask(ctx, req, a)
	if err != nil {
		return nil, err
	}
	res, err := x.resource(req)
	if err != nil {
		x.conn.Close()
		return nil, err
	}
	return res, nil
}

// choose finds the requested view in the item's attributes.
func (f *Fetcher) choose(ctx context.Context, req *fetch.Request, a *access) error {
	attributes, err := f.attributes(ctx, req)
	if err != nil {
		return err
	}
	v, err := chooseView(attributes.Views, a.choose.View, a.choose.Language)
	if err != nil {
		return driver.Fail(fetch.OpFetch, a.loc, fetch.ErrNotFound, err)
	}
	a.plus += v.Label
	a.itemType = types[a.loc.Type]
	a.expect()
	a.request = f.encodeRequest(a.loc, a.loc.Selector, a.words, a.plus)
	return nil
}

// resource returns a Resource without a body.
func (a *access) resource() *fetch.Resource {
	return &fetch.Resource{
		Attributes: fetch.Attributes{Size: -1, MediaType: a.media, Guessed: a.media != "" && !a.named},
		Locator:    a.loc,
		Kind:       a.kind,
		Body:       driver.WithoutOctets(a.loc, a.kind),
		Advice:     a.advice,
	}
}

// resource returns the Resource of a response.
func (x *exchange) resource(req *fetch.Request) (*fetch.Resource, error) {
	a, limits := x.access, x.limits
	info := &Info{Request: a.maskedRequest(), Plus: x.isPlus, Fallback: x.fallback}
	b := newBody(x)
	listed := x.frame(b, info)
	if err := b.part(req.Offset, req.Length); err != nil {
		return nil, err
	}
	res := a.resource()
	res.Body, res.Info, res.Peer, res.TLS = b, info, x.peer, wire.TLSState(x.conn.Conn)
	if x.isPlus && x.header.length >= 0 {
		res.Size = x.header.length
	}
	if b.raw != nil {
		res.Body = &rawBody{b}
	}
	switch {
	case a.loc.Type == '2':
		res.Items = phoneItems(x.ctx, b, a, limits)
	case listed && a.kind == fetch.KindMenu:
		res.Items = attributeItems(x.ctx, b, a, limits)
	case listed && a.whole:
		return res, x.readList(b, res, info)
	case a.kind == fetch.KindMenu:
		res.Items = items(x.ctx, b, a, limits)
	}
	return res, nil
}

// frame sets how the body of the response is read, and reports whether the response is a list of
// attributes.
func (x *exchange) frame(b *body, info *Info) (listed bool) {
	if x.loc.Type == '2' {
		b.src = &phoneReader{lines: wire.NewLineReader(x.src, x.limits.Line), info: info}
		return false
	}
	listed = x.plus != "" && (x.isPlus && x.plus[0] == '!' || x.src.hasPrefix("+INFO"))
	switch {
	case x.isPlus && x.header.length != closeEnds:
		b.src = x.unframed(info)
	case x.isPlus || x.framing == untilClose && !listed:
		b.src, b.raw = x.src, x.src
	default:
		b.src = &textReader{src: x.src, menu: x.framing == menuLines || listed, info: info, note: driver.ContextTrace(x.ctx).Note}
	}
	return listed
}

// readList reads all attributes of one item.
func (x *exchange) readList(b *body, res *fetch.Resource, info *Info) error {
	octets, attributes, err := readAttributes(b, x.loc, x.limits)
	if err != nil {
		return err
	}
	b.Close()
	info.Attributes = attributes
	if attributes != nil {
		res.Header = attributes.header
		res.ModTime = attributes.ModTime
	}
	res.Body = newReceivedBody(octets)
	if x.loc.Plus == "?" && x.form == nil && attributes != nil && attributes.Ask != nil {
		res.Kind, res.Body = fetch.KindQuery, driver.WithoutOctets(x.loc, fetch.KindQuery)
	}
	return nil
}
