package fetch1738

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver/webtest"
)

// fake is a Fetcher that records its requests and calls a function.
type fake struct {
	requests []*fetch.Request
	answer   func(*fetch.Request) (*fetch.Resource, error)
	closed   int
}

func (f *fake) Fetch(_ context.Context, req *fetch.Request) (*fetch.Resource, error) {
	f.requests = append(f.requests, req)
	return f.answer(req)
}

func (f *fake) Replace(_ context.Context, req *fetch.Request, body io.Reader) (*fetch.Attributes, error) {
	f.requests = append(f.requests, req)
	b, err := io.ReadAll(body)
	return &fetch.Attributes{Size: int64(len(b))}, err
}

func (f *fake) Close() error { f.closed++; return nil }

func text(s string) func(*fetch.Request) (*fetch.Resource, error) {
	return func(req *fetch.Request) (*fetch.Resource, error) {
		return &fetch.Resource{Locator: req.Locator, Body: io.NopCloser(strings.NewReader(s)), Attributes: fetch.Attributes{Size: -1}}, nil
	}
}

// fakes returns rows for existing Fetchers.
func fakes(fetchers map[string]driver.Fetcher) (rows []Scheme) {
	for scheme, f := range fetchers {
		rows = append(rows, Scheme{Names: []string{scheme}, New: func(*fetch.Env) driver.Fetcher { return f }})
	}
	return rows
}

func mustParse(t *testing.T, url string) locator.Locator {
	t.Helper()
	ref, err := locator.Parser{}.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	return ref.Locator
}

func TestGetDispatches(t *testing.T) {
	ftp, gopher := &fake{answer: text("by ftp")}, &fake{answer: text("by gopher")}
	r := Resolver{Schemes: fakes(map[string]driver.Fetcher{"ftp": ftp, "gopher": gopher})}
	for url, want := range map[string]string{"ftp://h/x": "by ftp", "GOPHER://h/0x": "by gopher"} {
		res, err := r.Get(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(res.Body); string(got) != want || err != nil {
			t.Errorf("%s: %q, %v", url, got, err)
		}
		res.Close()
	}
	if req := ftp.requests[0]; req.From.Kind != fetch.OriginUser || !locator.Equal(req.Locator, mustParse(t, "ftp://h/x")) {
		t.Errorf("request %+v", req)
	}
	if r.Close(); ftp.closed != 1 || gopher.closed != 1 {
		t.Errorf("closed %d and %d times", ftp.closed, gopher.closed)
	}
}

func TestGetErrors(t *testing.T) {
	r := Resolver{Schemes: fakes(map[string]driver.Fetcher{"ftp": &fake{answer: func(req *fetch.Request) (*fetch.Resource, error) {
		return nil, &fetch.Error{Op: "RETR", URL: req.Locator.Redacted(), Kind: fetch.ErrNotFound, Code: 550, Reply: "no such file"}
	}}})}
	for _, tc := range []struct {
		url  string
		kind error
		text string
	}{
		{"ftp://h/x", fs.ErrNotExist, "RETR ftp://h/x: 550 no such file"},
		{"x-mail:a", fetch.ErrUnsupported, `access x-mail:a: not supported: the scheme "x-mail"`},
		{"ftp://h:0/x", fetch.ErrBadURL, ""},
		{"ftp://u:secret@h:x/x", fetch.ErrBadURL, ""},
		{"no url", fetch.ErrBadURL, ""},
	} {
		res, err := r.Get(t.Context(), tc.url)
		var e *fetch.Error
		if res != nil || !errors.As(err, &e) || !errors.Is(err, tc.kind) {
			t.Errorf("%s: %v, %v", tc.url, res, err)
			continue
		}
		if tc.text != "" && err.Error() != tc.text {
			t.Errorf("%s: %s", tc.url, err)
		}
		if strings.Contains(err.Error(), "secret") {
			t.Errorf("the password is shown: %v", err)
		}
	}
}

func TestOperations(t *testing.T) {
	f := &fake{answer: text("x")}
	r := Resolver{Schemes: fakes(map[string]driver.Fetcher{"ftp": f})}
	if a, err := r.Put(t.Context(), "ftp://h/x", strings.NewReader("12345")); err != nil || a.Size != 5 {
		t.Errorf("Replace: %+v, %v", a, err)
	}
	if _, err := r.Post(t.Context(), "ftp://h/x", strings.NewReader("")); !errors.Is(err, fetch.ErrUnsupported) {
		t.Errorf("Update by a Fetcher without Update: %v", err)
	}
	if _, err := attributesAt(t.Context(), &r, "wais://h/x"); !errors.Is(err, fetch.ErrUnsupported) {
		t.Errorf("Attributes without a Fetcher: %v", err)
	}
}

func TestReferrals(t *testing.T) {
	to := mustParse(t, "ftp://h/x")
	prospero := &fake{answer: func(req *fetch.Request) (*fetch.Resource, error) {
		return nil, driver.Fail("LIST", req.Locator, fetch.ErrMoved, &fetch.Referral{To: to, From: fetch.Provenance{Kind: fetch.OriginRemote, By: req.Locator}})
	}}
	ftp := &fake{answer: text("found")}
	r := Resolver{Schemes: fakes(map[string]driver.Fetcher{"prospero": prospero, "ftp": ftp})}
	res, err := r.Fetch(t.Context(), &fetch.Request{Locator: mustParse(t, "prospero://p/x"), Offset: 3, Options: "prospero's"})
	if err != nil {
		t.Fatal(err)
	}
	res.Close()
	req := ftp.requests[0]
	if req.From.Kind != fetch.OriginRemote || req.Offset != 3 || req.Options != nil || req.Locator != to {
		t.Errorf("the referred request is %+v", req)
	}

	to = mustParse(t, "prospero://p/x")
	prospero.requests = nil
	r = Resolver{Schemes: r.Schemes, Env: fetch.Env{Limits: fetch.Limits{Hops: 3}}}
	if _, err := r.Get(t.Context(), "prospero://p/x"); !errors.Is(err, fetch.ErrTooManyHops) || len(prospero.requests) != 4 {
		t.Errorf("referrals in a circle: %v after %d requests", err, len(prospero.requests))
	}
	r = Resolver{Schemes: r.Schemes, Env: fetch.Env{Limits: fetch.Limits{Hops: -1}}}
	prospero.requests = nil
	if _, err := r.Get(t.Context(), "prospero://p/x"); !errors.Is(err, fetch.ErrTooManyHops) || len(prospero.requests) != 1 {
		t.Errorf("no hops: %v after %d requests", err, len(prospero.requests))
	}
}

// A referral for a PUT is never followed by a fetch.
func TestReferralOfUpload(t *testing.T) {
	ftp := &fake{answer: text("another document")}
	web := webtest.New(t, func(s *webtest.Server) {
		s.Redirects = map[string]webtest.Redirect{"/307": {Location: "ftp://h/x", Status: 307}, "/303": {Location: "ftp://h/x", Status: 303}}
	})
	r := Resolver{Schemes: fakes(map[string]driver.Fetcher{"http": &http.Fetcher{Env: new(fetch.Env)}, "ftp": ftp})}
	defer r.Close()
	var ref *fetch.Referral
	_, err := r.Put(t.Context(), web.URL+"/307", io.MultiReader(strings.NewReader("mine")))
	if !errors.Is(err, fetch.ErrMoved) || !errors.As(err, &ref) || ref.Op != "PUT" || !strings.HasSuffix(err.Error(), "(PUT not performed; the server requests it at ftp://h/x)") {
		t.Errorf("Replace: %v", err)
	}
	if _, err := r.Post(t.Context(), web.URL+"/307", strings.NewReader("mine")); !errors.Is(err, fetch.ErrMoved) {
		t.Errorf("Update: %v", err)
	}
	if _, err := r.Put(t.Context(), web.URL+"/303", strings.NewReader("mine")); !errors.Is(err, fetch.ErrMoved) || len(ftp.requests) != 0 {
		t.Errorf("Replace, 303: %v, then %v", err, ftp.requests)
	}
	put := func(path string) error {
		req := &fetch.Request{Locator: mustParse(t, web.URL+path), Options: &http.Options{Method: "PUT", Body: strings.NewReader("mine")}}
		res, err := r.Fetch(t.Context(), req)
		if err == nil {
			res.Close()
		}
		return err
	}
	if err := put("/307"); !errors.Is(err, fetch.ErrMoved) || len(ftp.requests) != 0 {
		t.Errorf("Fetch by PUT: %v, then %v", err, ftp.requests)
	}
	if err := put("/303"); err != nil || len(ftp.requests) != 1 { // the upload was accepted; the 303 leads to its result
		t.Errorf("Fetch by PUT, 303: %v, then %v", err, ftp.requests)
	}
}

// A body that can be read again is stored, as a whole, where the redirect leads.
func TestReplaceFollows(t *testing.T) {
	ftp := &fake{}
	web := webtest.New(t, func(s *webtest.Server) {
		s.Redirects = map[string]webtest.Redirect{"/x": {Location: "ftp://h/y", Status: 307}}
	})
	for hops, stored := range map[int]bool{0: true, -1: false} {
		r := Resolver{
			Env:     fetch.Env{Limits: fetch.Limits{Hops: hops}},
			Schemes: append(fakes(map[string]driver.Fetcher{"ftp": ftp}), Scheme{Names: []string{"http"}, New: func(env *fetch.Env) driver.Fetcher { return &http.Fetcher{Env: env} }}),
		}
		defer r.Close()
		body := strings.NewReader("not mine, mine")
		body.Seek(10, io.SeekStart)
		ftp.requests = nil
		a, err := r.Replace(t.Context(), &fetch.Request{Locator: mustParse(t, web.URL+"/x"), Options: new(http.Options)}, body)
		if !stored {
			if !errors.Is(err, fetch.ErrMoved) || len(ftp.requests) != 0 {
				t.Errorf("without hops: %v, %v", err, ftp.requests)
			}
			continue
		}
		if err != nil || a.Size != 4 || len(ftp.requests) != 1 {
			t.Fatalf("%+v, %v, %v", a, err, ftp.requests)
		}
		if req := ftp.requests[0]; req.Locator.String() != "ftp://h/y" || req.From.Kind != fetch.OriginRedirect || req.Options != nil {
			t.Errorf("stored by %+v", req)
		}
	}
}

// FindAttributes follows the same referrals as Fetch.
func TestAttributesFollow(t *testing.T) {
	prospero := &finder{fake{answer: func(req *fetch.Request) (*fetch.Resource, error) {
		return nil, driver.Fail("x", req.Locator, fetch.ErrMoved, &fetch.Referral{To: mustParse(t, "file:///nowhere"), From: fetch.Provenance{Kind: fetch.OriginRemote}})
	}}}
	r := Resolver{Schemes: fakes(map[string]driver.Fetcher{"prospero": prospero})}
	defer r.Close()
	if _, err := attributesAt(t.Context(), &r, "prospero://p/x"); !errors.Is(err, fetch.ErrRefused) {
		t.Errorf("a referral to a file: %v", err) // refused by the policy
	}
}

// A HEAD that is referred to another scheme becomes FindAttributes there, never Fetch.
func TestReferralOfHead(t *testing.T) {
	ftp := &finder{fake{answer: text("a document")}}
	web := webtest.New(t, func(s *webtest.Server) {
		s.Redirects = map[string]webtest.Redirect{"/x": {Location: "ftp://h/y", Status: 302}}
	})
	r := Resolver{Schemes: fakes(map[string]driver.Fetcher{"ftp": ftp})}
	defer r.Close()
	req := &fetch.Request{Locator: mustParse(t, web.URL+"/x"), Options: &http.Options{Method: "HEAD"}}
	if err := closed(r.Fetch(t.Context(), req)); !errors.Is(err, fetch.ErrMoved) || len(ftp.requests) != 0 {
		t.Errorf("Fetch by HEAD: %v, then %v", err, ftp.requests)
	}
	if a, err := attributesAt(t.Context(), &r, web.URL+"/x"); err != nil || a.Size != -1 || len(ftp.requests) != 1 {
		t.Errorf("Attributes: %+v, %v, then %v", a, err, ftp.requests)
	}
}

// finder is a Fetcher with FindAttributes.
type finder struct{ fake }

func (f *finder) FindAttributes(ctx context.Context, req *fetch.Request) (*fetch.Attributes, error) {
	res, err := f.Fetch(ctx, req)
	if err != nil {
		return nil, err
	}
	return &res.Attributes, res.Close()
}

// A Fetcher cannot make a link look typed.
func TestReferralProvenance(t *testing.T) {
	liar := &fake{answer: func(req *fetch.Request) (*fetch.Resource, error) {
		return nil, driver.Fail("x", req.Locator, fetch.ErrMoved, &fetch.Referral{To: mustParse(t, "ftp://h/x")})
	}}
	ftp := &fake{answer: text("found")}
	r := Resolver{Schemes: fakes(map[string]driver.Fetcher{"prospero": liar, "ftp": ftp})}
	res, err := r.Get(t.Context(), "prospero://p/x")
	if err != nil {
		t.Fatal(err)
	}
	res.Close()
	if from := ftp.requests[0].From; from.Kind != fetch.OriginRemote {
		t.Errorf("provenance %v", from)
	}
}

func TestBodyLimit(t *testing.T) {
	for size, max := range map[int]int64{10: 10, 11: 10, 0: 1, 5000: 10} {
		r := Resolver{
			Env:     fetch.Env{Limits: fetch.Limits{Body: max}},
			Schemes: fakes(map[string]driver.Fetcher{"ftp": &fake{answer: text(strings.Repeat("x", size))}}),
		}
		res, err := r.Get(t.Context(), "ftp://h/x")
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(res.Body)
		if int64(len(got)) != min(int64(size), max) {
			t.Errorf("%d bytes of %d with a limit of %d", len(got), size, max)
		}
		if errors.Is(err, fetch.ErrTooLarge) != (int64(size) > max) {
			t.Errorf("%d bytes with a limit of %d: %v", size, max, err)
		}
		res.Close()
	}
}

func TestAnnouncedBodyLimit(t *testing.T) {
	closed := &closeCounter{}
	announce := func(req *fetch.Request) (*fetch.Resource, error) {
		return &fetch.Resource{Locator: req.Locator, Body: closed, Attributes: fetch.Attributes{Size: 11}}, nil
	}
	r := Resolver{
		Env:     fetch.Env{Limits: fetch.Limits{Body: 10}},
		Schemes: fakes(map[string]driver.Fetcher{"ftp": &fake{answer: announce}}),
	}
	if _, err := r.Get(t.Context(), "ftp://h/x"); !errors.Is(err, fetch.ErrTooLarge) || closed.n != 1 {
		t.Errorf("%v; closed %d times", err, closed.n)
	}
	// Part of a large resource may be small enough.
	res, err := r.Fetch(t.Context(), &fetch.Request{Locator: mustParse(t, "ftp://h/x"), Length: 5})
	if err != nil {
		t.Fatal(err)
	}
	res.Close()
}

type closeCounter struct{ n int }

func (c *closeCounter) Read([]byte) (int, error) { return 0, io.EOF }
func (c *closeCounter) Close() error             { c.n++; return nil }

func TestExplain(t *testing.T) {
	r := Resolver{Gateways: map[string]string{"wais": "http://gw.example:8118/?url={url}"}}
	defer r.Close()
	for url, want := range map[string]struct {
		host string
		port uint16
		kind error
	}{
		"ftp://h.example/x":      {"h.example", 21, nil},
		"wais://h.example/db":    {"gw.example", 8118, nil},
		"gopher://h.example:25/": {"h.example", 25, fetch.ErrRefused},
		"http://0.0.0.0/":        {"0.0.0.0", 80, fetch.ErrRefused},
		"file:///x":              {"", 0, nil},
		"x-none:x":               {"", 0, fetch.ErrUnsupported},
		"gopher://h/0%0D":        {"", 0, fetch.ErrBadURL},
	} {
		explained, err := r.Explain(t.Context(), &fetch.Request{Locator: mustParse(t, url)})
		if want.kind == nil && err != nil || want.kind != nil && !errors.Is(err, want.kind) {
			t.Errorf("%s: %v", url, err)
		}
		if explained == nil {
			explained = new(fetch.Explanation)
		}
		if explained.Host != want.host || explained.Port != want.port {
			t.Errorf("%s: %+v", url, explained)
		}
	}
	link := fetch.Provenance{Kind: fetch.OriginRemote}
	news := Resolver{Env: fetch.Env{NewsServer: "127.0.0.1:1119"}}
	defer news.Close()
	if explained, err := news.Explain(t.Context(), &fetch.Request{Locator: mustParse(t, "news:a@b"), From: link}); err != nil || explained.Port != 1119 {
		t.Errorf("a link to an article: %+v, %v", explained, err)
	}
	if _, err := r.Explain(t.Context(), &fetch.Request{Locator: mustParse(t, "file:///x"), From: link}); !errors.Is(err, fetch.ErrRefused) {
		t.Errorf("a link to a file: %v", err)
	}
}

// A row replaces a bundled scheme or removes it. Its Fetcher has the Resolver's Env, and is closed
// once.
func TestOwnSchemes(t *testing.T) {
	both := &fake{answer: text("own")}
	var env *fetch.Env
	r := Resolver{
		Env: fetch.Env{Email: "me@example.com"},
		Schemes: []Scheme{
			{Names: []string{"ftp", "x-own"}, New: func(e *fetch.Env) driver.Fetcher { env = e; return both }},
			{Names: []string{"file"}},
		},
	}
	for _, url := range []string{"ftp://h/x", "x-own:x"} {
		if err := closed(r.Get(t.Context(), url)); err != nil {
			t.Error(err)
		}
	}
	if len(both.requests) != 2 || env.Email != "me@example.com" {
		t.Errorf("%d requests, %+v", len(both.requests), env)
	}
	if err := closed(r.Get(t.Context(), "file:///")); !errors.Is(err, fetch.ErrUnsupported) {
		t.Errorf("file: %v", err)
	}
	for scheme, want := range map[string]Abilities{
		"ftp":    {Fetch: true, Replace: true},
		"ftps":   {Fetch: true, FindAttributes: true, Update: true, Replace: true, Edit: true, Explain: true},
		"wais":   {Fetch: true, Explain: true},
		"mailto": {Fetch: true, Update: true, Explain: true},
		"file":   {}, "x-none": {},
	} {
		if got := r.Can(scheme); got != want {
			t.Errorf("%s can %+v, want %+v", scheme, got, want)
		}
	}
	if err := r.Close(); err != nil || both.closed != 1 {
		t.Errorf("%v; closed %d times", err, both.closed)
	}
	without := func(*fetch.Env) driver.Fetcher { return new(http.Fetcher) }
	for name, mistaken := range map[string][]Scheme{
		"twice": {{Names: []string{"a"}}, {Names: []string{"a"}}}, "empty": {{Names: []string{""}}}, "https": {{Names: []string{"http", "https"}, New: without}},
	} {
		r := &Resolver{Schemes: mistaken}
		for range 2 {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%v is accepted", mistaken)
					}
				}()
				r.Can(name)
			}()
		}
	}
}

// A Fetcher is created when one of its schemes is first used, and only once, also with concurrent
// requests. Its constructor may call the policy.
func TestMadeWhenUsed(t *testing.T) {
	var made atomic.Int32
	used, unused := &fake{}, &fake{}
	count := func(f driver.Fetcher) func(env *fetch.Env) driver.Fetcher {
		return func(env *fetch.Env) driver.Fetcher {
			made.Add(1)
			if err := driver.NewEnv(env).Permit(t.Context(), fetch.Target{Locator: mustParse(t, "x-a:1"), Host: "127.0.0.1", Port: 1738}); err != nil {
				t.Error(err)
			}
			return f
		}
	}
	r := Resolver{Schemes: []Scheme{
		{Names: []string{"x-a", "x-b"}, Port: 1738, New: count(used)},
		{Names: []string{"ftp"}, New: count(unused)},
	}}
	r.Can("file")
	if err := r.Close(); err != nil || made.Load() != 0 {
		t.Errorf("%v; a file URL created %d Fetchers", err, made.Load())
	}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			if can := r.Can([]string{"x-a", "x-b"}[i%2]); !can.Fetch {
				t.Errorf("%+v", can)
			}
		})
	}
	all.Wait()
	if err := r.Close(); err != nil || made.Load() != 1 || used.closed != 1 || unused.closed != 0 {
		t.Errorf("%v; %d Fetchers created; closed %d and %d times", err, made.Load(), used.closed, unused.closed)
	}
}

func TestGateway(t *testing.T) {
	web := &fake{answer: text("by gateway")}
	r := Resolver{
		Schemes:  fakes(map[string]driver.Fetcher{"http": web}),
		Gateways: map[string]string{"wais": "http://gw:8118/?url={url}", "ftp": "http://gw/{url}", "gopher": "ftp://gw/{url}", "telnet": "http://gw"},
	}
	for url, want := range map[string]string{
		"wais://h/db?a+b":  "http://gw:8118/?url=wais%3A%2F%2Fh%2Fdb%3Fa%2Bb",
		"ftp://h/a%20b%25": "http://gw/ftp%3A%2F%2Fh%2Fa%2520b%2525",
	} {
		web.requests = nil
		res, err := r.Get(t.Context(), url)
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		res.Close()
		if got := web.requests[0].Locator.String(); got != want {
			t.Errorf("%s is requested as %s, want %s", url, got, want)
		}
	}
	web.requests = nil
	res, err := r.Get(t.Context(), "telnet://h")
	if err != nil {
		t.Fatal(err)
	}
	res.Close()
	if opt, ok := web.requests[0].Options.(*http.Options); !ok || opt.Proxied.String() != "telnet://h" || web.requests[0].Locator.String() != "http://gw" {
		t.Errorf("the proxy received the request %+v", web.requests[0])
	}
	for _, url := range []string{"gopher://h/", "ftp://u:p@h/x"} {
		if res, err := r.Get(t.Context(), url); err == nil {
			res.Close()
			t.Errorf("%s went through the gateway", url)
		} else if strings.Contains(err.Error(), "u:p@") {
			t.Errorf("the password is shown: %v", err)
		}
	}
}

// Edit changes a directory, if the scheme can do that.
func TestEdit(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("abc"), 0o666); err != nil {
		t.Fatal(err)
	}
	var r Resolver
	req, err := r.Request(t.Context(), (&locator.File{Segments: strings.Split(strings.TrimPrefix(filepath.ToSlash(dir), "/")+"/", "/")}).String())
	if err != nil {
		t.Fatal(err)
	}
	edits := []fetch.Edit{
		{Kind: fetch.EditSize, Name: "a"}, {Kind: fetch.EditMakeDir, Name: "d"}, {Kind: fetch.EditRename, Name: "a", To: "b"},
		{Kind: fetch.EditRemove, Name: "d"}, {Kind: fetch.EditRemove, Name: "../b"}, {Kind: fetch.EditRemoveDir, Name: "d"}, {Kind: fetch.EditSum, Name: "b"},
		{Kind: fetch.EditTime, Name: "b", Time: time.Unix(1e9, 0)}, {Kind: fetch.EditRemove, Name: "gone"},
	}
	if err := r.Edit(t.Context(), req, edits); err != nil {
		t.Fatal(err)
	}
	for i, want := range []error{nil, nil, nil, fetch.ErrOther, fetch.ErrBadURL, nil, fetch.ErrUnsupported, nil, fs.ErrNotExist} {
		if e := edits[i]; !e.Done || want == nil && e.Err != nil || want != nil && want != fetch.ErrOther && !errors.Is(e.Err, want) || want == fetch.ErrOther && e.Err == nil {
			t.Errorf("edit %d: %+v, want %v", i, e, want)
		}
	}
	if info, err := os.Stat(filepath.Join(dir, "b")); err != nil || edits[0].Size != 3 || info.ModTime().Unix() != 1e9 {
		t.Errorf("%v, %v, size %d", info, err, edits[0].Size)
	}
	if err := r.Edit(t.Context(), &fetch.Request{Locator: mustParse(t, "gopher://127.0.0.1/")}, edits); !errors.Is(err, fetch.ErrUnsupported) {
		t.Error(err)
	}
}

// attributesAt returns the attributes of the resource at url.
func attributesAt(ctx context.Context, r *Resolver, url string) (*fetch.Attributes, error) {
	req, err := r.Request(ctx, url)
	if err != nil {
		return nil, err
	}
	return r.FindAttributes(ctx, req)
}

// TestHostsBeyondASCII checks that Fetchers, and so policies, slots and servers, see a host beyond
// ASCII in ASCII, also after a referral, and that the caller's Request is not changed.
func TestHostsBeyondASCII(t *testing.T) {
	ftp := &fake{answer: text("x")}
	prospero := &fake{answer: func(*fetch.Request) (*fetch.Resource, error) {
		return nil, &fetch.Referral{To: &locator.FTP{Server: locator.Server{HostPort: locator.HostPort{Host: "KÖLN.example"}}, Name: "b"}}
	}}
	r := Resolver{Schemes: fakes(map[string]driver.Fetcher{"ftp": ftp, "prospero": prospero})}
	for url, want := range map[string]string{
		"ftp://münchen.example/a": "ftp://xn--mnchen-3ya.example/a", "ftp://h.example/ä": "ftp://h.example/%C3%A4", "prospero://münchen.example/x": "ftp://xn--kln-sna.example/b",
	} {
		req, err := r.Request(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		before := req.Locator.String()
		res, err := r.Fetch(t.Context(), req)
		if err != nil || res.Locator.String() != want || req.Locator.String() != before {
			t.Errorf("%s: %v, %v", url, res, err)
		}
	}
	if got := prospero.requests[0].Locator.String(); got != "prospero://xn--mnchen-3ya.example/x" {
		t.Errorf("asked for %s", got)
	}
	if _, err := r.Get(t.Context(), "ftp://ä_b.example/"); fetch.KindOf(err) != fetch.ErrBadURL {
		t.Error(err)
	}
}
