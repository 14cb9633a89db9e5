package fetch1738

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/file"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/fetch/gopher"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/fetch/mailto"
	"github.com/fetch1738/fetch1738/fetch/nntp"
	"github.com/fetch1738/fetch1738/fetch/prospero"
	"github.com/fetch1738/fetch1738/fetch/telnet"
	"github.com/fetch1738/fetch1738/fetch/wais"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/policy"
)

// permissive permits everything.
func permissive(context.Context, fetch.Target) error { return nil }

// bare are the bundled Fetchers without an Env, as a program may register them.
func bare() *fetch.Registry {
	r := new(fetch.Registry)
	r.Register(new(file.Fetcher), "file")
	r.Register(new(ftp.Fetcher), "ftp", "ftps")
	r.Register(new(gopher.Fetcher), "gopher", "gophers")
	r.Register(new(fetchhttp.Fetcher), "http", "https")
	r.Register(new(nntp.Fetcher), "news", "nntp", "nntps", "snews")
	r.Register(new(wais.Fetcher), "wais")
	r.Register(new(mailto.Fetcher), "mailto")
	r.Register(new(telnet.Fetcher), "telnet")
	r.Register(new(prospero.Fetcher), "prospero")
	return r
}

// registries are those that know nothing of a Resolver's policy, or have a wider
// one.
func registries(addr string) map[string]*fetch.Registry {
	all := map[string]*fetch.Registry{
		"none":       nil,
		"builtin":    Builtin(nil),
		"permissive": Builtin(&fetch.Env{Allow: permissive, NewsServer: addr}),
		"bare":       bare(),
	}
	sending := new(fetch.Registry)
	sending.Register(&mailto.Fetcher{SMTP: addr}, "mailto")
	sending.Register(&nntp.Fetcher{Env: &fetch.Env{NewsServer: addr}}, "news", "snews")
	all["configured"] = sending
	return all
}

// canary is a place on loopback, by streams and datagrams, that counts who comes.
func canary(t *testing.T) (addr string, visits *atomic.Int64) {
	t.Helper()
	visits = new(atomic.Int64)
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	datagrams, err := net.ListenPacket("udp4", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { datagrams.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			visits.Add(1)
			c.Close()
		}
	}()
	go func() {
		for {
			if _, _, err := datagrams.ReadFrom(make([]byte, 1)); err != nil {
				return
			}
			visits.Add(1)
		}
	}()
	return l.Addr().String(), visits
}

// The Resolver's policy holds for every Fetcher it uses, whatever Env that has,
// and in every operation.
func TestPolicyHoldsForEveryFetcher(t *testing.T) {
	addr, visits := canary(t)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	urls := []string{
		"http://" + addr + "/", "https://" + addr + "/", "ftp://" + addr + "/x", "ftps://" + addr + "/x",
		"gopher://" + addr + "/0x", "gophers://" + addr + "/0x", "nntp://" + addr + "/g/1", "nntps://" + addr + "/g/1",
		"wais://" + addr + "/db?x", "telnet://" + addr, "prospero://" + addr + "/x", "news:a@b", "snews:a@b", "mailto:a@b",
		"http://localhost:" + addr[strings.LastIndexByte(addr, ':')+1:] + "/", "file://" + filepath.ToSlash(secret), "file:///", "file://localhost/etc/",
	}
	for name, registry := range registries(addr) {
		r := &Resolver{Env: fetch.Env{Allow: policy.Public, NewsServer: addr}, Registry: registry}
		defer r.Close()
		for _, url := range urls {
			l := mustParse(t, url)
			for op, do := range map[string]func() error{
				"Get": func() error { return closed(r.Get(t.Context(), url)) },
				"Fetch": func() error {
					return closed(r.Fetch(t.Context(), &fetch.Request{Locator: l, Interact: l.Scheme() == "telnet"}))
				},
				"Attributes": func() error { _, err := r.Attributes(t.Context(), url); return err },
				"Replace":    func() error { _, err := r.Replace(t.Context(), url, strings.NewReader("new")); return err },
				"Update":     func() error { _, err := r.Update(t.Context(), url, strings.NewReader("new")); return err },
			} {
				err := do()
				_, refused := errors.AsType[*policy.Denied](err)
				advice := err == nil && (l.Scheme() == "telnet" && op == "Get" || l.Scheme() == "mailto" && op != "Update") // nothing is connected to
				if !refused && !errors.Is(err, fetch.Unsupported) && !errors.Is(err, fetch.BadURL) && !errors.Is(err, fetch.Refused) && !advice {
					t.Errorf("%s: %s %s: %v", name, op, url, err)
				}
				if refused != errors.Is(err, fetch.Refused) {
					t.Errorf("%s: %s %s: kind %v", name, op, url, fetch.KindOf(err))
				}
			}
		}
	}
	if n := visits.Load(); n != 0 {
		t.Errorf("%d connections or datagrams to loopback", n)
	}
	if got, err := os.ReadFile(secret); string(got) != "old" {
		t.Errorf("the file is %q, %v", got, err)
	}
}

func closed(res *fetch.Resource, err error) error {
	if err == nil {
		err = res.Close()
	}
	return err
}

// Also where a server or a Fetcher of somebody else's leads.
func TestPolicyHoldsForReferrals(t *testing.T) {
	addr, visits := canary(t)
	to := "http://" + addr + "/"
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Redirect(w, &http.Request{}, to, http.StatusFound) }))
	defer srv.Close()
	keepOff := func(_ context.Context, target fetch.Target) error {
		if _, isFile := target.Locator.(*locator.File); isFile || fmt.Sprintf("%s:%d", target.Host, target.Port) == addr {
			return errors.New("kept off")
		}
		return nil
	}
	for name, registry := range registries(addr) {
		if name == "none" || name == "configured" {
			continue
		}
		referring := &fake{answer: func(req *fetch.Request) (*fetch.Resource, error) {
			return nil, fetch.Fail("x", req.Locator, fetch.Moved, &fetch.Referral{To: mustParse(t, to)})
		}}
		registry.Register(referring, "x-lead")
		r := &Resolver{Env: fetch.Env{Allow: keepOff}, Registry: registry}
		defer r.Close()
		for _, to = range []string{"http://" + addr + "/", "ftp://" + addr + "/x", "gopher://" + addr + "/0x", "file:///etc/passwd"} {
			for _, url := range []string{srv.URL, "x-lead:"} {
				if err := closed(r.Get(t.Context(), url)); !errors.Is(err, fetch.Refused) {
					t.Errorf("%s: %s to %s: %v", name, url, to, err)
				}
			}
		}
	}
	if n := visits.Load(); n != 0 {
		t.Errorf("%d connections or datagrams", n)
	}
}

// A Resolver without a policy has policy.User, for Fetchers without one too; one
// that permits more than policy.User is not held back by Builtin's default.
func TestPolicyOfResolver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := &fetch.Request{Locator: mustParse(t, "file://"+filepath.ToSlash(path)), From: fetch.Provenance{Kind: fetch.Remote}}
	r := &Resolver{Registry: bare()}
	defer r.Close()
	if err := closed(r.Fetch(t.Context(), link)); !errors.Is(err, fetch.Refused) {
		t.Errorf("a link to a file by a Fetcher without a policy: %v", err)
	}
	wide := &Resolver{Env: fetch.Env{Allow: (&policy.Rules{LocalLinks: true}).Allow}, Registry: Builtin(nil)}
	defer wide.Close()
	if err := closed(wide.Fetch(t.Context(), link)); err != nil {
		t.Errorf("a link to a file, which the Resolver permits: %v", err)
	}
	narrow := &Resolver{Env: fetch.Env{Allow: permissive}, Registry: Builtin(&fetch.Env{Allow: policy.Public})}
	defer narrow.Close()
	if err := closed(narrow.Fetch(t.Context(), link)); !errors.Is(err, fetch.Refused) {
		t.Errorf("a file, which the Registry's own policy forbids: %v", err)
	}
	if err := closed(Builtin(nil).Lookup("file").Fetch(t.Context(), link)); !errors.Is(err, fetch.Refused) {
		t.Errorf("a link to a file without a Resolver: %v", err)
	}
}
