package gateway

import (
	"context"
	"net/http/httptest"
	"testing"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/fetch"
)

// TestLogAfterPanic tests that the log of a request whose access panics has no words of a search, which
// are in the path.
func TestLogAfterPanic(t *testing.T) {
	logged := ""
	h := &Handler{
		Resolver: &fetch1738.Resolver{Env: fetch.Env{Allow: func(context.Context, fetch.Target) error { panic("a defect") }}},
		Log:      func(e LogEntry) { logged = e.URL },
	}
	r := httptest.NewRequest("GET", "/gopher/192.0.2.1/7/find%09words", nil)
	r.RemoteAddr, r.Host = "127.0.0.1:1", "gateway.example"
	h.Hosts = []string{r.Host}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		h.ServeHTTP(httptest.NewRecorder(), r)
	}()
	if want := "gopher://192.0.2.1/7/find"; logged != want {
		t.Errorf("the log has %q, want %q", logged, want)
	}
}
