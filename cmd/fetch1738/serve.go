package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/fetch1738/fetch1738/internal/wire"
	"github.com/fetch1738/fetch1738/testserver"
)

const serveHelp = `Usage: fetch1738 serve [--SCHEME ADDR]... [--root DIR]

Serves a folder, or a small sample, by FTP, gopher, HTTP, NNTP, WAIS and
Prospero until interrupted; folders are newsgroups and databases there. These
are test servers, to play with: no access control, and what is uploaded stays in
memory and is gone at the end. ADDR is host:port, or a port of 127.0.0.1;
without any, all of them run on free ports of 127.0.0.1. The URLs are written to
standard output, one a line.

  $ fetch1738 serve --gopher 7070 --root notes
  gopher://127.0.0.1:7070/
`

//go:embed sample
var sampleFiles embed.FS

// defineServe adds the flags of the verb serve and gives what it does.
func defineServe(v *verb) func(context.Context) int {
	servers := playServers()
	for _, s := range servers {
		v.String(s.scheme, "", "serve "+s.scheme+" at `ADDR`")
	}
	root := v.String("root", "", "serve the folder `DIR` in place of the sample")
	public := v.Bool("public", false, "permit addresses that other machines can reach")
	verbose := v.BoolP("verbose", "v", false, "show the conversations on standard error")
	return func(ctx context.Context) int {
		if v.NArg() > 0 {
			return v.usage("%q is not an option%s", v.Arg(0), meantForServe(v, v.Arg(0)))
		}
		addrs, err := serveAddrs(v, servers, *public)
		if err != nil {
			return v.usage("%v", err)
		}
		content, err := contentOf(*root)
		if err != nil {
			return v.fail(exitRead, "%v", err)
		}

		ctx, cancel := context.WithCancel(ctx)
		var running []*testserver.Server
		defer func() {
			cancel()
			for _, s := range running {
				s.Wait()
			}
		}()
		log := &conversationLog{w: v.std.Err}
		for _, s := range servers {
			addr, wanted := addrs[s.scheme]
			if !wanted {
				continue
			}
			srv, err := s.start(ctx, addr, func(srv *testserver.Server) {
				srv.Content = content
				if *verbose {
					srv.Log = log.of(s.scheme)
				}
			})
			if cause, ok := errors.AsType[*os.SyscallError](err); ok {
				return v.fail(exitUsage, "--%s: cannot listen on %s: %v", s.scheme, addr, cause.Err)
			}
			if err != nil {
				return v.fail(exitUsage, "%v", err)
			}
			running = append(running, srv)
			if _, err := fmt.Fprintf(v.std.Out, "%s/\n", srv.URL); err != nil {
				return v.fail(exitWrite, "%v", err)
			}
		}
		if *public {
			fmt.Fprintln(v.std.Err, "fetch1738: warning: there is no access control, and other machines may reach this")
		}
		fmt.Fprintln(v.std.Err, "fetch1738: serving until interrupted")
		<-ctx.Done()
		return exitOK
	}
}

// meantForServe says how what is no option is given as one.
func meantForServe(v *verb, arg string) string {
	if info, err := os.Stat(arg); err == nil && info.IsDir() {
		return ": --root " + arg + " serves a folder"
	}
	if v.Lookup(arg) != nil {
		return ": --" + arg + " ADDR names an address"
	}
	return ""
}

// A playServer is one of the test servers.
type playServer struct {
	scheme string
	start  func(ctx context.Context, addr string, set setting) (*testserver.Server, error)
}

// setting configures what all the servers have in common.
type setting = func(*testserver.Server)

func playServers() []playServer {
	return []playServer{
		play("ftp", testserver.StartFTP, func(s *testserver.FTP) *testserver.Server { return &s.Server }),
		play("gopher", testserver.StartGopher, func(s *testserver.Gopher) *testserver.Server {
			s.Personality = testserver.StandardGopher // the UMN client asks for menus by Gopher+ only
			return &s.Server
		}),
		play("http", testserver.StartHTTP, func(s *testserver.HTTP) *testserver.Server { return &s.Server }),
		play("nntp", testserver.StartNNTP, func(s *testserver.NNTP) *testserver.Server { return &s.Server }),
		play("wais", testserver.StartWAIS, func(s *testserver.WAIS) *testserver.Server { return &s.Server }),
		play("prospero", testserver.StartProspero, func(s *testserver.Prospero) *testserver.Server { return &s.Server }),
	}
}

// play is a server that start starts; ready makes it ready for that and gives what
// it has in common with the others.
func play[S any](scheme string, start func(context.Context, string, ...func(*S)) (*S, error), ready func(*S) *testserver.Server) playServer {
	return playServer{scheme, func(ctx context.Context, addr string, set setting) (srv *testserver.Server, err error) {
		_, err = start(ctx, addr, func(s *S) {
			srv = ready(s)
			set(srv)
		})
		return srv, err
	}}
}

// serveAddrs are the addresses to listen on by scheme.
func serveAddrs(v *verb, servers []playServer, public bool) (map[string]string, error) {
	addrs := make(map[string]string)
	for _, s := range servers {
		flag := v.Lookup(s.scheme)
		if !flag.Changed {
			continue
		}
		addr, err := listenAddr(flag.Value.String(), public)
		if err != nil {
			return nil, fmt.Errorf("--%s %w", s.scheme, err)
		}
		addrs[s.scheme] = addr
	}
	if len(addrs) == 0 {
		for _, s := range servers {
			addrs[s.scheme] = "127.0.0.1:0"
		}
	}
	return addrs, nil
}

// listenAddr reads an ADDR. What is not of this machine alone must be public.
func listenAddr(text string, public bool) (string, error) {
	if _, err := strconv.ParseUint(text, 10, 16); err == nil {
		return net.JoinHostPort("127.0.0.1", text), nil
	}
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return "", fmt.Errorf("%q is neither host:port nor a port", text)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return "", fmt.Errorf("%q has no port between 0 and 65535", text)
	}
	if host == "localhost" {
		host = "127.0.0.1"
	}
	if ip, err := netip.ParseAddr(host); !public && (err != nil || !ip.Unmap().IsLoopback()) {
		return "", fmt.Errorf("%q can be reached by other machines; --public permits that", text)
	}
	return net.JoinHostPort(host, port), nil
}

// contentOf is the folder dir, out of which no link leads, or the sample.
func contentOf(dir string) (fs.FS, error) {
	if dir == "" {
		return fs.Sub(sampleFiles, "sample")
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return root.FS(), nil
}

// conversationLog writes what several servers see, line by line.
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

// masked is a line of a conversation, which is quoted where it has to be, without
// the password in it.
func masked(line string) string {
	bare := strings.TrimPrefix(line, `"`)
	if shown := wire.Masked(bare); shown != bare {
		return shown
	}
	return line
}
