package browse

import (
	"net/url"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/text/hypertext"
	"github.com/fetch1738/fetch1738/locator"
)

// An htmlForm is what is known of a form in HTML before its end. Only one that is sent by GET and has
// one field for text is of use here: it is a search.
type htmlForm struct {
	to     locator.Locator // nil if it is of no use
	hidden string          // its other fields, encoded, each with "&" behind it
	fields []string        // the names of fields for text
}

// beginForm begins a form.
func (f *formatter) beginForm(t *hypertext.Token) {
	f.form = new(htmlForm)
	to := f.page.at
	if action := t.Value("action"); action != "" {
		to = f.locator(action)
	}
	if _, web := to.(*locator.HTTP); web && !strings.EqualFold(t.Value("method"), "post") {
		f.form.to = to
	}
}

// input adds a field to a form. Buttons and boxes are not sent.
func (f *htmlForm) input(t *hypertext.Token) {
	name := t.Value("name")
	switch strings.ToLower(t.Value("type")) {
	case "hidden":
		f.hidden += url.QueryEscape(name) + "=" + url.QueryEscape(t.Value("value")) + "&"
	case "", "text", "search":
		f.fields = append(f.fields, name)
	case "password", "file":
		f.to = nil
	}
}

// endForm adds the link of a form that is a search.
func (f *formatter) endForm() {
	form := f.form
	f.form = nil
	if form == nil || form.to == nil || len(form.fields) != 1 || len(f.page.links) >= maxLinks {
		return
	}
	n := f.page.add(link{name: "search", to: form.to, kind: fetch.KindQuery, query: form.hidden + url.QueryEscape(form.fields[0]) + "="})
	f.line.WriteString(mark(n) + "search")
	f.end(false)
}

// filled returns the link that a form with words leads to. Other links it returns as they are.
func (l link) filled() (link, error) {
	if l.query == "" {
		return l, nil
	}
	if l.words == "" {
		return l, localerr.Usagef("link %d is a form; enter search %d WORDS", l.number, l.number)
	}
	to, err := hypertext.Resolve(l.to, "?"+l.query+url.QueryEscape(l.words))
	if err != nil {
		return l, err
	}
	l.to, l.words = to, ""
	return l, nil
}
