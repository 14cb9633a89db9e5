package dial

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/locator"
)

// TestThrough checks that the policy is asked before the function is called, also with other
// options.
func TestThrough(t *testing.T) {
	var dialled []string
	through := func(_ context.Context, network, address string) (net.Conn, error) {
		dialled = append(dialled, network+" "+address)
		ours, theirs := net.Pipe()
		theirs.Close()
		return ours, nil
	}
	refused := errors.New("refused")
	for _, d := range []Dialer{{Through: through}, {Family: "4", Through: through}} {
		env := fetch.Env{Dial: d.Dial, Allow: func(_ context.Context, t fetch.Target) error {
			if t.Addr.Addr() == netip.MustParseAddr("192.0.2.2") {
				return refused
			}
			return nil
		}}
		for host, want := range map[string]error{"192.0.2.1": nil, "192.0.2.2": refused} {
			dialled = nil
			ref, err := locator.Parser{}.Parse("gopher://" + host)
			if err != nil {
				t.Fatal(err)
			}
			conn, err := driver.NewEnv(&env).Connect(t.Context(), fetch.Target{Locator: ref.Locator, Host: host, Port: 70})
			if !errors.Is(err, want) || (err == nil) == (want != nil) {
				t.Errorf("%s: %v, want %v", host, err, want)
			}
			if err == nil {
				conn.Close()
			}
			if want == nil && !slices.Equal(dialled, []string{"tcp 192.0.2.1:70"}) || want != nil && dialled != nil {
				t.Errorf("%s: dialled %q", host, dialled)
			}
		}
	}
}
