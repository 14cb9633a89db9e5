package gopher

import (
	"github.com/fetch1738/fetch1738/fetch"
)

// Explain implements [driver.Explainer].
func (f *Fetcher) Explain(req *fetch.Request) (*fetch.Explanation, error) {
	a, err := f.prepare(req)
	if err != nil {
		return nil, err
	}
	switch {
	case a.referral != nil:
		return &fetch.Explanation{Steps: []fetch.Step{{Do: "follow the link to " + a.referral.Redacted()}}, Notes: []string{"the gopher server is not contacted"}}, nil
	case a.kind == fetch.KindAdvice:
		return &fetch.Explanation{Steps: []fetch.Step{{Do: "say: " + a.advice}}}, nil
	case a.kind == fetch.KindQuery:
		return f.explainQuery(req)
	}
	e := &fetch.Explanation{Network: "tcp", Host: a.host, Port: a.port}
	if a.loc.Secure {
		e.Steps = append(e.Steps, fetch.Step{Do: "TLS handshake"})
	}
	e.Steps = append(e.Steps, f.steps(a)...)
	if req.Offset > 0 {
		e.Notes = append(e.Notes, "gopher has no ranges: the data before the offset is received and discarded")
	}
	if a.note != "" {
		e.Notes = append(e.Notes, a.note)
	}
	return e, nil
}

// steps returns the steps of an access that connects to a server.
func (f *Fetcher) steps(a *access) []fetch.Step {
	if a.choose == nil {
		return []fetch.Step{{Send: string(a.maskedRequest())}, {Do: a.reading()}}
	}
	asking, getting := *a, *a
	asking.plus, getting.plus = "!", "+(the view's label)"
	asking.framing = menuLines
	return []fetch.Step{
		{Send: string(f.encodeRequest(a.loc, a.loc.Selector, a.words, asking.plus))},
		{Do: asking.reading()},
		{Do: "choose the view, and connect again"},
		{Send: string(f.encodeRequest(a.loc, a.loc.Selector, a.words, getting.plus)), When: "if there is such a view"},
		{Do: getting.reading(), When: "if there is such a view"},
	}
}

// explainQuery explains a search without search words.
func (f *Fetcher) explainQuery(req *fetch.Request) (*fetch.Explanation, error) {
	const words = "(words)"
	asked := *req
	asked.Query = words
	a, err := f.prepare(&asked)
	if err != nil {
		return nil, err
	}
	when := "if search words are given"
	return &fetch.Explanation{
		Network: "tcp", Host: a.host, Port: a.port,
		Steps: []fetch.Step{
			{Do: "ask for search words"},
			{Send: string(a.maskedRequest()), When: when},
			{Do: a.reading(), When: when},
		},
		Notes: []string{"without search words, no connection is made"},
	}, nil
}

// reading describes how the response is read.
func (a *access) reading() string {
	switch {
	case a.loc.Type == '2':
		return "read to the last line of the reply"
	case a.plus != "":
		return "read the Gopher+ header, then the response as the header says"
	}
	switch a.framing {
	case textLines:
		return `read until the server closes; a last line "." is not part of the text`
	case menuLines:
		return `read to a line "." or until the server closes`
	}
	return "read until the server closes"
}
