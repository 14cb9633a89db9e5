//go:build linux

package main

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/scale/internal/scaletest"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/nntptest"
)

// inside runs nodes in this process until nothing is left to do. dial is their network.
func (c *cluster) inside(nodes int, dial func(context.Context, string, string) (net.Conn, error)) {
	c.Helper()
	var group sync.WaitGroup
	messages := make([]output, nodes)
	for i := range nodes {
		args := append([]string{"node", "--until-done", "--join", c.server.url, "--dir", filepath.Join(c.TempDir(), "node")}, c.args...)
		group.Go(func() {
			std := streams{strings.NewReader(""), &output{}, &messages[i]}
			if code := run(c.ctx, args, std, c.config.hooks(dial)); code != 0 {
				c.Errorf("node %d: exit code %d", i, code)
			}
		})
	}
	group.Wait()
	for i := range messages {
		if text := messages[i].String(); c.Failed() {
			c.Logf("node %d:\n%s", i, text[max(0, len(text)-4000):])
		}
	}
}

// All names of one address are one host to its owner: one connection for all nodes together, with the
// wait between two requests.
func TestOneAddress(t *testing.T) {
	t.Parallel()
	const wait = 5 * time.Millisecond
	c := newCluster(t, scaletest.Options{Hosts: 100, Links: 5, Names: true, OneAddress: true, Delay: time.Millisecond}, 8)
	c.args = append(c.args, "--wait", seconds3(wait))
	c.add(c.hosts.URL(0, 0))
	c.inside(2, c.hosts.Dial)
	c.hosts.Check(t, wait, c.lost()*c.hosts.PerHost())
	if total, most := c.hosts.Connections(); most != 1 {
		t.Errorf("%d connections at once of %d, want 1", most, total)
	}
	c.export()
}

// A news server with an account has as many connections as the account permits, and no more, whatever
// the number of nodes.
func TestAccounts(t *testing.T) {
	t.Parallel()
	const host, groups, articles, limit = "news.example", 12, 6, 3
	news := &countingNetwork{addr: netip.MustParseAddrPort("93.184.216.34:119"), least: limit, enough: make(chan struct{})}
	news.server = nntptest.New(t, func(s *nntptest.Server) {
		s.InMemory = true
		s.Users = map[string]testserver.User{"user": {Password: "secret"}}
		s.Groups = make(map[string][]string)
		for i := range groups {
			name := fmt.Sprintf("test.group%d", i)
			for k := range articles {
				s.Groups[name] = append(s.Groups[name], fmt.Sprintf(
					"Subject: %d\r\nFrom: a@b.example\r\nNewsgroups: %s\r\nMessage-ID: <%d.%d@b.example>\r\nDate: 1 Dec 1994 00:00:00 GMT\r\n\r\ntext %d of %d\r\n",
					k, name, i, k, k, i))
			}
		}
	})
	c := newCluster(t, scaletest.Options{}, 8)
	logins := filepath.Join(t.TempDir(), "netrc")
	if err := os.WriteFile(logins, []byte("machine "+host+" login user password secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	account := fmt.Sprintf("%s=%d", host, limit)
	c.args = append(c.args, "--wait", "0.01", "--account", account, "--netrc-file", logins)
	var urls []string
	for i := range groups {
		urls = append(urls, fmt.Sprintf("nntp://%s/test.group%d", host, i))
	}
	c.verb(append([]string{"add", "--account", account}, urls...)...)
	c.inside(2, news.dial)
	if total, most := news.counts(); most != limit {
		t.Errorf("%d connections at once of %d, want %d", most, total, limit)
	}
	dir := filepath.Join(t.TempDir(), "export")
	c.verb("export", dir)
	got := scaletest.Captures(t, dir)
	for i := range groups {
		for k := range articles {
			url := fmt.Sprintf("nntp://%s/test.group%d/%d", host, i, k+1)
			if len(got[url]) != 1 {
				t.Errorf("%s: %d records, want 1", url, len(got[url]))
			}
		}
	}
	if text := fmt.Sprint(news.server.Transcript()); strings.Count(text, "PASS secret") == 0 {
		t.Error("nobody has logged in")
	}
}

// countingNetwork is a network with one server, which counts connections. The first ones are made when
// there are least of them.
type countingNetwork struct {
	server *nntptest.Server
	addr   netip.AddrPort
	least  int
	enough chan struct{}

	mu                sync.Mutex
	open, total, most int
}

// dial connects to the server, whatever the address.
func (n *countingNetwork) dial(ctx context.Context, network, _ string) (net.Conn, error) {
	if err := fetch.DialControl(ctx, network, n.addr.String(), nil); err != nil {
		return nil, err
	}
	c, err := n.server.Dial(ctx, network, n.server.Addr)
	if err != nil {
		return nil, err
	}
	n.count(1)
	select {
	case <-n.enough:
	case <-ctx.Done():
	}
	return &countedConn{Conn: c, network: n, left: sync.OnceFunc(func() { n.count(-1) })}, nil
}

func (n *countingNetwork) count(more int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.open += more
	if n.total += max(0, more); more > 0 && n.total == n.least {
		close(n.enough)
	}
	n.most = max(n.most, n.open)
}

func (n *countingNetwork) counts() (total, most int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.total, n.most
}

// countedConn is a connection that its network counts until it is closed.
type countedConn struct {
	net.Conn
	network *countingNetwork
	left    func()
}

// RemoteAddr returns the address that the server has in the network.
func (c *countedConn) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(c.network.addr) }

// Close closes the connection.
func (c *countedConn) Close() error {
	c.left()
	return c.Conn.Close()
}
