package transfer

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/pace"
)

// Without a rate limit and a hook for its bytes the body is not wrapped, so that it can go
// to a file without passing through the program.
func TestFlowIsFree(t *testing.T) {
	body := strings.NewReader("octets")
	free := new(flow)
	if free.incoming(nil, body) != io.Reader(body) || free.outgoing(nil, body) != io.Reader(body) {
		t.Error("the body is wrapped")
	}
	for _, f := range []flow{{data: func(bool, []byte) {}}, {pace: pace.New(1)}} {
		if f.incoming(nil, body) == io.Reader(body) || f.outgoing(nil, body) == io.Reader(body) {
			t.Error("the body is not wrapped")
		}
	}
}

// The limit for the whole transfer is not that for an FTP server to connect, which has an exit
// code of its own.
func TestTimeWhileAccepting(t *testing.T) {
	r := &Result{Call: client.Call{Network: &client.Network{Op: &plan.Operation{Limits: plan.Limits{Time: time.Second}}}}}
	late, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	for op, want := range map[fetch.Op]fetch.Op{fetch.OpAccept: fetch.OpTransfer, "CWD": "CWD"} {
		err := blameLimit(t.Context(), late, r, &fetch.Error{Op: op, Kind: fetch.ErrTimeout}).(*fetch.Error)
		if err.Op != want || !strings.Contains(err.Error(), "--max-time") {
			t.Errorf("during %q: %v", op, err)
		}
		own := blameLimit(t.Context(), t.Context(), r, &fetch.Error{Op: op, Kind: fetch.ErrTimeout}).(*fetch.Error)
		if own.Op != op {
			t.Errorf("%q, within the limit: %v", op, own)
		}
	}
}
