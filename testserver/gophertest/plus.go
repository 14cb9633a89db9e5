package gophertest

import (
	"bufio"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/testserver/internal/core"
	"github.com/fetch1738/fetch1738/testserver/internal/tree"
)

// Dialect is the Gopher+ of a server. It is a part of some personalities.
type Dialect uint8

// The dialects.
const (
	// PlainGopher has no Gopher+ and takes what follows a TAB for search words.
	PlainGopher Dialect = iota
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
	// DeafGopher behaves like gophernicus: it ignores a Gopher+ string and sends the plain item.
	DeafGopher
)

// UnmarshalText reads the name of a constant, as in "UMNGopher".
func (d *Dialect) UnmarshalText(name []byte) error {
	return core.Choose(d, name, "PlainGopher", "StandardGopher", "UMNGopher", "PyGopher", "StubGopher", "DeafGopher")
}

// isPlusString reports whether a field of a request is one of Gopher+.
func isPlusString(field string) bool { return field != "" && strings.ContainsAny(field[:1], "+!$") }

// Item is the Gopher+ information about a file of Content.
type Item struct {
	// Admin is the administrator of the item; empty means the server's own.
	Admin string
	// Abstract is a text of one line or more; "" means no abstract.
	Abstract string
	// Views are the formats of the item, the preferred one first. If nil, the only view is the
	// file, with the type of its suffix.
	Views []View
	// Ask has the lines of the item's form, such as "Ask: How many?\t10".
	Ask []string
	// Answer returns the document for the lines of a form that was filled in. If nil, the document
	// lists the lines.
	Answer func(lines []string) string `json:"-"`
	// Blocks are further attributes, such as "+KEYWORDS:\r\n fish\r\n".
	Blocks string
}

// View is a view of an item.
type View struct {
	Type, Language string
	Size           string // the text between "<" and ">"; "" omits it
	Name           string // of the file in Content; "" means the item's own
}

// label is the name of the view in attributes and requests.
func (v View) label() string {
	if v.Language == "" {
		return v.Type
	}
	return v.Type + " " + v.Language
}

const defaultAdmin = "Gopher Admin <admin@localhost>"

// plusRequest is the Gopher+ part of a request.
type plusRequest struct {
	command byte   // '+', '!' or '$'
	filter  string // what follows it: a view, or the names of attributes
	data    bool   // a form follows
}

// plusOf returns the Gopher+ part of a request. It returns false if a server of this
// Dialect finds none.
func (d Dialect) plusOf(req request) (p plusRequest, ok bool) {
	fields := append([]string{req.words}, req.more...)
	if d == PlainGopher || d == DeafGopher || fields[0] == "" && len(fields) == 1 {
		return p, false
	}
	if len(fields) > 1 && !isPlusString(fields[0]) {
		fields = fields[1:] // behind the search words, if there are any
	}
	if !isPlusString(fields[0]) {
		return p, false
	}
	p = plusRequest{command: fields[0][0], filter: fields[0][1:]}
	p.data = p.command == '+' && len(fields) > 1 && fields[1] == "1"
	if d == PyGopher && (p.data || p.command == '!' && p.filter != "") {
		return p, false
	}
	return p, true
}

// plus answers a request of Gopher+.
func (s *Server) plus(req request, p plusRequest) answer {
	search := strings.HasPrefix(req.selector, "7")
	switch {
	case s.Dialect == StubGopher:
		return answer{stage: "PLUS", header: "+-2\r\n", body: text("+INFO: 1gopher+\t\t" + s.hereTabbed() + "\r\n+ADMIN:\r\n Admin: Me\r\n")}
	case s.Dialect == UMNGopher && req.words == "" && !search:
		return s.failureIn('0', "Malformed command")
	case s.Dialect == UMNGopher && search && p.command != '!':
		a := s.search(req)
		return withInfo(a)
	case req.words != "" && !isPlusString(req.words):
		return s.Dialect.headed(s.search(req), 0)
	}
	_, name := s.resolve(req.selector)
	e, err := s.m.Tree.Stat(name)
	if err != nil {
		return s.Dialect.refuse(1, fmt.Sprintf("'%s' does not exist", req.selector))
	}
	switch p.command {
	case '!':
		return s.Dialect.listed(s.attributes(name, e, ""))
	case '$':
		return s.everyAttribute(name, e, p.filter)
	}
	if p.data && len(s.Plus[name].Ask) > 0 {
		return s.Plus[name].answerForm(req.form)
	}
	return s.view(name, e, p.filter)
}

// listed returns an answer that consists of attributes.
func (d Dialect) listed(attributes string) answer {
	if d == PyGopher {
		return answer{stage: "PLUS", header: "+-2\r\n", body: text(attributes)}
	}
	return answer{stage: "PLUS", header: "+-1\r\n", text: true, body: text(attributes)}
}

// everyAttribute answers with the attributes of all items in a directory.
func (s *Server) everyAttribute(name string, e tree.Entry, filter string) answer {
	entries, err := s.m.Tree.List(name)
	if err != nil || !e.Dir {
		return s.Dialect.refuse(1, fmt.Sprintf("'/%s' is no menu", name))
	}
	if m, _, err := s.m.Tree.Open(path.Join(name, "gophermap")); err == nil {
		defer m.Close()
		return s.Dialect.listed(everyInfo(strings.NewReader(s.fromMap(name, m))))
	}
	if s.Dialect == PyGopher {
		filter = ""
	}
	var all strings.Builder
	for _, e := range entries {
		all.WriteString(s.attributes(path.Join(name, e.Name), e, filter))
	}
	return s.Dialect.listed(all.String())
}

// attributes returns the blocks of an item: all, or those that filter names.
func (s *Server) attributes(name string, e tree.Entry, filter string) string {
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
	for _, v := range item.views(e) {
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
func (i Item) views(e tree.Entry) []View {
	switch {
	case i.Views != nil:
		return i.Views
	case e.Dir:
		return []View{{Type: "application/gopher-menu", Language: "En_US"}, {Type: "application/gopher+-menu", Language: "En_US"}}
	}
	size := strconv.FormatInt(e.Size, 10) + "b"
	switch itemType(e.Name) {
	case '0':
		return []View{{Type: "Text/plain", Language: "En_US", Size: size}}
	case 'h':
		return []View{{Type: "text/html", Language: "En_US", Size: size}}
	case 'g':
		return []View{{Type: "image/gif", Size: size}}
	}
	return []View{{Type: "application/octet-stream", Size: size}}
}

// view answers with an item in the requested view.
func (s *Server) view(name string, e tree.Entry, wanted string) answer {
	views := s.Plus[name].views(e)
	chosen := views[0]
	if wanted != "" && s.Dialect != PyGopher {
		i := slices.IndexFunc(views, func(v View) bool { return v.label() == wanted || v.Type == wanted })
		if i < 0 {
			return s.Dialect.refuse(1, fmt.Sprintf("'/%s' does not exist", name))
		}
		chosen = views[i]
	}
	switch {
	case e.Dir && chosen.Type == "application/gopher+-menu":
		return s.everyAttribute(name, e, "")
	case e.Dir:
		return s.Dialect.headed(s.directory(name), 0)
	case chosen.Name != "":
		name = chosen.Name
	}
	file, e, err := s.m.Tree.Open(name)
	if err != nil {
		return s.Dialect.refuse(1, fmt.Sprintf("'/%s' is not for you", name))
	}
	text := strings.HasPrefix(strings.ToLower(chosen.Type), "text/") && s.Dialect != PyGopher
	return s.Dialect.headed(answer{stage: "PLUS", text: text, body: file}, e.Size)
}

// headed puts a header before a plain answer.
func (d Dialect) headed(a answer, size int64) answer {
	a.stage = "PLUS"
	switch {
	case a.text && d == PyGopher:
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
func withInfo(a answer) answer {
	return answer{stage: "PLUS", text: true, body: text(everyInfo(a.body))}
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
func (d Dialect) refuse(code int, why string) answer {
	message := fmt.Sprintf("%d %s\r\n%s\r\n", code, defaultAdmin, why)
	if d == PyGopher {
		return answer{stage: "ERROR", header: "--2\r\n", body: text(message)}
	}
	return answer{stage: "ERROR", header: "--1\r\n", text: true, body: text(message)}
}

// answerForm returns the document for a form that was filled in.
func (i Item) answerForm(lines []string) answer {
	compose := i.Answer
	if compose == nil {
		compose = func(lines []string) string {
			var b strings.Builder
			for n, line := range lines {
				fmt.Fprintf(&b, "%d: [%s]\n", n+1, line)
			}
			return b.String()
		}
	}
	return answer{stage: "FORM", header: "+-1\r\n", text: true, body: text(compose(lines))}
}

// maxForm is the maximum size of a form that was filled in, in bytes.
const maxForm = 64 << 10

// readForm reads and records the data after a request line: lines up to one of a dot ("+-1"), the
// number of bytes announced ("+12"), or all until the client closes its side ("+-2").
func readForm(c *core.Client, r *bufio.Reader) (lines []string, err error) {
	bounded := bufio.NewReader(io.LimitReader(r, maxForm))
	line := func() (string, error) {
		text, err := bounded.ReadString('\n')
		if text != "" {
			c.Quote([]byte(text))
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
		c.Quote(data[:n])
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

// text returns the body of an answer.
func text(s string) io.ReadCloser { return io.NopCloser(strings.NewReader(s)) }

// hereTabbed returns the server's host and port in the form of a menu.
func (s *Server) hereTabbed() string {
	host, port := s.hostPort()
	return fmt.Sprintf("%s\t%d", host, port)
}
