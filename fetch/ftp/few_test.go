package ftp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// oneClient calls test with a server in memory that has one client at a time.
func oneClient(t *testing.T, test func(t *testing.T, srv *ftptest.Server, f *Fetcher)) {
	synctest.Test(t, func(t *testing.T) {
		srv := start(t, func(s *ftptest.Server) { s.InMemory, s.OneClient = true, true })
		f := &Fetcher{Env: &fetch.Env{Dial: srv.Dial}}
		defer func() {
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}()
		test(t, srv, f)
	})
}

// TestOneClient has eight goroutines that share a Fetcher. All get all files over one session, in
// little more time than one of them would need.
func TestOneClient(t *testing.T) {
	oneClient(t, func(t *testing.T, srv *ftptest.Server, f *Fetcher) {
		began := time.Now()
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 20 {
					got, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, srv.URL+"/a/b/c.txt")})
					if want := string(tree()["a/b/c.txt"].Data); err != nil || got != want {
						t.Errorf("%q, %v", got, err)
						return
					}
				}
			})
		}
		wg.Wait()
		if took := time.Since(began); logins(srv) != 1 || took > 2*time.Second {
			t.Errorf("%d logins in %v", logins(srv), took)
		}
	})
}

// TestOneClientUnread has a document that nobody reads to its end. Another access fails when the time
// limit of a connection has passed, and says why. Afterwards the server serves others.
func TestOneClientUnread(t *testing.T) {
	oneClient(t, func(t *testing.T, srv *ftptest.Server, f *Fetcher) {
		for range 2 {
			res, err := f.Fetch(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/a/b/c.txt")})
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			_, err = read(t.Context(), f, &fetch.Request{Locator: parse(t, srv.URL+"/a/b/c.txt")})
			e, _ := errors.AsType[*fetch.Error](err)
			if took := time.Since(began); e == nil || e.Kind != fetch.ErrBusy || e.Op != fetch.OpConnect || !strings.Contains(err.Error(), "it may have no more at once") || took > 91*time.Second {
				t.Errorf("after %v: %v", took, err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			began = time.Now()
			if _, err := read(ctx, f, &fetch.Request{Locator: parse(t, srv.URL+"/a/b/c.txt")}); err == nil || time.Since(began) != 5*time.Second {
				t.Errorf("%v after %v", err, time.Since(began))
			}
			cancel()
			res.Close()
			if _, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, srv.URL+"/a/b/c.txt")}); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestOneClientLogins has accesses with different logins, one after the other and at once: an idle
// session of another login must end.
func TestOneClientLogins(t *testing.T) {
	oneClient(t, func(t *testing.T, srv *ftptest.Server, f *Fetcher) {
		url := func(n int) string {
			return strings.Replace(srv.URL, "ftp://", fmt.Sprintf("ftp://ftp:%d@", n%2), 1) + "/a/b/c.txt"
		}
		for n := range 4 {
			if _, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, url(n))}); err != nil {
				t.Error(err)
			}
		}
		var wg sync.WaitGroup
		for n := range 6 {
			wg.Go(func() {
				if _, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, url(n))}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	})
}

// TestOneClientWaiting has a session that is released while another access waits for its greeting:
// the connection of that is closed, and the server is not asked for a session that nobody uses.
func TestOneClientWaiting(t *testing.T) {
	oneClient(t, func(t *testing.T, srv *ftptest.Server, f *Fetcher) {
		res, err := f.Fetch(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/a/b/c.txt")})
		if err != nil {
			t.Fatal(err)
		}
		var noted []string
		var wg sync.WaitGroup
		wg.Go(func() {
			ctx := fetch.WithTrace(t.Context(), &fetch.Trace{Note: func(text string) { noted = append(noted, text) }})
			if _, err := read(ctx, f, &fetch.Request{Locator: parse(t, srv.URL+"/a/b/c.txt")}); err != nil {
				t.Error(err)
			}
		})
		time.Sleep(5 * time.Second)
		io.Copy(io.Discard, res.Body)
		res.Close()
		wg.Wait()
		if logins(srv) != 1 || !strings.Contains(strings.Join(noted, "\n"), "continuing with a session that has become free") {
			t.Errorf("%d logins, notes %q", logins(srv), noted)
		}
	})
}

// TestOneClientCloses has a server with one client at a time, which is known, that closes the connection
// after a transfer. What follows goes over another one at once: the session that has ended does not
// count.
func TestOneClientCloses(t *testing.T) {
	oneClient(t, func(t *testing.T, srv *ftptest.Server, f *Fetcher) {
		file := parse(t, srv.URL+"/a/b/c.txt")
		res, err := f.Fetch(t.Context(), &fetch.Request{Locator: file})
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := read(t.Context(), f, &fetch.Request{Locator: file}); err != nil {
				t.Error(err)
			}
		})
		time.Sleep(2 * time.Second)
		io.Copy(io.Discard, res.Body)
		res.Close()
		wg.Wait()
		closesAfterTransfers(srv)
		began := time.Now()
		got, err := read(t.Context(), f, &fetch.Request{Locator: file, Offset: 2, Options: &Options{ModTime: true}})
		if want := string(tree()["a/b/c.txt"].Data)[2:]; err != nil || got != want {
			t.Errorf("%q, %v", got, err)
		}
		if took := time.Since(began); took > time.Second || logins(srv) != 2 {
			t.Errorf("%d logins, %v", logins(srv), took)
		}
	})
}
