package gateway

import (
	"cmp"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/gateway/internal/article"
	"github.com/fetch1738/fetch1738/gateway/internal/textview"
	"github.com/fetch1738/fetch1738/gateway/internal/visible"
	"github.com/fetch1738/fetch1738/internal/text/charset"
	"github.com/fetch1738/fetch1738/internal/text/date822"
	"github.com/fetch1738/fetch1738/internal/text/mime822"
	"github.com/fetch1738/fetch1738/locator"
)

// maxBody is how many bytes of the texts of an article are shown.
const maxBody = 512 << 10

// An articlePage is the data of the page of an article.
type articlePage struct {
	From, Author crumb        // who wrote it; the link to other articles of the author
	Date         articleField // without a name
	Groups       []crumb
	Fields       []articleField // of the header
	Texts        []articleText
	Files        []articleFile
	// Charsets are the links to the page in other charsets, if that matters.
	Charset  string // the one that the reader has chosen; else empty
	Charsets []crumb
	surroundings
}

// An articleField is a field of the header, decoded and safe to show: a time, or values with links.
type articleField struct {
	Name   string
	Time   time.Time
	Text   string // of the time
	Values []crumb
}

// An articleText is a part of the article that is shown.
type articleText struct {
	Type   string // the media type, if the text is shown as source
	Blocks []*block
}

// A block is a block of text with its links.
type block struct {
	*article.Block
	Lines [][]textview.Piece
	Quote []*block
}

// article shows a news article, or sends one of its parts.
func (v articlePages) article(res *fetch.Resource) error {
	whole, broken, err := article.Read(res.Body)
	if err != nil {
		return err
	}
	if v.req.wants("part") {
		return v.part(whole, broken)
	}
	c, err := charset.Named(v.req.query.Get("charset"))
	if err != nil {
		return &failure{Status: http.StatusBadRequest, Text: "The gateway does not know this charset.", Detail: err.Error(), err: err}
	}
	a, notes := v.articlePage(whole, c)
	if broken.Err == nil {
		_, _ = io.Copy(io.Discard, broken) // the article is complete only if this ends well
	}
	if broken.Err != nil {
		return broken.Err
	}
	_ = res.Close() // its connection is free for the listing
	a.surroundings, notes = v.settle(whole.Fields, notes)
	return v.out.render(v.req, "article", http.StatusOK, &page{Heading: subject(whole.Get("Subject"), c), Above: v.above(whole.Fields), Actions: v.articleActions(a), Notes: notes, Early: true, Main: a})
}

// above is the group of an article whose URL does not name it; nil if it is not known.
func (v articlePages) above(h article.Fields) *crumb {
	if v.req.native || !isA[*locator.News](v.req) {
		return nil
	}
	group, _, _ := v.here(h)
	if link := newsPages(v).groupLink(group); !link.Empty() {
		return &crumb{Text: visible.Name(group), Link: link}
	}
	return nil
}

// articleActions are the actions of the page of an article.
func (v articlePages) articleActions(a *articlePage) (actions []crumb) {
	for _, n := range a.Neighbours {
		if n.Rel != "" {
			actions = append(actions, n.crumb)
		}
	}
	return append(actions, rawAndHow(v.req.linkTo(v.req.loc))...)
}

// shownFields are the fields of the header that come first. References are apart.
var shownFields = []string{"From", "Subject", "Date", "Newsgroups", "Followup-To", "Message-ID"}

// articlePage is the content of the page of an article, with remarks about what is not shown.
// chosen is the charset of its texts, and of what its header does not encode; the zero Charset means
// the one that the header names, or that fits.
func (v articlePages) articlePage(whole *article.Part, chosen charset.Charset) (*articlePage, []string) {
	a := &articlePage{
		From: crumb{Text: visible.Name(cmp.Or(mime822.Text(whole.Get("From"), chosen), "(unknown)"))}, Author: v.byAuthor(whole.Fields), Date: date(whole.Fields),
		Groups: v.groupLinks(whole.Get("Newsgroups")), Fields: v.shown(whole.Fields, chosen), Charset: chosen.Name(),
	}
	for _, f := range whole.Others(append(shownFields, "References")) {
		a.Fields = append(a.Fields, articleField{Name: visible.Name(f.Name), Values: []crumb{{Text: visible.Name(mime822.Text(f.Value, chosen))}}})
	}
	var notes []string
	room, pictures := int64(maxBody), 0
	err := article.Walk(whole, func(p *article.Part) bool {
		mediaType, params := p.MediaType()
		isText := p.Embedded == nil && strings.HasPrefix(mediaType, "text/") && !p.Attached() && (mediaType == "text/plain" || !p.Alternative)
		if !isText {
			a.Files = append(a.Files, v.file(p, mediaType, &pictures))
			return true
		}
		text, more := p.Text(params["charset"], chosen, room)
		if !visible.IsPlain(strings.NewReplacer("\r", "", "\n", "", "\t", "").Replace(text)) {
			a.Charsets = charsets(v.req, chosen)
		}
		if room -= int64(len(text)); more {
			notes = append(notes, "The text is longer than shown here: see raw.")
		}
		t := articleText{}
		var blocks []*article.Block
		switch {
		case mediaType != "text/plain":
			t.Type, blocks = visible.Name(mediaType), []*article.Block{{Text: strings.ReplaceAll(text, "\r\n", "\n")}}
		case strings.EqualFold(params["format"], "flowed"):
			blocks = article.Blocks(article.Flowed(text, strings.EqualFold(params["delsp"], "yes")))
		default:
			blocks = article.Blocks(article.Quoted(text))
		}
		if t.Blocks = v.link(blocks); t.Blocks != nil { // nothing else may stand beside a file
			a.Texts = append(a.Texts, t)
		}
		return true
	})
	if err != nil {
		notes = append(notes, "The article is shown in part: "+visible.Name(err.Error())+". All of it: see raw.")
	}
	return a, notes
}

// groupLinks are the links to groups that a field lists.
func (v articlePages) groupLinks(value string) (groups []crumb) {
	for group := range strings.FieldsFuncSeq(value, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' }) {
		groups = append(groups, crumb{Text: visible.Name(group), Link: newsPages(v).groupLink(group)})
	}
	return groups
}

// shown are the fields that come first, with their links.
func (v articlePages) shown(h article.Fields, chosen charset.Charset) []articleField {
	var list []articleField
	for _, name := range shownFields {
		value := h.Get(name)
		if value == "" {
			continue
		}
		f := articleField{Name: name}
		switch name {
		case "Date":
			f.Text, f.Time = visible.Name(value), date822.Parse(value)
		case "Newsgroups", "Followup-To":
			f.Values = v.groupLinks(value)
		default:
			f.Values = []crumb{{Text: visible.Name(mime822.Text(value, chosen))}}
		}
		if f.Text != "" || len(f.Values) > 0 {
			list = append(list, f)
		}
	}
	return list
}

// link finds the links in blocks.
func (v articlePages) link(blocks []*article.Block) []*block {
	var linked []*block
	for _, b := range blocks {
		linked = append(linked, &block{b, textview.PieceLines(v.req.linked(b.Text)), v.link(b.Quote)})
	}
	return linked
}

// date is the field Date of a header, with its time.
func date(h article.Fields) articleField {
	value := h.Get("Date")
	return articleField{Text: cmp.Or(visible.Name(value), "no date"), Time: date822.Parse(value)}
}
