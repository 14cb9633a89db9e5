package csotest_test

import (
	"testing"
	"testing/synctest"

	"github.com/fetch1738/fetch1738/testserver/csotest"
	"github.com/fetch1738/fetch1738/testserver/internal/testclient"
)

func FuzzCSO(f *testing.F) {
	f.Add([]byte("query frodo\r\nquit\r\n"))
	f.Add([]byte("query name=[ return x\nquery =\n\x00\n"))
	f.Fuzz(func(t *testing.T, octets []byte) {
		synctest.Test(t, func(t *testing.T) {
			srv := csotest.New(t, phoneBook)
			testclient.AnswerAnything(t, srv, srv.Addr, octets)
			if got, err := testclient.Ask(t, srv, srv.Addr, "id\r\nquit\r\n"); got != "200:Thanks.\r\n200:Bye!\r\n" {
				t.Errorf("the next client got %q, %v", got, err)
			}
		})
	})
}
