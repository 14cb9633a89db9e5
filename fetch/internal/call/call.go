// Package call is what the context of an operation carries, in one value: what observes it, what
// forbids, and the connection that is being made. Package fetch sets and reads what users see of it,
// package fetch/driver what Fetchers do. Neither can import the other's types, so they are parameters.
package call

import (
	"context"
	"net/netip"
)

// A Call is what a context carries: trace, environments and target of fetch. The zero value carries
// nothing.
type Call[Trace, Env, Target any] struct {
	// Trace observes the operation.
	Trace Trace
	// Policies are the environments whose policies must permit each connection, each once. The slice
	// is not changed.
	Policies []Env
	// Target is what the connection is for that Env.Dial is making; nil outside of it.
	Target *Target
	// Ask asks about an address of Target, before Env.Dial connects to it; nil outside of it.
	Ask func(ctx context.Context, address netip.AddrPort) error
}

type key struct{}

// Of returns what ctx carries.
func Of[Trace, Env, Target any](ctx context.Context) Call[Trace, Env, Target] {
	c, _ := ctx.Value(key{}).(Call[Trace, Env, Target])
	return c
}

// In returns a copy of ctx that carries c.
func (c Call[Trace, Env, Target]) In(ctx context.Context) context.Context {
	return context.WithValue(ctx, key{}, c)
}
