package exchange

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
)

// Errors of heads; see package http.
var (
	ErrNotHTTP = errors.New("not an HTTP response")
	ErrHeader  = errors.New("response header")
	ErrCoding  = errors.New("bad content or transfer coding")
)

// head is the head of a response, as it arrives. Limits apply to it, and to all heads before it, those
// of 1xx responses, together.
type head struct {
	limits *fetch.Limits
	octets []byte
	total  int  // bytes of all heads
	line   int  // bytes of this line
	text   bool // this line is not empty
}

// read reads up to the empty line that ends the head, and not a byte more.
func (h *head) read(in *bufio.Reader) error {
	for {
		if _, err := in.Peek(1); err != nil {
			return err
		}
		octets, _ := in.Peek(in.Buffered())
		n, ended, err := h.take(octets)
		h.octets = append(h.octets, octets[:n]...)
		_, _ = in.Discard(n) // they are buffered
		switch {
		case err != nil:
			return err
		case !startsAsHTTP(h.octets) && bytes.IndexByte(h.octets, '\n') >= 0:
			return ErrNotHTTP
		case ended:
			return nil
		}
	}
}

// take returns how many bytes belong to the head, and whether it ends with them.
func (h *head) take(octets []byte) (n int, ended bool, err error) {
	for _, octet := range octets {
		n++
		h.line++
		h.total++
		switch {
		case h.limits.Line > 0 && h.line > h.limits.Line:
			return n, false, &fetch.Error{Kind: fetch.ErrTooLarge, Err: fmt.Errorf("%w: a line is longer than %d bytes", ErrHeader, h.limits.Line)}
		case h.limits.Header > 0 && h.total > h.limits.Header:
			return n, false, &fetch.Error{Kind: fetch.ErrTooLarge, Err: fmt.Errorf("%w: longer than %d bytes", ErrHeader, h.limits.Header)}
		case octet != '\n':
			h.text = h.text || octet != '\r'
		case !h.text:
			h.line = 0
			return n, true, nil
		default:
			h.line, h.text = 0, false
		}
	}
	return n, false, nil
}

// isInterim reports whether the head is that of a 1xx response that another response follows.
func (h *head) isInterim() bool {
	_, status, _ := bytes.Cut(h.octets, []byte(" "))
	status = bytes.TrimLeft(status, " ")
	return len(status) > 3 && status[0] == '1' && !bytes.HasPrefix(status, []byte("101"))
}

// parse returns the response to r, without its body. If ignoreLength is set, a Content-Length counts as
// missing.
func (h *head) parse(r *http.Request, ignoreLength bool) (*http.Response, error) {
	plain := h.octets
	if ignoreLength {
		plain = append(withoutFields(plain, "Content-Length"), "\r\n"...)
	}
	plain = plainFraming(plainLines(plain))
	codings := members(Fields(plain), "Transfer-Encoding")
	if len(codings) > 0 && bytes.HasPrefix(plain, []byte("HTTP/1.0 ")) {
		// RFC 9112 §6.1: its framing is faulty. net/http would take the chunks for the document.
		return nil, &fetch.Error{Kind: fetch.ErrProtocol, Err: fmt.Errorf("%w: HTTP/1.0 has no transfer coding", ErrCoding)}
	}
	resp, err := http.ReadResponse(bufio.NewReaderSize(bytes.NewReader(plain), 512), r)
	if err == nil {
		return resp, nil
	}
	if slices.ContainsFunc(codings, func(c string) bool { return c != "chunked" }) {
		err = fmt.Errorf("%w: %w", ErrCoding, err)
	}
	return nil, &fetch.Error{Kind: fetch.ErrProtocol, Err: err}
}

// plainLines returns a head without the lines that no program can take for a field: those without a
// colon, also a status line that comes again, those with a control character, and those that begin
// with a space where no field is before them. net/http refuses such a head. White space in front of a
// colon, which net/http takes for a part of the name, is left out, too (RFC 9112 §5.1). The connection
// to such a server is not used again. A head is not changed if it has NUL or a lone CR, if such a line
// continues a field, could be about the framing or the coding, or is another status line.
func plainLines(head []byte) []byte {
	status, rest, _ := bytes.Cut(bytes.TrimRight(head, "\r\n"), []byte("\n"))
	if bytes.IndexByte(head, 0) >= 0 || bytes.Count(head, []byte("\r")) != bytes.Count(head, []byte("\r\n")) {
		return head
	}
	plain := append(status[:len(status):len(status)], '\n')
	first, odd, changed := true, false, false
	for line := range bytes.Lines(rest) {
		continues := line[0] == ' ' || line[0] == '\t'
		if continues {
			odd = odd || first
		} else {
			name, value, ok := bytes.Cut(line, []byte(":"))
			odd = !ok
			if bare := bytes.TrimRight(name, " \t"); ok && len(bare) < len(name) {
				line, changed = slices.Concat(bare, []byte(":"), value), true
			}
		}
		first = false
		switch {
		case !odd && !hasControls(line):
			plain = append(plain, line...)
		case !odd && continues, aboutFraming(line), isStatus(line) && !bytes.Equal(bytes.TrimSpace(line), bytes.TrimSpace(status)):
			return head // net/http refuses it
		default:
			odd, changed = true, true
		}
	}
	if !changed {
		return head
	}
	if !bytes.HasSuffix(plain, []byte("\n")) {
		plain = append(plain, "\r\n"...)
	}
	return append(plain, "Connection: close\r\n\r\n"...)
}

// isStatus reports whether a line looks like a status line.
func isStatus(line []byte) bool {
	return bytes.HasPrefix(bytes.ToUpper(bytes.TrimSpace(line)), []byte("HTTP/"))
}

// hasControls reports whether a line has control characters before its end.
func hasControls(line []byte) bool {
	return bytes.ContainsFunc(bytes.TrimRight(line, "\r\n"), func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

// aboutFraming reports whether a line names one of the fields that say where a body ends, how it is
// coded, or where it is instead.
func aboutFraming(line []byte) bool {
	line = bytes.ToLower(line)
	return bytes.Contains(line, []byte("content-length")) || bytes.Contains(line, []byte("transfer-encoding")) ||
		bytes.Contains(line, []byte("content-encoding")) || bytes.HasPrefix(line, []byte("location"))
}

// plainFraming returns a head with the framing as net/http accepts it. Servers write the same in
// other ways, which have one meaning only: a length repeated, also in one field (RFC 9110 §8.6); the
// transfer coding "identity" of RFC 2616, which changes nothing; "chunked" repeated for one layer of
// chunks. The connection to such a server is not used again. Any other head is not changed, nor is one
// with a CR inside a line, which net/http refuses.
func plainFraming(head []byte) []byte {
	if bytes.Count(head, []byte("\r")) != bytes.Count(head, []byte("\r\n")) {
		return head
	}
	list := Fields(head)
	lengths, codings := members(list, "Content-Length"), members(list, "Transfer-Encoding")
	if len(lengths) < 2 && (len(codings) == 0 || len(codings) == 1 && codings[0] == "chunked") {
		return head
	}
	for i, n := range lengths {
		lengths[i] = cmp.Or(strings.TrimLeft(n, "0"), n[:min(len(n), 1)])
	}
	lengths = slices.Compact(lengths)
	codings = slices.Compact(slices.DeleteFunc(codings, func(c string) bool { return c == "identity" || c == "" }))
	if len(lengths) > 1 || len(codings) > 1 || len(codings) == 1 && codings[0] != "chunked" {
		return head // net/http refuses it
	}
	plain := append(withoutFields(head, "Content-Length", "Transfer-Encoding"), "Connection: close\r\n"...)
	for _, length := range lengths {
		plain = append(plain, "Content-Length: "+length+"\r\n"...)
	}
	for _, coding := range codings {
		plain = append(plain, "Transfer-Encoding: "+coding+"\r\n"...)
	}
	return append(plain, "\r\n"...)
}

// withoutFields returns a head without the fields of some names, and without the empty line at its end.
func withoutFields(head []byte, names ...string) []byte {
	rest := make([]byte, 0, len(head)+len("Connection: close\r\n"))
	drop := false
	for line := range bytes.Lines(bytes.TrimRight(head, "\r\n")) {
		if line[0] != ' ' && line[0] != '\t' { // else it continues the line before it
			name, _, _ := strings.Cut(string(line), ":")
			drop = slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(name, n) })
		}
		if !drop {
			rest = append(rest, line...)
		}
	}
	return append(bytes.TrimRight(rest, "\r\n"), "\r\n"...)
}

// members returns the members of the lists in all fields of a name, in lower case.
func members(list []fetch.Field, name string) (all []string) {
	for _, f := range list {
		if strings.EqualFold(f.Name, name) {
			for member := range strings.SplitSeq(strings.ToLower(f.Value), ",") {
				all = append(all, strings.Trim(member, " \t"))
			}
		}
	}
	return all
}

// notHTTP returns the error for data that does not start like an HTTP response. It shows the first
// line only: a server that echoes may send back a password.
func notHTTP(hooks *Hooks, received []byte) error {
	line, _, _ := bytes.Cut(received, []byte("\n"))
	line = Masked(append(line[:len(line):len(line)], '\n'))
	hooks.Call(func(t *fetch.Trace) { t.Received(line) })
	return fmt.Errorf("%w; it starts with %q", ErrNotHTTP, bytes.TrimSpace(line[:min(len(line), 40)]))
}

// startsAsHTTP reports whether a head, or the beginning of one, starts like an HTTP/1.0 or 1.1
// response: with a version and a status of three digits.
func startsAsHTTP(head []byte) bool {
	const start = "HTTP/1."
	line, _, complete := bytes.Cut(head, []byte("\n"))
	if !bytes.HasPrefix(line, []byte(start[:min(len(start), len(line))])) {
		return false
	}
	words := bytes.Fields(line)
	return !complete || len(words) > 1 && (string(words[0]) == "HTTP/1.0" || string(words[0]) == "HTTP/1.1") &&
		len(words[1]) == 3 && len(bytes.Trim(words[1], "0123456789")) == 0
}

// Fields returns the fields of a head, in order. A line that starts with white space continues the
// line before it (RFC 9112 §5.2).
func Fields(head []byte) []fetch.Field {
	_, lines, _ := strings.Cut(string(head), "\n")
	list := make([]fetch.Field, 0, min(strings.Count(lines, "\n"), 32))
	for line := range strings.Lines(lines) {
		text := strings.TrimRight(line, "\r\n")
		if value := strings.TrimLeft(text, " \t"); value != text && len(list) > 0 {
			list[len(list)-1].Value += " " + value
			continue
		}
		if name, value, ok := strings.Cut(text, ":"); ok {
			list = append(list, fetch.Field{Name: strings.TrimRight(name, " \t"), Value: strings.Trim(value, " \t")})
		}
	}
	return list
}
