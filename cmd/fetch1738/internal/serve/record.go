package serve

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/exit"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/testserver/traffic"
)

// recorded calls serve, and records the connections if that is wanted. If the record cannot be written,
// serve ends.
func (o *options) recorded(ctx context.Context, serve func(context.Context) int) int {
	if o.record == "" {
		return serve(ctx)
	}
	f, err := os.OpenFile(o.record, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600) // it has passwords
	if err != nil {
		return o.Fail(exit.Write, "%v", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	o.recorder = traffic.NewRecorder(endingWriter{f, cancel})
	code := serve(ctx)
	if err := cmp.Or(o.recorder.Err(), f.Close()); err != nil {
		return o.Fail(exit.Write, "the record is not complete: %v", err)
	}
	return code
}

// endingWriter calls end when the file cannot be written.
type endingWriter struct {
	*os.File
	end func()
}

func (w endingWriter) Write(p []byte) (int, error) {
	n, err := w.File.Write(p)
	if err != nil {
		w.end()
	}
	return n, err
}

// serveReplay plays a record until ctx ends, at addrs where these have the scheme of a server.
func (o *options) serveReplay(ctx context.Context, addrs map[string]string) int {
	f, err := os.Open(o.replay)
	if err != nil {
		return o.Fail(exit.Read, "%v", err)
	}
	events, err := traffic.Read(f)
	_ = f.Close()
	if err != nil {
		return o.Fail(exit.Read, "%s: %v", o.replay, err)
	}
	p := traffic.Player{Report: o.differs, Address: func(url, addr string) (string, error) {
		scheme, _, _ := strings.Cut(url, "://")
		for _, name := range []string{scheme, strings.TrimSuffix(scheme, "s")} { // as in ftps
			if at, ok := addrs[name]; ok {
				delete(addrs, name)
				return at, nil
			}
		}
		return listenAddr(addr, o.public)
	}}
	r, err := p.Start(ctx, events)
	if err != nil {
		return o.Fail(exit.Usage, "%s: %v", o.replay, err)
	}
	defer r.Close()
	for scheme := range addrs {
		return o.Complain("--%s: %s has no server of this scheme", scheme, o.replay)
	}
	return o.show(ctx, r.URLs)
}

// differs reports a difference from the record.
func (o *options) differs(d traffic.Difference) {
	where := d.Addr
	if d.Conn > 0 {
		where += fmt.Sprintf(", connection %d", d.Conn)
	}
	text := where + ": " + d.What
	if d.Got != "" || d.Want != "" {
		text += fmt.Sprintf(" is in %q; recorded: %q", masked(d.Got), masked(d.Want))
	}
	fmt.Fprintf(o.Std.Err, "fetch1738: %s\n", stdio.Line(text))
}

// show prints URLs, and waits until ctx ends.
func (o *options) show(ctx context.Context, urls []string) int {
	for _, u := range urls {
		if strings.Count(u, "/") == 2 { // not that of a phone book
			u += "/"
		}
		if _, err := fmt.Fprintln(o.Std.Out, u); err != nil {
			return o.FailOutput(err)
		}
	}
	o.announce()
	<-ctx.Done()
	return exit.OK
}
