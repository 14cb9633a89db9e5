// Package gateway implements the gateway command, which shows ftp, gopher, news, wais and prospero
// URLs in a web browser.
package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	fetch1738 "github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/cli"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/exit"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/gateway"
	"github.com/fetch1738/fetch1738/policy"
)

const help = `Usage: fetch1738 gateway [options]

Shows ftp, gopher, news, wais and prospero URLs as web pages, until interrupted.
Prints the URL to open in a browser on standard output, and one line per request
on standard error. The gateway accepts connections from this computer only, and
fetches from public addresses only. --install registers it with the desktop, so
that a click on such a URL opens the page (Linux).

With --archive, the pages are those of WARC and WACZ files, and nothing is
fetched from the servers of today.

  $ fetch1738 gateway
  http://127.0.0.1:8738/
`

// Command returns the gateway command.
func Command() cli.Command {
	return cli.New("gateway", "show ftp, gopher and news URLs in a web browser", help, define)
}

// options has the options of the command.
type options struct {
	port               uint16
	listen             string
	hosts, clients     []string
	archives           []string
	at                 string
	tokenFile          string
	templates          string
	proxy              bool
	verbose, quiet     bool
	install, uninstall bool
	open               string
	exitIdle           uint
	op                 *plan.Operation
}

// define adds the flags and returns the function that runs the command.
func define(v *cli.Verb) func(context.Context) int {
	o := &options{op: plan.New(new(plan.Global))}
	v.Uint16Var(&o.port, "port", defaultPort, "Listen on this port (default 8738) (`PORT`)")
	v.BoolVar(&o.proxy, "proxy", false, "Be a forward proxy too: for curl, wget, lynx and other programs")
	v.StringVar(&o.listen, "listen", "", "Listen on another IP address; requires --allow-client (`ADDRESS[:PORT]`)")
	v.StringArrayVar(&o.clients, "allow-client", nil, "With --listen, accept clients from this network; may be repeated (`CIDR`)")
	v.StringArrayVar(&o.hosts, "host", nil, "Accept requests for this host name; may be repeated (`NAME`)")
	v.StringVar(&o.tokenFile, "token-file", "", "Require the token in FILE; with --listen, the default is a random one (`FILE`)")
	v.StringVar(&o.templates, "templates", "", "Make the pages with the templates in folder DIR, which replace those of the same names (`DIR`)")
	v.BoolVarP(&o.verbose, "verbose", "v", false, "Show the conversations with servers")
	v.BoolVar(&o.quiet, "quiet", false, "Print no line per request")
	v.UintVar(&o.exitIdle, "exit-idle", 0, "Exit after SECONDS without a request (default: never) (`SECONDS`)")
	v.BoolVar(&o.install, "install", false, "Open such URLs with the gateway on this desktop, then exit")
	v.BoolVar(&o.uninstall, "uninstall", false, "Undo --install, then exit")
	v.StringVar(&o.open, "open", "", "Open URL in the web browser; start the gateway if it does not run (`URL`)")
	v.StringArrayVar(&o.archives, "archive", nil, "Show the captures of the WARC or WACZ file, or folder of these, `FILE`; may be repeated")
	v.StringVar(&o.at, "at", "", "With --archive, as of a day or `TIME`, such as 1994-12-01; otherwise, the last captures")
	v.Take(o.op, "allow-port", "allow-zone", "cacert", "connect-to", "dns-servers", "insecure", "interface", "news-server", "resolve", "socks5-hostname")
	return func(ctx context.Context) int {
		if o.archives != nil {
			o.archives = append(o.archives, v.Args()...) // as from --archive *.warc.gz
		} else if v.NArg() > 0 {
			return v.Complain("unexpected argument %q%s", v.Arg(0), argumentHint(v.Arg(0)))
		}
		if err := o.check(); err != nil {
			return v.Complain("%v", err)
		}
		switch {
		case o.install, o.uninstall, o.open != "":
			return o.desktop(ctx, v)
		}
		return o.serve(ctx, v)
	}
}

// argumentHint returns a hint if arg is a URL.
func argumentHint(arg string) string {
	if ref, err := new(plan.Operation).Reading.Parser().Parse(arg); err == nil && shows(ref.Locator.Scheme()) {
		return "; to open a URL, use --open URL"
	}
	return ""
}

// check returns an error if options contradict each other.
func (o *options) check() error {
	modes := 0
	for _, on := range []bool{o.install, o.uninstall, o.open != ""} {
		if on {
			modes++
		}
	}
	switch {
	case modes > 1:
		return errors.New("use only one of --install, --uninstall and --open")
	case modes > 0 && (o.listen != "" || o.tokenFile != ""):
		return errors.New("--install and --open are for a gateway of this computer without a token; they cannot be combined with --listen and --token-file")
	case o.install && o.op.TLS.CAFile != "" && !filepath.IsAbs(o.op.TLS.CAFile):
		return fmt.Errorf("--cacert %s: with --install, use an absolute path", o.op.TLS.CAFile)
	case o.install && o.templates != "" && !filepath.IsAbs(o.templates):
		return fmt.Errorf("--templates %s: with --install, use an absolute path", o.templates)
	case modes > 0 && o.port == 0:
		return errors.New("--install and --open require a fixed port; use --port 1 to 65535")
	case modes > 0 && o.archives != nil:
		return errors.New("--install and --open are for a gateway to the servers of today, without --archive")
	case o.archives == nil && o.at != "":
		return errors.New("--at is for --archive")
	case o.listen == "" && len(o.clients) > 0:
		return errors.New("--allow-client has no effect without --listen, because only this computer can connect")
	}
	return nil
}

// resolver returns the Resolver for the pages, with the options for connections.
func (o *options) resolver(ctx context.Context, c *client.Client) (*fetch1738.Resolver, error) {
	if o.op.Proxy.URL == nil {
		o.op.Proxy.URL = new("") // a proxy in the environment may be this gateway
	}
	network, err := c.Network(ctx, o.op)
	if err != nil {
		return nil, err
	}
	given := o.op.Policy.Rules
	rules := policy.Rules{PublicOnly: true, AllowPorts: given.AllowPorts, AllowZones: given.AllowZones, AllowPrefixes: given.AllowPrefixes}
	env := network.Resolver.Env
	env.Allow, env.Credentials, env.Limits = rules.Allow, nil, gateway.Limits()
	return &fetch1738.Resolver{Env: env, MaxTransfers: 64, MaxTransfersPerHost: 8}, nil
}

// option returns the option for a field, or "" if it has no option.
func option(field string) string {
	if typed := stdio.InOptions(field); typed != field {
		return typed
	}
	return ""
}

// serve runs the gateway until ctx ends.
func (o *options) serve(ctx context.Context, v *cli.Verb) int {
	at, err := o.listenAddrs()
	if err != nil {
		return v.Complain("%v", err)
	}
	token, err := o.token(at)
	if err != nil {
		return v.Fail(exit.Read, "--token-file %v", err)
	}
	clients, err := o.allowed()
	if err != nil {
		return v.Complain("%v", err)
	}
	templates, err := o.parseTemplates()
	if err != nil {
		return v.Fail(exit.Read, "--templates %v", err)
	}
	c := &client.Client{Streams: v.Std}
	defer c.Close()
	var resolver *fetch1738.Resolver
	var past *gateway.Archive
	if o.archives != nil {
		var end func()
		if resolver, past, end, err = o.archive(ctx, v.Std.Warn); err != nil && ctx.Err() != nil {
			return exit.OfSignal(ctx)
		} else if err != nil {
			return v.Fail(exit.Read, "%v", err)
		}
		defer end()
	} else if resolver, err = o.resolver(ctx, c); err != nil {
		return v.Complain("%v", err)
	}
	defer resolver.Close()
	listeners, err := listen(at)
	if err != nil {
		return v.Fail(exit.Usage, "%s", o.explainListen(ctx, at[0].Port(), err))
	}

	port := listeners[0].Addr().(*net.TCPAddr).Port
	h := &gateway.Handler{
		Resolver: resolver, Hosts: o.names(at, port), AllowClients: clients, Token: token, Proxy: o.proxy, Option: option, Archive: past,
		Templates: templates,
	}
	shown := &journal{w: v.Std.Err}
	s := newServer(o.shown(h, shown), shown, time.Duration(o.exitIdle)*time.Second)
	if _, err := fmt.Fprintln(v.Std.Out, o.url(at, port, token)); err != nil {
		closeAll(listeners)
		return v.FailOutput(err)
	}
	if !at[0].Addr().IsLoopback() {
		v.Std.Warn("other hosts can connect, and the connections are not encrypted")
	}
	fmt.Fprintln(v.Std.Err, o.banner())
	if err := s.serve(ctx, listeners); err != nil {
		return v.Fail(exit.Accept, "%v", err)
	}
	return exit.OK
}

// parseTemplates returns the templates with those of --templates, or nil without the option.
func (o *options) parseTemplates() (*gateway.Templates, error) {
	if o.templates == "" {
		return nil, nil
	}
	t, err := gateway.ParseTemplates(os.DirFS(o.templates))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.templates, err)
	}
	return t, nil
}

// shown returns a handler that calls h and shows in the journal what the options ask for.
func (o *options) shown(h *gateway.Handler, j *journal) http.Handler {
	if !o.quiet {
		h.Log = j.access
	}
	if o.verbose {
		return j.conversations(h)
	}
	return h
}

// banner returns the line that says what the gateway does.
func (o *options) banner() string {
	also := ""
	if o.proxy {
		also = ", also as a proxy,"
	}
	if o.archives != nil {
		also = ", from an archive," + also
	}
	return "fetch1738: serving pages of ftp, gopher, news, wais and prospero URLs" + also + " until interrupted"
}

// A server is an http.Server that ends when it has been idle, and waits for its handlers.
type server struct {
	http.Server
	idle    time.Duration // how long it may be idle; 0 for ever
	done    chan struct{} // closed after that time
	running sync.WaitGroup

	mu     sync.Mutex
	active int // requests
	ended  bool
	timer  *time.Timer // closes done; nil if idle is 0
}

// serverName is the field Server of every response. --open and the message for a port in use
// recognize a gateway by it.
const serverName = "fetch1738-gateway"

// newServer returns a server that writes its errors to messages: that it accepts no connections,
// for example, or that a handler panicked.
func newServer(next http.Handler, messages io.Writer, idle time.Duration) *server {
	s := &server{idle: idle, done: make(chan struct{})}
	if idle > 0 {
		s.timer = time.AfterFunc(idle, func() { close(s.done) })
	}
	s.Server = http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !s.begin() {
				panic(http.ErrAbortHandler)
			}
			defer s.end()
			w.Header().Set("Server", serverName)
			next.ServeHTTP(w, r)
		}),
		ReadHeaderTimeout:            10 * time.Second,
		DisableGeneralOptionsHandler: true, // the Handler refuses "OPTIONS *" too
		IdleTimeout:                  time.Minute,
		MaxHeaderBytes:               64 << 10,
		ErrorLog:                     log.New(messages, "", 0),
		Protocols:                    new(http.Protocols),
	}
	s.Protocols.SetHTTP1(true)
	return s
}

// begin counts a request. It reports false if the server has ended: then nothing waits for the
// request.
func (s *server) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return false
	}
	s.running.Add(1)
	s.active++
	if s.timer != nil {
		s.timer.Stop()
	}
	return true
}

// end counts the end of a request. After the last one the server is idle.
func (s *server) end() {
	defer s.running.Done()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active--
	if s.timer != nil && s.active == 0 {
		s.timer.Reset(s.idle)
	}
}

// lastRequests is how long the requests that run when the gateway ends may take.
const lastRequests = 2 * time.Second

// serve serves until ctx ends, the server has been idle or a listener fails. It closes the
// listeners.
func (s *server) serve(ctx context.Context, listeners []net.Listener) error {
	failed := make(chan error, len(listeners))
	for _, l := range listeners {
		go func() { failed <- s.Serve(l) }()
	}
	var err error
	ended := 0
	select {
	case <-ctx.Done():
	case <-s.done:
	case err = <-failed:
		ended++
	}
	if s.timer != nil {
		s.timer.Stop()
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastRequests)
	defer cancel()
	if s.Shutdown(last) != nil {
		_ = s.Close()
	}
	for ; ended < len(listeners); ended++ {
		<-failed
	}
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	s.running.Wait()
	return err
}
