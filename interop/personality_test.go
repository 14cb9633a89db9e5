package interop

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/internal/replay"
	"github.com/fetch1738/fetch1738/interop/ftpservers"
	"github.com/fetch1738/fetch1738/interop/inn"
)

// personalities has what the real servers say, which those of package testserver imitate.
const personalities = "../testserver/ftptest/testdata/personalities/"

// TestPersonalitiesOfFTP plays the conversations of personalities to the real servers.
func TestPersonalitiesOfFTP(t *testing.T) {
	for _, kind := range ftpservers.Kinds() {
		if kind.Name == "testserver" {
			continue
		}
		t.Run(kind.Name, func(t *testing.T) {
			t.Parallel()
			srv := kind.Start(t, &ftpservers.Server{Root: plantPersonality(t)})
			host, err := os.Hostname()
			if err != nil {
				t.Fatal(err)
			}
			local := strings.NewReplacer(srv.Root+"/", "/", srv.Root, "/", host, "localhost")
			player := &replay.Server{Addr: srv.Addr, Dial: new(net.Dialer).DialContext, Clean: func(line string) string {
				return replay.CleanFTP(local.Replace(line))
			}}
			comparePersonality(t, personalities+strings.Replace(kind.Name, "inetutils-ftpd", "inetutils", 1)+".txt", replay.FTPDialogue, player.FTP)
		})
	}
}

// plantPersonality creates the files that the conversations are about.
func plantPersonality(t *testing.T) string {
	t.Helper()
	root := filepath.Join(serverDir(t), "root")
	old, now := time.Date(1995, time.March, 4, 5, 6, 7, 0, time.UTC), time.Now().Add(-time.Hour)
	makeDir(t, filepath.Join(root, "sub"), 0o755)
	for name, when := range map[string]time.Time{"hello.txt": old, "sub/a.bin": old, "recent.txt": now} {
		writeFile(t, filepath.Join(root, name), "hello\nworld\n")
		if err := os.Chtimes(filepath.Join(root, name), when, when); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chtimes(filepath.Join(root, "sub"), old, old); err != nil {
		t.Fatal(err)
	}
	ftpservers.Own(t, root)
	return root
}

// comparePersonality compares what a real server answers with a file, or writes that.
func comparePersonality(t *testing.T, file, dialogue string, play func(context.Context, string) (string, error)) {
	t.Helper()
	want, err := os.ReadFile(file)
	if err != nil && !*update {
		t.Fatal(err)
	}
	text := string(want)
	if text == "" {
		text = dialogue
	}
	got, err := play(t.Context(), text)
	if err != nil {
		t.Fatalf("%v, after\n%s", err, got)
	}
	if *update {
		writeFile(t, file, got)
	} else if d := replay.Compare(got, string(want)); d != "" {
		t.Errorf("%s: %s", file, d)
	}
}

// TestPersonalitiesOfGopher is the same for gopher.
func TestPersonalitiesOfGopher(t *testing.T) {
	for name, start := range map[string]func(*testing.T, map[string]string) string{
		"gophernicus": startGophernicusWith, "pygopherd": startPygopherd,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			addr := start(t, map[string]string{
				"hello.txt": "hello\nworld\n", "dots.txt": ".lead\n.\nend\n", "empty.txt": "", "sub/a.bin": "hello\nworld\n",
			})
			_, port, _ := net.SplitHostPort(addr)
			player := &replay.Server{Addr: addr, Dial: new(net.Dialer).DialContext, Clean: func(line string) string {
				return replay.CleanGopher(strings.ReplaceAll(line, `\t`+port, `\t70`))
			}}
			comparePersonality(t, "../testserver/gophertest/testdata/personalities/"+name+".txt", replay.GopherDialogue, player.Gopher)
		})
	}
}

// startGophernicusWith is like startPygopherd.
func startGophernicusWith(t *testing.T, files map[string]string) (addr string) {
	t.Helper()
	root := filepath.Join(serverDir(t), "root")
	makeDir(t, root, 0o755)
	for name, data := range files {
		makeDir(t, filepath.Dir(filepath.Join(root, name)), 0o755)
		writeFile(t, filepath.Join(root, name), data)
	}
	return runGophernicus(t, root)
}

// TestPersonalitiesOfNews is the same for NNTP.
func TestPersonalitiesOfNews(t *testing.T) {
	t.Run("inn", func(t *testing.T) {
		t.Parallel()
		srv := inn.Start(t, nil, nil)
		srv.Feed(t, map[string][]byte{"<one@example.test>": []byte("Path: not-for-mail\r\nFrom: a@example.test\r\nNewsgroups: local.test\r\n" +
			"Subject: One\r\nDate: Sat, 04 Mar 1995 05:06:07 GMT\r\nMessage-ID: <one@example.test>\r\n\r\nhello\r\n.dot\r\n")})
		player := &replay.Server{Addr: srv.Addr, Dial: new(net.Dialer).DialContext, Clean: replay.CleanNews}
		comparePersonality(t, "../testserver/nntptest/testdata/personalities/inn.txt", replay.NewsDialogue, player.News)
	})
}
