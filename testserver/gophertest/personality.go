package gophertest

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/testserver"
)

// Personalities returns the configure functions of this package by their names, in a new slice.
func Personalities() []testserver.Personality[*Server] {
	return []testserver.Personality[*Server]{
		{Name: "gophernicus", Source: "Gophernicus 3.1.1", Configure: Gophernicus,
			Summary: "Its texts have no last dot, its menus show dates and sizes, and what does not exist is a text."},
		{Name: "pygopherd", Source: "PyGopherd 3.0.0", Configure: Pygopherd,
			Summary: "It sends texts as they are, has no dots, and begins most Gopher+ answers with +-2."},
		{Name: "gopherd", Source: "gopherd 2.3 of the University of Minnesota", Configure: Gopherd,
			Summary: "Its selectors begin with a type, it has Gopher+, and what does not exist is an item of type 0."},
		{Name: "geomyidae", Source: "its test; the source of geomyidae", Configure: Geomyidae,
			Summary: "It answers every Gopher+ request with the attributes of one item that does not exist."},
		{Name: "dotless", Source: "its test", Configure: Dotless,
			Summary: "Its texts and menus end without a dot, so that only the end of the connection marks the end."},
		{Name: "cut-selector", Source: "its test; gopherd 3.0", Configure: CutSelector,
			Summary: "It ignores what follows the first 198 bytes of a request."},
	}
}

// Gophernicus is the personality gophernicus.
func Gophernicus(s *Server) {
	const footer = "                 Gophered by Gophernicus/3.1.1 on Debian/12 x86_64"
	line := strings.Repeat("_", 67)
	s.Dialect, s.Texts = DeafGopher, UndottedTexts
	s.Missing = "Error: File or directory not found! (null)\n" + line + "\n" + footer
	s.Menu = func(m Menu) []MenuLine {
		info := func(text, selector string) MenuLine {
			return MenuLine{Type: 'i', Display: text, Selector: selector, Host: "null.host", Port: 1}
		}
		here := path.Join("/", m.Dir)
		if m.Dir != "" {
			here += "/"
		}
		var dirs, files []MenuLine
		if m.Dir != "" {
			dirs = append(dirs, MenuLine{Type: '1', Display: fmt.Sprintf("%-66s", ".."), Selector: path.Dir("/" + m.Dir)})
		}
		for i, item := range m.Items {
			f := m.Files[i]
			name := fmt.Sprintf("%-38s%s", item.Display, f.ModTime().UTC().Format("2006-Jan-02 15:04"))
			if item.Display = fmt.Sprintf("%s%8.1f KB", name, float64(f.Size())/1024); !f.IsDir() {
				files = append(files, item)
				continue
			}
			item.Display, item.Selector = name+"   --------", item.Selector+"/"
			dirs = append(dirs, item)
		}
		return slices.Concat([]MenuLine{info("["+here+"]", "TITLE"), info("", "")}, dirs, files, []MenuLine{info(line, ""), info(footer, "")})
	}
}

// Pygopherd is the personality pygopherd.
func Pygopherd(s *Server) {
	s.Dialect, s.Texts, s.NoDot = PyGopher, RawTexts, true
	s.Missing = "3'{selector}' does not exist (no handler found)\t\terror.host\t1"
	s.Menu = func(m Menu) []MenuLine {
		for i, item := range m.Items {
			m.Items[i].Display = strings.TrimSuffix(item.Display, path.Ext(item.Display))
		}
		return m.Items
	}
}

// Gopherd is the personality gopherd.
func Gopherd(s *Server) {
	s.Dialect = UMNGopher
	s.Missing = "0'{path}' does not exist!!\t\terror.host\t1\n."
	s.Menu = func(m Menu) []MenuLine {
		for i, item := range m.Items {
			m.Items[i].Selector = string(rune(item.Type)) + item.Selector
		}
		return m.Items
	}
}

// Geomyidae is the personality geomyidae.
func Geomyidae(s *Server) { s.Dialect = StubGopher }

// Dotless is the personality dotless.
func Dotless(s *Server) { s.NoDot = true }

// CutSelector is the personality cut-selector.
func CutSelector(s *Server) { s.RequestLimit = 198 }
