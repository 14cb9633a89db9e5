package gateway

import (
	"fmt"
	"iter"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/gopher"
	"github.com/fetch1738/fetch1738/gateway/internal/dated"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/internal/entry"
	"github.com/fetch1738/fetch1738/internal/text/charset"
	"github.com/fetch1738/fetch1738/locator"
)

// gopherPages show menus, searches, phone books, Gopher+ items and their forms.
type gopherPages struct{ *visit }

// The limits of the page of a menu.
const (
	maxMenuRows = 20_000 // lines of the menu
	maxMenuText = 500    // lines of text that are held back to tell drawings from prose
	flushAfter  = 100 * time.Millisecond
)

// A menuPage is the data of the page of a menu. The methods that say how the menu ended are called
// after Rows.
type menuPage struct {
	v       gopherPages
	res     *fetch.Resource
	charset charset.Charset
	dos     bool // a drawing is in CP437
	colours colouring

	Person bool        // the page is for a person, who sees symbols
	Search *searchForm // filled in with the words that led here; else nil
	rows   int
	arts   int
	plus   bool // an item has Gopher+ attributes
	capped bool
	legacy bool // a line is not UTF-8
	dated  int  // documents with a date in their names, up to minDated
	dates  dated.Finder
}

// A menuRow is a part of a menu: lines of text, or an item of a list.
type menuRow struct {
	Open, Close bool // a list begins before the row, or ended before it

	Parts  []textPart // prose
	Lines  string     // text that keeps its lines, which is announced by Label
	Spans  []span     // Lines or Text with its colours; nil if it has none
	Label  string
	Art    int    // the number of a drawing; 0 for other text
	Kind   string // the word for the item's type; empty for text
	Icon   string // the symbol for it
	Indent string // the spaces before Text, which align it
	Text   string
	Link   place.Link
	Search *searchForm
	About  place.Link // the Gopher+ attributes of the item
	Why    string     // why the line is not a link, or how to use a service
	Size   string
	Time   *time.Time // in UTC; nil if it is not known
	Error  bool
	Web    bool // the link leads to a web server, which must not learn where it was found
}

// menu shows a gopher menu.
func (v gopherPages) menu(res *fetch.Resource) error {
	if v.wants("atom") {
		return v.feed(res)
	}
	m := &menuPage{v: v, res: res, Person: !v.native && v.accepts("text/html")}
	m.charset, _ = charset.Named(v.query.Get("charset"))
	p := &page{Main: m, Actions: v.actions()}
	if l, ok := v.loc.(*locator.Gopher); ok && l.Type == '7' {
		m.Search = v.searchAt(l)
		p.Heading = "Results for " + visible(m.Search.Words)
		if m.Search.Words == "" {
			p.Heading = "" // of a search that accepts no words
		}
	}
	if info, ok := res.Info.(*gopher.Info); ok && info.Fallback != "" {
		p.Notes = append(p.Notes, "Served as plain gopher: "+info.Fallback+".")
	}
	return v.render("menu", http.StatusOK, p)
}

// Rows are the rows of the menu as they arrive. What has been shown goes to the client after the
// first row, and whenever the server was slow.
func (m *menuPage) Rows() iter.Seq[*menuRow] {
	return func(yield func(*menuRow) bool) {
		var text []string
		var flushed time.Time
		inList := false
		show := func(r *menuRow) bool {
			isItem := r.Kind != ""
			r.Open, r.Close = isItem && !inList, !isItem && inList
			inList = isItem
			if !yield(r) {
				return false
			}
			if now := time.Now(); m.v.flush != nil && now.Sub(flushed) > flushAfter {
				m.v.flush()
				flushed = now
			}
			return true
		}
		showText := func() bool {
			for _, r := range m.texts(text) {
				if !show(r) {
					return false
				}
			}
			text = text[:0]
			return true
		}
		for item, err := range m.res.Items {
			if err != nil {
				m.v.err = err
				break
			}
			if m.rows++; m.rows > maxMenuRows {
				m.capped = true
				break
			}
			m.legacy = m.legacy || !utf8.ValidString(item.Name)
			if isInfo(&item) {
				if text = append(text, item.Name); len(text) < maxMenuText {
					continue
				}
				if !showText() {
					return
				}
				continue
			}
			if !showText() || !show(m.item(&item)) {
				return
			}
		}
		if showText() && inList {
			yield(&menuRow{Close: true})
		}
	}
}

// isInfo reports whether a line of a menu is only text.
func isInfo(it *fetch.Item) bool {
	return it.Locator == nil && typeOf(it) == "i" && entry.Field(it, gopher.HeaderFault) == nil
}

// typeOf is the gopher type of an item; empty if it is not one of gopher.
func typeOf(it *fetch.Item) string {
	if typ := entry.Field(it, gopher.HeaderType); typ != nil {
		return *typ
	}
	return ""
}

// Empty reports whether the menu has no line.
func (m *menuPage) Empty() bool { return m.rows == 0 && m.v.err == nil }

// Cut says why the menu ended early; empty if it did not.
func (m *menuPage) Cut() string { return m.v.cut() }

// Capped says that the menu is not shown to its end; empty if it is.
func (m *menuPage) Capped() string {
	if !m.capped {
		return ""
	}
	return fmt.Sprintf("Only the first %d lines are shown. The raw menu has all of them.", maxMenuRows)
}

// Charsets are the links to the menu in other charsets, if it is not UTF-8.
func (m *menuPage) Charsets() []crumb {
	if !m.legacy || m.v.native {
		return nil
	}
	return m.v.charsets(m.charset)
}

// Details is the link to the same menu with sizes and times, if the server supports that.
func (m *menuPage) Details() place.Link {
	l, ok := m.v.loc.(*locator.Gopher)
	if !ok || !m.plus || m.v.native || l.Type != '1' || l.Plus != "" {
		return place.Link{}
	}
	return m.v.linkTo(withPlus(l, "$"))
}

// withPlus is the URL of an item with a Gopher+ string.
func withPlus(l *locator.Gopher, plus string) *locator.Gopher {
	with := *l
	with.Plus, with.Fields, with.HasPath = plus, 2, true
	if with.Type == 0 {
		with.Type = '1'
	}
	return &with
}

// actions are those of a page of gopher; nil means the usual ones.
func (v gopherPages) actions() []crumb {
	l, ok := v.loc.(*locator.Gopher)
	if !ok || v.native {
		return nil
	}
	var links []crumb
	if (l.Type == '1' || l.Type == 0) && l.Search == "" && l.Plus == "" {
		links = append(links, crumb{"Download folder", v.linkTo(l).With("tar"), true})
	}
	links = append(links, rawAndHow(v.linkTo(l))...)
	if way := v.gopherWay(l); len(way) > 1 {
		links = append(links, crumb{Text: "Up (a guess)", Link: way[len(way)-2].Link})
	}
	return links
}
