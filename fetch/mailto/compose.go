package mailto

import (
	"bytes"
	"fmt"
	"io"
	"mime"
	"net/mail"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/urls/idn"
	"github.com/fetch1738/fetch1738/internal/wire"
	"github.com/fetch1738/fetch1738/locator"
)

// A message is an outgoing message. Reading it returns its bytes.
type message struct {
	sender string // the address in From
	utf8   bool   // the header has UTF-8, which RFC 6532 permits with SMTPUTF8
	head   *bytes.Reader
	rest   io.Reader
	n      int64 // bytes read
	err    error // the read error of rest
}

func (m *message) Read(p []byte) (int, error) {
	if m.head.Len() > 0 {
		n, err := m.head.Read(p)
		m.n += int64(n)
		return n, err
	}
	n, err := m.rest.Read(p)
	m.n += int64(n)
	if err != nil && err != io.EOF {
		m.err = err
	}
	return n, err
}

// compose reads the header of a message, if it has one, and adds the missing fields.
func compose(l *locator.Mailto, body io.Reader, info *Info, sender string, limits fetch.Limits) (*message, error) {
	lines := wire.NewLineReader(&checked{from: body, line: 1}, limits.Line)
	h, err := readHeader(lines, limits.Header)
	if err != nil {
		return nil, err
	}
	msg := &message{sender: sender, rest: lines}
	if from := h.get("From"); from != "" {
		list, err := mail.ParseAddressList(from)
		if err != nil {
			return nil, &fetch.Error{Kind: fetch.ErrBadURL, Err: fmt.Errorf("the message's From: %w", err)}
		}
		msg.sender = strings.Trim((&mail.Address{Address: list[0].Address}).String(), "<>")
	}
	if msg.sender == "" {
		return nil, &fetch.Error{Kind: fetch.ErrUnsupported, Err: errNoSender}
	}
	from := []string{msg.sender}
	if err := mailboxes(l, from); err != nil {
		return nil, err
	}
	msg.sender = from[0]
	start, err := io.ReadAll(io.LimitReader(lines, maxSearched))
	if err != nil {
		return nil, &fetch.Error{Kind: fetch.ErrLocalIO, Err: err}
	}
	msg.rest = io.MultiReader(bytes.NewReader(start), lines)
	var b bytes.Buffer
	for _, f := range []fetch.Field{
		{Name: "From", Value: msg.sender},
		{Name: "Date", Value: time.Now().Format(time.RFC1123Z)},
		{Name: "To", Value: strings.Join(info.To, ", ")},
		{Name: "Cc", Value: strings.Join(info.Cc, ", ")},
		{Name: "Subject", Value: mime.QEncoding.Encode("utf-8", info.Subject)},
		{Name: "In-Reply-To", Value: info.InReplyTo},
	} {
		if f.Value != "" && !h.has(f.Name) {
			fmt.Fprintf(&b, "%s: %s\r\n", f.Name, f.Value)
		}
	}
	if !h.isMIME() {
		b.WriteString(declaration(append(h.after, start...)))
	}
	b.Write(h.octets)
	msg.utf8 = !idn.IsASCII(b.String()) && utf8.Valid(b.Bytes())
	b.WriteString("\r\n")
	b.Write(h.after)
	msg.head = bytes.NewReader(b.Bytes())
	return msg, nil
}

// checked reads a message. It refuses what none may contain: NUL, and a CR that is not followed by a
// LF (RFC 5321 §2.3.8), which some servers take for the end of a line.
type checked struct {
	from io.Reader
	line int
	cr   bool // the last byte was a CR
}

// Read implements io.Reader.
func (c *checked) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	for i, octet := range p[:n] {
		switch {
		case c.cr && octet != '\n':
			return i, c.refuse('\r')
		case octet == 0:
			return i, c.refuse(octet)
		case octet == '\n':
			c.line++
		}
		c.cr = octet == '\r'
	}
	if err == io.EOF && c.cr {
		err = c.refuse('\r')
	}
	return n, err
}

func (c *checked) refuse(octet byte) error {
	return fmt.Errorf("line %d of the message contains the byte %02X, which is not allowed", c.line, octet)
}

// maxSearched is how many bytes of a text are searched for 8-bit bytes.
const maxSearched = 1 << 20

// declaration returns header fields that declare a text with 8-bit bytes (RFC 2045), which a mail
// reader otherwise takes for ASCII. For ASCII it returns "". A text that is too long to be searched
// may have 8-bit bytes later, so it gets the fields too.
func declaration(text []byte) string {
	charset := "utf-8"
	switch ascii := !bytes.ContainsFunc(text, func(r rune) bool { return r > '\x7f' }); {
	case ascii && len(text) < maxSearched:
		return ""
	case !ascii && !utf8.Valid(text[:lastRune(text)]):
		charset = "unknown-8bit" // RFC 1428
	}
	return "MIME-Version: 1.0\r\nContent-Type: text/plain; charset=" + charset + "\r\nContent-Transfer-Encoding: 8bit\r\n"
}

// lastRune returns the length of text without a rune that its end has cut in two.
func lastRune(text []byte) int {
	for i := len(text) - 1; i >= 0 && i > len(text)-utf8.UTFMax; i-- {
		if utf8.RuneStart(text[i]) {
			if !utf8.FullRune(text[i:]) && len(text) >= maxSearched {
				return i
			}
			break
		}
	}
	return len(text)
}

// isMIME reports whether a header already declares the type of the text.
func (h *header) isMIME() bool {
	return h.has("MIME-Version") || h.has("Content-Type") || h.has("Content-Transfer-Encoding")
}

// header is the beginning of a message.
type header struct {
	octets []byte // the fields, unchanged
	after  []byte // text that has been read after the header
	fields []fetch.Field
}

// readHeader reads fields up to an empty line. A text whose first line is not a field has no
// header.
func readHeader(lines *wire.LineReader, limit int) (*header, error) {
	h := new(header)
	for {
		line, err := lines.ReadLine()
		if err == io.EOF {
			return h, nil
		}
		if err == wire.ErrLineTooLong {
			return nil, &fetch.Error{Kind: fetch.ErrTooLarge, Err: err}
		}
		if err != nil {
			return nil, &fetch.Error{Kind: fetch.ErrLocalIO, Err: err}
		}
		text := string(wire.TrimEOL(line))
		name, value, isField := strings.Cut(text, ":")
		isField = isField && isFieldName(name)
		folded := len(h.fields) > 0 && strings.TrimLeft(text, " \t") != text
		switch {
		case text == "" && len(h.fields) > 0:
			return h, nil
		case folded:
			last := &h.fields[len(h.fields)-1]
			last.Value += " " + strings.TrimSpace(text)
		case isField:
			h.fields = append(h.fields, fetch.Field{Name: name, Value: strings.TrimSpace(value)})
		case len(h.fields) == 0:
			h.after = bytes.Clone(line)
			return h, nil
		default:
			return nil, &fetch.Error{Kind: fetch.ErrBadURL, Err: fmt.Errorf("invalid line in the message header: %s", fetch.Printable(text))}
		}
		h.octets = append(append(h.octets, text...), "\r\n"...)
		if limit > 0 && len(h.octets) > limit {
			return nil, &fetch.Error{Kind: fetch.ErrTooLarge, Err: fmt.Errorf("the message header is longer than %d bytes", limit)}
		}
	}
}

func isFieldName(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return s != ""
}

func (h *header) has(name string) bool {
	return slices.ContainsFunc(h.fields, func(f fetch.Field) bool {
		return strings.EqualFold(f.Name, name)
	})
}

func (h *header) get(name string) string {
	for _, f := range h.fields {
		if strings.EqualFold(f.Name, name) {
			return f.Value
		}
	}
	return ""
}
