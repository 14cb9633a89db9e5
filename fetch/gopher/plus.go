package gopher

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/menu"
	"github.com/fetch1738/fetch1738/internal/wire"
	"github.com/fetch1738/fetch1738/locator"
)

// plusHeader is the first line of a Gopher+ answer, such as "+512", "+-1" or
// "--2": whether what follows is what was asked for, and how its end is told.
type plusHeader struct {
	refused bool  // "-": what follows is an error
	length  int64 // of what follows, in octets; or one of the two below
}

// The lengths that are none.
const (
	dotEnds   = -1 // a line "." ends it
	closeEnds = -2 // the close of the connection ends it
)

// maxPlusHeader is more than the first line of a Gopher+ answer can be long.
const maxPlusHeader = 32

// parsePlusHeader reads a first line, which may have its line end.
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

// header takes the header of Gopher+ off what has come. A server that does not
// know Gopher+ sends none. One that ends before it can be told has been cut off.
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

// begins reports whether what comes next begins with text.
func (s *source) begins(text string) bool {
	for len(s.head) < len(text) && s.err == nil && strings.HasPrefix(text, string(s.head)) {
		s.fill()
	}
	return bytes.HasPrefix(s.head, []byte(text))
}

// counted reads the n octets that a header has announced. What a server sends
// beyond them (gopherd 3.0: a line ".") is dropped; an earlier end is a cut.
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

// PlusError is a server's refusal in the words of Gopher+. It is inside the
// *[fetch.Error], which has Code and Text too.
type PlusError struct {
	// Code is 1 for an item that is not available, 2 for one to be tried later, 3
	// for one that has moved; servers may use others.
	Code int
	// Admin is whom to tell: "Name <address>".
	Admin string
	// Text is the server's explanation, of one line or more.
	Text string
	// Moved is where the item is now, for Code 3 if the server says so.
	Moved *fetch.Referral
}

func (e *PlusError) Error() string {
	if e.Admin == "" {
		return "said by Gopher+"
	}
	return "administrator: " + e.Admin
}

// Unwrap gives Moved.
func (e *PlusError) Unwrap() error {
	if e.Moved == nil {
		return nil
	}
	return e.Moved
}

// errorKinds are the codes that Gopher+ defines. gopherd sends 1 for everything.
var errorKinds = map[int]fetch.ErrorKind{1: fetch.ErrNotFound, 2: fetch.ErrBusy, 3: fetch.ErrMoved}

// parsePlusError reads what follows the header of an error: a code and the
// administrator in the first line, then the explanation. A server that forgets
// the code explains at once.
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

// refusal reads the error that the header has announced.
func (x *exchange) refusal() error {
	text, err := io.ReadAll(io.LimitReader(x.unframed(nil), maxComplaint))
	fetch.ContextTrace(x.ctx).Received(text)
	if err != nil && len(text) == 0 {
		return fetch.Fail(fetch.OpRead, x.loc, fetch.ErrOther, err)
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

// moved is where an item is now, by the descriptor in the explanation; nil when
// there is none. A form that was filled in does not go there.
func (x *exchange) moved(text string) *fetch.Referral {
	for line := range strings.Lines(text) {
		_, descriptor, _ := strings.Cut(line, "+INFO")
		if descriptor = strings.TrimLeft(descriptor, ": "); descriptor == "" {
			descriptor = line
		}
		if strings.Count(descriptor, "\t") < 3 {
			continue
		}
		m := newMaker(x.access)
		parsed := menu.Parse([]byte(strings.TrimRight(descriptor, "\r\n")))
		if l := m.item(&parsed).Locator; l != nil {
			ref := &fetch.Referral{To: l, From: fetch.Provenance{Kind: fetch.OriginRedirect, By: x.loc, Peer: x.peer.Addr()}}
			if x.form != nil || isForm(x.loc.Plus) {
				ref.Op = "filled form" // what it says is for this server
			} else if to, ok := l.(*locator.Gopher); ok {
				to.Plus, to.Fields = x.loc.Plus, x.loc.Fields
			}
			return ref
		}
	}
	return nil
}

var errCut = errors.New("the answer ends before its end")

// unframed is what follows the header, without its framing. info may be nil.
func (x *exchange) unframed(info *Info) io.Reader {
	if info == nil {
		info = new(Info)
	}
	switch {
	case x.header.length >= 0:
		return &counted{src: x.src, left: x.header.length, info: info}
	case x.header.length == dotEnds:
		// gopherd ends the HTML of a menu without the line that it has announced.
		page := types[x.loc.Type].framing == menuLines && x.media == "text/html"
		return &textReader{src: x.src, menu: x.framing == menuLines, marked: !page, info: info, note: fetch.ContextTrace(x.ctx).Note}
	}
	return x.src
}

// stub reports whether the answer is what servers send that only look like
// Gopher+: attributes of one menu without a selector or a Gopher+ tag
// (geomyidae, and gophernicus at its root), instead of what was asked for.
func (x *exchange) stub() bool {
	if x.plus == "" || x.plus[0] == '!' || x.form != nil || isForm(x.plus) || !x.src.begins("+INFO: 1") {
		return false
	}
	for x.src.err == nil && len(x.src.head) < maxComplaint && !bytes.Contains(x.src.head, []byte("\n")) {
		x.src.fill()
	}
	first, _, _ := bytes.Cut(x.src.head, []byte("\n"))
	line := menu.Parse(bytes.TrimPrefix(first, []byte("+INFO: ")))
	if len(line.Selector) > 0 || line.Plus != 0 {
		return false
	}
	for x.src.err == nil && len(x.src.head) < maxComplaint {
		x.src.fill()
	}
	_, rest, _ := bytes.Cut(x.src.head, []byte("\n"))
	return x.src.err == io.EOF && !bytes.Contains(rest, []byte("\n+INFO"))
}

// readAttributes reads a whole list of the attributes of one item.
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
		return nil, nil, fetch.Fail(fetch.OpRead, l, fetch.ErrTooLarge, fmt.Errorf("the attributes are longer than %d octets", bound))
	}
	s := attributeScanner{lines: wire.NewLineReader(bytes.NewReader(octets), 0)}
	blocks, err := s.next()
	if err == io.EOF || err == nil && blocks[0].Name != "INFO" {
		return octets, nil, nil
	}
	return octets, parseAttributes(blocks), err
}
