// Package build starts servers: it has what the packages of the servers need to build one on
// testserver.Server, and listens as the fields of that say.
package build

import (
	"context"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/internal/core"
)

// New starts a server that ends with the test, by Start of its package. The test fails if it armed
// faults that have not acted.
func New[S interface {
	Close() error
	Common() *testserver.Server
}](tb testserver.TB, start func(context.Context, string, ...func(S)) (S, error), configure []func(S)) S {
	tb.Helper()
	ofTest := func(s S) { core.MachineOf(&s.Common().Base).Test = tb } // first, because the others may arm faults
	s, err := start(context.Background(), "", append([]func(S){ofTest}, configure...)...)
	if err != nil {
		tb.Fatalf("%v", err)
	}
	tb.Cleanup(func() {
		tb.Helper() // the message is then one of the line that called New of the package
		if err := s.Close(); err != nil {
			tb.Errorf("%v", err)
		}
	})
	return s
}

// Start configures and starts s, a new server. service is called when it has been configured, and
// returns how it listens.
func Start[S interface{ Common() *testserver.Server }](ctx context.Context, s S, t *core.Table, configure []func(S), service func(*core.Machine) (Service, error)) (started S, err error) {
	m := core.Attach(&s.Common().Base, t)
	for _, set := range configure {
		if set != nil {
			set(s)
		}
	}
	how, err := service(m)
	if err == nil {
		err = listen(ctx, s.Common(), m, how)
	}
	if err != nil {
		return started, err
	}
	return s, nil
}

// On is Server.On for the faults of one server.
func On[F testserver.Fault](s *testserver.Server, stage string, n int, faults []F) {
	all := make([]testserver.Fault, len(faults))
	for i, f := range faults {
		all[i] = f
	}
	if tb := core.MachineOf(&s.Base).Test; tb != nil {
		tb.Helper()
	}
	s.On(stage, n, all...)
}

// Allowed is the login check of servers: there is a user of that name and password.
func Allowed(users map[string]testserver.User, name, password string) bool {
	u, ok := users[name]
	return ok && u.Password == password
}
