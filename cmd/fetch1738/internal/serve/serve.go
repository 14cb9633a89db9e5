// Package serve implements the serve command, which runs the test servers.
package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/cli"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/exit"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/play"
	"github.com/fetch1738/fetch1738/internal/wire"
	"github.com/fetch1738/fetch1738/testserver"
)

const help = `Usage: fetch1738 serve [--SCHEME ADDR]... [--root DIR]

Serves a folder, or a small sample, by FTP, gopher, HTTP, NNTP, WAIS and
Prospero until interrupted; NNTP shows folders as newsgroups, WAIS as databases.
These are test servers: they have no access control, and keep uploads in memory
only. ADDR is HOST:PORT, or a port of 127.0.0.1; without any ADDR, all servers
run on free ports of 127.0.0.1. Prints the URLs on standard output, one per
line.

  $ fetch1738 serve --gopher 7070 --root notes
  gopher://127.0.0.1:7070/
`

// Command returns the serve command.
func Command() cli.Command {
	return cli.New("serve", "serve a folder by FTP, gopher and others, for tests", help, define)
}

// define adds the flags and returns the function that runs the command.
func define(v *cli.Verb) func(context.Context) int {
	servers := play.Servers()
	for _, s := range servers {
		v.String(s.Scheme, "", "Serve "+s.Scheme+" on `ADDR`")
	}
	root := v.String("root", "", "Serve the folder `DIR` instead of the sample")
	public := v.Bool("public", false, "Allow addresses that other hosts can reach")
	verbose := v.BoolP("verbose", "v", false, "Show the conversations on standard error")
	return func(ctx context.Context) int {
		if v.NArg() > 0 {
			return v.Complain("unexpected argument %q%s", v.Arg(0), argumentHint(v, v.Arg(0)))
		}
		addrs, err := serveAddrs(v, servers, *public)
		if err != nil {
			return v.Complain("%v", err)
		}
		content, err := play.Content(*root)
		if err != nil {
			return v.Fail(exit.Read, "%v", err)
		}

		ctx, cancel := context.WithCancel(ctx)
		var running []*testserver.Server
		defer func() {
			cancel()
			for _, s := range running {
				s.Wait()
			}
		}()
		log := &conversationLog{w: v.Std.Err}
		for _, s := range servers {
			addr, wanted := addrs[s.Scheme]
			if !wanted {
				continue
			}
			srv, err := s.Start(ctx, addr, func(srv *testserver.Server) {
				srv.Content = content
				if *verbose {
					srv.Log = log.of(s.Scheme)
				}
			})
			if cause, ok := errors.AsType[*os.SyscallError](err); ok {
				return v.Fail(exit.Usage, "--%s: cannot listen on %s: %v", s.Scheme, addr, cause.Err)
			}
			if err != nil {
				return v.Fail(exit.Usage, "%v", err)
			}
			running = append(running, srv)
			if _, err := fmt.Fprintf(v.Std.Out, "%s/\n", srv.URL); err != nil {
				return v.Fail(exit.Write, "%v", err)
			}
		}
		if *public {
			fmt.Fprintln(v.Std.Err, "fetch1738: warning: there is no access control, and other hosts may be able to connect")
		}
		fmt.Fprintln(v.Std.Err, "fetch1738: serving until interrupted")
		<-ctx.Done()
		return exit.OK
	}
}

// argumentHint returns a hint if arg is a folder or a scheme, which are given by options.
func argumentHint(v *cli.Verb, arg string) string {
	if info, err := os.Stat(arg); err == nil && info.IsDir() {
		return "; to serve a folder, use --root " + arg
	}
	if v.Lookup(arg) != nil {
		return "; to choose an address, use --" + arg + " ADDR"
	}
	return ""
}

// serveAddrs returns the addresses to listen on, by scheme.
func serveAddrs(v *cli.Verb, servers []play.Server, public bool) (map[string]string, error) {
	addrs := make(map[string]string)
	for _, s := range servers {
		flag := v.Lookup(s.Scheme)
		if !flag.Changed {
			continue
		}
		addr, err := listenAddr(flag.Value.String(), public)
		if err != nil {
			return nil, fmt.Errorf("--%s %w", s.Scheme, err)
		}
		addrs[s.Scheme] = addr
	}
	if len(addrs) == 0 {
		for _, s := range servers {
			addrs[s.Scheme] = "127.0.0.1:0"
		}
	}
	return addrs, nil
}

// listenAddr parses an ADDR. Unless public is set, it must be a loopback address.
func listenAddr(text string, public bool) (string, error) {
	if _, err := strconv.ParseUint(text, 10, 16); err == nil {
		return net.JoinHostPort("127.0.0.1", text), nil
	}
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return "", fmt.Errorf("%q is not HOST:PORT or PORT", text)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return "", fmt.Errorf("%q has an invalid port; use 0 to 65535", text)
	}
	if host == "localhost" {
		host = "127.0.0.1"
	}
	if ip, err := netip.ParseAddr(host); !public && (err != nil || !ip.Unmap().IsLoopback()) {
		return "", fmt.Errorf("%q is reachable from other hosts; use --public to allow that", text)
	}
	return net.JoinHostPort(host, port), nil
}

// conversationLog writes the conversations of several servers, line by line.
type conversationLog struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *conversationLog) of(scheme string) func(testserver.Line) {
	return func(line testserver.Line) {
		l.mu.Lock()
		defer l.mu.Unlock()
		fmt.Fprintf(l.w, "%s %d %c: %s\n", scheme, line.Conn, line.From, masked(line.Text))
	}
}

// masked returns a line of a conversation with its password masked. The line may be quoted.
func masked(line string) string {
	bare := strings.TrimPrefix(line, `"`)
	if shown := wire.Masked(bare); shown != bare {
		return shown
	}
	return line
}
