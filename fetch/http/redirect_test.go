package http

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// TestRedirectMethods has the method and body after a redirect (RFC 9110 §15.4).
func TestRedirectMethods(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, tc := range []struct {
			code         int
			method, want string
		}{
			{301, "GET", "GET "}, {302, "GET", "GET "}, {303, "GET", "GET "}, {307, "GET", "GET "}, {308, "GET", "GET "},
			{301, "HEAD", "HEAD "}, {303, "HEAD", "HEAD "},
			{301, "POST", "GET "}, {302, "POST", "GET "}, {303, "POST", "GET "}, {307, "POST", "POST body"}, {308, "POST", "POST body"},
			{301, "PUT", "PUT body"}, {302, "PUT", "PUT body"}, {303, "PUT", "GET "}, {307, "PUT", "PUT body"}, {308, "PUT", "PUT body"},
			{302, "DELETE", "DELETE "},
		} {
			var got string
			w := newNetwork(t, map[string]server{"a.example:80": func(v *received) string {
				body := v.body()
				if !strings.Contains(v.head, " /there ") {
					return status(fmt.Sprint(tc.code, " Moved"), "", "Location: /there")
				}
				method, _, _ := strings.Cut(v.head, " ")
				got = method + " " + body
				if method == "HEAD" {
					return "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n"
				}
				return document("done")
			}})
			opt := &Options{Method: tc.method}
			if tc.method == "POST" || tc.method == "PUT" {
				opt.Body = strings.NewReader("body")
			}
			_, res, err := get(t, w.fetcher(), "http://a.example/here", opt)
			if err != nil || got != tc.want {
				t.Errorf("%d to %s: %q, %v; want %q", tc.code, tc.method, got, err, tc.want)
				continue
			}
			if res.Locator.String() != "http://a.example/there" {
				t.Errorf("the resource is %s", res.Locator)
			}
			info := res.Info.(*Info)
			if len(info.Redirects) != 1 || info.Redirects[0].StatusCode != tc.code || info.Redirects[0].Locator.String() != "http://a.example/here" ||
				!strings.Contains(string(info.Redirects[0].Head), "Location: /there\r\n") {
				t.Errorf("redirects: %+v", info.Redirects)
			}
			if len(w.dials) != 1 {
				t.Errorf("%d connections", len(w.dials))
			}
		}
	})
}

func TestRedirectBodyOnce(t *testing.T) {
	w := newNetwork(t, map[string]server{"a.example:80": func(v *received) string {
		v.body()
		return status("307 Moved", "", "Location: /there")
	}})
	_, _, err := get(t, w.fetcher(), "http://a.example/here", &Options{Body: io.LimitReader(strings.NewReader("body"), 4)})
	if fetch.KindOf(err) != fetch.ErrLocalIO || len(w.heads("")) != 1 {
		t.Errorf("%v, %d requests", err, len(w.heads("")))
	}
}

func TestRedirectLimit(t *testing.T) {
	w := newNetwork(t, map[string]server{"a.example:80": redirectTo("/loop")})
	for hops, want := range map[int]int{0: 11, 3: 4, 1: 2} {
		w.visits = nil
		f := w.fetcher(func(f *Fetcher) { f.Env.Limits.Hops = hops })
		if _, _, err := get(t, f, "http://a.example/loop", nil); fetch.KindOf(err) != fetch.ErrTooManyHops || len(w.visits) != want {
			t.Errorf("limit %d: %v after %d requests", hops, err, len(w.visits))
		}
	}
	f := w.fetcher(func(f *Fetcher) { f.Env.Limits.Hops = -1 })
	_, _, err := get(t, f, "http://a.example/loop", nil)
	var ref *fetch.Referral
	if fetch.KindOf(err) != fetch.ErrMoved || !errors.As(err, &ref) || ref.To.String() != "http://a.example/loop" {
		t.Errorf("without a Location: %v", err)
	}
	_, res, err := get(t, f, "http://a.example/loop", &Options{AnyStatus: true})
	if err != nil || res.Info.(*Info).StatusCode != http.StatusFound {
		t.Errorf("without a Location, with AnyStatus: %v", err)
	}
}

// Cases 58, 113, 142: redirects to other schemes are returned to the caller; https never silently
// becomes http.
func TestRedirectToOtherSchemes(t *testing.T) {
	for _, to := range []string{
		"ftp://a.example/x", "gopher://127.0.0.1:6600/1x", "file:///etc/passwd", "FILE:///etc/passwd", "telnet://a.example/", "news:a.b",
		"mailto:a@b", "x-anything:abc", "javascript:alert(1)",
	} {
		for method, op := range map[string]string{"GET": "", "HEAD": "HEAD", "POST": "", "PUT": "PUT", "DELETE": "DELETE"} {
			w := newNetwork(t, map[string]server{"a.example:80": redirectTo(to)})
			_, _, err := get(t, w.fetcher(), "http://me:canary@a.example/", &Options{Method: method, AnyStatus: true})
			var ref *fetch.Referral
			if fetch.KindOf(err) != fetch.ErrMoved || !errors.As(err, &ref) || ref.Op != op || !strings.EqualFold(ref.To.String(), to) || strings.Contains(err.Error(), "canary") {
				t.Errorf("to %s: %v", to, err)
			}
			if len(w.dials) != 1 {
				t.Errorf("dialled %q", w.dials)
			}
		}
	}
	w := newNetwork(t, map[string]server{"a.example:443": redirectTo("http://a.example/"), "a.example:80": says(document("in clear"))})
	if _, _, err := get(t, w.fetcher(), "https://a.example/", nil); fetch.KindOf(err) != fetch.ErrRefused || len(w.heads("a.example:80")) != 0 {
		t.Errorf("https to http: %v", err)
	}
	f := w.fetcher(func(f *Fetcher) { f.AllowDowngrade = true })
	if body, _, err := get(t, f, "https://a.example/", nil); err != nil || body != "in clear" {
		t.Errorf("https to http, allowed: %q, %v", body, err)
	}
}

// TestLocations has Location fields as servers send them, resolved against http://a.example/d/e?q.
func TestLocations(t *testing.T) {
	long := strings.Repeat("/0123456", 1024) // case 154: not truncated
	for location, want := range map[string]string{
		"http://b.example/x": "http://b.example/x", "HTTP://b.example/x": "http://b.example/x", "https://a.example/": "https://a.example/",
		"/x": "http://a.example/x", "x": "http://a.example/d/x", "?y": "http://a.example/d/e?y", "../x": "http://a.example/x", "./": "http://a.example/d/",
		"//b.example/x": "http://b.example/x", "/a%2Fb%7e": "http://a.example/a%2Fb%7e", "/x#frag": "http://a.example/x", "http://b.example/x#frag": "http://b.example/x",
		"/a b": "http://a.example/a%20b", "http://b.example/a b": "http://b.example/a%20b", "http://b.example/\xe9": "http://b.example/%E9",
		"http://u:p@b.example/": "http://b.example/", "//u:p@b.example/": "http://b.example/", "http://b.example:8080": "http://b.example:8080",
		"/a//b/": "http://a.example/a//b/", "/x?u=http://c/": "http://a.example/x?u=http://c/", " /x ": "http://a.example/x",
		"/x?a b c": "http://a.example/x?a+b+c", "http://b.example/x y?a b": "http://b.example/x%20y?a+b",
		"http://b.example/x/../y/./z": "http://b.example/y/z", "https://u:p@b.example/../..": "https://b.example/", "http://b.example/x?/../y": "http://b.example/x?/../y",
		"http://b.example/a%2F/../x": "http://b.example/x", "ftp://b.example/x/../y": "ftp://b.example/x/../y",
		"/100%": "http://a.example/100%25", "75%-x%2Fy|z%": "http://a.example/d/75%25-x%2Fy%7Cz%25", "/%zz?d=50%": "http://a.example/%25zz?d=50%25", "//b.example/%/../%": "http://b.example/%25",
		"12:30.html": "http://a.example/d/12:30.html", "local_file:///etc/passwd": "http://a.example/d/local_file:///etc/passwd", "./a:b": "http://a.example/d/a:b",
		"/a\\b^c`{d}\"<>": "http://a.example/a%5Cb%5Ec%60%7Bd%7D%22%3C%3E", "/a%2fb c": "http://a.example/a%2fb%20c", "/caf\xc3\xa9%2F": "http://a.example/caf%C3%A9%2F",
		"http://b.example/x/..?a%": "http://b.example/?a%25", "https://b.example?y": "https://b.example/?y", "#f": "http://a.example/d/e?q",
		"http://m\xc3\xbcnchen.example/x": "http://xn--mnchen-3ya.example/x", "//m%C3%BCnchen.example:8080": "http://xn--mnchen-3ya.example:8080",
		long: "http://a.example" + long, "http://b.example" + long: "http://b.example" + long,
	} {
		a := &answer{resp: &http.Response{Header: http.Header{"Location": {location}}}}
		c := &call{hop: hop{locator: parse(t, "http://me:pw@a.example/d/e?q").(*locator.HTTP)}}
		to, err := c.destination(a)
		if err != nil || to.String() != want {
			t.Errorf("%.40q: %v, %v; want %.60s", location, to, err, want)
		}
	}
	for _, bad := range [][]string{nil, {""}, {" \t"}, {"/a", "/b"}, {"http://"}, {"http://h%00/"}, {"http://b.example:99999/"}, {"http://0x7f.1/"},
		{"http://b.example\\@a.example/"}, {strings.Repeat("x", 70<<10)}, {"\x01"}, {"http://a\x00b/"}, {"http://[::1%25.example.com]/"}, {"http://\xc3\xa4%2Fb.example/"}, {"http://m%FCnchen.example/"}} {
		a := &answer{resp: &http.Response{Header: http.Header{"Location": bad}}}
		c := &call{hop: hop{locator: parse(t, "http://a.example/").(*locator.HTTP)}}
		if to, err := c.destination(a); err == nil {
			t.Errorf("%.60q: %v", bad, to)
		}
	}
	w := newNetwork(t, map[string]server{"a.example:80": says(status("302 Found", "", "Location: http://\x1b[2J"))})
	if _, _, err := get(t, w.fetcher(), "http://a.example/", nil); fetch.KindOf(err) != fetch.ErrProtocol || strings.Contains(err.Error(), "\x1b") {
		t.Errorf("an escape sequence: %v", err)
	}
	w = newNetwork(t, map[string]server{"a.example:80": redirectTo("http://b.example" + long), "b.example:80": says(document("far"))})
	if body, _, err := get(t, w.fetcher(), "http://a.example/", nil); err != nil || body != "far" || !strings.HasPrefix(w.heads("b.example:80")[0], "GET "+long+" HTTP") {
		t.Errorf("8 KiB: %q, %v", body, err)
	}
}

// TestRedirectProvenance checks that the policy is called with the provenance of every hop.
func TestRedirectProvenance(t *testing.T) {
	w := newNetwork(t, map[string]server{
		"a.example:80":    redirectTo("http://b.example/"),
		"b.example:80":    redirectTo("http://192.0.2.7/"),
		"192.0.2.7:80":    says(document("end")),
		"nowhere:80":      redirectTo("http://a.example/"),
		"a.example:65535": says(document("x")),
	})
	w.peers = map[string]string{"a.example:80": "192.0.2.1:80", "b.example:80": "192.0.2.2:80"}
	type question struct{ Host, From, Peer, Addr string }
	var asked []question
	f := w.fetcher(func(f *Fetcher) {
		f.Env.Allow = func(_ context.Context, t fetch.Target) error {
			q := question{Host: t.Host, From: t.From.String()}
			if t.From.Peer.IsValid() {
				q.Peer = t.From.Peer.String()
			}
			if t.Addr.IsValid() {
				q.Addr = t.Addr.String()
			}
			asked = append(asked, q)
			return nil
		}
	})
	if _, res, err := get(t, f, "http://a.example/", nil); err != nil || res.Origin().Peer.IsValid() {
		t.Fatal(res, err)
	}
	want := []question{
		{"a.example", "typed by the user", "", ""},
		{"a.example", "typed by the user", "", "192.0.2.1:80"},
		{"b.example", "redirect from http://a.example/", "192.0.2.1", ""},
		{"b.example", "redirect from http://a.example/", "192.0.2.1", "192.0.2.2:80"},
		{"192.0.2.7", "redirect from http://b.example/", "192.0.2.2", ""},
	}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Error(diff)
	}
}

// Case 181 with idle connections: a connection opened for a user's request is not reused for a
// request of other provenance that the policy refuses.
func TestKeptConnectionIsNotPassedOn(t *testing.T) {
	w := newNetwork(t, map[string]server{
		"public.example:80": redirectTo("http://inside.example/delete"),
		"inside.example:80": says(document("inside")),
	})
	w.peers = map[string]string{"public.example:80": "192.0.2.1:80", "inside.example:80": "10.0.0.1:80"}
	denied := errors.New("denied")
	f := w.fetcher(func(f *Fetcher) {
		f.Env.Allow = func(_ context.Context, t fetch.Target) error {
			if t.From.Kind == fetch.OriginRedirect && t.Addr.Addr() == netip.MustParseAddr("10.0.0.1") {
				return denied
			}
			return nil
		}
	})
	for range 100 {
		if _, _, err := get(t, f, "http://inside.example/mine", nil); err != nil {
			t.Fatal(err)
		}
		for _, opt := range []*Options{nil, {Method: "POST", Body: io.LimitReader(strings.NewReader("x"), 1)}} {
			if _, _, err := get(t, f, "http://public.example/", opt); fetch.KindOf(err) != fetch.ErrRefused || !errors.Is(err, denied) {
				t.Fatal(err)
			}
		}
	}
	for _, head := range w.heads("inside.example:80") {
		if !strings.HasPrefix(head, "GET /mine ") {
			t.Errorf("received: %q", head)
		}
	}
	if n := len(w.heads("inside.example:80")); n != 100 {
		t.Errorf("%d requests", n)
	}
}

// TestKeptConnection checks that requests of the same provenance reuse connections.
func TestKeptConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newNetwork(t, map[string]server{"a.example:80": func(v *received) string {
			if v.n%2 == 0 {
				return "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nTrailer: x\r\n\r\n"
			}
			return document("abcde")
		}})
		f := w.fetcher()
		for range 20 {
			if body, _, err := get(t, f, "http://a.example/", nil); err != nil || body != "abcde" {
				t.Fatal(body, err)
			}
		}
		if len(w.dials) != 1 {
			t.Errorf("%d connections for 20 requests", len(w.dials))
		}
	})
}

// FuzzLocation checks that the target of any Location field is a URL without a login.
func FuzzLocation(f *testing.F) {
	for _, s := range []string{"/x", "//b/x", "?q", "http://b/", "https://u:p@b:81/%zz?a b#c", "ftp://u:p@b/", "../../x", "x:y", "file:///etc/passwd", "http:b", "\\\\b\\x", "//u:p@b", "http://[::1]/", "mailto:a@b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, location string) {
		a := &answer{resp: &http.Response{Header: http.Header{"Location": {location}}}}
		c := &call{hop: hop{locator: parse(t, "http://me:canary@a.example/d/e?q").(*locator.HTTP)}}
		to, err := c.destination(a)
		if err != nil {
			return
		}
		l, ok := to.(*locator.HTTP)
		if !ok {
			if scheme, _, ok := strings.Cut(location, ":"); !ok || strings.ContainsAny(scheme, "/?#") {
				t.Errorf("%q is relative and leads to %s", location, to)
			}
			return
		}
		if l.Login != nil || strings.Contains(l.String(), "canary") && !strings.Contains(location, "canary") {
			t.Errorf("%q leads to %s", location, l)
		}
		if again, err := lenient.Parse(l.String()); err != nil || !locator.Equal(again.Locator, l) {
			t.Errorf("%q leads to %#v, and that to %#v, %v", location, l, again.Locator, err)
		}
	})
}

// TestReferralProvenance checks that a Referral has a provenance, by which the policy judges it.
func TestReferralProvenance(t *testing.T) {
	srv := httptest.NewServer(http.RedirectHandler("ftp://h/x", http.StatusFound))
	defer srv.Close()
	f := &Fetcher{}
	defer f.Close()
	l, err := locator.Parser{}.Parse(srv.URL + "/a")
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Fetch(t.Context(), &fetch.Request{Locator: l.Locator})
	var ref *fetch.Referral
	if !errors.As(err, &ref) || !errors.Is(err, fetch.ErrMoved) {
		t.Fatal(err)
	}
	if ref.To.String() != "ftp://h/x" || ref.From.Kind != fetch.OriginRedirect || ref.From.By != l.Locator || !ref.From.Peer.IsLoopback() {
		t.Errorf("%v from %+v", ref.To, ref.From)
	}
}

// TestReferer checks that a Referer from the caller is sent only to its origin, and that
// AutoReferer sends another origin no path and no search, and nothing from https to http.
func TestReferer(t *testing.T) {
	given := http.Header{"Referer": {"http://canary.example/?secret"}}
	for name, tc := range map[string]struct {
		opt            Options
		from, to, want string
	}{
		"given, same origin":    {Options{Header: given}, "http://a.example/", "http://a.example/to", "http://canary.example/?secret"},
		"given, other host":     {Options{Header: given}, "http://a.example/", "http://b.example/to", ""},
		"given, other port":     {Options{Header: given}, "http://a.example/", "http://a.example:81/to", ""},
		"given, trusted":        {Options{Header: given, LocationTrusted: true}, "http://a.example/", "http://b.example/to", "http://canary.example/?secret"},
		"own, same origin":      {Options{AutoReferer: true}, "http://me:pw@a.example/x?y", "http://a.example/to", "http://a.example/x?y"},
		"own, other host":       {Options{AutoReferer: true}, "http://me:pw@a.example/x?y", "http://b.example/to", "http://a.example/"},
		"own, other port":       {Options{AutoReferer: true}, "http://me:pw@a.example/x?y", "http://a.example:81/to", "http://a.example/"},
		"own, trusted":          {Options{AutoReferer: true, LocationTrusted: true}, "http://me:pw@a.example/x?y", "http://b.example/to", "http://a.example/x?y"},
		"own, to https":         {Options{AutoReferer: true}, "http://a.example/x?y", "https://a.example/to", "http://a.example/"},
		"own, from https":       {Options{AutoReferer: true, LocationTrusted: true}, "https://a.example/x?y", "http://a.example/to", ""},
		"both, from https":      {Options{AutoReferer: true, Header: given}, "https://a.example/x?y", "http://b.example/to", ""},
		"both, same origin":     {Options{AutoReferer: true, Header: given}, "http://a.example/x?y", "http://a.example/to", "http://a.example/x?y"},
		"own, in lower case":    {Options{AutoReferer: true, Header: http.Header{"referer": {"x"}}}, "http://a.example/x?y", "http://b.example/to", "http://a.example/"},
		"none, though one hops": {Options{}, "http://a.example/x?y", "http://b.example/to", ""},
	} {
		s := func(v *received) string {
			if strings.HasPrefix(v.head, "GET /to ") {
				return document("there")
			}
			return redirectTo(tc.to)(v)
		}
		w := newNetwork(t, map[string]server{"a.example:80": s, "a.example:81": s, "b.example:80": s, "a.example:443": s})
		_, _, err := get(t, w.fetcher(func(f *Fetcher) { f.AllowDowngrade = true }), tc.from, &tc.opt)
		if got := w.visits[len(w.visits)-1]; err != nil || got.field("Referer") != tc.want {
			t.Errorf("%s: %q, %v", name, got.head, err)
		}
	}
}

// TestRedirectSentOn checks that Redirect.SentOn reports where a body was sent.
func TestRedirectSentOn(t *testing.T) {
	for code, sentOn := range map[int]bool{301: false, 302: false, 303: false, 307: true, 308: true} {
		w := newNetwork(t, map[string]server{
			"a.example:80": func(v *received) string {
				v.body()
				return status(fmt.Sprint(code, " Moved"), "", "Location: http://b.example/")
			},
			"b.example:80": func(v *received) string { return document(v.body()) },
		})
		body, res, err := get(t, w.fetcher(), "http://a.example/", &Options{Body: strings.NewReader("secret")})
		if err != nil || (body == "secret") != sentOn || res.Info.(*Info).Redirects[0].SentOn != sentOn {
			t.Errorf("%d: %q, %v", code, body, err)
		}
	}
}
