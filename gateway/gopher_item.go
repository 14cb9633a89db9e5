package gateway

import (
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/gopher"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/internal/filename"
	"github.com/fetch1738/fetch1738/internal/menu"
	"github.com/fetch1738/fetch1738/locator"
)

// An itemPage is the data of pages/item.html.
type itemPage struct {
	Facts    []itemFact
	Abstract string
	Views    []itemView
	Blocks   []itemBlock
	Item     place.Link // the item itself
	Form     place.Link // the form that must be filled in to get it; else empty
}

// An itemFact is something that a server says about an item, in a few words.
type itemFact struct {
	Name, Value string
	Link        place.Link
	Time        string // for a machine; empty if the value is no time
}

// An itemView is one of several representations of an item.
type itemView struct {
	Type, Language, Size string
	Link                 place.Link
}

// An itemBlock is an attribute that the gateway has no better form for.
type itemBlock struct{ Name, Text string }

// info shows what a server says about an item: its Gopher+ attributes, or those of a file.
func (v gopherPages) info() {
	req := v.request(v.loc)
	v.prepare(req)
	found, err := v.h.resolver().FindAttributes(v.context(), req)
	switch {
	case err != nil && v.loc.Scheme() == "gopher" && fetch.KindOf(err) == fetch.ErrProtocol:
		v.fail(&failure{
			Status: http.StatusNotFound, Text: "The server has no information about this item.", Detail: err.Error(), Retry: v.linkTo(v.loc),
			Do: "The item itself may be there.", err: err,
		})
	case err != nil:
		v.failToFetch(err)
	case gopher.AttributesOf(found.Header) != nil:
		v.item(gopher.AttributesOf(found.Header))
	default:
		v.fileInfo(found)
	}
}

// fileInfo shows the attributes of a file, or the fields of a phone book.
func (v gopherPages) fileInfo(found *fetch.Attributes) {
	p := &itemPage{Item: v.linkTo(v.loc)}
	if found.Size >= 0 {
		p.Facts = append(p.Facts, itemFact{Name: "Size", Value: strconv.FormatInt(found.Size, 10) + " bytes"})
	}
	p.addTime("Modified", found)
	if found.MediaType != "" {
		p.Facts = append(p.Facts, itemFact{Name: "Type", Value: visible(found.MediaType)})
	}
	for _, f := range found.Header {
		p.Facts = append(p.Facts, itemFact{Name: visible(f.Name), Value: visible(f.Value)})
	}
	v.render("item", http.StatusOK, &page{Data: p, Links: v.gopherLinks()})
}

// addTime adds the time of the last modification, if it is known.
func (p *itemPage) addTime(name string, a *fetch.Attributes) {
	if t := a.ModTime; !t.IsZero() {
		p.Facts = append(p.Facts, itemFact{Name: name, Value: t.UTC().Format("2006-01-02 15:04:05 UTC"), Time: t.UTC().Format("2006-01-02T15:04:05Z")})
	}
}

// item shows the Gopher+ attributes of v.loc.
func (v gopherPages) item(a *gopher.Attributes) {
	l, ok := v.loc.(*locator.Gopher)
	if !ok {
		v.fail(&failure{Status: http.StatusBadGateway, Text: "The server sent attributes of gopher."})
		return
	}
	plain := *l
	plain.Plus, plain.Search, plain.Fields = "", "", 0
	p := &itemPage{Item: v.linkTo(&plain), Abstract: visibleText(a.Abstract)}
	line := menu.Parse([]byte(a.Descriptor))
	if name := visible(string(line.Display)); name != "" {
		p.Facts = append(p.Facts, itemFact{Name: "Name", Value: name})
	}
	if a.Admin != "" {
		p.Facts = append(p.Facts, itemFact{Name: "Administrator", Value: visible(a.Admin), Link: v.mailTo(a.Admin)})
	}
	p.addTime("Modified", &fetch.Attributes{ModTime: a.ModTime})
	for _, f := range a.Details {
		p.Facts = append(p.Facts, itemFact{Name: visible(f.Name), Value: visible(f.Value)})
	}
	for _, view := range a.Views {
		p.Views = append(p.Views, itemView{
			Type: visible(view.Type), Language: visible(view.Language), Size: knownSize(view.Size),
			Link: v.linkTo(withPlus(&plain, "+"+view.Label)),
		})
	}
	if a.Ask != nil {
		p.Form = v.linkTo(withPlus(&plain, "?"))
	}
	for _, b := range a.Other {
		p.Blocks = append(p.Blocks, itemBlock{visible(b.Name), visibleText(strings.Join(b.Lines, "\n"))})
	}
	v.render("item", http.StatusOK, &page{Data: p, Links: v.gopherLinks()})
}

// mailTo is a link to the address in "Name <address>"; else empty.
func (v gopherPages) mailTo(admin string) place.Link {
	if i := strings.LastIndexByte(admin, '<'); i >= 0 {
		admin = strings.TrimSuffix(strings.TrimSpace(admin[i+1:]), ">")
	}
	name, host, ok := strings.Cut(admin, "@")
	if !ok || name == "" || host == "" || strings.ContainsFunc(admin, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`<>?&"`, r) }) {
		return place.Link{}
	}
	return v.linkTo(&locator.Mailto{Address: admin})
}

// knownSize is a size for people; empty if it is not known.
func knownSize(n int64) string {
	if n < 0 {
		return ""
	}
	return sizeText(n)
}

// attributes shows the response to a request for attributes as a page, and reports whether res is
// one.
func (v gopherPages) attributes(res *fetch.Resource) bool {
	info, ok := res.Info.(*gopher.Info)
	if !ok || info.Attributes == nil || !v.accepts("text/html") {
		return false
	}
	v.item(info.Attributes)
	return true
}

// A formPage is the data of pages/form.html: a form to be filled in.
type formPage struct {
	Action    place.Link
	Hidden    []fetch.Field
	Questions []formQuestion
	Views     []string // the labels of the views, if there are several to choose from
	Native    bool     // a proxy does not send forms
}

// A formQuestion is a question of a Gopher+ form.
type formQuestion struct {
	gopher.Question
	ID      string // of the input; also its name
	Text    string // the prompt
	Value   string // the default
	Choices []formChoice
}

// A formChoice is one of the answers of a Choose question. Value is encoded, because it must be sent
// byte for byte.
type formChoice struct {
	ID, Text, Value string
	Checked         bool
}

// Is reports whether the question is of a kind, such as "AskP".
func (q *formQuestion) Is(kind string) bool { return q.Kind.String() == kind }

// form shows the form that must be filled in to get an item. Nothing is sent yet.
func (v gopherPages) form(a *gopher.Attributes) {
	p := &formPage{Action: v.linkTo(v.loc), Native: v.native}
	for i, q := range a.Ask.Questions {
		text := visible(q.Prompt)
		if text == "" {
			text = fmt.Sprintf("Question %d", i+1)
		}
		asked := formQuestion{Question: q, ID: nth("a", i), Text: text, Value: visible(q.Default)}
		for n, choice := range q.Choices {
			asked.Choices = append(asked.Choices, formChoice{
				ID: fmt.Sprintf("a%d-%d", i, n), Text: visible(choice), Value: url.QueryEscape(choice), Checked: choice == q.Default,
			})
		}
		p.Questions = append(p.Questions, asked)
		p.Hidden = append(p.Hidden, fetch.Field{Name: nth("kind", i), Value: q.Kind.String()}, fetch.Field{Name: nth("prompt", i), Value: text})
	}
	if len(a.Views) > 1 {
		for _, view := range a.Views {
			p.Views = append(p.Views, visible(view.Label))
		}
	}
	v.render("form", http.StatusOK, &page{Data: p, Links: v.gopherLinks()})
}

// maxForm is the maximum size of the answers to a form.
const maxForm = 1 << 20

// A confirmPage is the data of pages/confirm.html.
type confirmPage struct {
	Server string
	Bytes  string // what will be sent, with passwords masked
	Secret bool
	Action place.Link
	Hidden []fetch.Field
}

// submit shows what a filled Gopher+ form sends. If the user has seen that, it sends the form.
func (v gopherPages) submit() {
	l, ok := v.loc.(*locator.Gopher)
	if !ok || v.native {
		v.w.Header().Set("Allow", "GET, HEAD")
		v.fail(&failure{Status: http.StatusMethodNotAllowed, Text: "The gateway only reads."})
		return
	}
	v.r.Body = http.MaxBytesReader(v.w, v.r.Body, maxForm)
	if err := v.r.ParseForm(); err != nil {
		v.fail(&failure{Status: http.StatusBadRequest, Text: "The gateway cannot read the form.", Detail: err.Error(), err: err})
		return
	}
	req := v.request(l)
	req.From.Kind = fetch.OriginUser
	saveAs := ""
	if !filled(l) {
		filled, name, err := fillIn(v.r.PostForm)
		if err != nil {
			v.fail(&failure{Status: http.StatusBadRequest, Text: "The form cannot be sent.", Detail: fetch.Printable(err.Error()), Do: "Go back and change the answer.", err: err})
			return
		}
		req.Options = &gopher.Options{Form: filled}
		saveAs = name
	}
	if !v.r.PostForm.Has("send") {
		v.confirm(req, v.r.PostForm)
		return
	}
	v.hideAnswers()
	res, err := v.h.resolver().Fetch(v.context(), req)
	if err != nil {
		v.failToFetch(err)
		return
	}
	defer res.Close()
	v.answer(res, saveAs)
}

// answer shows what a server sent for a filled form.
func (v gopherPages) answer(res *fetch.Resource, saveAs string) {
	switch {
	case saveAs != "":
	case res.Kind == fetch.KindMenu:
		v.menu(res)
		return
	case v.attributes(res):
		return
	default:
		documentPages(v).document(res)
		return
	}
	v.page = "raw"
	v.secureOctets(mime.FormatMediaType(res.MediaType, nil))
	name, _ := filename.Safe(saveAs)
	v.w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
	v.w.WriteHeader(http.StatusOK)
	if _, err := io.Copy(v.w, res.Body); err != nil {
		v.err = err
		panic(http.ErrAbortHandler)
	}
}

// fillIn makes a filled form of the values that a browser sent. saveAs is the name of the file that
// the user wants the answer in; empty if he gave none.
func fillIn(values url.Values) (filled *gopher.Filled, saveAs string, err error) {
	form := new(gopher.Form)
	var answers []string
	for i := 0; values.Has(nth("kind", i)); i++ {
		q := gopher.Question{Kind: questionKind(values.Get(nth("kind", i))), Prompt: values.Get(nth("prompt", i))}
		answer := values.Get(nth("a", i))
		switch q.Kind {
		case gopher.Select:
			if answer == "" {
				answer = "0" // browsers send nothing for an empty check box
			}
		case gopher.Choose:
			if answer, err = url.QueryUnescape(answer); err != nil {
				return nil, "", err
			}
			q.Choices = []string{answer}
		case gopher.ChooseF:
			answer = "" // the gateway sends no files
		case gopher.AskF:
			saveAs = answer
		}
		form.Questions, answers = append(form.Questions, q), append(answers, answer)
	}
	if len(answers) == 0 {
		return nil, "", fmt.Errorf("it has no answers")
	}
	filled, err = form.Fill(values.Get("view"), answers)
	return filled, saveAs, err
}

// questionKind is the kind of a name; an unknown one means a line of text.
func questionKind(name string) gopher.QuestionKind {
	for kind := gopher.Ask; kind <= gopher.Note; kind++ {
		if kind.String() == name {
			return kind
		}
	}
	return gopher.Ask
}

// confirmFilled asks before the filled form in a URL is sent, and reports whether there is one.
func (v gopherPages) confirmFilled() bool {
	if !filled(v.loc) || v.r.Method == http.MethodPost {
		return false
	}
	if v.native {
		v.hideAnswers()
		v.fail(&failure{Status: http.StatusForbidden, Text: "The gateway sends a filled form only from a page of its own."})
		return true
	}
	req := v.request(v.loc)
	req.From.Kind = fetch.OriginUser
	v.confirm(req, nil)
	return true
}

// hideAnswers removes the answers of a filled form from v.loc, which is shown and logged.
func (v gopherPages) hideAnswers() {
	if l, ok := v.loc.(*locator.Gopher); ok && filled(l) {
		v.loc = withPlus(l, "?")
	}
}

// confirm shows what a request sends, with a button that sends it. The page has the answers in
// hidden inputs, and browsers do not keep it.
func (v gopherPages) confirm(req *fetch.Request, answers url.Values) {
	plan, err := v.h.resolver().Explain(v.r.Context(), req) // notItself permits only what is sent by POST
	if err != nil {
		v.hideAnswers()
		v.failToFetch(err)
		return
	}
	p := &confirmPage{Server: server(req.Locator), Action: v.linkTo(req.Locator)}
	for _, step := range plan.Steps {
		p.Bytes += visibleText(strings.ReplaceAll(step.Send, "\t", " <TAB> "))
	}
	if options, ok := req.Options.(*gopher.Options); ok && options.Form != nil {
		p.Secret = options.Form.Secret()
	}
	for i := 0; answers.Has(nth("kind", i)); i++ {
		for _, name := range []string{nth("kind", i), nth("prompt", i), nth("a", i)} {
			if answers.Has(name) {
				p.Hidden = append(p.Hidden, fetch.Field{Name: name, Value: answers.Get(name)})
			}
		}
	}
	if answers.Has("view") {
		p.Hidden = append(p.Hidden, fetch.Field{Name: "view", Value: answers.Get("view")})
	}
	v.hideAnswers()
	v.render("confirm", http.StatusOK, &page{Heading: "Send this form?", Data: p, Links: v.gopherLinks()})
}

// nth is the name of an input for the question with a number.
func nth(name string, i int) string { return name + strconv.Itoa(i) }
