package waistest_test

import (
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/testserver/waistest"
)

// TestFaultsThatCannotAct tests that a fault is refused where it cannot act, and nothing is armed.
func TestFaultsThatCannotAct(t *testing.T) {
	srv := waistest.New(t, waisInMemory)
	for stages, faults := range map[string]string{
		"CONNECT": "Data:x EmptyAnswer Announce:x Diagnostic:a,b",
		"REQUEST,INIT,SEARCH,SEARCH x,RETRIEVE,RETRIEVE x,OTHER": "Lose Refuse ExtraReply:x FromStart NoDot",
		"QUERY,INIT x,OTHER x": "Close EmptyAnswer",
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
