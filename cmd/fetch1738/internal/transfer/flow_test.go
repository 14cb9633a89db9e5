package transfer

import (
	"io"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/internal/pace"
)

// What nobody wants shown or held back is left as it is, so that it can go to a file
// without passing through the program.
func TestFlowIsFree(t *testing.T) {
	body := strings.NewReader("octets")
	free := new(Transfer)
	if free.incoming(body) != io.Reader(body) || free.outgoing(body) != io.Reader(body) {
		t.Error("the body is wrapped")
	}
	for _, tr := range []*Transfer{{watch: Watch{Data: func(bool, []byte) {}}}, {flow: flow{pace: pace.New(1)}}} {
		if tr.incoming(body) == io.Reader(body) || tr.outgoing(body) == io.Reader(body) {
			t.Error("the body is not wrapped")
		}
	}
}
