package testserver

import (
	"context"

	"github.com/fetch1738/fetch1738/testserver/internal/core"
)

// What follows is for the packages of the servers, below this one.

// Attach gives a server its machine, before it is configured.
func Attach(s *Server, t *core.Table) *core.Machine {
	s.m = core.New(t)
	return s.m
}

// Start starts a server that has been configured. Programs call Start of its own package.
func Start(ctx context.Context, s *Server, how core.Service) error {
	if s.Network != nil {
		s.InMemory = true
	} else if s.InMemory {
		s.Network = new(Network)
	}
	s.m.Config = core.Config{
		Content: s.Content, Forbidden: s.Forbidden, MaxUpload: s.MaxUpload, MaxConns: s.MaxConns,
		IdleTimeout: s.IdleTimeout, Store: s.Store, Recorder: s.Recorder, TLS: s.TLS, ImplicitTLS: s.ImplicitTLS,
	}
	if s.InMemory {
		s.m.Network = s.Network
	}
	if s.Log != nil {
		s.m.Log = func(l core.Line) { s.Log(Line(l)) }
	}
	err := s.m.Start(ctx, how)
	s.URL, s.Addr = s.m.URL, s.m.Addr
	return err
}

// New starts a server that ends with the test, by Start of its package. The test fails if it armed
// faults that have not acted. Tests call New of its own package.
func New[S interface{ common() *Server }](tb TB, start func(context.Context, string, ...func(S)) (S, error), configure []func(S)) S {
	tb.Helper()
	s, err := start(context.Background(), "", configure...)
	if err != nil {
		tb.Fatalf("%v", err)
	}
	tb.Cleanup(func() {
		if err := s.common().Close(); err != nil {
			tb.Errorf("%v", err)
		}
	})
	s.common().tb = tb
	return s
}

// common returns the part that all servers have, for New.
func (s *Server) common() *Server { return s }

// On is [Server.On] for the faults of one server.
func On[F Fault](s *Server, stage string, n int, faults []F) {
	all := make([]Fault, len(faults))
	for i, f := range faults {
		all[i] = f
	}
	if s.tb != nil {
		s.tb.Helper()
	}
	s.On(stage, n, all...)
}

// Allowed is the login check of servers: there is a user of that name and password.
func Allowed(users map[string]User, name, password string) bool {
	u, ok := users[name]
	return ok && u.Password == password
}
