package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/cli"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/exit"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/play"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/version"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/control"
)

// serveControl serves the control API until ctx ends, with the servers of the scripts.
func (o *options) serveControl(ctx context.Context) int {
	addr, err := listenAddr(o.control, o.public)
	if err != nil {
		return o.Complain("--control %v", err)
	}
	host, _, _ := net.SplitHostPort(addr)
	return o.withAPI(host, func(api *control.API, _ []string) int {
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
		if cause, ok := errors.AsType[*os.SyscallError](err); ok {
			return o.Fail(exit.Usage, "--control: cannot listen on %s: %v", addr, cause.Err)
		}
		if err != nil {
			return o.Fail(exit.Usage, "%v", err)
		}
		return o.answer(ctx, l, api)
	})
}

// serveScripts serves the servers of the scripts until ctx ends, without the control API.
func (o *options) serveScripts(ctx context.Context) int {
	return o.withAPI("0.0.0.0", func(_ *control.API, urls []string) int { return o.show(ctx, urls) })
}

// withAPI calls use with a control API and the URLs of the scripts' servers, which listen on host if
// other hosts may connect.
func (o *options) withAPI(host string, use func(*control.API, []string) int) int {
	config := control.Config{Hosts: o.hosts, Version: version.String(), Recorder: o.recorder}
	if o.public {
		config.Listen = host
	}
	var err error
	if o.tokenFile != "" {
		if config.Token, err = cli.ReadToken(o.tokenFile); err != nil {
			return o.Fail(exit.Read, "%v", err)
		}
	}
	if o.root != "" {
		if config.Root, err = play.Folder(o.root); err != nil {
			return o.Fail(exit.Read, "%v", err)
		}
		defer config.Root.Close()
	}
	if o.store != "" {
		if o.store, err = filepath.Abs(o.store); err == nil {
			config.Store, err = play.Folder(o.store)
		}
		if err != nil {
			return o.Fail(exit.Read, "%v", err)
		}
		defer config.Store.Close()
	}
	if o.verbose {
		log := &conversationLog{w: o.Std.Err}
		config.Log = func(id string, line testserver.Line) { log.of(id)(line) }
	}
	api := control.New(config)
	defer api.Close()
	var urls []string
	for _, name := range o.scripts {
		script, err := stdio.ReadFile(name)
		if err != nil {
			return o.Fail(exit.Read, "%v", err)
		}
		started, err := api.StartScript(script)
		if err != nil {
			return o.Fail(exit.Usage, "%s: %v", name, err)
		}
		for _, s := range started {
			urls = append(urls, s.PublicURL())
		}
	}
	return use(api, urls)
}

// answer answers requests until ctx ends. It closes l.
func (o *options) answer(ctx context.Context, l net.Listener, api *control.API) int {
	srv := &http.Server{
		Handler: api, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 32 << 10,
		ErrorLog: log.New(io.Discard, "", 0),
	}
	defer srv.Close()
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(l) }()
	at := l.Addr().(*net.TCPAddr)
	if at.IP.IsUnspecified() {
		at.IP = net.IPv4(127, 0, 0, 1)
	}
	first, err := json.Marshal(map[string]string{"control": "http://" + at.String(), "token": api.Token()})
	if err == nil {
		_, err = fmt.Fprintf(o.Std.Out, "%s\n", first)
	}
	if err != nil {
		return o.FailOutput(err)
	}
	select {
	case <-ctx.Done():
		return exit.OK
	case err := <-failed:
		return o.Fail(exit.Usage, "%v", err)
	}
}

// untilEOF returns a context that ends when nothing more can come from r, because its writer has ended.
func untilEOF(ctx context.Context, r io.Reader) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, r)
		cancel()
	}()
	return ctx
}
