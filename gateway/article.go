package gateway

import (
	"io"
	"mime"
	"net/http"
	"net/mail"
	"strconv"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/charset"
	"github.com/fetch1738/fetch1738/internal/filename"
	"github.com/fetch1738/fetch1738/internal/mime822"
)

// maxBody is how many bytes of the texts of an article are shown.
const maxBody = 512 << 10

// An articlePage is the Data of pages/article.html.
type articlePage struct {
	Fields []articleField // of the header, for readers
	Others []articleField // all other fields
	Texts  []articleText
	Files  []articleFile
	// Charsets are the links to the page in other charsets, if that matters.
	Charset  string // the one that the reader has chosen; else empty
	Charsets []crumb
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

// An articleFile is a part that can be downloaded.
type articleFile struct {
	Name, Type string
	Size       int64
	Link       link
}

// article shows a news article, or sends one of its parts.
func (v newsPages) article(res *fetch.Resource) {
	whole, broken, err := readArticle(res.Body)
	if err != nil {
		v.failToFetch(err)
		return
	}
	if v.wants("part") {
		v.part(whole, broken)
		return
	}
	c, err := charset.Named(v.query.Get("charset"))
	if err != nil {
		v.fail(&failure{Status: http.StatusBadRequest, Text: "The gateway does not know this charset.", Detail: err.Error(), err: err})
		return
	}
	a, notes := v.articlePage(whole, c)
	if broken.err == nil {
		_, _ = io.Copy(io.Discard, broken) // the article is complete only if this ends well
	}
	if broken.err != nil {
		v.failToFetch(broken.err)
		return
	}
	v.render("article", http.StatusOK, &page{Heading: subject(whole.get("Subject")), Notes: notes, Data: a})
}

// shownFields are the fields of the header that a reader sees at once.
var shownFields = []string{"From", "Subject", "Date", "Newsgroups", "Followup-To", "References", "Message-ID"}

// articlePage is the content of the page of an article, with remarks about what is not shown.
// chosen is the charset of its texts; the zero Charset means the one that their header names.
func (v newsPages) articlePage(whole *part, chosen charset.Charset) (*articlePage, []string) {
	a := &articlePage{Fields: v.shown(whole.fields), Charset: chosen.Name()}
	for _, f := range whole.others(shownFields) {
		a.Others = append(a.Others, articleField{Name: visible(f.Name), Values: []crumb{{Text: visible(mime822.Text(f.Value))}}})
	}
	var notes []string
	room := int64(maxBody)
	err := walk(whole, func(p *part) bool {
		mediaType, params := p.mediaType()
		isText := strings.HasPrefix(mediaType, "text/") && !p.attached() && (mediaType == "text/plain" || !p.Alternative)
		if !isText {
			a.Files = append(a.Files, v.file(p, mediaType))
			return true
		}
		text, more := p.text(params["charset"], chosen, room)
		if !isPlain(strings.NewReplacer("\r", "", "\n", "", "\t", "").Replace(text)) {
			a.Charsets = v.charsets(chosen)
		}
		if room -= int64(len(text)); more {
			notes = append(notes, "The text is longer than shown here: see raw.")
		}
		t := articleText{}
		switch {
		case mediaType != "text/plain":
			t.Type, t.Blocks = visible(mediaType), []*block{{Text: strings.ReplaceAll(text, "\r\n", "\n")}}
		case strings.EqualFold(params["format"], "flowed"):
			t.Blocks = blocksOf(flowedLines(text, strings.EqualFold(params["delsp"], "yes")))
		default:
			t.Blocks = blocksOf(quotedLines(text))
		}
		v.link(t.Blocks)
		a.Texts = append(a.Texts, t)
		return true
	})
	if err != nil {
		notes = append(notes, "The article is shown in part: "+visible(err.Error())+". All of it: see raw.")
	}
	return a, notes
}

// shown are the fields that a reader sees at once, with their links.
func (v newsPages) shown(h fields) []articleField {
	var list []articleField
	for _, name := range shownFields {
		value := h.get(name)
		if value == "" {
			continue
		}
		f := articleField{Name: name}
		switch name {
		case "Date":
			f.Text = visible(value)
			if len(value) <= 128 { // comments in a date may nest
				f.Time, _ = mail.ParseDate(value)
			}
		case "Newsgroups", "Followup-To":
			for group := range strings.FieldsFuncSeq(value, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' }) {
				f.Values = append(f.Values, crumb{Text: visible(group), Link: v.groupLink(group)})
			}
		case "References":
			for _, id := range messageIDs(value) {
				f.Values = append(f.Values, crumb{Text: visible(id), Link: v.articleLink(id)})
			}
		default:
			f.Values = []crumb{{Text: visible(mime822.Text(value))}}
		}
		if f.Text != "" || len(f.Values) > 0 {
			list = append(list, f)
		}
	}
	return list
}

// text is the text of a part as UTF-8, up to max bytes. more reports whether it is longer. Its
// charset is the chosen one, else the one of that name, else the one that fits.
func (p *part) text(name string, chosen charset.Charset, max int64) (text string, more bool) {
	body := p.decoded()
	if chosen == (charset.Charset{}) {
		body = mime822.ToUTF8(name, body)
	}
	octets, _ := io.ReadAll(io.LimitReader(body, max+1))
	if int64(len(octets)) > max {
		octets, more = octets[:max], true
	}
	return chosen.Decode(string(octets)), more
}

// link finds the links in blocks.
func (v newsPages) link(blocks []*block) {
	for _, b := range blocks {
		if b.Quote != nil {
			v.link(b.Quote)
			continue
		}
		b.Lines = pieceLines(v.linked(b.Text))
	}
}

// file describes a part for downloading.
func (v newsPages) file(p *part, mediaType string) articleFile {
	size, _ := io.Copy(io.Discard, p.decoded())
	name := visible(p.fileName())
	if name == "" {
		name = "part " + strconv.Itoa(p.Number)
	}
	return articleFile{name, visible(mediaType), size, v.linkTo(v.loc).with("part=" + strconv.Itoa(p.Number))}
}

// part sends one part of an article as a download.
func (v newsPages) part(whole *part, broken *brokenOff) {
	v.page = "part"
	number, _ := strconv.Atoi(v.query.Get("part"))
	found := false
	err := walk(whole, func(p *part) bool {
		if p.Number != number {
			return true
		}
		found = true
		mediaType, _ := p.mediaType()
		v.secureOctets(mediaType)
		name, _ := filename.Safe(p.fileName())
		if name == "" {
			name = "part" + strconv.Itoa(number)
		}
		v.w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
		v.w.WriteHeader(http.StatusOK)
		if v.r.Method == http.MethodHead {
			return false
		}
		if _, err := io.Copy(v.w, p.decoded()); err != nil {
			v.err = err
			panic(http.ErrAbortHandler)
		}
		return false
	})
	if found {
		return
	}
	_, _ = io.Copy(io.Discard, broken)
	switch {
	case broken.err != nil:
		v.failToFetch(broken.err)
	default:
		f := &failure{Status: http.StatusNotFound, Text: "The article has no such part."}
		if err != nil {
			f.Detail = err.Error()
		}
		v.fail(f)
	}
}
