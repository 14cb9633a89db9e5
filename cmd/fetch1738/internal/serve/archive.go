package serve

import (
	"context"
	"fmt"

	"github.com/fetch1738/fetch1738/archive"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/exit"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/play"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/testserver"
)

// serveArchive serves the sites of archives until ctx ends.
func (o *options) serveArchive(ctx context.Context) int {
	replay, end, err := play.OpenReplay(ctx, o.archives, o.at, o.Std.Warn)
	if err != nil && ctx.Err() != nil {
		return exit.OfSignal(ctx)
	}
	if err != nil {
		return o.Fail(exit.Read, "%v", err)
	}
	defer end()
	log := &conversationLog{w: o.Std.Err}
	served, err := replay.Serve(ctx, func(s archive.Site, srv *testserver.Server) {
		if srv.Recorder = o.recorder; o.verbose {
			srv.Log = log.of(s.Scheme + "://" + s.Host)
		}
	})
	if err != nil {
		return o.Fail(exit.Usage, "%v", err)
	}
	proxy := ""
	for _, s := range served {
		if _, err := fmt.Fprintf(o.Std.Out, "%s/\t%s\n", s.URL, stdio.Line(s.Site.String())); err != nil {
			return o.FailOutput(err)
		}
		if s.Site.Scheme == "http" || s.Site.Scheme == "https" {
			proxy = s.URL
		}
	}
	if proxy != "" {
		fmt.Fprintf(o.Std.Err, "fetch1738: links between sites of http work with a proxy: http_proxy=%s/\n", proxy)
	}
	o.announce()
	<-ctx.Done()
	return exit.OK
}
