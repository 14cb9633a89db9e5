package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	fetch1738 "github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/archive/warc"
	"github.com/fetch1738/fetch1738/crawl"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/internal/netrc"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/policy"
	"github.com/fetch1738/fetch1738/scale"
)

// nodeOptions are the options of the verb node.
type nodeOptions struct {
	connection
	scale.Node
	rules      policy.Rules
	authorized string
	netrc      string
	untilDone  bool
	verbose    bool
}

// defineNode defines the verb node.
func defineNode(c *command) func(context.Context) error {
	o := &nodeOptions{rules: policy.Rules{PublicOnly: true}}
	o.Units.Accounts = make(map[string]int)
	o.connection.options(c)
	o.connection.files(c)
	o.dir, o.server.Listen, o.most = defaultDir, defaultListen, defaultMaxHosts
	c.add("dir", "DIR", "Folder of this node and its server (default "+defaultDir+")", text(&o.dir))
	c.add("listen", "HOST:PORT", "Address of the server, for other nodes (default "+defaultListen+")", text(&o.server.Listen))
	c.add("authorized", "FILE", "Public nkeys of those who may connect to the server, one per line", text(&o.authorized))
	c.add("monitor", "HOST:PORT", "Address of the server's monitoring over HTTP (default: none)", text(&o.server.Monitor))
	c.add("slots", "N", "Crawl up to N hosts at once (default 100)", number(&o.Slots, 1))
	c.on(&o.untilDone, "until-done", "", "End when nothing is left but hosts that do not answer")
	c.on(&o.verbose, "verbose", "v", "Print a line for each document")
	o.crawlOptions(c)
	return func(ctx context.Context) error {
		if err := o.check(); err != nil {
			return err
		}
		return o.run(ctx)
	}
}

// crawlOptions adds the options for what the node fetches.
func (o *nodeOptions) crawlOptions(c *command) {
	c.add("account", "HOST=N", accountText, account(o.Units.Accounts))
	c.add("allow-zone", "ZONE", "Allow addresses of this zone or prefix; may be repeated", o.rules.AddZone)
	c.add("depth", "N", "Follow N links from a URL (0: none; default 20)", depth(&o.Crawl.Depth))
	c.on(&o.Crawl.HTTP, "http", "", "Follow links to http and https, too")
	c.add("max-documents", "N", "Fetch N documents of a host (default 10000)", number(&o.Crawl.MaxDocuments, 1))
	c.add("max-host-size", "SIZE", "Fetch SIZE bytes of a host (suffixes k, M, G; default 1 GB)", size(&o.Crawl.MaxHostOctets))
	c.add("max-hosts", "N", "Follow links to N hosts in all (default "+strconv.Itoa(defaultMaxHosts)+")", number(&o.most, 1))
	c.add("netrc-file", "FILE", "Logins for servers that require one, as in ~/.netrc", text(&o.netrc))
	c.on(&o.SameHost, "same-host", "", "Follow only links to the same host")
	c.add("slice-documents", "N", "Store the state of a host after N documents (default 10000)", number(&o.SliceDocuments, 1))
	c.add("slice-time", "SECONDS", "Store the state of a host after SECONDS (default 600)", seconds(&o.SliceTime, 0))
	c.add("timeout", "SECONDS", "Maximum time for one document (default 1200)", seconds(&o.Crawl.Timeout, 0))
	c.add("wait", "SECONDS", "Wait SECONDS between requests to a host (default 2)", seconds(&o.Crawl.Wait, -1))
	c.add("warc-size", "SIZE", "Begin another WARC file after SIZE bytes (default 1 GB)", size(&o.Archive.MaxSize))
	c.add("warc-version", "1.0|1.1", "Version of WARC (default 1.1)", func(value string) error {
		if o.Archive.Version = value; value != "1.0" && value != "1.1" {
			return errors.New("expected 1.0 or 1.1")
		}
		return nil
	})
}

// check checks the options for the server.
func (o *nodeOptions) check() error {
	c := o.command
	if o.join != "" {
		for _, name := range []string{"listen", "authorized", "monitor"} {
			if c.Changed(name) {
				return usagef("--%s is for the server of this node; with --join it has none", name)
			}
		}
		return nil
	}
	local, err := isLoopback(o.server.Listen)
	switch {
	case err != nil:
		return usagef("--listen %w", err)
	case !local && o.authorized == "":
		return usagef("--listen %s requires --authorized FILE, because other computers can connect to that address", o.server.Listen)
	case o.authorized != "" && o.seed == "":
		return usagef("--authorized requires --nkey FILE, with the seed of a key in it: this node logs in, too")
	}
	if o.server.Monitor != "" {
		switch local, err := isLoopback(o.server.Monitor); {
		case err != nil:
			return usagef("--monitor %w", err)
		case !local:
			return usagef("--monitor %s: expected a loopback address, such as 127.0.0.1:8222, because the monitoring has no login", o.server.Monitor)
		}
	}
	return o.users()
}

// users reads who may connect to the server.
func (o *nodeOptions) users() (err error) {
	if o.authorized == "" {
		return nil
	}
	if o.server.Users, err = authorized(o.authorized); err != nil {
		return err
	}
	own, err := publicKey(o.seed)
	if err == nil && !slices.Contains(o.server.Users, own) {
		err = usagef("--authorized: %s has not the key of this node, %s", o.authorized, own)
	}
	return err
}

// run runs the node.
func (o *nodeOptions) run(ctx context.Context) error {
	logins, err := o.logins()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(o.dir, 0o777); err != nil {
		return failuref(exitWrite, "--dir: %w", err)
	}
	s, err := o.open(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	if s.server != nil {
		fmt.Fprintf(o.command.std.err, "%s: listening at %s\n", program, s.server.URL())
	}
	if o.Store, err = s.files(ctx, o.store); err != nil {
		return err
	}
	if _, err := add(ctx, s, o.Units, o.command.std.in, o.command.Args()); err != nil {
		return err
	}
	o.Engine, o.Dir, o.Archive.Software = s, filepath.Join(o.dir, workFolder), program+"/"+version()
	o.Crawl.Links = o.rules.Allow
	o.Archive.Fields = warc.Header{{Name: "robots", Value: "obey"}}
	o.Resolver = func() *fetch1738.Resolver {
		return &fetch1738.Resolver{Schemes: schemes(), Env: fetch.Env{Allow: o.rules.Allow, Credentials: logins}}
	}
	if o.command.hooks.node != nil {
		o.command.hooks.node(&o.Node)
	}
	return o.work(ctx, s)
}

// schemes returns the schemes whose Fetchers are not the usual ones. A redirect is a link and a failed
// request is not repeated, so that there is a wait before each request of http.
func schemes() (list []fetch1738.Scheme) {
	for _, s := range fetch1738.Builtin() {
		if slices.Contains(s.Names, "http") {
			s.New = func(env *fetch.Env) driver.Fetcher {
				own := *env
				own.Limits.Hops = -1
				return &fetchhttp.Fetcher{Env: &own, UserAgent: program + "/" + version(), Retries: -1}
			}
			list = append(list, s)
		}
	}
	return list
}

// logins returns the Credentials of an Env, or nil without a file of logins.
func (o *nodeOptions) logins() (func(context.Context, fetch.Challenge) (locator.Login, error), error) {
	if o.netrc == "" {
		return nil, nil
	}
	file, exposed, err := netrc.Read(o.netrc)
	if err != nil {
		return nil, failuref(exitRead, "--netrc-file: %w", err)
	}
	if exposed {
		o.command.warn("other users can read or change the passwords in %s; run: chmod 600 %s", o.netrc, o.netrc)
	}
	return func(_ context.Context, c fetch.Challenge) (locator.Login, error) {
		server, _ := locator.ServerOf(c.Locator)
		entry, found := file.Find(server.Host, c.User)
		switch {
		case c.Account && found && entry.Account != "":
			return locator.Login{User: entry.Login, Password: entry.Account, HasPassword: true}, nil
		case c.Account || !found || !entry.HasPassword:
			return locator.Login{}, errors.New("a login is required; add it to the file of --netrc-file")
		}
		return locator.Login{User: entry.Login, Password: entry.Password, HasPassword: true}, nil
	}, nil
}

// work runs the Node until it is drained, and everything that goes on beside it.
func (o *nodeOptions) work(ctx context.Context, s *session) error {
	screen := newScreen(o.command.std.err, o.progress)
	defer screen.close()
	o.Report = o.reporter(screen)
	// The end of ctx drains the Node, so it has a context of its own.
	now, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	beside, end := context.WithCancel(now)
	var group sync.WaitGroup
	group.Go(func() { o.interrupted(ctx, beside, stop, screen) })
	group.Go(func() { o.show(beside, s, screen) })
	done := false
	if o.untilDone {
		group.Go(func() {
			if done = o.wait(beside, s, screen); done {
				o.Drain()
			}
		})
	}
	err := o.Node.Run(now)
	end()
	group.Wait()
	switch second, _ := errors.AsType[signaled](context.Cause(now)); {
	case second.Signal != nil:
		return &failure{codeOf(second), errors.New("stopped; what was not stored is fetched again")}
	case err != nil:
		return &failure{exitWrite, err}
	case !o.untilDone || done:
		return nil
	case ctx.Err() != nil:
		return &failure{codeOf(context.Cause(ctx)), errInterrupted}
	}
	return &failure{exitAborted, errInterrupted}
}

// errInterrupted is the error of a node that was drained before all was done.
var errInterrupted = errors.New("interrupted; the same command continues")

// show shows the node to the others.
func (o *nodeOptions) show(ctx context.Context, s *session, screen *screen) {
	if err := s.Register(ctx, o.Info, o.Drain); err != nil && ctx.Err() == nil {
		screen.print(fmt.Sprintf("%s: warning: other nodes cannot see this one: %s", program, printable(err.Error())))
	}
}

// The time between two looks at the units is at least minLook, and looks times as long as a look
// takes.
const (
	minLook = 200 * time.Millisecond
	looks   = 10
)

// lookAgain returns the time until the next look after two that took so long. The shorter one
// counts: one alone may have waited for a server that was being restarted.
func lookAgain(took, before time.Duration) time.Duration {
	return max(minLook, looks*min(took, before))
}

// wait returns true when nothing is left to do, and false when ctx ends.
func (o *nodeOptions) wait(ctx context.Context, s *session, screen *screen) bool {
	var took time.Duration
	for pause, before := minLook, false; ; {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return false
		}
		began := time.Now()
		settled, silent, err := s.Settled(ctx)
		last := took
		took = time.Since(began)
		pause = lookAgain(took, last)
		if err != nil { // the server may be starting
			pause = minLook
		}
		if !settled || err != nil || !before { // a look takes time, so only the second counts
			before = settled && err == nil
			continue
		}
		if silent > 0 {
			screen.print(fmt.Sprintf("%s: %d hosts do not answer; a node without --until-done asks them again", program, silent))
		}
		return true
	}
}

// signaled is the error of a signal.
type signaled struct{ os.Signal }

func (s signaled) Error() string { return s.String() }

// interrupted drains the Node when ctx ends, and stops it at the next signal.
func (o *nodeOptions) interrupted(ctx, beside context.Context, stop context.CancelCauseFunc, screen *screen) {
	select {
	case <-ctx.Done():
	case <-beside.Done():
		return
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	screen.print(program + ": draining: each host stops after its request; a second signal stops it at once")
	o.Drain()
	select {
	case s := <-signals:
		stop(signaled{s})
	case <-beside.Done():
	}
}

// reporter returns the function that prints events. An error of the engine or the store is not
// repeated as long as it is the same: all slots have it.
func (o *nodeOptions) reporter(screen *screen) func(scale.Event) {
	last := ""
	return func(e scale.Event) {
		if e.Err == nil {
			if last = ""; o.verbose {
				screen.print(printable(eventText(e.Event)))
			}
			return
		}
		text := e.Err.Error()
		if text == last {
			return
		}
		last = text
		if e.Unit != "" {
			text = e.Unit + ": " + text
		}
		screen.print(printable(fmt.Sprintf("%s: warning: %s; trying again", program, text)))
	}
}

// eventText returns what has happened to a URL or host as text.
func eventText(e crawl.Event) string {
	text := fmt.Sprintf("%-11s %s, %d bytes, %d new links", cmp.Or(e.Reason, "fetched"), e.URL, e.Octets, e.Links)
	if e.URL == "" {
		text = fmt.Sprintf("%-11s %s", e.Reason, e.Host)
	}
	if e.Err != nil {
		text += ": " + inOptions(e.Err.Error())
	}
	return text
}

// progress returns the text of the progress line.
func (o *nodeOptions) progress() string {
	i := o.Info()
	return fmt.Sprintf("%d documents, %s, %d of %d hosts at once", i.Documents, amount(i.Octets), i.Busy, i.Slots)
}
