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

// Personality is the server whose ways with Gopher+ a [Gopher] follows.
type Personality uint8

// The personalities.
const (
	// PlainGopher knows nothing of Gopher+ and takes what comes behind a TAB for
	// search words.
	PlainGopher Personality = iota
	// StandardGopher does as RFC 1436 and the document of Gopher+ say: "+-1" before
	// texts and menus, "+N" before all else, attributes, views, forms and searches.
	StandardGopher
	// UMNGopher is like gopherd 2.3: "+-1" before texts and menus, "+N" before all
	// else, attributes, views and forms; only a line that is nothing but a dot gets
	// another; the filter of "!" is ignored, that of "$"
	// is not; two TABs before a Gopher+ string are refused except of a search
	// (selectors that begin with "7"), whose results have no header.
	UMNGopher
	// PyGopher is like pygopherd: "+N" before files, "+-2" before all else, no
	// dots; views are ignored, forms are not understood, and neither is "!" with a
	// filter: those are searches.
	PyGopher
	// StubGopher is like geomyidae: it answers whatever has a TAB and a "+", "!" or
	// "$" by the attributes of one item that is not there.
	StubGopher
)

// GopherItem is what Gopher+ says about a file of Content.
type GopherItem struct {
	// Admin is whom to tell; empty is the server's own.
	Admin string
	// Abstract is a text of one line or more; "" is none.
	Abstract string
	// Views are the forms the item comes in, the preferred one first; nil is its
	// file, as what its suffix says.
	Views []GopherView
	// Ask are the lines of its form, such as "Ask: How many?\t10".
	Ask []string
	// Answer makes a document of a filled form's lines; nil lists them.
	Answer func(lines []string) string
	// Blocks are further attributes, such as "+KEYWORDS:\r\n fish\r\n".
	Blocks string
}

// GopherView is a view of an item.
type GopherView struct {
	Type, Language string
	Size           string // as between "<" and ">"; "" leaves it out
	Name           string // of the file in Content; "" is the item's own
}

// label is the view as attributes and requests name it.
func (v GopherView) label() string {
	if v.Language == "" {
		return v.Type
	}
	return v.Type + " " + v.Language
}

// PlusHeader sends another header before a Gopher+ answer, such as "+-2\r\n" or
// "+7\n"; "" sends none.
func PlusHeader(line string) Fault { return Fault{kind: fPlusHeader, text: line} }

// Trailer sends more octets behind the whole of an answer of Gopher, as gopherd
// 3.0 does with ".\r\n" behind a counted one.
func Trailer(octets string) Fault { return Fault{kind: fTrailer, text: octets} }

// NoColon leaves out the colon behind "+INFO", as gopherd 2.3 does for its root.
func NoColon() Fault { return Fault{kind: fNoColon} }

// PlusError refuses a Gopher+ request with a code and a text: 1 not available, 2
// try later, 3 moved (the text is then the new menu line).
func PlusError(code int, text string) Fault {
	return Fault{kind: fPlusError, n: int64(code), text: text}
}

const defaultAdmin = "Gopher Admin <admin@localhost>"

// plusRequest is what a request asks of Gopher+.
type plusRequest struct {
	command byte   // '+', '!' or '$'
	filter  string // what follows it: a view, or the names of attributes
	data    bool   // a form follows
}

// plusOf finds the Gopher+ part of a request, if this server sees one there.
func (s *Gopher) plusOf(req gopherRequest) (p plusRequest, ok bool) {
	fields := append([]string{req.words}, req.more...)
	if s.Personality == PlainGopher || fields[0] == "" && len(fields) == 1 {
		return p, false
	}
	if len(fields) > 1 && (fields[0] == "" || !strings.ContainsAny(fields[0][:1], "+!$")) {
		fields = fields[1:] // behind search words, or none
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

// listed is an answer of attributes.
func (s *Gopher) listed(attributes string) gopherAnswer {
	if s.Personality == PyGopher {
		return gopherAnswer{stage: "PLUS", header: "+-2\r\n", body: text(attributes)}
	}
	return gopherAnswer{stage: "PLUS", header: "+-1\r\n", text: true, body: text(attributes)}
}

// everyAttribute has the attributes of all that is in a directory.
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

// attributes has the blocks of an item; those that filter names, if it does.
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

// indented is a text as the lines of a block.
func indented(text string) string {
	if text == "" {
		return ""
	}
	return " " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\r\n ") + "\r\n"
}

// views are the views of an item.
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

// view gives an item in the view that is asked for.
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

// withInfo makes a menu the list of attributes that gopherd answers a search of
// Gopher+ with: no header, "+INFO: " before every item.
func (s *Gopher) withInfo(a gopherAnswer) gopherAnswer {
	return gopherAnswer{stage: "PLUS", text: true, body: text(everyInfo(a.body))}
}

// everyInfo is a menu as attributes of which only the item itself is known.
func everyInfo(menu io.Reader) string {
	var list strings.Builder
	lines := bufio.NewScanner(menu)
	for lines.Scan() {
		list.WriteString("+INFO: " + lines.Text() + "\r\n")
	}
	return list.String()
}

// refuse is an error of Gopher+.
func (s *Gopher) refuse(code int, why string) gopherAnswer {
	message := fmt.Sprintf("%d %s\r\n%s\r\n", code, defaultAdmin, why)
	if s.Personality == PyGopher {
		return gopherAnswer{stage: "ERROR", header: "--2\r\n", body: text(message)}
	}
	return gopherAnswer{stage: "ERROR", header: "--1\r\n", text: true, body: text(message)}
}

// answerForm makes a document of a filled form.
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

// maxForm bounds a filled form, in octets.
const maxForm = 64 << 10

// readForm reads and records the data behind a request line: lines up to one of
// a dot ("+-1"), so many octets ("+12"), or what comes before the client closes
// its side ("+-2").
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

// hereTabbed is the server's host and port as in a menu.
func (s *Gopher) hereTabbed() string {
	host, port := s.where()
	return fmt.Sprintf("%s\t%d", host, port)
}
