package main

import (
	"io"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/internal/pace"
)

// What nobody wants shown or held back is left as it is, so that it can go to a file
// without passing through the program.
func TestFlowIsFree(t *testing.T) {
	body := strings.NewReader("octets")
	for _, n := range []*narrator{nil, {form: plan.TraceLines}} {
		tr := &transfer{narrator: n}
		if tr.incoming(body) != io.Reader(body) || tr.outgoing(body) != io.Reader(body) {
			t.Error("the body is wrapped")
		}
	}
	for _, tr := range []*transfer{{narrator: &narrator{form: plan.TraceHex}}, {pace: pace.New(1)}} {
		if tr.incoming(body) == io.Reader(body) || tr.outgoing(body) == io.Reader(body) {
			t.Error("the body is not wrapped")
		}
	}
}
