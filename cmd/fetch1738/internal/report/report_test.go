package report

import (
	"io"
	"testing"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/output"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/transfer"
	"github.com/fetch1738/fetch1738/locator"
)

// The octets of a body are asked for only where they are shown: else it can go to a
// file without passing through the program.
func TestBodyIsFree(t *testing.T) {
	for form, shown := range map[plan.TraceForm]bool{plan.TraceNot: false, plan.TraceLines: false, plan.TraceASCII: true, plan.TraceHex: true} {
		r := &Reporter{Streams: stdio.Streams{Out: io.Discard, Err: io.Discard}}
		op := plan.New(&plan.Global{Trace: plan.Trace{Form: form, File: "%"}})
		if err := r.Open(op.Trace); err != nil {
			t.Fatal(err)
		}
		l := &locator.HTTP{Server: locator.Server{HostPort: locator.HostPort{Host: "h"}}}
		w := r.Begin(&transfer.Result{Call: client.Call{Network: &client.Network{Op: op}, Locator: l}, Sink: output.At("file")})
		if (w.Data != nil) != shown {
			t.Errorf("form %v: the octets of the body are wanted: %v", form, w.Data != nil)
		}
		if w.Stop != nil {
			w.Stop()
		}
	}
}
