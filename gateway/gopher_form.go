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
	"github.com/fetch1738/fetch1738/gateway/internal/visible"
	"github.com/fetch1738/fetch1738/internal/file/filename"
	"github.com/fetch1738/fetch1738/locator"
)

// A formPage is the data of the page of a form to be filled in.
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
func (v gopherPages) form(a *gopher.Attributes) error {
	p := &formPage{Action: v.req.linkTo(v.req.loc), Native: v.req.native}
	for i, q := range a.Ask.Questions {
		text := visible.Name(q.Prompt)
		if text == "" {
			text = fmt.Sprintf("Question %d", i+1)
		}
		asked := formQuestion{Question: q, ID: nth("a", i), Text: text, Value: visible.Name(q.Default)}
		for n, choice := range q.Choices {
			asked.Choices = append(asked.Choices, formChoice{
				ID: fmt.Sprintf("a%d-%d", i, n), Text: visible.Name(choice), Value: url.QueryEscape(choice), Checked: choice == q.Default,
			})
		}
		p.Questions = append(p.Questions, asked)
		p.Hidden = append(p.Hidden, fetch.Field{Name: nth("kind", i), Value: q.Kind.String()}, fetch.Field{Name: nth("prompt", i), Value: text})
	}
	if len(a.Views) > 1 {
		for _, view := range a.Views {
			p.Views = append(p.Views, visible.Name(view.Label))
		}
	}
	return v.out.render(v.req, "form", http.StatusOK, &page{Main: p, Actions: v.actions()})
}

// maxForm is the maximum size of the answers to a form.
const maxForm = 1 << 20

// A confirmPage is the data of the page that shows what a form sends.
type confirmPage struct {
	Server string
	Bytes  string // what will be sent, with passwords masked
	Secret bool
	Action place.Link
	Hidden []fetch.Field
}

// submit shows what a filled Gopher+ form sends. If the user has seen that, it sends the form.
func (v gopherPages) submit() error {
	l, ok := v.req.loc.(*locator.Gopher)
	if !ok || v.req.native {
		v.out.Header().Set("Allow", "GET, HEAD")
		return &failure{Status: http.StatusMethodNotAllowed, Text: "The gateway only reads."}
	}
	v.req.r.Body = http.MaxBytesReader(v.out, v.req.r.Body, maxForm)
	if err := v.req.r.ParseForm(); err != nil {
		return &failure{Status: http.StatusBadRequest, Text: "The gateway cannot read the form.", Detail: err.Error(), err: err}
	}
	req := v.up.bare(l)
	req.From.Kind = fetch.OriginUser
	saveAs := ""
	if !place.Filled(l) {
		filled, name, err := fillIn(v.req.r.PostForm)
		if err != nil {
			return &failure{Status: http.StatusBadRequest, Text: "The form cannot be sent.", Detail: fetch.Printable(err.Error()), Do: "Go back and change the answer.", err: err}
		}
		req.Options = &gopher.Options{Form: filled}
		saveAs = name
	}
	if !v.req.r.PostForm.Has("send") {
		return v.confirm(req, v.req.r.PostForm)
	}
	v = v.hidden()
	res, err := v.up.fetch(req)
	if err != nil {
		return err
	}
	defer res.Close()
	switch {
	case saveAs != "":
		return v.answer(res, saveAs)
	case res.Kind == fetch.KindMenu:
		return v.menu(res)
	}
	return v.document(res)
}

// answer sends what a server sent for a filled form as a download.
func (v gopherPages) answer(res *fetch.Resource, saveAs string) error {
	v.out.kind = "raw"
	v.out.secureOctets(v.req, mime.FormatMediaType(res.MediaType, nil))
	name, _ := filename.Safe(saveAs)
	v.out.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
	v.out.WriteHeader(http.StatusOK)
	_, err := io.Copy(v.out, res.Body)
	return err
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

// fillsForm reports whether the Locator is a filled form, and the user has not clicked on its button.
func (v gopherPages) fillsForm() bool {
	return place.Filled(v.req.loc) && v.req.r.Method != http.MethodPost
}

// confirmFilled asks before the filled form in a URL is sent.
func (v gopherPages) confirmFilled() error {
	if v.req.native {
		return &failure{Status: http.StatusForbidden, Text: "The gateway sends a filled form only from a page of its own."}
	}
	req := v.up.bare(v.req.loc)
	req.From.Kind = fetch.OriginUser
	return v.confirm(req, nil)
}

// hidden are the pages of the form, without its answers in the URL that is shown and logged.
func (v gopherPages) hidden() gopherPages {
	if l, ok := v.req.loc.(*locator.Gopher); ok && place.Filled(l) {
		return gopherPages(pages(v).with(v.req.of(place.WithPlus(l, "?"))))
	}
	return v
}

// confirm shows what a request sends, with a button that sends it. The page has the answers in
// hidden inputs, and browsers do not keep it.
func (v gopherPages) confirm(req *fetch.Request, answers url.Values) error {
	plan, err := v.up.resolver.Explain(v.req.r.Context(), req) // request.allow permits only what is sent by POST
	if err != nil {
		return err
	}
	p := &confirmPage{Server: place.Server(req.Locator), Action: v.req.linkTo(req.Locator)}
	for _, step := range plan.Steps {
		p.Bytes += visible.Text(strings.ReplaceAll(step.Send, "\t", " <TAB> "))
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
	v = v.hidden()
	return v.out.render(v.req, "confirm", http.StatusOK, &page{Heading: "Send this form?", Main: p, Actions: v.actions()})
}

// nth is the name of an input for the question with a number.
func nth(name string, i int) string { return name + strconv.Itoa(i) }
