//go:build unix

package main

import (
	"bytes"
	"context"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/creack/pty"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/picture"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/internal/file/disk"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
	"github.com/fetch1738/fetch1738/testserver/memnet"
	"github.com/fetch1738/fetch1738/testserver/nntptest"
	"github.com/fetch1738/fetch1738/testserver/simdisk"
)

// pictureCommands are the command lines of the picture, with the seconds for which a reader sees
// what each has printed.
var pictureCommands = []struct {
	line  string
	pause float64
}{
	{"fetch1738 -O ftp://ftp.example.org/pub/charts.tar", 0.6},
	{"fetch1738 ls -l ftp://ftp.example.org/pub/", 1.5},
	{"fetch1738 gopher://gopher.example.org/", 2},
	{"fetch1738 nntp://news.example.org/comp.lighthouses/1", 1.8},
	{"fetch1738 mirror ftp://ftp.example.org/pub/ pub", 0.8},
	{"fetch1738 mirror ftp://ftp.example.org/pub/ pub   # again: only what is new", 0},
}

const (
	pictureFile    = "docs/session.svg"
	pictureColumns = 80
	pictureRows    = 26
	maxPicture     = 60 << 10 // bytes
	maxPictureTime = 20 * time.Second
)

// The picture of the README is what the command prints; -update makes it again:
//
//	go test ./cmd/fetch1738 -run TestPicture -update
//
// What the command writes, and when, is recorded at a terminal. So that each run makes the same
// picture, the following is fixed:
//
//   - The servers and the disk are in memory. The names of example.org lead to these servers, by
//     "resolve" in the configuration file.
//   - The clock is that of package synctest: it moves only while everything waits. A read from the
//     network takes 5 ms and returns up to 2 KiB, and the user types 4 characters in 30 ms.
//   - Mirrors use one connection, by "connections" in the configuration file: the order of several
//     is not always the same.
//   - Times are shown in UTC.
//
// The prompt and the typed characters are the recorder's.
func TestPicture(t *testing.T) {
	home := t.TempDir()
	for _, name := range []string{"XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "NNTPSERVER", "NETRC", "http_proxy", "ftp_proxy", "all_proxy", "FTP_PROXY", "ALL_PROXY"} {
		t.Setenv(name, "")
	}
	t.Setenv("HOME", home)
	t.Setenv("TERM", "xterm")
	control, tty, err := pty.Open() // it is only asked for its size
	if err != nil {
		t.Fatal(err)
	}
	defer control.Close()
	defer tty.Close()
	if err := pty.Setsize(tty, &pty.Winsize{Rows: pictureRows, Cols: pictureColumns}); err != nil {
		t.Fatal(err)
	}
	oneAtATime(t)
	var got []byte
	synctest.Test(t, func(t *testing.T) { got = recordPicture(t, tty.Fd(), home) })
	if len(got) > maxPicture {
		t.Errorf("the picture has %d bytes, more than %d", len(got), maxPicture)
	}
	file := filepath.Join(root, filepath.FromSlash(pictureFile))
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what the command prints now; go test ./cmd/fetch1738 -run TestPicture -update makes it again", pictureFile)
	}
}

// oneAtATime makes the order of what happens the same in each run: one goroutine runs at a time,
// and memory is not collected meanwhile. Times are shown in UTC.
func oneAtATime(t *testing.T) {
	procs, percent, zone := runtime.GOMAXPROCS(1), debug.SetGCPercent(-1), time.Local
	time.Local = time.UTC
	t.Cleanup(func() {
		runtime.GOMAXPROCS(procs)
		debug.SetGCPercent(percent)
		time.Local = zone
	})
}

// recordPicture runs the commands and returns the picture.
func recordPicture(t *testing.T, tty uintptr, home string) []byte {
	var network testserver.Network
	pictureServers(t, &network)
	r := &recorder{t: t, tty: tty, start: time.Now(), screen: picture.NewScreen(pictureColumns, pictureRows)}
	slow := &slowLine{network: &network}
	ctx := disk.With(t.Context(), simdisk.New(simdisk.Options{}).Process(nil))
	for _, c := range pictureCommands {
		r.typed(c.line)
		line, _, _ := strings.Cut(c.line, "#")
		words := strings.Fields(line)[1:]
		configurePicture(t, home, words[0] == "mirror")
		if code := run(ctx, words, stdio.Streams{In: strings.NewReader(""), Out: r, Err: r, Dial: slow.dial}); code != 0 {
			t.Errorf("%s: exit code %d", c.line, code)
		}
		time.Sleep(time.Duration(c.pause * float64(time.Second)))
	}
	r.prompt()
	time.Sleep(3200 * time.Millisecond) // the last state stays for a while
	end := time.Since(r.start)
	if end > maxPictureTime {
		t.Errorf("the picture takes %v, more than %v", end, maxPictureTime)
	}
	title := "A terminal in which fetch1738 fetches a file by FTP, shows a directory, a gopher menu and a news article, and mirrors a directory twice"
	return r.screen.SVG(title, end)
}

// configurePicture writes the configuration file of the next command.
func configurePicture(t *testing.T, home string, mirrors bool) {
	config := "resolve = *:21:127.0.0.1\nresolve = *:70:127.0.0.1\nresolve = *:119:127.0.0.1\n"
	if mirrors {
		config += "connections = 1\n"
	}
	dir := filepath.Join(home, ".config", "fetch1738")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A recorder is the terminal of the command.
type recorder struct {
	t      *testing.T
	tty    uintptr // a real terminal of the same size
	start  time.Time
	mu     sync.Mutex
	screen *picture.Screen
}

// Fd makes the command find a terminal.
func (r *recorder) Fd() uintptr { return r.tty }

func (r *recorder) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.screen.Write(time.Since(r.start), string(p)); err != nil {
		r.t.Errorf("the picture cannot show %q: %v", p, err)
	}
	return len(p), nil
}

// typed shows a prompt and a command that a user types.
func (r *recorder) typed(line string) {
	r.prompt()
	time.Sleep(200 * time.Millisecond)
	for rest := line; rest != ""; {
		part := rest[:min(4, len(rest))]
		rest = rest[len(part):]
		r.show("\x1b[1m" + part + "\x1b[0m")
		time.Sleep(30 * time.Millisecond)
	}
	time.Sleep(200 * time.Millisecond)
	r.show("\n")
}

func (r *recorder) prompt() { r.show("\x1b[32m$\x1b[0m ") }

func (r *recorder) show(text string) { _, _ = r.Write([]byte(text)) }

// A slowLine is a network on which reading takes time.
type slowLine struct {
	network *testserver.Network
	conns   atomic.Int64
}

func (l *slowLine) dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := l.network.Dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &slowConn{c.(*memnet.Conn), 5*time.Millisecond + time.Duration(l.conns.Add(1)*1009)}, nil
}

// A slowConn reads slowly. No two connections are equally slow, so that nothing happens at the
// same time.
type slowConn struct {
	*memnet.Conn
	delay time.Duration
}

func (c *slowConn) Read(p []byte) (int, error) {
	c.Await()
	time.Sleep(c.delay)
	runtime.Gosched() // a new slice of time begins, in which no other goroutine runs
	return c.Conn.Read(p[:min(len(p), 2<<10)])
}

// pictureServers starts the servers, with their usual ports.
func pictureServers(t *testing.T, network *testserver.Network) {
	modified := time.Date(1994, time.December, 1, 12, 0, 0, 0, time.UTC)
	random := make([]byte, 1<<20)
	_, _ = rand.NewChaCha8([32]byte{}).Read(random)
	files := func(sizes map[string]int) fstest.MapFS {
		content := fstest.MapFS{}
		for name, size := range sizes {
			content[name] = &fstest.MapFile{Data: random[:size], ModTime: modified}
		}
		return content
	}
	ftptest.New(t, func(s *ftptest.Server) {
		s.Network, s.ReadOnly = network, true
		s.Content = files(map[string]int{
			"pub/README": 1738, "pub/charts.tar": 720 << 10, "pub/fog-horn.wav": 94 << 10, "pub/lighthouse.png": 22 << 10, "pub/tides-1994.txt": 11 << 10,
		})
	})
	gophertest.New(t, func(s *gophertest.Server) {
		s.Network, s.Host, s.Port, s.Dialect = network, "gopher.example.org", 70, gophertest.StandardGopher
		s.Content = fstest.MapFS{
			"gophermap": {Data: []byte(`      /\
     /__\      The lighthouse of
  ~~~|##|~~~   gopher.example.org
0About this site	/about.txt
1Stories of keepers	/stories
7Search the stories	/find
`)},
			"about.txt":       {Data: []byte("About\n"), ModTime: modified},
			"stories/one.txt": {Data: []byte("A story\n"), ModTime: modified},
		}
	})
	nntptest.New(t, func(s *nntptest.Server) {
		s.Network, s.ReadOnly = network, true
		s.Groups = map[string][]string{"comp.lighthouses": {
			"From: Grace Darling <grace@example.org>\r\nNewsgroups: comp.lighthouses\r\nSubject: Which lens?\r\nDate: Thu, 01 Dec 1994 12:00:00 GMT\r\n" +
				"Message-ID: <1@news.example.org>\r\n\r\nWhich lens has the Longstone light?\r\n",
		}}
	})
}
