// Package call is what the context of an operation carries for package fetch and fetch/driver: the
// policies, what observes the operation, and the connection that is being made. Package fetch sets and
// reads what users see of it, driver what Fetchers do. Neither is imported here, so their types are
// parameters.
package call

import (
	"context"
	"net/netip"
	"slices"
)

// A Policy is asked whether a Target may be accessed. It is the same one if its address is.
type Policy[Target any] struct {
	Allow func(ctx context.Context, t Target) error
}

type policiesKey[Target any] struct{}

// Policies returns the policies that ctx carries. They have a key of their own: in a context that
// takes its values from two others, no Trace of one hides the policies of the other.
func Policies[Target any](ctx context.Context) []*Policy[Target] {
	p, _ := ctx.Value(policiesKey[Target]{}).([]*Policy[Target])
	return p
}

// In returns a copy of ctx that carries p, too.
func (p *Policy[Target]) In(ctx context.Context) context.Context {
	all := Policies[Target](ctx)
	if slices.Contains(all, p) {
		return ctx
	}
	return context.WithValue(ctx, policiesKey[Target]{}, append(slices.Clip(all), p))
}

// A Call is what else a context carries. The zero value carries nothing.
type Call[Trace, Target any] struct {
	// Trace observes the operation.
	Trace Trace
	// Target is what the connection is for that Env.Dial is making; nil outside of it.
	Target *Target
	// Ask asks about an address of Target, before Env.Dial connects to it; nil outside of it.
	Ask func(address netip.AddrPort) error
}

type callKey struct{}

// Of returns what ctx carries.
func Of[Trace, Target any](ctx context.Context) Call[Trace, Target] {
	c, _ := ctx.Value(callKey{}).(Call[Trace, Target])
	return c
}

// In returns a copy of ctx that carries c.
func (c Call[Trace, Target]) In(ctx context.Context) context.Context {
	return context.WithValue(ctx, callKey{}, c)
}
