package gateway

import (
	"context"
	"iter"

	fetch1738 "github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/play"
	"github.com/fetch1738/fetch1738/gateway"
)

// archive returns the Resolver for the pages of an archive, and what the first page shows. It calls
// warn with what cannot be read. The caller must call end after it has closed the Resolver.
func (o *options) archive(ctx context.Context, warn func(format string, args ...any)) (resolver *fetch1738.Resolver, past *gateway.Archive, end func(), err error) {
	replay, end, err := play.OpenReplay(ctx, o.archives, o.at, warn)
	if err != nil {
		return nil, nil, nil, err
	}
	resolver = replay.Resolver()
	resolver.Env.Limits, resolver.MaxTransfers, resolver.MaxTransfersPerHost = gateway.Limits(), 64, 8
	past = &gateway.Archive{About: "The last captures."}
	if o.at != "" {
		past.About = "The captures as of " + o.at + "."
	}
	for _, s := range replay.Sites() {
		if s.Host != "" {
			past.Sites = append(past.Sites, s.String())
		}
	}
	past.Search = func(ctx context.Context, words string) iter.Seq2[gateway.Hit, error] {
		return func(yield func(gateway.Hit, error) bool) {
			for h, err := range replay.Search(ctx, words) {
				if !yield(gateway.Hit{URL: h.URL, Title: h.Title, Time: h.Time}, err) {
					return
				}
			}
		}
	}
	return resolver, past, end, nil
}
