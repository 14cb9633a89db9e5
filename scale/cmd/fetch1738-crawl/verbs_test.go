package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/fetch1738/fetch1738/archive/warc"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/scale"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
)

// site starts a gopher server with three documents, and returns its URL.
func site(t *testing.T) string {
	t.Helper()
	s := gophertest.New(t, func(s *gophertest.Server) {
		s.Content = fstest.MapFS{"a.txt": {Data: []byte("text a\n")}, "pub/b.txt": {Data: []byte("text b\n")}}
	})
	return s.URL
}

// pages are the documents of a site.
var pages = []string{"/", "/0/a.txt", "/0/pub/b.txt", "/1/pub"}

// fast are the options of nodes that ask servers on loopback, without a wait.
func fast(args ...string) []string {
	return append([]string{"node", "--allow-zone", "loopback", "--wait", "0"}, args...)
}

// checkExport checks that a folder has WARC files and an index with these URLs once, besides those of
// robots.txt and caps.txt.
func checkExport(t *testing.T, dir string, urls []string) {
	t.Helper()
	index, err := os.ReadFile(filepath.Join(dir, scale.IndexFile))
	if err != nil {
		t.Fatal(err)
	}
	var indexed []string
	for line := range strings.Lines(string(index)) {
		var fields struct {
			URL      string `json:"url"`
			Filename string `json:"filename"`
		}
		if err := json.Unmarshal([]byte(line[strings.IndexByte(line, '{'):]), &fields); err != nil {
			t.Fatalf("%v: %q", err, line)
		}
		if _, err := os.Stat(filepath.Join(dir, fields.Filename)); err != nil {
			t.Error(err)
		}
		if !strings.HasPrefix(fields.URL, "warcinfo:") && !strings.HasSuffix(fields.URL, "robots.txt") && !strings.HasSuffix(fields.URL, "caps.txt") {
			indexed = append(indexed, fields.URL)
		}
	}
	slices.Sort(indexed)
	if slices.Sort(urls); !slices.Equal(indexed, urls) {
		t.Errorf("the index has %q, want %q", indexed, urls)
	}
	names, err := filepath.Glob(filepath.Join(dir, "*.warc.gz"))
	if err != nil || len(names) == 0 {
		t.Errorf("%d files, %v", len(names), err)
	}
	for _, name := range names {
		file, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		_, err = warc.Verify(file, func(f *warc.Defect) { t.Errorf("%s: %v", name, f) })
		if err := errors.Join(err, file.Close()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// urls returns the URLs of the documents of sites.
func urls(sites ...string) (list []string) {
	for _, s := range sites {
		for _, page := range pages {
			list = append(list, s+page)
		}
	}
	return list
}

// exported is the line that export prints.
type exported struct {
	Dir string `json:"dir"`
	scale.Exported
}

func (c *console) export(args ...string) (e exported) {
	c.Helper()
	if err := json.Unmarshal([]byte(c.ok(append([]string{"export"}, args...)...)), &e); err != nil {
		c.Fatal(err)
	}
	return e
}

// URLs of the command line, of a file and of standard input are crawled by a node that joins a
// server, and exported.
func TestCrawl(t *testing.T) {
	t.Parallel()
	for _, store := range []string{"", "folder", "file:"} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			c := newConsole(t)
			sites := []string{site(t), site(t), site(t)}
			join := []string{"--join", server(t)}
			switch dir := t.TempDir(); store {
			case "folder":
				store = dir
			case "file:":
				if runtime.GOOS == "windows" {
					t.Skip("its file URLs have a drive")
				}
				store = "file://" + filepath.ToSlash(dir)
			}
			list := filepath.Join(t.TempDir(), "list")
			if err := os.WriteFile(list, []byte("# a site\n\n "+sites[1]+"/ \r\n"), 0o666); err != nil {
				t.Fatal(err)
			}
			c.in = sites[2]
			if got := c.ok(slices.Concat([]string{"add"}, join, []string{list, sites[0] + "/", "-"})...); got != "3 URLs added\n" {
				t.Errorf("add: %q", got)
			}
			if r := c.status(join...); r.Units[scale.New] != 1 { // one host with three ports
				t.Errorf("status before: %+v", r)
			}
			c.ok(fast(slices.Concat(join, []string{"--store", store, "--dir", t.TempDir(), "--until-done"})...)...)
			r := c.status(join...)
			if r.Crawl != "crawl" || r.Units[scale.Done] != 1 || r.Documents != 3*len(pages) || r.Octets == 0 || r.Left != 0 || len(r.Nodes) != 0 {
				t.Errorf("status: %+v", r)
			}
			if got := c.ok(slices.Concat([]string{"status"}, join)...); !strings.HasPrefix(got, "hosts      1: 1 done\ndocuments  12 fetched") {
				t.Errorf("status: %s", got)
			}
			out := filepath.Join(t.TempDir(), "out")
			first := c.export(slices.Concat(join, []string{"--store", store, out})...)
			if first.Dir != out || first.Files == 0 || first.Copied != first.Files || first.Octets != r.Stored {
				t.Errorf("export: %+v", first)
			}
			if again := c.export(slices.Concat(join, []string{"--store", store, out})...); again.Copied != 0 || again.Files != first.Files {
				t.Errorf("the second export: %+v", again)
			}
			checkExport(t, out, urls(sites...))
		})
	}
}

// A node alone starts its server. When it has ended, its folder has the crawl.
func TestAlone(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	home := site(t)
	dir := filepath.Join(t.TempDir(), "crawl")
	alone := fast("--dir", dir, "--listen", "127.0.0.1:0", "--until-done")
	_, printed, code := c.run(t.Context(), append(alone, "-v", home+"/0/a.txt", "gopher://127.0.0.2:7070/")...)
	if code != 0 || !strings.Contains(printed, ": 1 hosts do not answer; ") || !strings.Contains(printed, "fetched     "+home+"/0/a.txt, 8 bytes, 0 new links\n") || strings.Contains(printed, "\x1b") {
		t.Errorf("code %d\n%s", code, printed)
	}
	if r := c.status("--dir", dir); r.Documents != 1 || r.Units[scale.Waiting] != 1 || len(r.Failing) != 1 || r.Failing[0].Unit != "127.0.0.2" {
		t.Errorf("%+v", r)
	}
	if got := c.ok("status", "--dir", dir); !strings.Contains(got, "\n127.0.0.2  waiting  1         ") {
		t.Error(got)
	}
	if got := c.ok("add", "--dir", dir, home+"/1/pub"); got != "1 URLs added\n" {
		t.Errorf("%q", got)
	}
	c.ok(alone...)
	out := t.TempDir()
	c.export("--dir", dir, out)
	checkExport(t, out, []string{home + "/0/a.txt", home + "/1/pub", home + "/0/pub/b.txt"})
}

// The limits of the command line are those of the crawl, and links lead to public addresses only.
func TestLimits(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		args []string
		want int
	}{
		{[]string{"--allow-zone", "loopback", "--depth", "0"}, 1},
		{[]string{"--allow-zone", "127.0.0.1", "--max-documents", "2"}, 2},
		{[]string{"--allow-zone", "127.0.0.0/8", "--max-documents", "100", "--same-host"}, len(pages)},
		{[]string{"--allow-zone", "private"}, 0},
	} {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			t.Parallel()
			c := newConsole(t)
			dir := t.TempDir()
			c.ok(slices.Concat([]string{"node", "--wait", "0", "--dir", dir, "--listen", "127.0.0.1:0", "--until-done", site(t)}, test.args)...)
			if r := c.status("--dir", dir); r.Documents != test.want {
				t.Errorf("%+v", r)
			}
		})
	}
}

// Each option of the node has its effect on the Node.
func TestOptions(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	var got *scale.Node
	c.hooks.node = func(n *scale.Node) { got = n; n.Drain() }
	c.ok("node", "--dir", t.TempDir(), "--listen", "127.0.0.1:0", "--monitor", "127.0.0.1:0", "--name", "mine", "--slots", "7",
		"--wait", "0.5", "--depth", "0", "--max-documents", "3", "--max-host-size", "2k", "--same-host", "--http", "--timeout", "9",
		"--slice-time", "60", "--slice-documents", "5", "--account", "News.example.=4", "--warc-size", "3M", "--warc-version", "1.0")
	if got.Slots != 7 || got.Crawl.Wait != 500*time.Millisecond || got.Crawl.Depth != -1 || got.Crawl.MaxDocuments != 3 ||
		got.Crawl.MaxHostOctets != 2048 || !got.SameHost || !got.Crawl.HTTP || got.Crawl.Timeout != 9*time.Second ||
		got.SliceTime != time.Minute || got.SliceDocuments != 5 || got.Units.Accounts["news.example"] != 4 ||
		got.Archive.MaxSize != 3<<20 || got.Archive.Version != "1.0" || !strings.HasPrefix(got.Archive.Software, program+"/") {
		t.Errorf("%+v", got)
	}
}

// keyFile writes the seed of a new nkey, and returns it with the name of the file.
func keyFile(t *testing.T) (public, seed, name string) {
	t.Helper()
	pair, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	if public, err = pair.PublicKey(); err != nil {
		t.Fatal(err)
	}
	text, err := pair.Seed()
	if err != nil {
		t.Fatal(err)
	}
	name = filepath.Join(t.TempDir(), "seed")
	if err := os.WriteFile(name, append(text, '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	return public, string(text), name
}

// With --authorized, all need one of the keys. No output has a seed in it.
func TestNkeys(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	public, seed, name := keyFile(t)
	stranger, strange, other := keyFile(t)
	keys := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(keys, []byte("# keys\n"+public+" # mine\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	open := []string{"--listen", "0.0.0.0:0", "--authorized", keys, "--nkey", name, "--dir", dir}
	node := c.begin(fast(open...)...)
	node.until(func() bool { return node.listening() != "" })
	at := node.listening()
	node.until(func() bool { return len(c.status("--join", at, "--nkey", name).Nodes) == 1 })
	c.fails(67, "refuses the login; --nkey FILE", "status", "--join", at)
	c.fails(67, "refuses the login", "add", "--join", at, "--nkey", other, "gopher://127.0.0.1/")
	c.ok("drain", "--join", at, "--nkey", name)
	if code := <-node.code; code != 0 {
		t.Errorf("code %d", code)
	}
	if runtime.GOOS != "windows" {
		if err := os.Chmod(name, 0o644); err != nil {
			t.Fatal(err)
		}
		out, warning, code := c.run(t.Context(), "status", "--dir", dir, "--nkey", name)
		if code != 0 || !strings.HasPrefix(out, "hosts      0\n") || !strings.Contains(warning, "chmod 600 "+name) {
			t.Errorf("code %d\n%s%s", code, out, warning)
		}
	}

	c.fails(2, "has not the key of this node, "+stranger, "node", "--authorized", keys, "--nkey", other, "--dir", dir)
	if err := os.WriteFile(keys, []byte(public+"\n"+seed+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	c.fails(2, "line 2 is not the public nkey of a user", "node", "--authorized", keys, "--nkey", name, "--dir", dir)
	if err := os.WriteFile(other, []byte(strange[:20]+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.fails(26, "has no seed of an nkey", "status", "--nkey", other)
	for _, secret := range []string{seed, strange[:20]} {
		if strings.Contains(c.printed.String()+node.out.String(), secret) {
			t.Error("a seed was printed")
		}
	}
}

// Nodes stop when they are asked to, all or one of them.
func TestDrain(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	join := server(t)
	if got := c.ok("drain", "--join", join); got != "no node is running\n" {
		t.Errorf("%q", got)
	}
	nodes := make(map[string]*running)
	for _, name := range []string{"one", "two", "three"} {
		c.hooks.node = func(n *scale.Node) { n.Name = name }
		nodes[name] = c.begin(fast("--join", join, "--dir", t.TempDir())...)
	}
	for _, n := range nodes {
		n.until(func() bool { return len(c.status("--join", join).Nodes) == 3 })
	}
	if got := c.ok("status", "--join", join); !strings.Contains(got, "\none    0 of 100  0 ") {
		t.Error(got)
	}
	c.fails(2, "no node has this name; the nodes are one, three, two", "drain", "--join", join, "--node", "four")
	for _, step := range []struct {
		args  []string
		names []string
	}{{[]string{"--node", "one"}, []string{"one"}}, {nil, []string{"three", "two"}}} {
		want := "asked to stop: " + strings.Join(step.names, ", ") + "\n"
		if got := c.ok(append([]string{"drain", "--join", join}, step.args...)...); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		for _, name := range step.names {
			if code := <-nodes[name].code; code != 0 {
				t.Errorf("node %s: code %d\n%s", name, code, &nodes[name].out)
			}
		}
	}
	if r := c.status("--join", join); len(r.Nodes) != 0 {
		t.Errorf("%+v", r.Nodes)
	}
}

// unfinished starts a node whose host is not to be asked again for long, and waits until it has been
// asked.
func (c *console) unfinished(args ...string) *running {
	c.Helper()
	n := c.begin(fast(slices.Concat([]string{"--dir", c.TempDir(), "--listen", "127.0.0.1:0", "--wait", "1000", site(c.T)}, args)...)...)
	n.until(func() bool { return n.listening() != "" && c.status("--join", n.listening()).Units[scale.Waiting] == 1 })
	return n
}

// A node that was to end when all is done, and ends before, has failed.
func TestUnfinished(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	n := c.unfinished("--until-done")
	n.until(func() bool { return len(c.status("--join", n.listening()).Nodes) == 1 })
	c.ok("drain", "--join", n.listening())
	n.ends(exitAborted, "interrupted; the same command continues")
}

// Looks at the units take a tenth of the time, but one that was slow for once delays nothing.
func TestLookAgain(t *testing.T) {
	for _, c := range []struct{ took, before, want time.Duration }{
		{time.Millisecond, 0, minLook},
		{5 * time.Second, time.Millisecond, minLook},
		{time.Millisecond, 5 * time.Second, minLook},
		{2 * time.Second, 3 * time.Second, 20 * time.Second},
	} {
		if got := lookAgain(c.took, c.before); got != c.want {
			t.Errorf("after %v and %v: %v, want %v", c.before, c.took, got, c.want)
		}
	}
}

// A signal drains a node.
func TestSignal(t *testing.T) {
	t.Parallel()
	for signal, code := range map[string]int{"interrupt": exitInterrupted, "terminated": exitTerminated} {
		c := newConsole(t)
		n := c.unfinished()
		n.stop(errors.New(signal + " signal received"))
		n.ends(0, "draining: each host stops after its request")
		n = c.unfinished("--until-done")
		n.stop(errors.New(signal + " signal received"))
		n.ends(code, "node: interrupted; the same command continues")
		ctx, stop := context.WithCancelCause(t.Context())
		stop(errors.New(signal + " signal received"))
		if _, err, got := c.run(ctx, "add", "--join", server(t), "gopher://127.0.0.1/"); got != code || !strings.HasSuffix(err, "add: interrupted\n") {
			t.Errorf("code %d, want %d\n%s", got, code, err)
		}
	}
}

// A verb that finds no server, no port or no free folder says what to do.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c.fails(45, "the address is in use; use --join nats://"+l.Addr().String(), "node", "--listen", l.Addr().String(), "--dir", t.TempDir())
	addr := l.Addr().String()
	l.Close()
	for _, args := range [][]string{{"status"}, {"drain"}, {"export", t.TempDir()}, {"add", "gopher://127.0.0.1/"}, {"node", "--dir", t.TempDir()}} {
		c.fails(7, "cannot connect to nats://"+addr+": no NATS server answers there; start one with fetch1738-crawl node", append(args, "--join", "nats://user:secret@"+addr)...)
	}
	dir := t.TempDir()
	n := c.begin("node", "--dir", dir, "--listen", "127.0.0.1:0")
	n.until(func() bool { return n.listening() != "" && len(c.status("--join", n.listening()).Nodes) == 1 })
	c.fails(23, "a node is running in the folder "+dir, "status", "--dir", dir)
	c.fails(23, "a node is running in the folder "+dir, "node", "--dir", dir, "--join", n.listening())
	n.stop(nil)
	n.ends(0, "")
}

// Logins of the file are sent to the hosts that they are for.
func TestLogins(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "netrc")
	if err := os.WriteFile(name, []byte("machine news.example login me password secret account more\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var warned bytes.Buffer
	o := nodeOptions{netrc: name, connection: connection{command: &command{std: streams{err: &warned}}}}
	login, err := o.logins()
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && !strings.Contains(warned.String(), "chmod 600 "+name) || strings.Contains(warned.String(), "secret") {
		t.Error(warned.String())
	}
	at := func(host string) locator.Locator {
		return &locator.NNTP{HostPort: locator.HostPort{Host: host}, Group: "misc.test"}
	}
	for _, test := range []struct {
		challenge fetch.Challenge
		want      string
	}{
		{fetch.Challenge{Locator: at("news.example")}, "me:secret"},
		{fetch.Challenge{Locator: at("NEWS.example"), User: "me"}, "me:secret"},
		{fetch.Challenge{Locator: at("news.example"), User: "me", Account: true}, "me:more"},
		{fetch.Challenge{Locator: at("news.example"), User: "you"}, ""},
		{fetch.Challenge{Locator: at("other.example")}, ""},
	} {
		got, err := login(t.Context(), test.challenge)
		if text := got.User + ":" + got.Password; err == nil && text != test.want || (err != nil) != (test.want == "") {
			t.Errorf("%+v: %s, %v; want %q", test.challenge, text, err, test.want)
		}
	}
}
