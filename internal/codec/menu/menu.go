// Package menu parses gopher menus (RFC 1436) as real servers send them: with bare line feeds,
// missing fields, placeholder hosts, unexpected text after the port, and no last line.
package menu

import (
	"bytes"
	"io"
	"iter"
	"net/netip"
	"strings"

	"github.com/fetch1738/fetch1738/internal/wire"
)

// The item types that are not plain links. All others are links.
const (
	Info   = 'i' // a line of text, not a link
	Error  = '3' // a server's error message, not a link
	Mirror = '+' // an alternative location of the item above
)

// Line is one line of a menu. Its fields are bytes as the server sent them, and refer to a buffer:
// the Line and its fields are valid until the next one is read.
type Line struct {
	// Type is the item type. It is Info for a line without a type, and the type of the item above
	// for a mirror.
	Type byte
	// Display is the text of the line. If that is empty, it is the selector, except in a line of text,
	// which is then a blank line: servers put words like "fake" or "TITLE" in its selector.
	Display []byte
	// Selector and Host are the second and third fields.
	Selector, Host []byte
	// Port is the fourth field; 0 if the line ends before it.
	Port uint16
	// Plus is the fifth field if it is exactly '+' (a Gopher+ item) or '?' (one
	// with a form), otherwise 0.
	Plus byte
	// Mirror is set for an alternative location of the item above (type '+').
	Mirror bool
	// Tabbed is set for a line with more than one field.
	Tabbed bool
	// Fault says why a line that looks like a link is not one. It is empty for all other lines.
	Fault string

	fields []byte // the first two, as sent
}

// Strings returns Display and Selector as strings, which share memory.
func (l *Line) Strings() (display, selector string) {
	if l.fields == nil {
		return string(l.Display), ""
	}
	display, selector, _ = strings.Cut(string(l.fields), "\t")
	if display == "" && !l.blank() {
		display = selector
	}
	return display, selector
}

// blank reports whether a line without text is a blank line rather than an item without a name.
func (l *Line) blank() bool { return l.Type == Info && l.Fault == "" }

// Link reports whether the line is a link.
func (l *Line) Link() bool { return l.Type != Info && l.Type != Error && l.Fault == "" }

// URL returns the URL in the selector of an item 'h', or nil.
func (l *Line) URL() []byte {
	if l.Type != 'h' {
		return nil
	}
	return SelectorURL(l.Selector)
}

// SelectorURL returns the URL in a selector "URL:…" or "/URL:…", or nil.
func SelectorURL(selector []byte) []byte {
	selector = bytes.TrimPrefix(selector, []byte("/"))
	if len(selector) > 4 && bytes.EqualFold(selector[:4], []byte("URL:")) {
		return selector[4:]
	}
	return nil
}

// IsPlaceholder reports whether a host is one of the placeholders that servers use in lines without a
// host.
func IsPlaceholder(host []byte) bool {
	return string(host) == "error.host" || string(host) == "null.host"
}

// Parse parses a single line, with or without its line end. It does not see the line above, so a
// mirror line is a fault.
func Parse(line []byte) Line {
	var s scanner
	s.parse(trimEnd(line))
	return s.line
}

// bufferSize is how many bytes are read at once. The buffer grows to hold a longer line.
const bufferSize = 16 << 10

// Lines parses a menu from r, up to its "." line or the end. If there is an error, it is yielded
// last: an error of r, or [wire.ErrLineTooLong] for a line of more than max bytes. If max is 0,
// there is no limit.
func Lines(r io.Reader, max int) iter.Seq2[*Line, error] {
	return lines(r, max, bytes.LastIndexByte)
}

// lines is Lines with a function that searches for line ends, whose calls tests count.
func lines(r io.Reader, max int, lastIndexByte func(s []byte, c byte) int) iter.Seq2[*Line, error] {
	return func(yield func(*Line, error) bool) {
		s := scanner{max: max, yield: yield}
		buf := make([]byte, 0, bufferSize)
		for {
			if len(buf) == cap(buf) {
				buf = append(buf, 0)[:len(buf)]
			}
			n, err := r.Read(buf[len(buf):cap(buf)])
			fresh := len(buf)
			buf = buf[:fresh+n]
			// Only new data can contain the line end, so no byte of a long line is examined twice.
			end := lastIndexByte(buf[fresh:], '\n') + 1
			if end > 0 {
				end += fresh
			}
			if err == io.EOF {
				end = len(buf)
			}
			if !s.lines(buf[:end]) {
				return
			}
			buf = buf[:copy(buf, buf[end:])]
			switch {
			case err == io.EOF:
				return
			case err == nil && max > 0 && len(buf) > max:
				err = wire.ErrLineTooLong
			}
			if err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// scanner yields lines, and keeps what later lines may refer to.
type scanner struct {
	max   int
	yield func(*Line, error) bool
	line  Line
	above byte // type of the last link; a mirror has the same

	// The last valid "host TAB port", because most lines of a menu have the same.
	server []byte
	host   int // length of its host
	port   uint16
}

// lines yields the lines of text and reports whether to continue.
func (s *scanner) lines(text []byte) bool {
	for len(text) > 0 {
		end := bytes.IndexByte(text, '\n') + 1
		if end == 0 {
			end = len(text)
		}
		if s.max > 0 && end > s.max {
			s.yield(nil, wire.ErrLineTooLong)
			return false
		}
		line := trimEnd(text[:end])
		if len(line) == 1 && line[0] == '.' {
			return false
		}
		s.parse(line)
		if !s.yield(&s.line, nil) {
			return false
		}
		text = text[end:]
	}
	return true
}

// parse parses a line without its line end into s.line.
func (s *scanner) parse(line []byte) {
	l := &s.line
	*l = Line{Type: Info}
	if len(line) == 0 {
		return
	}
	display, rest, tabbed := cutTab(line)
	l.Tabbed = tabbed
	typ := line[0]
	if typ <= ' ' || typ > '~' || !tabbed && typ != Info && typ != Error {
		l.Display, l.Fault = line, "not a menu line"
		return
	}
	l.Type, l.Display = typ, display[1:]
	l.Selector, rest, _ = cutTab(rest)
	l.fields = line[1:min(len(line), len(display)+1+len(l.Selector))]
	if len(l.Display) == 0 && !l.blank() {
		l.Display = l.Selector
	}
	switch typ {
	case Info, Error:
		l.Host, _, _ = cutTab(rest)
		return
	case 'h':
		if SelectorURL(l.Selector) != nil {
			s.above = typ
			return // the gopher server's address does not matter
		}
	}
	s.parseServer(rest)
	switch {
	case typ != Mirror && l.Fault == "":
		s.above = typ
	case typ != Mirror:
	case s.above == 0:
		l.Type, l.Fault = Info, "mirror without an item above it"
	default:
		l.Type, l.Mirror = s.above, true
	}
}

// parseServer parses host, port and Gopher+ tag.
func (s *scanner) parseServer(fields []byte) {
	l := &s.line
	n := len(s.server)
	if n > 0 && bytes.HasPrefix(fields, s.server) && (len(fields) == n || fields[n] == '\t') {
		l.Host, l.Port = fields[:s.host], s.port
		l.Plus = tag(fields[n:])
		return
	}
	host, rest, hasPort := cutTab(fields)
	l.Host = host
	portOK := !hasPort
	if hasPort {
		l.Port, rest, portOK = cutPort(rest)
		l.Plus = tag(rest)
	}
	switch {
	case !portOK:
		l.Fault = "bad port"
	case len(host) == 0:
		l.Fault = "no host"
	case !hostOK(host):
		l.Fault = "bad host"
	case hasPort:
		s.server = append(s.server[:0], fields[:len(fields)-len(rest)]...)
		s.host, s.port = len(host), l.Port
	}
}

// tag returns the Gopher+ tag in the fields after the port, or 0.
func tag(rest []byte) byte {
	if len(rest) > 1 && (rest[1] == '+' || rest[1] == '?') && (len(rest) == 2 || rest[2] == '\t') {
		return rest[1]
	}
	return 0
}

// trimEnd removes the line end, and the CRs that some servers send before it.
func trimEnd(line []byte) []byte {
	for n := len(line); n > 0 && (line[n-1] == '\n' || line[n-1] == '\r'); n-- {
		line = line[:n-1]
	}
	return line
}

// cutTab is bytes.Cut at a TAB.
func cutTab(s []byte) (before, after []byte, found bool) {
	if i := bytes.IndexByte(s, '\t'); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return s, nil, false
}

// cutPort parses the port at the start of s; rest is empty or begins with the TAB after the port.
func cutPort(s []byte) (port uint16, rest []byte, ok bool) {
	n, i := 0, 0
	for ; i < len(s) && '0' <= s[i] && s[i] <= '9' && n < 1<<16; i++ {
		n = n*10 + int(s[i]-'0')
	}
	if i < len(s) && s[i] != '\t' {
		_, rest, _ = cutTab(s)
		return 0, rest, false
	}
	return uint16(n), s[i:], 0 < n && n < 1<<16
}

// hostOK reports whether host can be a host name or an IP address, and is not a placeholder.
func hostOK(host []byte) bool {
	if len(host) > 255 || IsPlaceholder(host) {
		return false
	}
	for i := range len(host) {
		if c := host[i]; !hostOctet[c] {
			if c != ':' {
				return false
			}
			addr, err := netip.ParseAddr(string(host))
			return err == nil && addr.Zone() == ""
		}
	}
	return host[0] != '-' && host[0] != '.'
}

var hostOctet = func() (ok [256]bool) {
	for c := range ok {
		b := byte(c)
		ok[c] = 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || b == '-' || b == '.' || b == '_'
	}
	return ok
}()
