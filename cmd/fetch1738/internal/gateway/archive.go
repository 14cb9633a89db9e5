package gateway

import (
	"context"
	"iter"
	"time"

	fetch1738 "github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/archive/replay"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/play"
	"github.com/fetch1738/fetch1738/gateway"
)

// archive returns the Resolver for the pages of an archive, and what the first page shows. It calls
// warn with what cannot be read. The caller must call end after it has closed the Resolver.
func (o *options) archive(ctx context.Context, warn func(format string, args ...any)) (resolver *fetch1738.Resolver, shown *gateway.Archive, end func(), err error) {
	past, closeAll, err := play.OpenReplay(ctx, o.archives, o.at, warn)
	if err != nil {
		return nil, nil, nil, err
	}
	limit := func(r *fetch1738.Resolver) {
		r.Env.Limits, r.MaxTransfers, r.MaxTransfersPerHost = gateway.Limits(), 64, 8
	}
	resolver = past.Resolver()
	limit(resolver)
	others := play.NewResolvers(past, maxTimes, limit)
	shown = &gateway.Archive{
		About: "The last captures.", Time: past.Time(), Captures: past.Times, At: others.At,
		Search: func(ctx context.Context, at time.Time, words string) iter.Seq2[gateway.Hit, error] {
			return hits(past.At(at).Search(ctx, words))
		},
		Documents: func(ctx context.Context, at time.Time, prefix string) iter.Seq2[gateway.Hit, error] {
			return hits(past.At(at).Documents(ctx, prefix))
		},
	}
	if o.at != "" {
		shown.About = "The captures as of " + o.at + "."
	}
	for _, s := range past.Sites() {
		pages, err := past.Pages(s)
		if err != nil {
			closeAll()
			return nil, nil, nil, err
		}
		shown.Sites = append(shown.Sites, gateway.Site{URL: s.String(), Pages: pages})
	}
	return resolver, shown, func() { _ = others.Close(); closeAll() }, nil
}

// maxTimes is how many times, besides the usual one, have a Resolver that is kept.
const maxTimes = 16

// hits are those of a search as the gateway has them.
func hits(found iter.Seq2[replay.Hit, error]) iter.Seq2[gateway.Hit, error] {
	return func(yield func(gateway.Hit, error) bool) {
		for h, err := range found {
			if !yield(gateway.Hit{URL: h.URL, Title: h.Title, Time: h.Time}, err) {
				return
			}
		}
	}
}
