package talk

import (
	"context"
	"net/netip"

	"github.com/fetch1738/fetch1738/fetch"
)

// PermitReuse asks the policy what it would be asked if a connection to peer, which
// is invalid if it is not known, were made for t.
func PermitReuse(ctx context.Context, env *fetch.Env, t fetch.Target, peer netip.AddrPort) error {
	if err := env.Permit(ctx, t); err != nil || !peer.IsValid() {
		return err
	}
	t.Addr = peer
	return env.Permit(ctx, t)
}
