package interop

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/fetch1738/fetch1738/dev/interop/ftpservers"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/ftp"
)

// What is sent together with PASS, or right after it, and with the first RETR.
var (
	known   = []string{"USER anonymous", "PASS anonymous@|PWD|TYPE I|CWD a|CWD b|SIZE f0|EPSV", "RETR f0"}
	unknown = []string{"USER anonymous", "PASS anonymous@", "PWD|TYPE I", "CWD a|CWD b|SIZE f0|EPSV", "RETR f0"}
	early   = append(known[:2:2], "RETR f0|EPSV")
)

// beginnings are the first packets to each server.
var beginnings = map[string][]string{
	"inetutils-ftpd": known, "vsftpd": early, "proftpd": early,
	"pure-ftpd": {"USER anonymous", "PWD|TYPE I|CWD a|CWD b|SIZE f0|EPSV", "RETR f0"}, // it wants no password
	"ftp-srv":   unknown, "ftpserverlib": unknown, "goftp": unknown, "testserver": unknown,
	// It answers what follows a wrong PASS at once, and PASS three seconds later. If the client has
	// left by then, it forgets another one.
	"pyftpdlib": unknown,
	"twisted":   {"USER anonymous", "PASS anonymous@", "PWD|TYPE I", "CWD a|CWD b|SIZE f0|EPSV", "PASV", "RETR f0"},
	"nodeftpd":  {"USER anonymous", "PASS anonymous@", "PWD|TYPE I", "USER anonymous", "PASS anonymous@", "PWD", "CWD a"},
}

// TestFTPAhead tests with each server what is sent without waiting for a reply, and how often a port
// is requested: once for each transfer, even if RETR is refused 200 times.
func TestFTPAhead(t *testing.T) {
	const files = 60
	for _, kind := range ftpservers.Kinds() {
		t.Run(kind.Name, func(t *testing.T) {
			t.Parallel()
			root := serverDir(t)
			dir := filepath.Join(root, "a", "b")
			makeDir(t, dir, 0o755)
			for i := range files {
				writeFile(t, filepath.Join(dir, fmt.Sprint("f", i)), strings.Repeat(fmt.Sprintln("line", i), 400))
			}
			srv := kind.Start(t, &ftpservers.Server{Root: root})
			sent := &packets{}
			f := &ftp.Fetcher{Env: &fetch.Env{Dial: sent.dial(srv.Addr)}}
			defer f.Close()
			notes := 0
			ctx := fetch.WithTrace(t.Context(), &fetch.Trace{Note: func(text string) {
				if strings.Contains(text, "one command at a time") {
					notes++
				}
			}})
			for i := range files {
				name := fmt.Sprint("f", i)
				want, err := os.ReadFile(filepath.Join(dir, name))
				if err != nil {
					t.Fatal(err)
				}
				if got, err := fetchOne(ctx, t, f, srv.Addr, name, i < files-1); err != nil || got != string(want) {
					t.Errorf("%s: %d of %d bytes, %v", name, len(got), len(want), err)
				}
			}
			begins := beginnings[kind.Name]
			if got := sent.list(); len(got) < len(begins) || !slices.Equal(got[:len(begins)], begins) {
				t.Errorf("sent %q, want %q", got, begins)
			}
			if sequential := kind.Name == "nodeftpd"; notes > 0 != sequential && kind.Name != "ftp-srv" { // see fetch/ftp: it may lose a port
				t.Errorf("%d notes that the server does not support pipelining", notes)
			}
			if n := sent.ports(); kind.Name != "ftp-srv" && n > files+1 {
				t.Errorf("%d ports for %d files", n, files)
			}
			if kind.Name == "pure-ftpd" {
				return // it answers refused commands more and more slowly
			}
			before := sent.ports()
			for i := range 200 {
				if _, err := fetchOne(ctx, t, f, srv.Addr, fmt.Sprint("none", i), false); !errors.Is(err, fetch.ErrNotFound) {
					t.Fatalf("a missing file: %v", err)
				}
			}
			if n := sent.ports() - before; n > 2 && kind.Name != "proftpd" && kind.Name != "ftp-srv" { // these close the port themselves
				t.Errorf("%d ports for 200 missing files", n)
			}
			if got, err := fetchOne(ctx, t, f, srv.Addr, "f1", false); err != nil || !strings.HasPrefix(got, "line 1\n") {
				t.Errorf("after the missing files: %d bytes, %v", len(got), err)
			}
		})
	}
}

// fetchOne fetches a file of the directory a/b. more says that another transfer follows.
func fetchOne(ctx context.Context, t *testing.T, f *ftp.Fetcher, addr, name string, more bool) (string, error) {
	t.Helper()
	res, err := f.Fetch(ctx, &fetch.Request{Locator: parseFTP(t, "ftp://"+addr+"/a/b/"+name), Options: &ftp.Options{More: func() bool { return more }}})
	if err != nil {
		return "", err
	}
	defer res.Close()
	data, err := io.ReadAll(res.Body)
	return string(data), err
}

// packets records the commands that go over control connections: those of each packet, joined by "|".
type packets struct {
	mu   sync.Mutex
	sent []string
}

func (p *packets) list() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.sent)
}

// ports returns how often a port was requested. EPSV that the server does not support is not
// counted.
func (p *packets) ports() (n int) {
	all := strings.Split(strings.Join(p.list(), "|"), "|")
	for i, line := range all {
		if line == "EPSV" && (i+1 == len(all) || all[i+1] != "PASV") || line == "PASV" {
			n++
		}
	}
	return n
}

func (p *packets) dial(control string) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := new(net.Dialer).DialContext(ctx, network, address)
		if err != nil || address != control {
			return c, err
		}
		return packetConn{c, p}, nil
	}
}

// packetConn is a control connection.
type packetConn struct {
	net.Conn
	packets *packets
}

func (c packetConn) Write(b []byte) (int, error) {
	c.packets.mu.Lock()
	c.packets.sent = append(c.packets.sent, strings.ReplaceAll(strings.TrimSpace(string(b)), "\r\n", "|"))
	c.packets.mu.Unlock()
	return c.Conn.Write(b)
}

// NetConn lets the client find the TCP connection, to acknowledge at once and to close one direction.
func (c packetConn) NetConn() net.Conn { return c.Conn }

// CloseWrite closes the direction to the server.
func (c packetConn) CloseWrite() error { return c.Conn.(*net.TCPConn).CloseWrite() }
