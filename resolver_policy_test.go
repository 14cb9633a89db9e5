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
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/mailto"
	"github.com/fetch1738/fetch1738/fetch/nntp"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/policy"
	"github.com/fetch1738/fetch1738/testserver/nntptest"
)

// permissive permits everything.
func permissive(context.Context, fetch.Target) error { return nil }

// with returns the bundled Fetchers, all with env instead of the Env of the Resolver.
func with(env *fetch.Env) []Scheme {
	rows := Builtin()
	for i, row := range rows {
		rows[i].New = func(*fetch.Env) driver.Fetcher { return row.New(env) }
	}
	return rows
}

// tables have Fetchers without the Resolver's policy, or with a wider one.
func tables(addr string) map[string][]Scheme {
	return map[string][]Scheme{
		"none":       nil,
		"builtin":    Builtin(),
		"permissive": with(&fetch.Env{Allow: permissive, NewsServer: addr}),
		"bare":       with(new(fetch.Env)),
		"configured": {
			{Names: []string{"mailto"}, New: func(*fetch.Env) driver.Fetcher { return &mailto.Fetcher{Env: new(fetch.Env), SMTP: addr} }},
			{Names: []string{"news", "snews"}, New: func(*fetch.Env) driver.Fetcher { return &nntp.Fetcher{Env: &fetch.Env{NewsServer: addr}} }},
		},
	}
}

// canary listens on loopback, for streams and datagrams, and counts what arrives.
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

// The Resolver's policy applies to every Fetcher it uses, whatever Env that has, and to every
// operation.
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
	for name, table := range tables(addr) {
		r := &Resolver{Env: fetch.Env{Allow: policy.Public, NewsServer: addr}, Schemes: table}
		defer r.Close()
		for _, url := range urls {
			l := mustParse(t, url)
			for op, do := range map[string]func() error{
				"Get": func() error { return closed(r.Get(t.Context(), url)) },
				"Fetch": func() error {
					return closed(r.Fetch(t.Context(), &fetch.Request{Locator: l, Interact: l.Scheme() == "telnet"}))
				},
				"Attributes": func() error { _, err := attributesAt(t.Context(), r, url); return err },
				"Put":        func() error { _, err := r.Put(t.Context(), url, strings.NewReader("new")); return err },
				"Post":       func() error { _, err := r.Post(t.Context(), url, strings.NewReader("new")); return err },
				"Explain":    func() error { _, err := r.Explain(t.Context(), &fetch.Request{Locator: l}); return err },
			} {
				err := do()
				_, refused := errors.AsType[*policy.Denied](err)
				advice := err == nil && (l.Scheme() == "telnet" && (op == "Get" || op == "Explain") || l.Scheme() == "mailto" && op != "Post" || op == "Explain" && strings.Contains(url, "localhost:")) // nothing is connected to, nor looked up
				if !refused && !errors.Is(err, fetch.ErrUnsupported) && !errors.Is(err, fetch.ErrBadURL) && !errors.Is(err, fetch.ErrRefused) && !advice {
					t.Errorf("%s: %s %s: %v", name, op, url, err)
				}
				if refused != errors.Is(err, fetch.ErrRefused) {
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

// It also applies where a server or a Fetcher leads.
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
	for name, table := range tables(addr) {
		referring := &fake{answer: func(req *fetch.Request) (*fetch.Resource, error) {
			return nil, driver.Fail("x", req.Locator, fetch.ErrMoved, &fetch.Referral{To: mustParse(t, to)})
		}}
		r := &Resolver{Env: fetch.Env{Allow: keepOff}, Schemes: append(table, fakes(map[string]driver.Fetcher{"x-lead": referring})...)}
		defer r.Close()
		for _, to = range []string{"http://" + addr + "/", "ftp://" + addr + "/x", "gopher://" + addr + "/0x", "file:///etc/passwd"} {
			for _, url := range []string{srv.URL, "x-lead:"} {
				if err := closed(r.Get(t.Context(), url)); !errors.Is(err, fetch.ErrRefused) {
					t.Errorf("%s: %s to %s: %v", name, url, to, err)
				}
			}
		}
	}
	if n := visits.Load(); n != 0 {
		t.Errorf("%d connections or datagrams", n)
	}
}

// A Resolver without a policy applies policy.User, also to Fetchers without a policy. A policy that
// permits more than policy.User is not restricted by the default of Builtin.
func TestPolicyOfResolver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := &fetch.Request{Locator: mustParse(t, "file://"+filepath.ToSlash(path)), From: fetch.Provenance{Kind: fetch.OriginRemote}}
	r := &Resolver{Schemes: with(new(fetch.Env))}
	defer r.Close()
	if err := closed(r.Fetch(t.Context(), link)); !errors.Is(err, fetch.ErrRefused) {
		t.Errorf("a link to a file by a Fetcher without a policy: %v", err)
	}
	wide := &Resolver{Env: fetch.Env{Allow: (&policy.Rules{LocalLinks: true}).Allow}}
	defer wide.Close()
	if err := closed(wide.Fetch(t.Context(), link)); err != nil {
		t.Errorf("a link to a file that the Resolver permits: %v", err)
	}
	narrow := &Resolver{Env: fetch.Env{Allow: permissive}, Schemes: with(&fetch.Env{Allow: policy.Public})}
	defer narrow.Close()
	if err := closed(narrow.Fetch(t.Context(), link)); !errors.Is(err, fetch.ErrRefused) {
		t.Errorf("a file that the Fetcher's own policy forbids: %v", err)
	}
}

// The Resolver's policy also applies if a Fetcher calls its Env with another context. With the
// Resolver's context the policy is called once.
func TestPolicyWithoutContext(t *testing.T) {
	asked := 0
	count := func(context.Context, fetch.Target) error { asked++; return errors.New("no") }
	var env *fetch.Env
	r := &Resolver{Env: fetch.Env{Allow: count}, Schemes: []Scheme{{Names: []string{"x"}, New: func(e *fetch.Env) driver.Fetcher {
		env = e
		return &fake{}
	}}}}
	r.Can("x")
	for _, ctx := range []context.Context{t.Context(), r.withPolicy(t.Context())} {
		if asked = 0; !errors.Is(driver.NewEnv(env).Permit(ctx, fetch.Target{}), fetch.ErrRefused) || asked != 1 {
			t.Errorf("the policy was called %d times", asked)
		}
	}
}

// The default port of an added scheme is permitted to that scheme only.
func TestPortOfOwnScheme(t *testing.T) {
	dial := func(_ context.Context, _, address string) (net.Conn, error) {
		return nil, errors.New("dialled " + address)
	}
	var asked []Scheme
	for _, name := range []string{"finger", "whois"} {
		asked = append(asked, Scheme{Names: []string{name}, Port: map[string]uint16{"finger": 79}[name], New: func(env *fetch.Env) driver.Fetcher {
			return &fake{answer: func(req *fetch.Request) (*fetch.Resource, error) {
				conn, err := driver.NewEnv(env).Connect(t.Context(), fetch.Target{Locator: req.Locator, Host: "h.example", Port: 79})
				if err == nil {
					conn.Close()
				}
				return nil, err
			}}
		}})
	}
	for _, allow := range []func(context.Context, fetch.Target) error{nil, policy.Public} {
		r := &Resolver{Env: fetch.Env{Dial: dial, Allow: allow}, Schemes: asked}
		if err := closed(r.Get(t.Context(), "finger:x")); !errors.Is(err, fetch.ErrUnreachable) || !strings.Contains(err.Error(), "dialled h.example:79") {
			t.Errorf("its own port: %v", err)
		}
		if err := closed(r.Get(t.Context(), "whois:x")); !errors.Is(err, fetch.ErrRefused) {
			t.Errorf("the port of another scheme: %v", err)
		}
	}
}

// TestRedirectToNews: a web server does not lead to the configured news server, although the policy
// permits that server to everyone. A link does.
func TestRedirectToNews(t *testing.T) {
	news := nntptest.New(t)
	for _, url := range []string{"news:1@example.org", "news:misc.test", "news:*", "snews:misc.test"} {
		web := httptest.NewServer(http.RedirectHandler(url, http.StatusFound))
		defer web.Close()
		r := &Resolver{Env: fetch.Env{NewsServer: news.Addr}}
		defer r.Close()
		err := closed(r.Get(t.Context(), web.URL))
		var denied *policy.Denied
		if !errors.As(err, &denied) || denied.Rule != "cross-scheme-redirect" || len(news.Transcript()) > 0 {
			t.Errorf("%s: %v\n%s", url, err, news.Transcript())
		}
	}
	r := &Resolver{Env: fetch.Env{NewsServer: news.Addr}}
	defer r.Close()
	req := &fetch.Request{Locator: mustParse(t, "news:*"), From: fetch.Provenance{Kind: fetch.OriginRemote}}
	if err := closed(r.Fetch(t.Context(), req)); err != nil {
		t.Errorf("a link: %v", err)
	}
}

// A New that changes its Env in place widens no policy, neither that of its scheme nor of others.
func TestPolicyOfChangedEnv(t *testing.T) {
	refuse := func(context.Context, fetch.Target) error { return errors.New("no") }
	r := &Resolver{Env: fetch.Env{Allow: refuse}, Schemes: []Scheme{{Names: []string{"x"}, New: func(env *fetch.Env) driver.Fetcher {
		env.Allow = nil
		return &fake{answer: func(req *fetch.Request) (*fetch.Resource, error) {
			return nil, errors.New("fetched")
		}}
	}}}}
	r.Can("x")
	req := &fetch.Request{Locator: mustParse(t, "http://127.0.0.1/")}
	if _, err := r.Fetch(t.Context(), req); !errors.Is(err, fetch.ErrRefused) {
		t.Errorf("Fetch of another scheme: %v", err)
	}
	if _, err := r.Explain(t.Context(), req); !errors.Is(err, fetch.ErrRefused) {
		t.Errorf("Explain of another scheme: %v", err)
	}
}
