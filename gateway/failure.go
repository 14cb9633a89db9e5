package gateway

import (
	"errors"
	"net/http"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/nntp"
	"github.com/fetch1738/fetch1738/gateway/internal/cause"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/gateway/internal/textview"
	"github.com/fetch1738/fetch1738/gateway/internal/visible"
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

	Typed  bool             // a login was typed, and the server has refused it
	Reply  string           // the error with the reply of the server, in one line
	Sent   string           // what was sent to the server, as lines; empty if nothing was, or if it is not text
	Server []textview.Piece // what a Gopher+ server said to people, of one or more lines
	Admin  crumb            // the administrator of the server
	Moved  crumb            // where the document is now

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
	f := &failure{Status: http.StatusBadGateway, Text: "The server did not send the document.", Again: "Trying again may help.", Reply: visible.Name(err.Error()), err: err}
	if known, ok := cause.Of(fetch.KindOf(err)); ok {
		f.Status, f.Text, f.Again, f.Do = known.Status, known.Text, known.Again, known.Do
		if known.Own {
			f.Detail, f.Reply = f.Reply, ""
		}
	}
	var denied *policy.Denied
	switch {
	case errors.As(err, &denied):
		f.Detail = visible.Name(strings.Replace(err.Error(), denied.Error(), denied.Reason(), 1))
		f.Field = denied.Relax
	case errors.Is(err, nntp.ErrNoServer): // the text names the field for programs
		f.Text, f.Detail, f.Do = "The gateway has no news server.", "A news URL names a group or an article, but no server.", "Enter a URL that names the server, such as nntp://HOST/ or nntp://HOST/GROUP."
		f.Field = newsServerField
	}
	return f
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
