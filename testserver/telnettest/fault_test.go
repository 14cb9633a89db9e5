package telnettest_test

import (
	"testing"

	"github.com/fetch1738/fetch1738/testserver/internal/testclient"
	"github.com/fetch1738/fetch1738/testserver/telnettest"
)

// TestFaultsThatCannotAct tests that a fault is refused where it cannot act, and nothing is armed.
func TestFaultsThatCannotAct(t *testing.T) {
	srv := telnettest.New(t, lineInMemory)
	testclient.Refuses(t, srv, map[string]string{
		"CONNECT":                  "Data:x",
		"HEAR":                     "Reply:x Truncate:1 Reset:1 Drip:1,1s Split:1 Garble:0,x Data:x",
		"COMMAND,SAY,ECHO":         "ExtraReply:x Lose NoDot",
		"RETR,SAY x,HEAR x,ECHO x": "Close",
	})
}
