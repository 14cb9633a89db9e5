// Package serve implements the serve command, which runs the test servers.
package serve

import (
	"cmp"
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
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/internal/wire"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/traffic"
)

const help = `Usage: fetch1738 serve [--SCHEME ADDR]... [--root DIR]
       fetch1738 serve --control ADDR [--root DIR] [--until-eof]
       fetch1738 serve --script FILE... [--control ADDR] [--root DIR]
       fetch1738 serve --replay FILE [--SCHEME ADDR]...
       fetch1738 serve --archive FILE... [--at TIME]

Serves a folder, or a small sample, by FTP, gopher, HTTP, NNTP, WAIS and
Prospero until interrupted; NNTP shows folders as newsgroups, WAIS as databases.
These are test servers: they have no access control, and keep uploads in memory
only. ADDR is HOST:PORT, or a port of 127.0.0.1; without any ADDR, all servers
run on free ports of 127.0.0.1. Prints the URLs on standard output, one per
line.

With --control, tests in any language start servers of their own by JSON over
HTTP: with users, TLS, faults and transcripts. The first line on standard output
is JSON with its URL and the token that requests must have. /v1/openapi.yaml
there describes it.

With --script, the servers of a file: JSON objects as --control takes them, and
then their files in the format txtar.

--record writes what goes over all connections into a file, with the passwords
and times. --replay plays the server's side of such a file to a client, byte for
byte and not faster, and shows where the client sends something else.

With --archive, the sites of WARC and WACZ files, as they were at a time, each
on a port of its own: the line has the URL and that of the original. Menus lead
to these ports; an item of a site that the archive does not have becomes a line
of text. Nothing is fetched.

  $ fetch1738 serve --gopher 7070 --root notes
  gopher://127.0.0.1:7070/
  $ fetch1738 serve --control 0 --until-eof
  {"control":"http://127.0.0.1:39111","token":"VAZNJXTGMEWMOUZPPXTRQFQJJQ"}
`

// Command returns the serve command.
func Command() cli.Command {
	return cli.New("serve", "serve a folder by FTP, gopher and others, for tests", help, define)
}

// options are the options of the command.
type options struct {
	*cli.Verb
	servers                   []play.Server
	root, control, tokenFile  string
	store, record, replay     string
	hosts, scripts, archives  []string
	at                        string
	recorder                  *traffic.Recorder // nil without --record
	public, verbose, untilEOF bool
}

// define adds the flags and returns the function that runs the command.
func define(v *cli.Verb) func(context.Context) int {
	o := &options{Verb: v, servers: play.Servers()}
	for _, s := range o.servers {
		v.String(s.Scheme, "", "Serve "+s.Scheme+" on `ADDR`")
	}
	v.StringVar(&o.root, "root", "", "Serve the folder `DIR` instead of the sample; with --control, folders below it")
	v.StringVar(&o.control, "control", "", "Start servers on request by HTTP on `ADDR`")
	v.StringArrayVar(&o.scripts, "script", nil, "Start the servers of `FILE`; may be repeated")
	v.StringVar(&o.tokenFile, "token-file", "", "With --control, take the token from `FILE` instead of a new one")
	v.StringArrayVar(&o.hosts, "control-host", nil, "With --control, accept requests for this host name; may be repeated (`NAME`)")
	v.StringVar(&o.store, "store", "", "With --control or --script, let servers keep uploads in folders below `DIR`")
	v.StringVar(&o.record, "record", "", "Record all connections in `FILE`, with passwords and times; what it has is deleted")
	v.StringVar(&o.replay, "replay", "", "Play the server's side of the record `FILE`, on its ports or those of the options of schemes")
	v.StringArrayVar(&o.archives, "archive", nil, "Serve the sites of the WARC or WACZ file, or folder of these, `FILE`; may be repeated")
	v.StringVar(&o.at, "at", "", "With --archive, as of a day or `TIME`, such as 1994-12-01; otherwise, the last captures")
	v.BoolVar(&o.untilEOF, "until-eof", false, "End when standard input ends, as when the program that started this one does")
	v.BoolVar(&o.public, "public", false, "Allow addresses that other hosts can reach")
	v.BoolVarP(&o.verbose, "verbose", "v", false, "Show the conversations on standard error")
	return o.run
}

// run serves until ctx ends, and returns the exit code.
func (o *options) run(ctx context.Context) int {
	if o.archives != nil {
		o.archives = append(o.archives, o.Args()...) // as from --archive *.warc.gz
	} else if o.NArg() > 0 {
		return o.Complain("unexpected argument %q%s", o.Arg(0), argumentHint(o.Verb, o.Arg(0)))
	}
	if o.untilEOF {
		ctx = untilEOF(ctx, o.Std.In)
	}
	addrs, err := o.addrs()
	serve := func(ctx context.Context) int { return o.serve(ctx, addrs) }
	switch {
	case err != nil:
	case o.archives != nil && (len(addrs) > 0 || o.Changed("control") || o.scripts != nil || o.root != "" || o.store != "" || o.replay != "" || o.public):
		err = errors.New("--archive serves each site on a free port of 127.0.0.1, without --SCHEME, --control, --script, --root, --store, --replay and --public")
	case o.archives != nil:
		serve = o.serveArchive
	case o.at != "":
		err = errors.New("--at is for --archive")
	case o.replay != "" && (o.Changed("control") || o.scripts != nil || o.root != "" || o.record != "" || o.verbose):
		err = errors.New("--replay plays what was recorded, without --control, --script, --root, --record and -v")
	case o.replay != "":
		serve = func(ctx context.Context) int { return o.serveReplay(ctx, addrs) }
	case o.Changed("control") && len(addrs) > 0:
		err = errors.New("--control starts servers on request; the options of schemes are for servers without it")
	case o.Changed("control"):
		serve = o.serveControl
	case o.tokenFile != "" || o.hosts != nil:
		err = errors.New("--token-file and --control-host are for --control")
	case o.scripts != nil && len(addrs) > 0:
		err = errors.New("--script starts the servers of its file; the options of schemes are for servers without it")
	case o.scripts != nil:
		serve = o.serveScripts
	case o.store != "":
		err = errors.New("--store is for --control and --script")
	}
	if err != nil {
		return o.Complain("%v", err)
	}
	return o.recorded(ctx, serve)
}

// serve serves the folder until ctx ends.
func (o *options) serve(ctx context.Context, addrs map[string]string) int {
	content, err := play.Content(o.root)
	if err != nil {
		return o.Fail(exit.Read, "%v", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	var running []*testserver.Server
	defer func() {
		cancel()
		for _, s := range running {
			s.Wait()
		}
	}()
	log := &conversationLog{w: o.Std.Err}
	for _, s := range o.servers {
		addr, wanted := addrs[s.Scheme]
		if !wanted && len(addrs) > 0 {
			continue
		}
		srv, err := s.Start(ctx, cmp.Or(addr, "127.0.0.1:0"), func(srv *testserver.Server) {
			srv.Content, srv.Recorder = content, o.recorder
			if o.verbose {
				srv.Log = log.of(s.Scheme)
			}
		})
		if cause, ok := errors.AsType[*os.SyscallError](err); ok {
			return o.Fail(exit.Usage, "--%s: cannot listen on %s: %v", s.Scheme, addr, cause.Err)
		}
		if err != nil {
			return o.Fail(exit.Usage, "%v", err)
		}
		running = append(running, srv)
		if _, err := fmt.Fprintf(o.Std.Out, "%s/\n", srv.URL); err != nil {
			return o.FailOutput(err)
		}
	}
	o.announce()
	<-ctx.Done()
	return exit.OK
}

// announce says that the servers run.
func (o *options) announce() {
	if o.public {
		fmt.Fprintln(o.Std.Err, "fetch1738: warning: there is no access control, and other hosts may be able to connect")
	}
	fmt.Fprintln(o.Std.Err, "fetch1738: serving until interrupted")
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

// addrs returns the addresses to listen on, by scheme; none means free ones for all.
func (o *options) addrs() (map[string]string, error) {
	addrs := make(map[string]string)
	for _, s := range o.servers {
		flag := o.Lookup(s.Scheme)
		if !flag.Changed {
			continue
		}
		addr, err := listenAddr(flag.Value.String(), o.public)
		if err != nil {
			return nil, fmt.Errorf("--%s %w", s.Scheme, err)
		}
		addrs[s.Scheme] = addr
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

// of returns a function that writes the lines of one server.
func (l *conversationLog) of(scheme string) func(testserver.Line) {
	scheme = stdio.Line(scheme) // with the host, it is from an archive
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
