package gateway

import (
	"fmt"
	"iter"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/gopher"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/gateway/internal/visible"
	"github.com/fetch1738/fetch1738/internal/text/charset"
	"github.com/fetch1738/fetch1738/locator"
)

// The limits of the page of a menu.
const (
	maxMenuText = 500 // lines of text that are held back to tell drawings from prose
	flushAfter  = 100 * time.Millisecond
)

// A menuPage is the data of the page of a menu. The methods that say how the menu ended are called
// after Rows.
type menuPage struct {
	out *response
	res *fetch.Resource
	menuItems

	Person bool        // the page is for a person, who sees symbols
	Search *searchForm // filled in with the words that led here; else nil
	capped bool
	legacy bool // a line is not UTF-8
}

// Feed is the link to the newest documents of a journal; empty for any other menu. It is called after
// Rows.
func (m *menuPage) Feed() place.Link {
	l, ok := m.req.loc.(*locator.Gopher)
	if !ok || m.req.native || m.dated < minDated || l.Type != '1' && l.Type != 0 || l.Plus != "" {
		return place.Link{}
	}
	return m.req.linkTo(l).With("atom")
}

// menu shows a gopher menu.
func (v gopherPages) menu(res *fetch.Resource) error {
	if v.req.wants("atom") {
		return v.feed(res)
	}
	m := &menuPage{out: v.out, res: res, menuItems: menuItems{req: v.req}, Person: !v.req.native && v.req.accepts("text/html")}
	m.charset, _ = charset.Named(v.req.query.Get("charset"))
	p := &page{Main: m, Actions: v.actions()}
	if l, ok := v.req.loc.(*locator.Gopher); ok && l.Type == '7' {
		m.Search = searchAt(v.req, l)
		p.Heading = "Results for " + visible.Name(m.Search.Words)
		if m.Search.Words == "" {
			p.Heading = "" // of a search that accepts no words
		}
	}
	if info, ok := res.Info.(*gopher.Info); ok && info.Fallback != "" {
		p.Notes = append(p.Notes, "Served as plain gopher: "+info.Fallback+".")
	}
	return v.out.render(v.req, "menu", http.StatusOK, p)
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
			if now := time.Now(); now.Sub(flushed) > flushAfter {
				m.out.flush()
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
				m.out.err = err
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

// Empty reports whether the menu has no line.
func (m *menuPage) Empty() bool { return m.rows == 0 && m.out.err == nil }

// Cut says why the menu ended early; empty if it did not.
func (m *menuPage) Cut() string { return m.out.cut() }

// Capped says that the menu is not shown to its end; empty if it is.
func (m *menuPage) Capped() string {
	if !m.capped {
		return ""
	}
	return fmt.Sprintf("Only the first %d lines are shown. The raw menu has all of them.", maxMenuRows)
}

// Charsets are the links to the menu in other charsets, if it is not UTF-8.
func (m *menuPage) Charsets() []crumb {
	if !m.legacy || m.req.native {
		return nil
	}
	return charsets(m.req, m.charset)
}

// Details is the link to the same menu with sizes and times, if the server supports that.
func (m *menuPage) Details() place.Link {
	l, ok := m.req.loc.(*locator.Gopher)
	if !ok || !m.plus || m.req.native || l.Type != '1' || l.Plus != "" {
		return place.Link{}
	}
	return m.req.linkTo(place.WithPlus(l, "$"))
}
