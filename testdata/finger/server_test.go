package fingertest_test

import (
	"io"
	"testing"
	"testing/fstest"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/fingertest"
)

func TestFaults(t *testing.T) {
	srv := fingertest.New(t, func(s *fingertest.Server) {
		s.InMemory, s.Content = true, fstest.MapFS{"lab": {Data: []byte("Login: lab\r\n")}}
	})
	srv.On("REQUEST lab", 2, testserver.Truncate(5))
	for _, want := range []string{"Login: lab\r\n", "Login"} {
		nc, err := srv.Dial(t.Context(), "tcp", srv.Addr)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(nc, "lab\r\n")
		if got, err := io.ReadAll(nc); string(got) != want || err != nil {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
		nc.Close()
	}
	if err := srv.Arm("RETR", 1, testserver.Close()); err == nil {
		t.Error("a stage that does not exist was accepted")
	}
}
