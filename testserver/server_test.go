package testserver_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
	"github.com/fetch1738/fetch1738/testserver/internal/testclient"
	"github.com/fetch1738/fetch1738/testserver/prosperotest"
	"github.com/fetch1738/fetch1738/testserver/telnettest"
	"github.com/fetch1738/fetch1738/testserver/webtest"
)

func TestServerEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		srv, err := gophertest.Start(ctx, "127.0.0.1:7070", func(s *gophertest.Server) { s.InMemory, s.Content = true, testclient.Content() })
		if err != nil {
			t.Fatal(err)
		}
		if srv.URL != "gopher://127.0.0.1:7070" || srv.Addr != "127.0.0.1:7070" {
			t.Errorf("URL %s, Addr %s", srv.URL, srv.Addr)
		}
		nc := testclient.Dial(t, srv, srv.Addr)
		synctest.Wait() // until it is accepted
		cancel()
		srv.Wait()
		if got, err := io.ReadAll(nc); len(got) > 0 || err != nil {
			t.Errorf("an open connection got %q, %v", got, err)
		}
		if _, err := srv.Dial(context.Background(), "tcp", srv.Addr); err == nil {
			t.Error("the server still accepts")
		}
	})
}

func TestStartFails(t *testing.T) {
	network := new(testserver.Network)
	start := func() (*webtest.Server, error) {
		return webtest.Start(t.Context(), "127.0.0.1:8080", func(s *webtest.Server) { s.Network = network })
	}
	first, err := start()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := start(); err == nil || !strings.Contains(err.Error(), "testserver: ") {
		t.Errorf("a second server on one address: %v", err)
	}
	first.Close()
	second, err := start()
	if err != nil {
		t.Fatalf("the address was not freed: %v", err)
	}
	second.Close()
}

func TestServerOverIPv6(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, err := ftptest.Start(t.Context(), "[::1]:21", inMemory)
		if err != nil {
			t.Fatal(err)
		}
		defer srv.Close()
		c := testclient.LoginFTP(t, srv)
		c.Expect("PASV", "522")
		c.Expect("EPSV 1", "522")
		c.Expect("EPSV 2", "229")
		c.Expect("EPRT |2|::1|6000|", "200")
		if data, _, last, err := c.Get("RETR motd.txt"); data != "hello\nworld\n" {
			t.Errorf("got %q, %q, %v", data, last, err)
		}
	})
}

func TestLogSeesEveryLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen []string
		srv := ftptest.New(t, inMemory, func(s *ftptest.Server) {
			s.Log = func(l testserver.Line) { seen = append(seen, l.String()) }
		})
		testclient.DialFTP(t, srv).Expect("NOOP", "200")
		want := strings.TrimSuffix(srv.Transcript().String(), "\n")
		if got := strings.Join(seen, "\n"); got != want || len(seen) != 3 {
			t.Errorf("logged\n%s\nwant\n%s", got, want)
		}
	})
}

// A long-running server deletes the oldest lines.
func TestTranscriptIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := ftptest.New(t, inMemory)
		const commands = 40000
		nc := testclient.Dial(t, srv, srv.Addr)
		go func() {
			for i := range commands {
				fmt.Fprintf(nc, "NOOP %d\r\n", i)
			}
			io.WriteString(nc, "QUIT\r\n")
		}()
		io.Copy(io.Discard, nc)
		lines := srv.Transcript()
		if len(lines) > 1<<16 || len(lines) < 1<<15 || lines[len(lines)-1].Text != "221 Goodbye." {
			t.Errorf("%d lines of %d, the last is %v", len(lines), 2*commands, lines[len(lines)-1])
		}
	})
}

// awkward is a file system whose files can only be read from beginning to end.
type awkward struct{ fs.FS }

func (a awkward) Open(name string) (fs.File, error) {
	if name == "broken" {
		return nil, errors.New("disk on fire")
	}
	f, err := a.FS.Open(name)
	if dir, ok := f.(fs.ReadDirFile); ok {
		return dir, err
	}
	return struct{ fs.File }{f}, err
}

func TestContentThatCannotSeek(t *testing.T) {
	fsys := awkward{fstest.MapFS{"a": testclient.NewFile("0123456789"), "broken": testclient.NewFile("")}}
	synctest.Test(t, func(t *testing.T) {
		ftp := ftptest.New(t, func(s *ftptest.Server) { s.Content, s.InMemory = fsys, true })
		c := testclient.LoginFTP(t, ftp)
		c.Expect("REST 4", "350")
		if data, _, _, err := c.Get("RETR a"); data != "456789" || err != nil {
			t.Errorf("ftp: %q, %v", data, err)
		}
		c.Expect("REST 99", "350")
		if data, first, last, err := c.Get("RETR a"); data != "" || err != nil {
			t.Errorf("ftp beyond the end: %q, %q, %q, %v", data, first, last, err)
		}
		c.Expect("RETR broken", "451")

		web := webtest.New(t, func(s *webtest.Server) { s.Content, s.InMemory = fsys, true })
		req, _ := http.NewRequest("GET", web.URL+"/a", nil)
		req.Header.Set("Range", "bytes=4-5")
		res, err := webClient(t, web).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if data, err := io.ReadAll(res.Body); string(data) != "45" || err != nil {
			t.Errorf("http: %q, %v", data, err)
		}
		if got, err := testclient.Ask(t, web, web.Addr, "GET /broken HTTP/1.0\r\n\r\n"); !strings.HasPrefix(got, "HTTP/1.1 500 ") {
			t.Errorf("http: %q, %v", got, err)
		}
	})
}

// A directory on disk is listed as it is now; a broken link is left out.
func TestContentOnDisk(t *testing.T) {
	dir := t.TempDir()
	recent := time.Now().Add(-time.Hour)
	for _, err := range []error{
		os.WriteFile(dir+"/file", []byte("abc"), 0o600),
		os.Chtimes(dir+"/file", recent, recent),
		os.Symlink("file", dir+"/link"),
		os.Symlink("nowhere", dir+"/dead"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = os.DirFS(dir) })
	c := testclient.LoginFTP(t, srv)
	want := "-rw-r--r--    1 ftp      ftp                 3 " + recent.UTC().Format("Jan _2 15:04") + " "
	if data, _, _, err := c.Get("LIST"); data != want+"file\r\n"+want+"link\r\n" {
		t.Errorf("listed %q, %v", data, err)
	}
	if err := os.WriteFile(dir+"/late", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if data, _, _, err := c.Get("NLST"); data != "file\r\nlate\r\nlink\r\n" {
		t.Errorf("names %q, %v", data, err)
	}
}

func TestPut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := ftptest.New(t, inMemory)
		for _, name := range []string{"/new/deep/er", "motd.txt", "../x"} {
			if err := srv.Put(name, []byte(name)); err != nil {
				t.Errorf("Put(%q): %v", name, err)
			}
		}
		if err := srv.Put("odd/two\nlines", nil); err != nil {
			t.Error(err)
		}
		for _, name := range []string{"", "/", "a\x00b", "motd.txt/below"} {
			if err := srv.Put(name, nil); err == nil {
				t.Errorf("Put(%q) succeeded", name)
			}
		}
		c := testclient.LoginFTP(t, srv)
		c.Expect("SIZE new/deep/er", "213 12")
		c.Expect("SIZE motd.txt", "213 8")
		c.Expect("SIZE x", "213 4")
		c.Expect("MFMT 20010203040506 x", "213")
		if data, _, _, err := c.Get("NLST odd"); data != "odd/two?lines\r\n" {
			t.Errorf("a name of two lines is listed as %q, %v", data, err)
		}
		c.Expect("CWD new", "250")
		if got := srv.Uploads(); len(got) > 0 {
			t.Errorf("uploads %q", got)
		}
	})
}

func TestUploadsFollowARename(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := ftptest.New(t, inMemory)
		c := testclient.LoginFTP(t, srv)
		c.Expect("MKD d", "257")
		c.Put("STOR d/a", "one")
		c.Expect("RNFR d", "350")
		c.Expect("RNTO e", "250")
		c.Expect("RNFR motd.txt", "350")
		c.Expect("RNTO e/motd", "250")
		c.Put("APPE e/motd", "more")
		up := srv.Uploads()
		if len(up) != 2 || string(up["e/a"]) != "one" || string(up["e/motd"]) != "hello\nworld\nmore" {
			t.Errorf("uploads %q", up)
		}
		c.Expect("RNFR e", "350")
		c.Expect("RNTO pub", "550") // a directory must not replace another one
		c.Expect("DELE e/a", "250")
		if up := srv.Uploads(); len(up) != 1 {
			t.Errorf("uploads %q", up)
		}
	})
}

func TestNoContent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ftp := ftptest.New(t, func(s *ftptest.Server) { s.InMemory = true })
		c := testclient.LoginFTP(t, ftp)
		if data, _, last, err := c.Get("NLST"); data != "" || err != nil || !strings.HasPrefix(last, "226") {
			t.Errorf("got %q, %q, %v", data, last, err)
		}
		c.Expect("SIZE x", "550")
		site := gophertest.New(t, func(s *gophertest.Server) { s.InMemory = true })
		if got, err := testclient.Ask(t, site, site.Addr, "\r\n"); got != ".\r\n" || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
	})
}

// The transcript has what a client sends before it closes once the server is idle, whether or not
// the connection was accepted when the client ended.
func TestWaitIdle(t *testing.T) {
	srv := telnettest.New(t)
	for i := range 50 {
		nc := testclient.Dial(t, srv, srv.Addr)
		word := fmt.Sprintf("word%d", i)
		if _, err := io.WriteString(nc, word+"\r\n"); err != nil {
			t.Fatal(err)
		}
		nc.Close()
		if err := srv.WaitIdle(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !srv.Transcript().Has(testserver.FromClient, word) {
			t.Fatalf("%s is not in\n%s", word, srv.Transcript())
		}
	}
}

func TestWaitIdleEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := ftptest.New(t, inMemory)
		client := testclient.DialFTP(t, srv)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := srv.WaitIdle(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("with a client that stays: %v", err)
		}
		client.Expect("QUIT", "221")
		if err := srv.WaitIdle(t.Context()); err != nil {
			t.Errorf("after QUIT: %v", err)
		}
		srv.Close()
		if err := srv.WaitIdle(t.Context()); err == nil {
			t.Error("no error from a server that is closed")
		}
		if err := prosperotest.New(t, func(s *prosperotest.Server) { s.InMemory = true }).WaitIdle(t.Context()); err != nil {
			t.Errorf("a server of datagrams: %v", err)
		}
	})
}

func inMemory(s *ftptest.Server) { s.InMemory, s.Content = true, testclient.Content() }

// TestImplicitTLS tests what a server that cannot have TLS says.
func TestImplicitTLS(t *testing.T) {
	srv, err := prosperotest.Start(t.Context(), "", func(s *prosperotest.Server) { s.TLS, s.ImplicitTLS = testserver.NewTLS(), true })
	if err == nil {
		srv.Close()
		t.Error("datagrams over TLS")
	}
	web, err := webtest.Start(t.Context(), "", func(s *webtest.Server) { s.ImplicitTLS = true })
	if err == nil || !strings.Contains(err.Error(), "NewTLS") {
		t.Errorf("without a certificate: %v", err)
		web.Close()
	}
}

// Reset ends what a client waits for, whatever that is, and returns at once. The next client finds the
// server as it was at the start.
func TestResetWhileServing(t *testing.T) {
	for name, keep := range map[string]func(*testing.T, *ftptest.Server, *testclient.FTP){
		"a delay": func(_ *testing.T, srv *ftptest.Server, c *testclient.FTP) {
			srv.On("NOOP", 1, testserver.Delay(time.Hour))
			c.Send("NOOP")
		},
		"silence": func(_ *testing.T, srv *ftptest.Server, c *testclient.FTP) {
			srv.On("NOOP", 1, testserver.Silence())
			c.Send("NOOP")
		},
		"a transfer that is not read": func(_ *testing.T, _ *ftptest.Server, c *testclient.FTP) {
			c.Data()
			c.Send("RETR big")
		},
		"an upload without an end": func(_ *testing.T, _ *ftptest.Server, c *testclient.FTP) {
			c.Data()
			c.Send("STOR up")
		},
		"a data connection that does not come": func(_ *testing.T, _ *ftptest.Server, c *testclient.FTP) {
			c.Expect("EPSV", "229")
			c.Send("RETR big")
		},
	} {
		testclient.InBubble(t, name, func(t *testing.T) {
			srv := ftptest.New(t, func(s *ftptest.Server) {
				s.InMemory = true
				s.Content = fstest.MapFS{"big": {Data: make([]byte, 1<<20)}}
			})
			keep(t, srv, testclient.LoginFTP(t, srv))
			synctest.Wait()
			start := time.Now()
			if err := srv.Reset(); err != nil || time.Since(start) > 0 {
				t.Errorf("after %v: %v", time.Since(start), err)
			}
			if len(srv.Transcript()) > 0 || len(srv.Uploads()) > 0 || srv.PendingFaults() != nil {
				t.Errorf("%q, %d uploads, %v", srv.Transcript(), len(srv.Uploads()), srv.PendingFaults())
			}
			if data, _, _, err := testclient.LoginFTP(t, srv).Get("RETR big"); len(data) != 1<<20 || err != nil {
				t.Errorf("%d bytes, %v", len(data), err)
			}
		})
	}
}

// TestPutCopies tests that what the program does with the bytes after Put changes no file.
func TestPutCopies(t *testing.T) {
	srv := ftptest.New(t)
	data := []byte("hello")
	if err := srv.Put("a", data); err != nil {
		t.Fatal(err)
	}
	copy(data, "wrong")
	if got, err := fs.ReadFile(srv.Files(), "a"); string(got) != "hello" {
		t.Errorf("%q, %v", got, err)
	}
}
