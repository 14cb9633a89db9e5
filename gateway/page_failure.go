package gateway

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/gopher"
	"github.com/fetch1738/fetch1738/fetch/nntp"
	"github.com/fetch1738/fetch1738/gateway/internal/cause"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/policy"
)

// A failure is an error with what its page says.
type failure struct {
	Status int
	Text   string     // what happened, in a sentence
	Detail string     // more about it, which is not from a server
	Again  string     // whether trying again helps, in a sentence; empty if nobody would try
	Do     string     // what else to do
	Field  string     // what the operator of the gateway sets to permit it; empty if nothing does
	Links  []crumb    // of Do
	Retry  place.Link // to try again; empty if that makes no sense
	Login  place.Link // to log in; empty if that makes no sense
	Ways   []crumb    // where to go on: the folder or menu above, for example

	Typed  bool    // a login was typed, and the server has refused it
	Reply  string  // the error with the reply of the server, in one line
	Sent   string  // what was sent to the server, as lines; empty if nothing was, or if it is not text
	Server []piece // what a Gopher+ server said to people, of one or more lines
	Admin  crumb   // the administrator of the server
	Moved  crumb   // where the document is now

	err error
}

// Error is what a log says about the failure.
func (f *failure) Error() string {
	if f.err != nil {
		return f.err.Error()
	}
	return strings.TrimSuffix(f.Text, ".")
}

// failureOf is the failure of an access.
func failureOf(err error) *failure {
	f := &failure{Status: http.StatusBadGateway, Text: "The server did not send the document.", Again: "Trying again may help.", Reply: visible(err.Error()), err: err}
	if known, ok := cause.Of(fetch.KindOf(err)); ok {
		f.Status, f.Text, f.Again, f.Do = known.Status, known.Text, known.Again, known.Do
		if known.Own {
			f.Detail, f.Reply = f.Reply, ""
		}
	}
	var denied *policy.Denied
	switch {
	case errors.As(err, &denied):
		f.Detail = visible(strings.Replace(err.Error(), denied.Error(), denied.Reason(), 1))
		f.Field = denied.Relax
	case errors.Is(err, nntp.ErrNoServer): // the text names the field for programs
		f.Text, f.Detail, f.Do = "The gateway has no news server.", "A news URL names a group or an article, but no server.", "Enter a URL that names the server, such as nntp://HOST/GROUP."
		f.Field = newsServerField
	}
	return f
}

// accessFailure says why v.loc could not be fetched. A page of another site does not learn whether
// the policy refused it or nobody answered, and no address from the error.
func (v *visit) accessFailure(err error) *failure {
	f := failureOf(err)
	if v.crossSite {
		f.Detail, f.Reply = "", ""
		switch fetch.KindOf(err) {
		case fetch.ErrRefused, fetch.ErrUnresolved, fetch.ErrUnreachable, fetch.ErrTimeout:
			f = &failure{Status: http.StatusBadGateway, Text: "The gateway cannot reach " + server(v.loc) + ".", Again: "Trying again may help.", err: errors.New("cannot reach the server")}
		}
	} else {
		v.explainFailure(f)
	}
	if f.Again != cause.Useless {
		f.Retry = here(v)
	}
	if f.Ways = above(v); f.Field == newsServerField {
		f.Ways = nil // has no server either
	}
	if v.h.Archive != nil {
		archivePages{v}.explain(f)
	}
	return f
}

// above are the links to the folder or menu above v.loc and to the start of its server, as far as
// there are any.
func above(v *visit) []crumb {
	way := slices.DeleteFunc(v.crumbs(""), func(c crumb) bool { return c.Link.Empty() || !v.native && c.Link == (front{v}).start() })
	if len(way) == 0 {
		return nil
	}
	links := []crumb{{"Up to " + way[len(way)-1].Text, way[len(way)-1].Link, true}}
	if len(way) > 1 {
		links = append(links, crumb{"Start of " + way[0].Text, way[0].Link, true})
	}
	return links
}

// explainFailure adds what was sent and what the server said about it.
func (v *visit) explainFailure(f *failure) {
	if sent := v.sent(); looksLikeText(sent) {
		f.Sent = strings.TrimRight(visibleText(string(sent)), "\n")
	}
	var plus *gopher.PlusError
	if errors.As(f.err, &plus) {
		f.Server = v.linked(plus.Text)
		f.Admin = v.admin(plus.Admin)
	}
	var moved *fetch.Referral
	if errors.As(f.err, &moved) {
		f.Moved = crumb{Text: visible(moved.To.Redacted()), Link: v.linkTo(moved.To)}
	}
}

// admin is a link to the mail address in "Name <address>", as Gopher+ writes it.
func (v *visit) admin(text string) crumb {
	c := crumb{Text: visible(text)}
	if _, address, ok := strings.Cut(text, "<"); ok {
		address, _, _ = strings.Cut(address, ">")
		if l, err := place.Parse("mailto:" + address); err == nil && strings.Contains(address, "@") {
			if mail, ok := l.(*locator.Mailto); ok && len(mail.Headers) == 0 {
				c.Link = v.linkTo(l)
			}
		}
	}
	return c
}

// newsServerField is the field of the Resolver that names the server for news URLs.
const newsServerField = "Env.NewsServer"

// permits says who can set a field, and how, if anyone can.
func (h *Handler) permits(field string) string {
	who := "The operator of the gateway can permit it"
	if field == newsServerField {
		who = "The operator of the gateway can set a news server"
	}
	switch {
	case field == "":
		return ""
	case h.Option == nil:
		return who + "."
	}
	if option := h.Option(field); option != "" {
		return who + ": " + option + "."
	}
	return ""
}

// showFailure shows a failure: as a page, or as text to a client that does not ask for pages.
func (v *visit) showFailure(f *failure) {
	v.page = "error"
	f.Do = strings.TrimSpace(f.Do + " " + v.h.permits(f.Field))
	if v.err = f.err; v.err == nil {
		v.err = f
	}
	if f.Status == http.StatusServiceUnavailable {
		v.w.Header().Set("Retry-After", cause.RetryAfter)
	}
	if v.accepts("text/html") {
		p := &page{Heading: f.Text, Main: f}
		if v.loc != nil && !v.native && !v.wants("explain") {
			p.Actions = rawAndHow(v.linkTo(v.loc))[1:] // there is nothing to have raw
		}
		_ = v.render("error", f.Status, p)
		return
	}
	v.secure()
	v.w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	v.w.WriteHeader(f.Status)
	if v.r.Method == http.MethodHead {
		return
	}
	text := f.Text + "\n"
	for _, more := range []string{f.Detail, f.Reply, f.Again, f.Do} {
		if more != "" {
			text += more + "\n"
		}
	}
	for _, l := range f.Links {
		text += l.Text + "\n"
	}
	_, _ = io.WriteString(v.w, text)
}
