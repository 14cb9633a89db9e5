package ftp

import (
	"context"
	"errors"
	"net"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/fetch1738/fetch1738/fetch"
)

// TestRefusedUploadClosesPort tests a server that refuses an upload and closes its port before the
// client has connected to it: the error is the refusal. If it accepts the upload, its port counts.
func TestRefusedUploadClosesPort(t *testing.T) {
	for first, want := range map[string]fetch.Error{
		"550 Directory missing.\r\n": {Op: "STOR", Code: 550},
		"150 Go on.\r\n":             {Op: fetch.OpConnect},
	} {
		h := &hostile{greeting: "220 ProFTPD Server ready.\r\n", data: "x", first: map[string]string{"STOR": first}}
		synctest.Test(t, func(t *testing.T) {
			h.serve(t)
			env := h.env()
			dial, closed := env.Dial, false
			env.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
				if closed && !strings.HasSuffix(address, ":21") {
					return nil, &net.OpError{Op: "dial", Net: network, Err: syscall.ECONNREFUSED}
				}
				return dial(ctx, network, address)
			}
			f := &Fetcher{Env: env}
			defer f.Close()
			if got, err := read(t.Context(), f, &fetch.Request{Locator: at("/x")}); got != "x" || err != nil {
				t.Fatalf("%q, %v", got, err)
			}
			closed = true
			_, err := f.Replace(t.Context(), &fetch.Request{Locator: at("/y")}, strings.NewReader("y"))
			if e, _ := errors.AsType[*fetch.Error](err); e == nil || e.Op != want.Op || e.Code != want.Code {
				t.Errorf("%q: %+v", first, e)
			}
		})
	}
}
