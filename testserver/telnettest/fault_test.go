package telnettest_test

import (
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/testserver/telnettest"
)

// TestFaultsThatCannotAct tests that a fault is refused where it cannot act, and nothing is armed.
func TestFaultsThatCannotAct(t *testing.T) {
	srv := telnettest.New(t, lineInMemory)
	for stages, faults := range map[string]string{
		"CONNECT":                  "Data:x",
		"HEAR":                     "Reply:x Truncate:1 Reset:1 Drip:1,1s Split:1 Garble:0,x Data:x",
		"COMMAND,SAY,ECHO":         "ExtraReply:x Lose NoDot",
		"RETR,SAY x,HEAR x,ECHO x": "Close",
	} {
		for stage := range strings.SplitSeq(stages, ",") {
			for text := range strings.FieldsSeq(faults) {
				fault, err := srv.ParseFault(text)
				if err == nil {
					err = srv.Arm(stage, 1, fault)
				}
				if err == nil {
					t.Errorf("%s at %s is accepted", text, stage)
				}
			}
		}
	}
}
