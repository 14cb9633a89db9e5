package ftptest_test

import (
	"testing"

	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/internal/testclient"
)

func TestBadSize(t *testing.T) {
	srv := ftptest.New(t, inMemory)
	srv.On("SIZE", 1, ftptest.BadSize(5))
	c := testclient.LoginFTP(t, srv)
	c.Expect("SIZE motd.txt", "213 5")
	c.Expect("SIZE motd.txt", "213 12")
	if err := srv.Arm("RETR", 1, ftptest.BadSize(5)); err == nil {
		t.Error("RETR has no size, but the fault is accepted")
	}
}
