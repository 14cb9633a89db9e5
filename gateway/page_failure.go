package gateway

import (
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/gopher"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/policy"
)

// A failure is an error with what its page says.
type failure struct {
	Status int
	Text   string     // what went wrong, in a sentence
	Detail string     // the error, in one line
	Do     string     // what to do
	Field  string     // what the operator of the gateway sets to permit it; empty if nothing does
	Links  []crumb    // of Do
	Retry  place.Link // to try again; empty if that makes no sense
	Login  place.Link // to log in; empty if that makes no sense

	Sent   string  // what was sent to the server, as lines; empty if nothing was, or if it is not text
	Server []piece // what a Gopher+ server said, of one or more lines
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

// retryAfter is how many seconds a client should wait before it asks a busy server again.
const retryAfter = "30"

// failures say what went wrong, and what to do, by the kind of an error.
var failures = [...]struct {
	Status   int
	Text, Do string
}{
	fetch.ErrNotFound:        {Status: http.StatusNotFound, Text: "The server has no such document.", Do: "Check the spelling of the URL, or go to a page above it."},
	fetch.ErrPermission:      {Status: http.StatusForbidden, Text: "The server denies access."},
	fetch.ErrRefused:         {Status: http.StatusForbidden, Text: "The gateway's policy refuses this URL."},
	fetch.ErrUnauthenticated: {Status: http.StatusUnauthorized, Text: "The server requires a login."},
	fetch.ErrBadURL:          {Status: http.StatusBadRequest, Text: "This is not a URL that the gateway can read.", Do: "Check the spelling of the URL."},
	fetch.ErrNoOctets:        {Status: http.StatusBadRequest, Text: "There is no document at this URL.", Do: "Open the page of the URL, without “raw”."},
	fetch.ErrUnsupported:     {Status: http.StatusBadRequest, Text: "The gateway does not show this kind of URL."},
	fetch.ErrBadRange:        {Status: http.StatusRequestedRangeNotSatisfiable, Text: "The document does not have this part."},
	fetch.ErrTooLarge:        {Status: http.StatusRequestEntityTooLarge, Text: "The answer is larger than the gateway permits."},
	fetch.ErrUnresolved:      {Status: http.StatusBadGateway, Text: "The name of the server has no address.", Do: "Check the spelling of the name."},
	fetch.ErrUnreachable:     {Status: http.StatusBadGateway, Text: "The server cannot be reached.", Do: "Try again later. The server may not exist any more."},
	fetch.ErrTimeout:         {Status: http.StatusGatewayTimeout, Text: "The server did not answer in time.", Do: "Try again later."},
	fetch.ErrBusy:            {Status: http.StatusServiceUnavailable, Text: "The server is busy.", Do: "Try again in " + retryAfter + " seconds."},
	fetch.ErrMoved:           {Status: http.StatusBadGateway, Text: "The document has moved."},
	fetch.ErrTooManyHops:     {Status: http.StatusBadGateway, Text: "The document has moved too many times."},
	fetch.ErrTruncated:       {Status: http.StatusBadGateway, Text: "The server ended the transfer early.", Do: "Try again."},
	fetch.ErrProtocol:        {Status: http.StatusBadGateway, Text: "The server does not keep to its protocol.", Do: "It may be a server of another kind: check the scheme and the port of the URL."},

	fetch.ErrConnectionFailed: {Status: http.StatusBadGateway, Text: "The connection to the server broke.", Do: "Try again."},
	fetch.ErrLocalIO:          {Status: http.StatusInternalServerError, Text: "The gateway cannot read or write a file of its own."},
}

// failureOf is the failure of an access.
func failureOf(err error) *failure {
	f := &failure{Status: http.StatusBadGateway, Text: "The server did not send the document.", Detail: visible(err.Error()), err: err}
	if kind := int(fetch.KindOf(err)); kind < len(failures) && failures[kind].Text != "" {
		f.Status, f.Text, f.Do = failures[kind].Status, failures[kind].Text, failures[kind].Do
	}
	var denied *policy.Denied
	if errors.As(err, &denied) {
		f.Detail = visible(strings.Replace(err.Error(), denied.Error(), denied.Reason(), 1))
		f.Field = denied.Relax
	}
	return f
}

// accessFailure says why v.loc could not be fetched. A page of another site does not learn whether
// the policy refused it or nobody answered, and no address from the error.
func (v *visit) accessFailure(err error) *failure {
	f := failureOf(err)
	if v.crossSite {
		f.Detail = ""
		switch fetch.KindOf(err) {
		case fetch.ErrRefused, fetch.ErrUnresolved, fetch.ErrUnreachable, fetch.ErrTimeout:
			f = &failure{Status: http.StatusBadGateway, Text: "The gateway cannot reach " + server(v.loc) + ".", err: errors.New("cannot reach the server")}
		}
	} else {
		v.explainFailure(f)
	}
	f.Retry = here(v)
	if v.h.Archive != nil {
		archivePages{v}.explain(f)
	}
	return f
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

// permits says who can set a field, and how, if anyone can.
func (h *Handler) permits(field string) string {
	const who = "The operator of the gateway can permit it"
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
		v.w.Header().Set("Retry-After", retryAfter)
	}
	if v.accepts("text/html") {
		_ = v.render("error", f.Status, &page{Heading: f.Text, Main: f})
		return
	}
	v.secure()
	v.w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	v.w.WriteHeader(f.Status)
	if v.r.Method == http.MethodHead {
		return
	}
	text := f.Text + "\n"
	for _, more := range []string{f.Detail, f.Do} {
		if more != "" {
			text += more + "\n"
		}
	}
	for _, l := range f.Links {
		text += l.Text + "\n"
	}
	_, _ = io.WriteString(v.w, text)
}
