package driver_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/fetch1738/fetch1738/locator"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// url is a locator with a password that nothing must show.
var url = &locator.FTP{
	Server: locator.Server{
		Login:    &locator.Login{User: "lab", Password: "hunter2", HasPassword: true},
		HostPort: locator.HostPort{Host: "example.com"},
	},
	Name: "x", HasPath: true,
}
