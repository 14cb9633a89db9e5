package wais

import (
	"fmt"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/z3950"
)

// Explain implements [fetch.Explainer].
func (f *Fetcher) Explain(req *fetch.Request) (*fetch.Plan, error) {
	a, err := f.prepare(req)
	if err != nil {
		return nil, err
	}
	if a.does == choosing {
		return &fetch.Plan{
			Steps: []fetch.Step{{Do: "list the types " + fetch.Printable(a.doc.typ) + ", each with a URL of its own"}},
			Notes: []string{"the server is not asked"},
		}, nil
	}
	p := &fetch.Plan{Network: "tcp", Host: a.host, Port: a.port}
	if !f.NoInit {
		p.Steps = append(p.Steps, message(hello()), fetch.Step{Do: "go on whatever the answer"})
	}
	p.Steps = append(p.Steps, message(a.request))
	switch a.does {
	case describing:
		p.Steps = append(p.Steps,
			fetch.Step{Do: "retrieve the description of the database", When: "when the server has one"},
			fetch.Step{Do: "ask for search words"})
	case searching:
		p.Steps = append(p.Steps, fetch.Step{Do: "list what was found"})
	case retrieving:
		p.Steps = append(p.Steps, fetch.Step{Do: fmt.Sprintf("ask for the next %d octets until there are no more", sliceSize), When: "when the document is longer"})
		if a.doc.length < 0 {
			p.Notes = append(p.Notes, "the URL does not tell the length of the document")
		}
	}
	return p, nil
}

// message is the step of sending one. What can be encoded has been seen to.
func message(p z3950.PDU) fetch.Step {
	octets, _ := z3950.AppendMessage(nil, z3950.NewHeader(), p)
	return fetch.Step{Send: string(octets)}
}
