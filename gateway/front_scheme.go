package gateway

import (
	"net/http"
	"strings"

	"github.com/fetch1738/fetch1738/gateway/internal/place"
)

// A schemePage is the data of the page of a scheme without a server.
type schemePage struct {
	Open     place.Link
	Scheme   string
	Form     place.Form
	Examples []example
}

// An example is a URL to begin with.
type example struct {
	Text string
	Link place.Link
	Is   string
}

// schemeOf returns the scheme of a path that names nothing else.
func schemeOf(path string) (scheme string, ok bool) {
	scheme = strings.TrimSuffix(strings.TrimPrefix(path, "/"), "/")
	_, ok = place.FormOf(scheme)
	return scheme, ok
}

// scheme is the page of a scheme without a server, where a person enters the rest of a URL.
func (v front) scheme(scheme string) error {
	form, _ := place.FormOf(scheme)
	data := schemePage{Open: v.req.ownPage("/open"), Scheme: scheme, Form: form}
	if v.req.h.Archive == nil && (form.Before != "news:" || v.up.resolver.Env.NewsServer != "") {
		data.Examples = v.examples(form.Examples...)
	}
	return v.out.render(v.req, "scheme", http.StatusOK, &page{Heading: "Open " + scheme + " URLs", Main: data})
}

// examples are the links to URLs, each with what it is.
func (v front) examples(of ...[2]string) (examples []example) {
	for _, e := range of {
		if l, err := place.Parse(e[0]); err == nil {
			examples = append(examples, example{e[0], v.req.linkTo(l), e[1]})
		}
	}
	return examples
}
