package gophertest_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/conversation"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
	"github.com/fetch1738/fetch1738/testserver/internal/testclient"
)

// personalityFiles are the files that the conversations in testdata/personalities are about. The
// tests of interop create the same for the real servers.
func personalityFiles() fstest.MapFS {
	return fstest.MapFS{
		"hello.txt": testclient.NewFile("hello\nworld\n"), "dots.txt": testclient.NewFile(".lead\n.\nend\n"),
		"empty.txt": testclient.NewFile(""), "sub/a.bin": testclient.NewFile("hello\nworld\n"),
	}
}

// gopherdFiles are those of the traces of gopherd 2.3.
func gopherdFiles() fstest.MapFS {
	const about = "About this lab server\n.\n..two dots\n .leading space dot\nThe line two above holds a single period.\nLast line.\n"
	return fstest.MapFS{
		"about.txt": testclient.NewFile(about), "empty.txt": testclient.NewFile(""),
		"recipes/pups": testclient.NewFile("pups\n"), "recipes/salmon": testclient.NewFile("salmon\n"),
	}
}

// TestPersonalitiesAsPinned plays what was recorded with real servers.
func TestPersonalitiesAsPinned(t *testing.T) {
	testclient.Pinned(t, gophertest.Personalities(), func(t *testing.T, p testserver.Personality[*gophertest.Server], text string) (string, error) {
		srv := gophertest.New(t, p.Configure, func(s *gophertest.Server) {
			if s.Content, s.InMemory = personalityFiles(), true; p.Name == "gopherd" {
				s.Content = gopherdFiles()
			}
		})
		player := &conversation.Client{Addr: srv.Addr, Dial: srv.Dial, Clean: conversation.CleanGopher}
		return player.Gopher(t.Context(), text)
	})
}

func TestPersonalitiesAsDescribed(t *testing.T) {
	for _, tt := range []struct{ name, request, want string }{
		{"geomyidae", "/hello.txt\t+", "+-2\r\n+INFO: 1gopher+\t\t127.0.0.1\t70\r\n+ADMIN:\r\n Admin: Me\r\n"},
		{"geomyidae", "/hello.txt", "hello\r\nworld\r\n.\r\n"},
		{"dotless", "/hello.txt", "hello\r\nworld\r\n"},
		{"dotless", "/sub", "9a.bin\t/sub/a.bin\t127.0.0.1\t70\r\n"},
		{"cut-selector", "/hello.txt" + strings.Repeat("/", 188) + "more", "hello\r\nworld\r\n.\r\n"},
	} {
		testclient.InBubble(t, tt.name, func(t *testing.T) {
			srv := gophertest.New(t, personality(t, tt.name), func(s *gophertest.Server) { s.Content, s.InMemory = personalityFiles(), true })
			if got, err := testclient.Ask(t, srv, srv.Addr, tt.request+"\r\n"); got != tt.want || err != nil {
				t.Errorf("%q: %q, %v; want %q", tt.request, got, err, tt.want)
			}
		})
	}
}

// personality returns the configure function of that name.
func personality(t *testing.T, name string) func(*gophertest.Server) {
	t.Helper()
	for _, p := range gophertest.Personalities() {
		if p.Name == name {
			return p.Configure
		}
	}
	t.Fatalf("no personality is named %s", name)
	return nil
}
