package testserver

import (
	"bufio"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Personality is the server whose Gopher+ behavior a [Gopher] imitates.
type Personality uint8

// The personalities.
const (
	// PlainGopher has no Gopher+ and takes what follows a TAB for search words.
	PlainGopher Personality = iota
	// StandardGopher follows RFC 1436 and the Gopher+ document: "+-1" before texts and menus, "+N"
	// before all else, attributes, views, forms and searches.
	StandardGopher
	// UMNGopher behaves like gopherd 2.3. It sends "+-1" before texts and menus, "+N" before all
	// else, and has attributes, views and forms. A dot is stuffed only on a line that is nothing
	// else. The filter of "!" is ignored, that of "$" is not. Two TABs before a Gopher+ string are
	// refused, except in a search (selectors that begin with "7"), whose results have no header.
	UMNGopher
	// PyGopher behaves like pygopherd: "+N" before files, "+-2" before all else, no dots. Views are
	// ignored. It takes forms, and "!" with a filter, for searches.
	PyGopher
	// StubGopher behaves like geomyidae: it answers every request that has a TAB and a "+", "!" or
	// "$" with the attributes of one item that does not exist.
	StubGopher
)

// GopherItem is the Gopher+ information about a file of Content.
type GopherItem struct {
	// Admin is the administrator of the item; empty means the server's own.
	Admin string
	// Abstract is a text of one line or more; "" means no abstract.
	Abstract string
	// Views are the formats of the item, the preferred one first. If nil, the only view is the
	// file, with the type of its suffix.
	Views []GopherView
	// Ask has the lines of the item's form, such as "Ask: How many?\t10".
	Ask []string
	// Answer returns the document for the lines of a form that was filled in. If nil, the document
	// lists the lines.
	Answer func(lines []string) string
	// Blocks are further attributes, such as "+KEYWORDS:\r\n fish\r\n".
	Blocks string
}

// GopherView is a view of an item.
type GopherView struct {
	Type, Language string
	Size           string // the text between "<" and ">"; "" omits it
	Name           string // of the file in Content; "" means the item's own
}

// label is the name of the view in attributes and requests.
func (v GopherView) label() string {
	if v.Language == "" {
		return v.Type
	}
	return v.Type + " " + v.Language
}

// PlusHeader sends another header before a Gopher+ answer, such as "+-2\r\n" or "+7\n"; "" sends no
// header.
func PlusHeader(line string) Fault { return Fault{kind: fPlusHeader, text: line} }

// Trailer sends more bytes after the whole of a Gopher answer, as gopherd 3.0 does with ".\r\n"
// after one whose length is given.
func Trailer(octets string) Fault { return Fault{kind: fTrailer, text: octets} }

// NoColon omits the colon after "+INFO", as gopherd 2.3 does for its root.
func NoColon() Fault { return Fault{kind: fNoColon} }

// PlusError refuses a Gopher+ request with a code and a text: 1 not available, 2 try later, 3 moved
// (the text is then the new menu line).
func PlusError(code int, text string) Fault {
	return Fault{kind: fPlusError, n: int64(code), text: text}
}

const defaultAdmin = "Gopher Admin <admin@localhost>"

// plusRequest is the Gopher+ part of a request.
type plusRequest struct {
	command byte   // '+', '!' or '$'
	filter  string // what follows it: a view, or the names of attributes
	data    bool   // a form follows
}

// plusOf returns the Gopher+ part of a request. It returns false if a server of this Personality
// finds none.
func (s *Gopher) plusOf(req gopherRequest) (p plusRequest, ok bool) {
	fields := append([]string{req.words}, req.more...)
	if s.Personality == PlainGopher || fields[0] == "" && len(fields) == 1 {
		return p, false
	}
	if len(fields) > 1 && (fields[0] == "" || !strings.ContainsAny(fields[0][:1], "+!$")) {
		fields = fields[1:] // behind the search words, if there are any
	}
	if fields[0] == "" || !strings.ContainsAny(fields[0][:1], "+!$") {
		return p, false
	}
	p = plusRequest{command: fields[0][0], filter: fields[0][1:]}
	p.data = p.command == '+' && len(fields) > 1 && fields[1] == "1"
	if s.Personality == PyGopher && (p.data || p.command == '!' && p.filter != "") {
		return p, false
	}
	return p, true
}

// plus answers a request of Gopher+.
func (s *Gopher) plus(req gopherRequest, p plusRequest) gopherAnswer {
	search := strings.HasPrefix(req.selector, "7")
	switch {
	case s.Personality == StubGopher:
		return gopherAnswer{stage: "PLUS", header: "+-2\r\n", body: text("+INFO: 1gopher+\t\t" + s.hereTabbed() + "\r\n+ADMIN:\r\n Admin: Me\r\n")}
	case s.Personality == UMNGopher && req.words == "" && !search:
		return s.failureIn('0', "Malformed command")
	case s.Personality == UMNGopher && search && p.command != '!':
		a := s.search(req)
		return s.withInfo(a)
	case req.words != "" && !strings.ContainsAny(req.words[:1], "+!$"):
		return s.headed(s.search(req), 0)
	}
	_, name := s.resolve(req.selector)
	e, err := s.tree.stat(name)
	if err != nil {
		return s.refuse(1, fmt.Sprintf("'%s' does not exist", req.selector))
	}
	switch p.command {
	case '!':
		return s.listed(s.attributes(name, e, ""))
	case '$':
		return s.everyAttribute(name, e, p.filter)
	}
	if p.data && len(s.Plus[name].Ask) > 0 {
		return s.answerForm(s.Plus[name], req.form)
	}
	return s.view(name, e, p.filter)
}

// listed returns an answer that consists of attributes.
func (s *Gopher) listed(attributes string) gopherAnswer {
	if s.Personality == PyGopher {
		return gopherAnswer{stage: "PLUS", header: "+-2\r\n", body: text(attributes)}
	}
	return gopherAnswer{stage: "PLUS", header: "+-1\r\n", text: true, body: text(attributes)}
}

// everyAttribute answers with the attributes of all items in a directory.
func (s *Gopher) everyAttribute(name string, e entry, filter string) gopherAnswer {
	entries, err := s.tree.list(name)
	if err != nil || !e.Dir {
		return s.refuse(1, fmt.Sprintf("'/%s' is no menu", name))
	}
	if m, _, err := s.tree.open(path.Join(name, "gophermap")); err == nil {
		defer m.Close()
		return s.listed(everyInfo(strings.NewReader(s.fromMap(name, m))))
	}
	if s.Personality == PyGopher {
		filter = ""
	}
	var all strings.Builder
	for _, e := range entries {
		all.WriteString(s.attributes(path.Join(name, e.Name), e, filter))
	}
	return s.listed(all.String())
}

// attributes returns the blocks of an item: all, or those that filter names.
func (s *Gopher) attributes(name string, e entry, filter string) string {
	item := s.Plus[name]
	var b strings.Builder
	add := func(block, lines string) {
		if lines != "" && (filter == "" || slices.Contains(strings.FieldsFunc(filter, func(r rune) bool { return r == '+' || r == ' ' }), block)) {
			fmt.Fprintf(&b, "+%s:\r\n%s", block, lines)
		}
	}
	admin := item.Admin
	if admin == "" {
		admin = defaultAdmin
	}
	b.WriteString("+INFO: " + s.line(s.item(name, e)))
	add("ADMIN", fmt.Sprintf(" Admin: %s\r\n Mod-Date: %s\r\n", admin, e.ModTime.UTC().Format("Mon Jan _2 15:04:05 2006 <20060102150405>")))
	var views strings.Builder
	for _, v := range s.views(name, e) {
		views.WriteString(" " + v.label() + ":")
		if v.Size != "" {
			views.WriteString(" <" + v.Size + ">")
		}
		views.WriteString("\r\n")
	}
	add("VIEWS", views.String())
	add("ABSTRACT", indented(item.Abstract))
	add("ASK", indented(strings.Join(item.Ask, "\n")))
	b.WriteString(item.Blocks)
	return b.String()
}

// indented formats a text as the lines of a block.
func indented(text string) string {
	if text == "" {
		return ""
	}
	return " " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\r\n ") + "\r\n"
}

// views returns the views of an item.
func (s *Gopher) views(name string, e entry) []GopherView {
	switch item := s.Plus[name]; {
	case item.Views != nil:
		return item.Views
	case e.Dir:
		return []GopherView{{Type: "application/gopher-menu", Language: "En_US"}, {Type: "application/gopher+-menu", Language: "En_US"}}
	}
	size := strconv.FormatInt(e.Size, 10) + "b"
	switch gopherType(e.Name) {
	case '0':
		return []GopherView{{Type: "Text/plain", Language: "En_US", Size: size}}
	case 'h':
		return []GopherView{{Type: "text/html", Language: "En_US", Size: size}}
	case 'g':
		return []GopherView{{Type: "image/gif", Size: size}}
	}
	return []GopherView{{Type: "application/octet-stream", Size: size}}
}

// view answers with an item in the requested view.
func (s *Gopher) view(name string, e entry, wanted string) gopherAnswer {
	views := s.views(name, e)
	chosen := views[0]
	if wanted != "" && s.Personality != PyGopher {
		i := slices.IndexFunc(views, func(v GopherView) bool { return v.label() == wanted || v.Type == wanted })
		if i < 0 {
			return s.refuse(1, fmt.Sprintf("'/%s' does not exist", name))
		}
		chosen = views[i]
	}
	switch {
	case e.Dir && chosen.Type == "application/gopher+-menu":
		return s.everyAttribute(name, e, "")
	case e.Dir:
		return s.headed(s.directory(name), 0)
	case chosen.Name != "":
		name = chosen.Name
	}
	file, e, err := s.tree.open(name)
	if err != nil {
		return s.refuse(1, fmt.Sprintf("'/%s' is not for you", name))
	}
	text := strings.HasPrefix(strings.ToLower(chosen.Type), "text/") && s.Personality != PyGopher
	return s.headed(gopherAnswer{stage: "PLUS", text: text, body: file}, e.Size)
}

// headed puts a header before a plain answer.
func (s *Gopher) headed(a gopherAnswer, size int64) gopherAnswer {
	a.stage = "PLUS"
	switch {
	case a.text && s.Personality == PyGopher:
		a.header, a.text = "+-2\r\n", false
	case a.text:
		a.header = "+-1\r\n"
	default:
		a.header = fmt.Sprintf("+%d\r\n", size)
	}
	return a
}

// withInfo turns a menu into the list of attributes with which gopherd answers a search of Gopher+:
// no header, "+INFO: " before every item.
func (s *Gopher) withInfo(a gopherAnswer) gopherAnswer {
	return gopherAnswer{stage: "PLUS", text: true, body: text(everyInfo(a.body))}
}

// everyInfo returns a menu as attributes that have no more than the item itself.
func everyInfo(menu io.Reader) string {
	var list strings.Builder
	lines := bufio.NewScanner(menu)
	for lines.Scan() {
		list.WriteString("+INFO: " + lines.Text() + "\r\n")
	}
	return list.String()
}

// refuse returns an error of Gopher+.
func (s *Gopher) refuse(code int, why string) gopherAnswer {
	message := fmt.Sprintf("%d %s\r\n%s\r\n", code, defaultAdmin, why)
	if s.Personality == PyGopher {
		return gopherAnswer{stage: "ERROR", header: "--2\r\n", body: text(message)}
	}
	return gopherAnswer{stage: "ERROR", header: "--1\r\n", text: true, body: text(message)}
}

// answerForm returns the document for a form that was filled in.
func (s *Gopher) answerForm(item GopherItem, lines []string) gopherAnswer {
	answer := item.Answer
	if answer == nil {
		answer = func(lines []string) string {
			var b strings.Builder
			for i, line := range lines {
				fmt.Fprintf(&b, "%d: [%s]\n", i+1, line)
			}
			return b.String()
		}
	}
	return gopherAnswer{stage: "FORM", header: "+-1\r\n", text: true, body: text(answer(lines))}
}

// maxForm is the maximum size of a form that was filled in, in bytes.
const maxForm = 64 << 10

// readForm reads and records the data after a request line: lines up to one of a dot ("+-1"), the
// number of bytes announced ("+12"), or all until the client closes its side ("+-2").
func (s *Gopher) readForm(c *conn, r *bufio.Reader) (lines []string, err error) {
	bounded := bufio.NewReader(io.LimitReader(r, maxForm))
	line := func() (string, error) {
		text, err := bounded.ReadString('\n')
		if text != "" {
			c.quote([]byte(text))
		}
		return strings.TrimRight(text, "\r\n"), err
	}
	header, err := line()
	if err != nil {
		return nil, err
	}
	left, err := strconv.Atoi(strings.TrimPrefix(header, "+"))
	if err != nil {
		return nil, err
	}
	if left >= 0 {
		data := make([]byte, min(left, maxForm))
		n, err := io.ReadFull(bounded, data)
		c.quote(data[:n])
		return strings.Split(strings.TrimSuffix(string(data[:n]), "\n"), "\n"), err
	}
	for {
		text, err := line()
		switch {
		case left == -1 && err == nil && text == ".", left == -2 && err == io.EOF:
			return lines, nil
		case err != nil:
			return lines, err
		}
		lines = append(lines, text)
	}
}

func text(s string) io.ReadCloser { return io.NopCloser(strings.NewReader(s)) }

// hereTabbed returns the server's host and port in the form of a menu.
func (s *Gopher) hereTabbed() string {
	host, port := s.where()
	return fmt.Sprintf("%s\t%d", host, port)
}
