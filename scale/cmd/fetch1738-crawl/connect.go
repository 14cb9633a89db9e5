package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/fetch1738/fetch1738/internal/file/disk"
	"github.com/fetch1738/fetch1738/scale"
	"github.com/fetch1738/fetch1738/scale/nats"
)

// The defaults of the options for the server.
const (
	defaultListen = "127.0.0.1:4222"
	defaultServer = "nats://" + defaultListen
	defaultDir    = "crawl"
	defaultName   = "crawl"

	defaultMaxHosts = 1_000_000
)

// The names in the folder of a node.
const (
	lockFile   = "lock"
	serverDir  = "nats"
	workFolder = "work"
)

// A connection has the options that say where the crawl is.
type connection struct {
	command *command
	join    string
	dir     string
	seed    string
	name    string
	store   string
	most    int                // units, beyond which links create none
	server  nats.ServerOptions // of the embedded server
}

// options adds the options that all verbs have.
func (o *connection) options(c *command) {
	o.command, o.name = c, defaultName
	c.add("join", "URL", "URL of the NATS server (default "+defaultServer+")", text(&o.join))
	c.add("nkey", "FILE", "Log in to the server with the nkey seed in FILE", text(&o.seed))
	c.add("name", "NAME", "Name of the crawl; a server can have several (default "+defaultName+")", text(&o.name))
}

// folder adds the option for a crawl of which no node is running.
func (o *connection) folder(c *command) {
	c.add("dir", "DIR", "Use the crawl in the folder DIR of a node that has ended, without --join", text(&o.dir))
}

// files adds the option for the store.
func (o *connection) files(c *command) {
	c.add("store", "STORE", "Where the WARC files are: nats: (default), or a folder that all nodes can reach", text(&o.store))
}

// A session is a connection to the server of a crawl.
type session struct {
	*nats.Engine
	server *nats.Server // nil if the verb has started none
	lock   *disk.Locked // of the folder; nil if none is used
}

// open connects to the server. With a folder and without --join, it starts the one in the folder.
// The caller must close the session.
func (o *connection) open(ctx context.Context) (*session, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	s := new(session)
	if o.dir != "" {
		if err := s.begin(o); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	options := nats.Options{URL: cmp.Or(o.join, defaultServer), Seed: o.seed, Crawl: o.name, MaxUnits: o.most}
	if s.server != nil {
		options.URL = s.server.URL()
	}
	if o.command.hooks.nats != nil {
		o.command.hooks.nats(&options)
	}
	var err error
	if s.Engine, err = nats.Open(ctx, options); err != nil {
		return nil, errors.Join(o.explain(options.URL, err), s.Close())
	}
	return s, nil
}

// Close disconnects, and ends the server that open has started.
func (s *session) Close() error {
	var err error
	if s.Engine != nil {
		err = s.Engine.Close()
	}
	if s.server != nil {
		s.server.Close()
	}
	if s.lock != nil {
		err = errors.Join(err, s.lock.Close())
	}
	return err
}

// begin locks the folder, and starts the server in it unless --join is given.
func (s *session) begin(o *connection) error {
	name := filepath.Join(o.dir, lockFile)
	var err error
	s.lock, err = disk.Lock(
		func() (disk.File, error) { return os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666) },
		func() (fs.FileInfo, error) { return os.Stat(name) })
	switch {
	case errors.Is(err, disk.ErrBusy):
		return failuref(exitWrite, "a node is running in the folder %s; use --join URL to connect to its server, or another --dir", o.dir)
	case err != nil:
		return &failure{exitWrite, err}
	case o.join != "":
		return nil
	}
	if o.seed != "" && o.server.Users == nil { // nobody else may connect
		own, err := publicKey(o.seed)
		if err != nil {
			return err
		}
		o.server.Users = []string{own}
	}
	o.server.Dir = filepath.Join(o.dir, serverDir)
	if s.server, err = nats.Start(o.server); err == nil {
		return nil
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		return failuref(exitListen, "cannot listen on %s: the address is in use; use --join nats://%s to join a node that is running there, or --listen HOST:PORT", o.server.Listen, o.server.Listen)
	}
	return failuref(exitListen, "cannot start the server: %w", err)
}

// check checks the options that all verbs have.
func (o *connection) check() error {
	for server := range strings.SplitSeq(o.join, ",") {
		if u, err := url.Parse(server); o.join != "" && (err != nil || u.Host == "" || u.Scheme != "nats" && u.Scheme != "tls") {
			return usagef("--join: expected the URL of a NATS server, such as %s", defaultServer)
		}
	}
	if o.name == "" || strings.Trim(o.name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "" {
		return usagef("--name %s: expected letters, digits, \"-\" and \"_\"", o.name)
	}
	if o.seed == "" {
		return nil
	}
	info, err := os.Stat(o.seed)
	if err != nil {
		return failuref(exitRead, "--nkey: %w", err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		o.command.warn("other users can read or change the nkey in %s; run: chmod 600 %s", o.seed, o.seed)
	}
	_, err = publicKey(o.seed)
	return err
}

// publicKey returns the public nkey of the seed in a file. Its errors do not have the seed in them.
func publicKey(name string) (string, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return "", failuref(exitRead, "--nkey: %w", err)
	}
	pair, err := nkeys.ParseDecoratedNKey(text)
	if err != nil {
		return "", failuref(exitRead, "--nkey: %s has no seed of an nkey", name)
	}
	defer pair.Wipe()
	key, err := pair.PublicKey()
	if err != nil {
		return "", failuref(exitRead, "--nkey: %s has no seed of an nkey", name)
	}
	return key, nil
}

// explain returns the failure to connect to a server.
func (o *connection) explain(server string, err error) error {
	place := redacted(server)
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, natsgo.ErrAuthorization), errors.Is(err, natsgo.ErrNkeysNotSupported), errors.Is(err, natsgo.ErrAuthExpired):
		return failuref(exitLogin, "the server %s refuses the login; --nkey FILE must have the seed of a key that its node has in --authorized", place)
	case errors.Is(err, natsgo.ErrNoServers), errors.Is(err, natsgo.ErrTimeout), errors.Is(err, context.DeadlineExceeded), isNetwork(err):
		return failuref(exitUnreachable, "cannot connect to %s: no NATS server answers there; start one with %s node, or use --join URL", place, program)
	}
	return failuref(exitUnreachable, "cannot use the server %s: %w", place, err)
}

// isNetwork reports whether err is one of connecting.
func isNetwork(err error) bool {
	_, ok := errors.AsType[net.Error](err)
	return ok
}

// redacted returns the URLs of servers without logins.
func redacted(servers string) string {
	var list []string
	for server := range strings.SplitSeq(servers, ",") {
		if u, err := url.Parse(server); err == nil {
			u.User = nil
			server = u.String()
		}
		list = append(list, server)
	}
	return strings.Join(list, ",")
}

// files returns the store of the WARC files.
func (s *session) files(ctx context.Context, name string) (scale.Store, error) {
	dir := name
	switch scheme, rest, isURL := strings.Cut(name, "://"); {
	case name == "" || name == "nats:":
		return s.Objects(ctx)
	case isURL && scheme == "file" && strings.HasPrefix(rest, "/"):
		u, err := url.Parse(name)
		if err != nil {
			return nil, usagef("--store: %w", err)
		}
		dir = filepath.FromSlash(u.Path)
	case isURL:
		return nil, usagef("--store %s://: not supported; use nats:, file:///DIR or a folder, or package scale in a Go program of your own for a bucket of gocloud.dev/blob", scheme)
	}
	store, err := scale.Folder(dir)
	if err != nil {
		return nil, failuref(exitWrite, "--store: %w", err)
	}
	return store, nil
}

// authorized reads the public nkeys in a file, one in a line.
func authorized(name string) ([]string, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, failuref(exitRead, "--authorized: %w", err)
	}
	defer f.Close()
	var keys []string
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		key, _, _ := strings.Cut(lines.Text(), "#")
		switch key = strings.TrimSpace(key); {
		case key == "":
		case nkeys.IsValidPublicUserKey(key):
			keys = append(keys, key)
		default: // it may be a seed, so it is not shown
			return nil, usagef("--authorized: %s: line %d is not the public nkey of a user, which begins with U", name, n)
		}
	}
	switch err := lines.Err(); {
	case err != nil:
		return nil, failuref(exitRead, "--authorized: %s: %w", name, err)
	case keys == nil:
		return nil, usagef("--authorized: %s has no nkey", name)
	}
	return keys, nil
}

// isLoopback reports whether only this computer can connect to HOST:PORT.
func isLoopback(address string) (bool, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false, fmt.Errorf("%s: expected HOST:PORT", address)
	}
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback(), nil
}
