package prosperotest_test

import (
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/testserver/internal/testclient"
	"github.com/fetch1738/fetch1738/testserver/prosperotest"
)

// TestFaultsThatCannotAct tests that a fault is refused where it cannot act, and nothing is armed.
func TestFaultsThatCannotAct(t *testing.T) {
	srv := prosperotest.New(t, func(s *prosperotest.Server) { s.InMemory = true })
	const ofRequests = " Reply:x Delay:1s Silence Close Wait:1s,1 SendTo:192.0.2.1:9 Refuse"
	testclient.Refuses(t, srv, map[string]string{
		"REQUEST,LIST,LIST /x,GET-OBJECT-INFO,GET-OBJECT-INFO /x": "Data:x Garble:0,x Truncate:1 Lose Loss:1,1 Duplicate Reorder Gather:2 Split:1",
		"PACKET":                   "Gather:2 EndlessLine Reset:1 Drip:1,1s Split:1" + ofRequests,
		"INCOMING":                 "Data:x Garble:0,x Truncate:1 Duplicate Reorder" + ofRequests,
		"CONNECT,VERSION,PACKET x": "Lose Close",
	})
	for _, wrong := range []prosperotest.Fault{
		prosperotest.Loss(101, 1), prosperotest.Loss(-1, 1), prosperotest.SendTo("host:1"), prosperotest.SendTo("[::1]:9"), prosperotest.SendTo("127.0.0.1"),
	} {
		stage := "REQUEST"
		if strings.HasPrefix(wrong.String(), "Loss") {
			stage = "PACKET"
		}
		if err := srv.Arm(stage, 1, wrong); err == nil {
			t.Errorf("%v is accepted", wrong)
		}
	}
}
