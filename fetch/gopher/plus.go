package gopher

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/codec/menu"
	"github.com/fetch1738/fetch1738/internal/wire"
	"github.com/fetch1738/fetch1738/locator"
)

// plusHeader is the first line of a Gopher+ response, such as "+512", "+-1" or "--2". It says
// whether the response is an error, and how its end is marked.
type plusHeader struct {
	refused bool  // "-": what follows is an error
	length  int64 // of the rest in bytes; or one of the two below
}

// Special values of plusHeader.length.
const (
	dotEnds   = -1 // a line "." ends it
	closeEnds = -2 // closing the connection ends it
)

// maxPlusHeader is more than the maximum length of the first line of a Gopher+ response.
const maxPlusHeader = 32

// parsePlusHeader parses a first line, with or without its line end.
func parsePlusHeader(line []byte) (h plusHeader, ok bool) {
	line = bytes.TrimRight(line, "\r\n")
	if len(line) < 2 || line[0] != '+' && line[0] != '-' {
		return h, false
	}
	h.refused = line[0] == '-'
	switch number := string(line[1:]); number {
	case "-1":
		h.length = dotEnds
	case "-2":
		h.length = closeEnds
	default:
		n, err := strconv.ParseUint(number, 10, 62)
		if err != nil {
			return h, false
		}
		h.length = int64(n)
	}
	return h, true
}

// header removes the Gopher+ header from the data received. A server that does not support Gopher+
// sends no header. A response that ends within a possible header is truncated.
func (s *source) header() (h plusHeader, found bool, err error) {
	for {
		if end := bytes.IndexByte(s.head, '\n') + 1; end > 0 {
			if h, found = parsePlusHeader(s.head[:end]); found {
				s.head = s.head[end:]
			}
			return h, found, nil
		}
		if len(s.head) >= maxPlusHeader || !headerBegins(s.head) {
			return h, false, nil
		}
		switch s.err {
		case nil:
			s.fill()
		case io.EOF:
			return h, false, io.ErrUnexpectedEOF
		default:
			return h, false, s.err
		}
	}
}

// headerBegins reports whether b may be the beginning of a header.
func headerBegins(b []byte) bool {
	if len(b) == 0 {
		return true
	}
	return (b[0] == '+' || b[0] == '-') && len(bytes.Trim(b[1:], "-0123456789\r")) == 0
}

// hasPrefix reports whether the unread data begins with text.
func (s *source) hasPrefix(text string) bool {
	for len(s.head) < len(text) && s.err == nil && strings.HasPrefix(text, string(s.head)) {
		s.fill()
	}
	return bytes.HasPrefix(s.head, []byte(text))
}

// counted reads the n bytes that a header has announced. Anything after them (gopherd 3.0 sends a
// line ".") is discarded. An earlier end means a truncated response.
type counted struct {
	src  io.Reader
	left int64
	info *Info
}

// Read implements io.Reader.
func (c *counted) Read(p []byte) (int, error) {
	if c.left == 0 {
		c.info.Complete = true
		return 0, io.EOF
	}
	n, err := c.src.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	switch {
	case c.left == 0:
		c.info.Complete, err = true, io.EOF
	case err == io.EOF:
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// A PlusError is a Gopher+ error. It is wrapped in a *[fetch.Error], which has Code and Text too.
type PlusError struct {
	// Code is 1 if the item is not available, 2 to try again later, and 3 if the item has moved.
	// Servers may use others.
	Code int
	// Admin is the administrator to contact: "Name <address>".
	Admin string
	// Text is the server's explanation, of one or more lines.
	Text string
	// Moved is the new location of the item, for Code 3 if the server sends it.
	Moved *fetch.Referral
}

func (e *PlusError) Error() string {
	if e.Admin == "" {
		return "Gopher+ error"
	}
	return "administrator: " + e.Admin
}

// Unwrap returns Moved.
func (e *PlusError) Unwrap() error {
	if e.Moved == nil {
		return nil
	}
	return e.Moved
}

// errorKinds maps the codes that Gopher+ defines. gopherd sends 1 for every error.
var errorKinds = map[int]fetch.ErrorKind{1: fetch.ErrNotFound, 2: fetch.ErrBusy, 3: fetch.ErrMoved}

// parsePlusError parses what follows the header of an error: a line with a code and the
// administrator, then the explanation. If the code is missing, the explanation begins with the
// first line.
func parsePlusError(text string) *PlusError {
	e := new(PlusError)
	first, rest, _ := strings.Cut(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	number, admin, _ := strings.Cut(first, " ")
	code, err := strconv.ParseUint(number, 10, 16)
	if err != nil {
		rest, admin = first+"\n"+rest, ""
	}
	e.Code, e.Admin, e.Text = int(code), strings.TrimSpace(admin), strings.TrimSpace(rest)
	return e
}

// refusal reads the error that the header announces.
func (x *exchange) refusal() error {
	text, err := io.ReadAll(io.LimitReader(x.unframed(nil), maxErrorText))
	driver.ContextTrace(x.ctx).Received(text)
	if err != nil && len(text) == 0 {
		return driver.Fail(fetch.OpRead, x.loc, fetch.ErrOther, err)
	}
	e := parsePlusError(string(text))
	failure := &fetch.Error{Op: fetch.OpFetch, URL: x.loc.Redacted(), Kind: errorKinds[e.Code], Code: e.Code, Reply: strings.ReplaceAll(e.Text, "\n", " "), Err: e}
	if e.Code == 3 {
		if e.Moved = x.moved(e.Text); e.Moved == nil {
			failure.Kind = fetch.ErrNotFound
		}
	}
	return failure
}

// moved returns the new location of an item, from the descriptor in the explanation; nil if there
// is no descriptor. A filled form is not sent there.
func (x *exchange) moved(text string) *fetch.Referral {
	for line := range strings.Lines(text) {
		_, descriptor, _ := strings.Cut(line, "+INFO")
		if descriptor = strings.TrimLeft(descriptor, ": "); descriptor == "" {
			descriptor = line
		}
		if strings.Count(descriptor, "\t") < 3 {
			continue
		}
		m := newItemMaker(x.access)
		parsed := menu.Parse([]byte(strings.TrimRight(descriptor, "\r\n")))
		if l := m.item(&parsed).Locator; l != nil {
			ref := &fetch.Referral{To: l, From: fetch.Provenance{Kind: fetch.OriginRedirect, By: x.loc, Peer: x.peer.Addr()}}
			if x.form != nil || isForm(x.loc.Plus) {
				ref.Op = "filled form" // its answers are for this server only
			} else if to, ok := l.(*locator.Gopher); ok {
				to.Plus, to.Fields = x.loc.Plus, x.loc.Fields
			}
			return ref
		}
	}
	return nil
}

var errCut = errors.New("the response is incomplete")

// unframed returns the body after the header, without its framing. info may be nil.
func (x *exchange) unframed(info *Info) io.Reader {
	if info == nil {
		info = new(Info)
	}
	switch {
	case x.header.length >= 0:
		return &counted{src: x.src, left: x.header.length, info: info}
	case x.header.length == dotEnds:
		// gopherd sends the HTML view of a menu without the line "." that its header announces.
		page := types[x.loc.Type].framing == menuLines && x.media == "text/html"
		return &textReader{src: x.src, menu: x.framing == menuLines, marked: !page, info: info, note: driver.ContextTrace(x.ctx).Note}
	}
	return x.src
}

// isStub reports whether the response is the one of servers that only imitate Gopher+ (geomyidae,
// and gophernicus at its root): whatever the request, they send the attributes of one menu without
// a selector or a Gopher+ tag.
func (x *exchange) isStub() bool {
	if x.plus == "" || x.plus[0] == '!' || x.form != nil || isForm(x.plus) || !x.src.hasPrefix("+INFO: 1") {
		return false
	}
	for x.src.err == nil && len(x.src.head) < maxErrorText && !bytes.Contains(x.src.head, []byte("\n")) {
		x.src.fill()
	}
	first, _, _ := bytes.Cut(x.src.head, []byte("\n"))
	line := menu.Parse(bytes.TrimPrefix(first, []byte("+INFO: ")))
	if len(line.Selector) > 0 || line.Plus != 0 {
		return false
	}
	for x.src.err == nil && len(x.src.head) < maxErrorText {
		x.src.fill()
	}
	_, rest, _ := bytes.Cut(x.src.head, []byte("\n"))
	return x.src.err == io.EOF && !bytes.Contains(rest, []byte("\n+INFO"))
}

// readAttributes reads the attributes of one item.
func readAttributes(r io.Reader, l locator.Locator, limits fetch.Limits) (octets []byte, a *Attributes, err error) {
	bound := int64(limits.Header)
	if bound == 0 {
		bound = unbounded - 1
	}
	octets, err = io.ReadAll(io.LimitReader(r, bound+1))
	switch {
	case err != nil:
		return nil, nil, err
	case int64(len(octets)) > bound:
		return nil, nil, driver.Fail(fetch.OpRead, l, fetch.ErrTooLarge, fmt.Errorf("the attributes are longer than %d bytes", bound))
	}
	s := attributeScanner{lines: wire.NewLineReader(bytes.NewReader(octets), 0)}
	blocks, err := s.next()
	if err == io.EOF || err == nil && blocks[0].Name != "INFO" {
		return octets, nil, nil
	}
	return octets, parseAttributes(blocks), err
}
