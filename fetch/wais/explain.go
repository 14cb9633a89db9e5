package wais

import (
	"fmt"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/codec/z3950"
)

// Explain implements [driver.Explainer].
func (f *Fetcher) Explain(req *fetch.Request) (*fetch.Explanation, error) {
	a, err := f.prepare(req)
	if err != nil {
		return nil, err
	}
	if a.operation == listTypes {
		return &fetch.Explanation{
			Steps: []fetch.Step{{Do: "list the types " + fetch.Printable(a.doc.typ) + ", each with its own URL"}},
			Notes: []string{"no connection is made"},
		}, nil
	}
	e := &fetch.Explanation{Network: "tcp", Host: a.host, Port: a.port}
	if !f.NoInit {
		e.Steps = append(e.Steps, message(initRequest()), fetch.Step{Do: "continue whatever the server replies"})
	}
	e.Steps = append(e.Steps, message(a.request))
	switch a.operation {
	case describe:
		e.Steps = append(e.Steps,
			fetch.Step{Do: "retrieve the description of the database", When: "when the server has one"},
			fetch.Step{Do: "ask for search words"})
	case search:
		e.Steps = append(e.Steps, fetch.Step{Do: "list the documents found"})
	case retrieve:
		e.Steps = append(e.Steps, fetch.Step{Do: fmt.Sprintf("request the next %d bytes until the end of the document", sliceSize), When: "when the document is longer"})
		if a.doc.length < 0 {
			e.Notes = append(e.Notes, "the URL does not contain the length of the document")
		}
	}
	return e, nil
}

// message returns the step that sends a message. prepare has checked that it can be encoded.
func message(p z3950.PDU) fetch.Step {
	octets, _ := z3950.AppendMessage(nil, z3950.NewHeader(), p)
	return fetch.Step{Send: string(octets)}
}
