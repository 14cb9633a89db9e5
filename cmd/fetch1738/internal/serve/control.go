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
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/exit"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/version"
	"github.com/fetch1738/fetch1738/testserver/control"
)

// serveControl serves the control API until ctx ends.
func (o *options) serveControl(ctx context.Context) int {
	addr, err := listenAddr(o.control, o.public)
	if err != nil {
		return o.Complain("--control %v", err)
	}
	config := control.Config{Hosts: o.hosts, Version: version.String()}
	if o.public {
		config.Listen, _, _ = net.SplitHostPort(addr)
	}
	if o.tokenFile != "" {
		if config.Token, err = readToken(o.tokenFile); err != nil {
			return o.Fail(exit.Read, "%v", err)
		}
	}
	if o.root != "" {
		if config.Root, err = os.OpenRoot(o.root); err != nil {
			return o.Fail(exit.Read, "%v", err)
		}
		defer config.Root.Close()
	}
	if o.store != "" {
		if o.store, err = filepath.Abs(o.store); err == nil {
			config.Store, err = os.OpenRoot(o.store)
		}
		if err != nil {
			return o.Fail(exit.Read, "%v", err)
		}
		defer config.Store.Close()
	}
	if o.verbose {
		log := &conversationLog{w: o.Std.Err}
		config.Log = func(id string, line control.Line) { log.of(id)(line) }
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if cause, ok := errors.AsType[*os.SyscallError](err); ok {
		return o.Fail(exit.Usage, "--control: cannot listen on %s: %v", addr, cause.Err)
	}
	if err != nil {
		return o.Fail(exit.Usage, "%v", err)
	}
	return o.answer(ctx, l, control.New(config))
}

// answer answers requests until ctx ends. It closes l and api.
func (o *options) answer(ctx context.Context, l net.Listener, api *control.API) int {
	defer api.Close()
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
		return o.Fail(exit.Write, "%v", err)
	}
	select {
	case <-ctx.Done():
		return exit.OK
	case err := <-failed:
		return o.Fail(exit.Usage, "%v", err)
	}
}

// minToken is the minimum length of a token, in bytes.
const minToken = 16

// readToken reads the token from a file.
func readToken(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(text))
	if len(token) < minToken || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", fmt.Errorf("%s: the token must be %d or more printable ASCII characters without spaces", file, minToken)
	}
	return token, nil
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
