package waistest_test

import (
	"testing"

	"github.com/fetch1738/fetch1738/testserver/internal/testclient"
	"github.com/fetch1738/fetch1738/testserver/waistest"
)

// TestFaultsThatCannotAct tests that a fault is refused where it cannot act, and nothing is armed.
func TestFaultsThatCannotAct(t *testing.T) {
	srv := waistest.New(t, waisInMemory)
	testclient.Refuses(t, srv, map[string]string{
		"CONNECT": "Data:x EmptyAnswer Announce:x Diagnostic:a,b",
		"REQUEST,INIT,SEARCH,SEARCH x,RETRIEVE,RETRIEVE x,OTHER": "Lose Refuse ExtraReply:x FromStart NoDot",
		"QUERY,INIT x,OTHER x": "Close EmptyAnswer",
	})
}
