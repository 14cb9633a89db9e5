package http

import (
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/http/internal/exchange"
	"github.com/fetch1738/fetch1738/locator"
)

const plainFields = "User-Agent: fetch1738\r\nAccept: */*\r\nAccept-Encoding: identity\r\n\r\n"

// TestRequestOctets checks that path and search are sent unchanged, byte for byte (RFC 1738 §3.3).
func TestRequestOctets(t *testing.T) {
	for url, target := range map[string]string{
		"http://h.example":                       "/",
		"http://h.example/":                      "/",
		"http://h.example:80/a/b.html":           "/a/b.html",
		"http://h.example/a%2Fb%2fc":             "/a%2Fb%2fc",
		"http://h.example/%7e%7Eme/%41":          "/%7e%7Eme/%41",
		"http://h.example//a//b//":               "//a//b//",
		"http://h.example//a%2Fb?x":              "//a%2Fb?x",
		"http://h.example/?":                     "/?",
		"http://h.example/a?":                    "/a?",
		"http://h.example/a?b=c&d+e;f:g@h":       "/a?b=c&d+e;f:g@h",
		"http://h.example/;:@&=$-_.+!*'(),":      "/;:@&=$-_.+!*'(),",
		"http://h.example/a?u=http://c/?d":       "/a?u=http://c/?d",
		"http://h.example/a?%0d%0aX:%20y%00":     "/a?%0d%0aX:%20y%00",
		"http://h.example/%0D%0AX:%20y/%00/%7F":  "/%0D%0AX:%20y/%00/%7F",
		"http://h.example/./a/../b/%2e%2e/c":     "/./a/../b/%2e%2e/c",
		"http://h.example/a b{c}|\\^~[]`%zz\xe9": "/a%20b%7Bc%7D%7C%5C%5E%7E%5B%5D%60%25zz%E9",
		"http://h.example/100%":                  "/100%25",
	} {
		w := newNetwork(t, map[string]server{"h.example:80": says(document("x"))})
		f := w.fetcher()
		if _, _, err := get(t, f, url, nil); err != nil {
			t.Error(err)
			continue
		}
		want := "GET " + target + " HTTP/1.1\r\nHost: h.example\r\n" + plainFields
		if got := strings.Join(w.heads(""), ""); got != want {
			t.Errorf("%s: sent %q, want %q", url, got, want)
		}
		explained, err := f.Explain(&fetch.Request{Locator: parse(t, url)})
		if err != nil || len(explained.Steps) != 1 || explained.Steps[0].Send != want {
			t.Errorf("%s: explained as %+v, %v", url, explained, err)
		}
	}
}

// TestLocatorByHand checks that locators created by a program are treated like parsed ones.
func TestLocatorByHand(t *testing.T) {
	host := locator.Server{HostPort: locator.HostPort{Host: "h.example"}}
	for _, tc := range []struct {
		l      *locator.HTTP
		target string
	}{
		{&locator.HTTP{Server: host, Path: "a?b#c"}, "/a%3Fb%23c"},
		{&locator.HTTP{Server: host, Path: "%"}, "/%25"},
	} {
		w := newNetwork(t, map[string]server{"h.example:80": says(document("x"))})
		if _, _, err := do(t.Context(), w.fetcher(), &fetch.Request{Locator: tc.l}); err != nil {
			t.Error(err)
			continue
		}
		if got, want := strings.Join(w.heads(""), ""), "GET "+tc.target+" HTTP/1.1\r\nHost: h.example\r\n"+plainFields; got != want {
			t.Errorf("%+v: sent %q, want %q", tc.l, got, want)
		}
	}
	for _, octets := range []string{" ", "\r\nX: y", "\x00", " HTTP/1.1\r\n", "\x7f"} {
		for _, l := range []*locator.HTTP{{Server: host, Path: octets}, {Server: host, Search: octets, HasSearch: true}} {
			w := newNetwork(t, nil)
			_, err := w.fetcher().Fetch(t.Context(), &fetch.Request{Locator: l})
			if fetch.KindOf(err) != fetch.ErrBadURL || len(w.dials) > 0 {
				t.Errorf("%+v: %v, dialled %q", l, err, w.dials)
			}
		}
	}
	for _, name := range []string{"", "h.example/", "a b", "h\r\nX: y", "u@h", "h:1", "h?", "h#", "h%00.good", "a\\b", "[h]", strings.Repeat("h", 256), "\xff\xfe", "℀.example"} {
		w := newNetwork(t, nil)
		_, err := w.fetcher().Fetch(t.Context(), &fetch.Request{Locator: &locator.HTTP{Server: locator.Server{HostPort: locator.HostPort{Host: name}}}})
		if fetch.KindOf(err) != fetch.ErrBadURL || len(w.dials) > 0 {
			t.Errorf("host %q: %v, dialled %q", name, err, w.dials)
		}
	}
}

// TestHostField checks that the Host field has no default port (RFC 9110 §7.2), no login (case 133)
// and no zone of an address.
func TestHostField(t *testing.T) {
	for url, want := range map[string]string{
		"http://h.example:80/": "h.example", "https://h.example:443/": "h.example", "http://h.example:443/": "h.example:443",
		"https://h.example:80/": "h.example:80", "http://h.example:8080/": "h.example:8080", "http://H.Example/": "H.Example",
		"http://[::1]/": "[::1]", "http://[::1]:8080/": "[::1]:8080", "http://u:p@h.example/": "h.example",
		"http://b\u00fccher.example/": "xn--bcher-kva.example", "http://127.0.0.1/": "127.0.0.1",
	} {
		explained, err := new(Fetcher).Explain(&fetch.Request{Locator: parse(t, url)})
		if err != nil {
			t.Error(err)
			continue
		}
		if head := explained.Steps[len(explained.Steps)-1].Send; !strings.Contains(head, "\r\nHost: "+want+"\r\n") {
			t.Errorf("%s: %q, want Host %s", url, head, want)
		}
	}
	explained, err := new(Fetcher).Explain(&fetch.Request{Locator: &locator.HTTP{Server: locator.Server{HostPort: locator.HostPort{Host: "fe80::1%eth0"}}}})
	if err != nil || !strings.Contains(explained.Steps[0].Send, "\r\nHost: [fe80::1]\r\n") || explained.Host != "fe80::1%eth0" {
		t.Errorf("%+v, %v", explained, err)
	}
}

// Cases 136, 138: no input can add a line to the request.
func TestHeaderInjection(t *testing.T) {
	for _, octets := range []string{"\r", "\n", "\r\n", "\x00", "\r\nX: y", "a\r\n\r\nGET / HTTP/1.1"} {
		for what, opt := range map[string]*Options{
			"value":  {Header: map[string][]string{"X-A": {"a" + octets}}},
			"name":   {Header: map[string][]string{"X-A" + octets: {"a"}}},
			"Host":   {Header: map[string][]string{"Host": {"a" + octets}}},
			"method": {Method: "GET" + octets},
		} {
			w := newNetwork(t, map[string]server{"h.example:80": says(document("x"))})
			_, _, err := get(t, w.fetcher(), "http://h.example/", opt)
			if fetch.KindOf(err) != fetch.ErrBadURL || len(w.dials) > 0 {
				t.Errorf("%s with %q: %v, dialled %q", what, octets, err, w.dials)
			}
		}
		w := newNetwork(t, map[string]server{"h.example:80": says(status("401 No", "", `WWW-Authenticate: Basic realm="x"`))})
		f := w.fetcher(func(f *Fetcher) { f.Env.Credentials = gives("me"+octets, "x") })
		if _, _, err := get(t, f, "http://h.example/", nil); fetch.KindOf(err) != fetch.ErrUnauthenticated || len(w.heads("")) != 1 {
			t.Errorf("login with %q: %v, %d requests", octets, err, len(w.heads("")))
		}
	}
	for name, opt := range map[string]*Options{
		"empty name": {Header: map[string][]string{"": {"a"}}}, "space": {Header: map[string][]string{"X A": {"a"}}},
		"colon": {Header: map[string][]string{"X:A": {"a"}}}, "CONNECT": {Method: "CONNECT"}, "two hosts": {Header: map[string][]string{"Host": {"a", "b"}}},
		"space in method": {Method: "GET /x"},
	} {
		if _, _, err := get(t, new(Fetcher), "http://h.example/", opt); fetch.KindOf(err) != fetch.ErrBadURL {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestHeaderOptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newNetwork(t, map[string]server{"h.example:80": says(document("x"))})
		f := w.fetcher(func(f *Fetcher) { f.UserAgent = "test/1" })
		for _, tc := range []struct {
			opt  *Options
			want string
		}{
			{nil, "Host: h.example\r\nUser-Agent: test/1\r\nAccept: */*\r\nAccept-Encoding: identity\r\n\r\n"},
			{&Options{Compressed: true}, "Host: h.example\r\nUser-Agent: test/1\r\nAccept: */*\r\nAccept-Encoding: deflate, gzip\r\n\r\n"},
			{&Options{Header: map[string][]string{"user-agent": {"mine"}, "X-B": {"1", "2"}, "Cookie": {"a=b"}}},
				"Host: h.example\r\nUser-Agent: mine\r\nAccept: */*\r\nAccept-Encoding: identity\r\nCookie: a=b\r\nX-B: 1\r\nX-B: 2\r\n\r\n"},
			{&Options{Header: map[string][]string{"User-Agent": {}, "Accept": {}}}, "Host: h.example\r\nAccept-Encoding: identity\r\n\r\n"},
			{&Options{Header: map[string][]string{"Host": {"other.example"}, "Content-Length": {"5"}, "Transfer-Encoding": {"chunked"}, "Connection": {"upgrade"}, "Proxy-Authorization": {"x"}}},
				"Host: other.example\r\nUser-Agent: test/1\r\nAccept: */*\r\nAccept-Encoding: identity\r\n\r\n"},
		} {
			if _, _, err := get(t, f, "http://h.example/", tc.opt); err != nil {
				t.Error(err)
				continue
			}
			heads := w.heads("")
			if got, want := heads[len(heads)-1], "GET / HTTP/1.1\r\n"+tc.want; got != want {
				t.Errorf("got  %q\nwant %q", got, want)
			}
		}
		if len(w.dials) != 1 {
			t.Errorf("%d connections for %d requests", len(w.dials), len(w.heads("")))
		}
	})
}

func TestQuery(t *testing.T) {
	w := newNetwork(t, map[string]server{"h.example:80": says(document("x"))})
	f := w.fetcher()
	for _, tc := range []struct{ url, query, want string }{
		{"http://h.example/index", "two words&more", "/index?two+words%26more"},
		{"http://h.example/index?has", "words", "/index?has"},
	} {
		_, res, err := do(t.Context(), f, &fetch.Request{Locator: parse(t, tc.url), Query: tc.query})
		if err != nil {
			t.Fatal(err)
		}
		heads := w.heads("")
		if got := heads[len(heads)-1]; !strings.HasPrefix(got, "GET "+tc.want+" HTTP/1.1\r\n") {
			t.Errorf("%q", got)
		}
		if got := res.Locator.String(); got != "http://h.example"+tc.want {
			t.Errorf("the resource is %s", got)
		}
	}
}

// Cases 125, 127 and 134: the parser, the connection and the Host field use the same host, or the
// URL is refused.
func TestHostAgreement(t *testing.T) {
	for url, host := range map[string]string{
		"http://a;b@good.example/": "good.example", "http://a:b@good.example/": "good.example", "http://a%40evil@good.example/": "good.example",
		"http://good.example:80@evil.example/": "evil.example", "http://good.example#@evil.example/": "good.example", "http://good.example/@evil.example": "good.example",
		"http://good.example?@evil.example/": "good.example", "http://good.example\\@evil.example/": "", "http://a@b@evil.example/": "", "http://good%2Fexample/": "",
		"http://good%5Cexample/": "", "http://good%3Fexample/": "", "http://good%23example/": "", "http://good%40evil.example/": "", "http://good%00.example/": "",
		"http://good%25.example/": "", "http://good .example/": "", "http://[::1]evil.example/": "", "http://good.example:80:81/": "", "http://good.example:80evil/": "",
		"http:///evil.example/": "", "http://:80/": "",
	} {
		ref, err := locator.Parser{Tolerate: locator.TolerateAll}.Parse(url)
		if err != nil {
			if host != "" {
				t.Errorf("%s: %v", url, err)
			}
			continue
		}
		w := newNetwork(t, map[string]server{host + ":80": says(document("x"))})
		_, res, err := do(t.Context(), w.fetcher(), &fetch.Request{Locator: ref.Locator})
		if host == "" {
			if fetch.KindOf(err) != fetch.ErrBadURL || len(w.dials) > 0 {
				t.Errorf("%s: %v, dialled %q", url, err, w.dials)
			}
			continue
		}
		if err != nil || strings.Join(w.dials, " ") != host+":80" || w.visits[0].field("Host") != host || res.Locator.(*locator.HTTP).Host != host {
			t.Errorf("%s: dialled %q, sent %q, %v", url, w.dials, w.heads(""), err)
		}
	}
}

// TestExplainBody checks that Explain mentions a body, but does not read it.
func TestExplainBody(t *testing.T) {
	for _, body := range []func() io.Reader{
		func() io.Reader { return strings.NewReader("body") },
		func() io.Reader { return iotest.OneByteReader(strings.NewReader("body")) },
		func() io.Reader { return strings.NewReader("") },
	} {
		w := newNetwork(t, map[string]server{"h.example:80": func(v *received) string { v.body(); return document("x") }})
		f := w.fetcher()
		req := &fetch.Request{Locator: parse(t, "http://me:secret@h.example/"), Options: &Options{Body: body()}}
		explained, err := f.Explain(req)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := do(t.Context(), f, req); err != nil {
			t.Fatal(err)
		}
		want := string(exchange.Masked([]byte(w.heads("")[0])))
		if len(explained.Steps) != 2 || explained.Steps[0].Send != want || !strings.Contains(want, "Authorization: ****\r\n") {
			t.Errorf("explained as %v, sent %q", explained.Steps, want)
		}
	}
}

// TestChunkLines checks that lines of a chunked body may end in LF alone, however the data is
// split. The trailer is reported, and the connection is reused.
func TestChunkLines(t *testing.T) {
	head := "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	for name, tc := range map[string]struct{ body, trailer string }{
		"CR LF":             {"3;x=y\r\na\nb\r\n1\r\n\n\r\n0\r\n\r\n", ""},
		"LF":                {"3;x=y\na\nb\n1\n\n\n0\n\n", ""},
		"mixed":             {"3\r\na\nb\n1\n\n\r\n0\r\n\n", ""},
		"trailer":           {"3\r\na\nb\r\n1\r\n\n\r\n0\r\nX-Sum: 1\r\nx-more: 2\r\n\r\n", "X-Sum: 1\r\nx-more: 2\r\n"},
		"trailer behind LF": {"3\na\nb\n1\n\n\n0\nX-Sum: 1\nx-more: 2\n\n", "X-Sum: 1\r\nx-more: 2\r\n"},
	} {
		for _, step := range []int{1, 2, 3, 7, 1000} {
			synctest.Test(t, func(t *testing.T) {
				w := newNetwork(t, map[string]server{"a.example:80": func(v *received) string {
					rest := head + tc.body
					for len(rest) > step {
						_, _ = io.WriteString(v.out, rest[:step])
						rest = rest[step:]
					}
					return rest
				}})
				var told []string
				ctx := fetch.WithTrace(t.Context(), &fetch.Trace{Received: func(o []byte) { told = append(told, string(o)) }})
				f := w.fetcher()
				for range 2 {
					body, _, err := do(ctx, f, &fetch.Request{Locator: parse(t, "http://a.example/")})
					if err != nil || body != "a\nb\n" {
						t.Errorf("%s, %d bytes at a time: %q, %v", name, step, body, err)
					}
				}
				want := []string{head, tc.trailer, head, tc.trailer}
				if tc.trailer == "" {
					want = []string{head, head}
				}
				if !slices.Equal(told, want) || len(w.dials) != 1 {
					t.Errorf("%s, %d bytes at a time: trailer %q, %d connections", name, step, told, len(w.dials))
				}
			})
		}
	}
}

// TestHTTP10: no chunked coding, no Expect, and a connection for each request.
func TestHTTP10(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newNetwork(t, map[string]server{"h.example:80": says("HTTP/1.0 200 OK\r\n\r\nx" + cut)})
		f := w.fetcher()
		large := strings.NewReader(strings.Repeat("x", largeBody+1))
		long := "/" + strings.Repeat("a", 4<<10)
		for _, tc := range []struct {
			url  string
			opt  Options
			want string
			kind fetch.ErrorKind
		}{
			{"http://h.example/a?b", Options{}, "GET /a?b HTTP/1.0\r\nHost: h.example\r\n", fetch.ErrOther},
			{"http://h.example/", Options{Body: large}, "POST / HTTP/1.0\r\nHost: h.example\r\n", fetch.ErrOther},
			{"http://h.example/", Options{Body: iotest.HalfReader(strings.NewReader("x"))}, "", fetch.ErrUnsupported},
			{"http://h.example/", Options{Body: large, Header: map[string][]string{"Transfer-Encoding": {"chunked"}}}, "", fetch.ErrUnsupported},
			{"http://h.example" + long, Options{}, "GET " + long + " HTTP/1.0\r\nHost: h.example\r\n", fetch.ErrOther},
		} {
			before := len(w.heads(""))
			tc.opt.HTTP10 = true
			body, _, err := get(t, f, tc.url, &tc.opt)
			if fetch.KindOf(err) != tc.kind || (err == nil) != (tc.want != "") || err == nil && body != "x" {
				t.Errorf("%s: %q, %v", tc.url, body, err)
			}
			switch heads := w.heads("")[before:]; {
			case tc.want == "" && len(heads) > 0:
				t.Errorf("%s: sent %q", tc.url, heads)
			case tc.want == "":
			case !strings.HasPrefix(heads[0], tc.want) || strings.Contains(heads[0], "Expect") || strings.Contains(heads[0], "chunked"):
				t.Errorf("%s: sent %q", tc.url, heads)
			}
		}
		explained, err := f.Explain(&fetch.Request{Locator: parse(t, "http://h.example/"), Options: &Options{HTTP10: true}})
		if err != nil || !strings.HasPrefix(explained.Steps[0].Send, "GET / HTTP/1.0\r\n") {
			t.Errorf("explained as %+v, %v", explained, err)
		}
	})
}
