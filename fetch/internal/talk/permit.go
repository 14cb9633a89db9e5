package talk

import (
	"context"
	"net/netip"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
)

// PermitReuse asks the policy whether an existing connection to peer may be used for t. The
// questions are those of a new connection. peer is invalid if it is not known.
func PermitReuse(ctx context.Context, env *driver.Env, t fetch.Target, peer netip.AddrPort) error {
	if err := env.Permit(ctx, t); err != nil || !peer.IsValid() {
		return err
	}
	t.Addr = peer
	return env.Permit(ctx, t)
}
