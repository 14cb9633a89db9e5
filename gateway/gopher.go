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
	"github.com/fetch1738/fetch1738/internal/charset"
	"github.com/fetch1738/fetch1738/internal/entry"
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

// typeWords name the item types of gopher.
var typeWords = map[byte]string{
	'0': "text", '1': "menu", '2': "phone book", '4': "BinHex", '5': "archive", '6': "uuencoded", '7': "search", '8': "telnet", '9': "binary",
	'T': "tn3270", 'g': "GIF", 'I': "image", 'p': "PNG", ':': "bitmap", ';': "video", 'v': "video", '<': "sound", 's': "sound",
	'h': "HTML", 'H': "HTML", 'd': "document", 'P': "PDF", 'M': "mail", 'm': "mailbox", 'x': "XML", 'c': "calendar", 'e': "event", 'r': "RTF", 'w': "wiki", 'u': "Usenet", '!': "program",
}

// typeWord is the word for an item type of gopher.
func typeWord(typ string) string {
	if typ == "" {
		return "entry"
	}
	if word, ok := typeWords[typ[0]]; ok {
		return word
	}
	return "type " + visible(typ)
}

// A menuPage is the data of the page of a menu. The methods that say how the menu ended are called
// after Rows.
type menuPage struct {
	v       gopherPages
	res     *fetch.Resource
	charset charset.Charset

	Search *searchForm // filled in with the words that led here; else nil
	rows   int
	arts   int
	plus   bool // an item has Gopher+ attributes
	capped bool
	legacy bool // a line is not UTF-8
}

// A menuRow is a part of a menu: lines of text, or an item of a list.
type menuRow struct {
	Open, Close bool // a list begins before the row, or ended before it

	Parts  []textPart // prose
	Lines  string     // text that keeps its lines, which is announced by Label
	Label  string
	Art    int    // the number of a drawing; 0 for other text
	Kind   string // the word for the item's type; empty for text
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
	m := &menuPage{v: v, res: res}
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

// show decodes text of the menu, and makes it safe to show.
func (m *menuPage) show(text string) string { return visible(m.charset.Decode(text)) }

// item is the row of an item, of an error or of a line that is not one.
func (m *menuPage) item(it *fetch.Item) *menuRow {
	typ := typeOf(it)
	r := &menuRow{Kind: typeWord(typ), Text: m.show(it.Name), Link: m.v.linkTo(it.Locator), Size: sizeText(it.Size)}
	if !it.ModTime.IsZero() {
		r.Time = new(it.ModTime.UTC())
	}
	if r.Text == "" {
		r.Text = "(no name)"
	}
	if fault := entry.Field(it, gopher.HeaderFault); fault != nil {
		if typ == "i" {
			r.Kind = "line"
		}
		r.Link, r.Why = place.Link{}, "not a link: "+visible(*fault)
		return r
	}
	switch l := it.Locator.(type) {
	case nil:
		r.Kind, r.Error = "error", true
		return r
	case *locator.Gopher:
		m.gopherItem(r, l, it)
	case *locator.Telnet:
		m.session(r, '8', l.Server)
	case *locator.Opaque:
		if server, ok := locator.ServerOf(l); ok && l.Scheme() == "tn3270" {
			m.session(r, 'T', server)
		} else {
			r.Kind, r.Why = l.Scheme(), "the gateway has no page for "+visible(l.Redacted())
		}
	default:
		switch r.Kind = l.Scheme(); r.Kind {
		case "http", "https":
			r.Kind, r.Web = "web", !r.Link.Empty()
		case "mailto":
			r.Kind = "mail"
		}
	}
	if entry.Field(it, gopher.HeaderMirror) != nil {
		r.Kind = "mirror: " + r.Kind
	}
	return r
}

// gopherItem completes the row of an item on a gopher server.
func (m *menuPage) gopherItem(r *menuRow, l *locator.Gopher, it *fetch.Item) {
	if l.Type == '7' {
		if r.Search = m.v.searchAt(l); r.Search != nil {
			r.Search.ID, r.Search.Label = fmt.Sprintf("q%d", m.rows), r.Text
		}
	}
	switch plus := entry.Field(it, gopher.HeaderPlus); {
	case plus == nil:
		return
	case *plus == "?":
		r.Kind, r.Link = "form", m.v.linkTo(withPlus(l, "?"))
	}
	m.plus = true
	r.About = m.v.linkTo(l).With("info")
}

// session completes the row of a session, for which the gateway only has advice.
func (m *menuPage) session(r *menuRow, typ byte, server locator.Server) {
	l := &locator.Gopher{HostPort: server.HostPort, Type: typ, HasPath: true}
	if l.Port == 0 {
		l.Port = locator.DefaultPort("telnet")
	}
	r.Why = fmt.Sprintf("%s, port %d", visible(l.Host), l.Port)
	if server.Login != nil {
		l.Selector = server.Login.User
		r.Why += ", log in as " + visible(l.Selector)
	}
	r.Link = m.v.linkTo(l)
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
