package transport_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/policy"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/csotest"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
	"github.com/fetch1738/fetch1738/testserver/nntptest"
	"github.com/fetch1738/fetch1738/testserver/prosperotest"
	"github.com/fetch1738/fetch1738/testserver/telnettest"
	"github.com/fetch1738/fetch1738/testserver/waistest"
	"github.com/fetch1738/fetch1738/transport"
)

// written is when the files of the test servers were written.
var written = time.Date(1994, 12, 20, 17, 4, 5, 0, time.UTC)

func content() fstest.MapFS {
	return fstest.MapFS{
		"pub/motd.txt":  {Data: []byte("0123456789"), ModTime: written},
		"pub/empty.txt": {Data: []byte{}, ModTime: written},
	}
}

// roundTrip performs a request by client and returns the response with its body.
func roundTrip(t *testing.T, client *http.Client, method, url, body string, header ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := client.Do(req)
	if err != nil {
		t.Fatalf("%s %s: %v", method, url, err)
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatalf("%s %s: reading the body: %v", method, url, err)
	}
	return res, string(got)
}

func TestTransportFTP(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = content() })
	transport := &transport.Transport{}
	client := &http.Client{Transport: transport}
	defer client.CloseIdleConnections()
	file := srv.URL + "/pub/motd.txt"

	res, body := roundTrip(t, client, "GET", file, "")
	tag := res.Header.Get("ETag")
	if res.StatusCode != 200 || body != "0123456789" || res.ContentLength != 10 || tag == "" ||
		res.Header.Get("Content-Type") != "text/plain" || res.Header.Get("Last-Modified") != "Tue, 20 Dec 1994 17:04:05 GMT" || res.Header.Get("Accept-Ranges") != "bytes" {
		t.Errorf("%s %v %q", res.Status, res.Header, body)
	}
	for _, c := range []struct {
		method, url, header, value string
		status                     int
		contentRange, body         string
	}{
		{"HEAD", file, "", "", 200, "", ""},
		{"HEAD", file, "If-None-Match", tag, 304, "", ""},
		{"GET", file, "Range", "bytes=2-4", 206, "bytes 2-4/10", "234"},
		{"GET", file, "Range", "bytes=7-", 206, "bytes 7-9/10", "789"},
		{"GET", file, "Range", "bytes=7-99", 206, "bytes 7-9/10", "789"},
		{"GET", file, "Range", "bytes=-3", 206, "bytes 7-9/10", "789"},
		{"GET", file, "Range", "bytes=0-", 206, "bytes 0-9/10", "0123456789"},
		{"GET", file, "Range", "bytes=1-2,4-5", 200, "", "0123456789"},
		{"GET", file, "Range", "lines=1-2", 200, "", "0123456789"},
		{"GET", file, "Range", "bytes=3-2", 200, "", "0123456789"},
		{"GET", file, "Range", "bytes=10-", 416, "bytes */10", ""},
		{"GET", srv.URL + "/pub/", "Range", "bytes=1-2", 200, "", "motd.txt"},
		{"GET", file, "If-Modified-Since", "Tue, 20 Dec 1994 17:04:05 GMT", 304, "", ""},
		{"GET", file, "If-Modified-Since", "Tue, 20 Dec 1994 17:04:04 GMT", 200, "", "0123456789"},
		{"GET", file, "If-None-Match", `"other", W/` + tag, 304, "", ""},
		{"GET", file, "If-None-Match", `"other"`, 200, "", "0123456789"},
		{"GET", srv.URL + "/pub/empty.txt", "", "", 200, "", ""},
		{"GET", srv.URL + "/pub/", "", "", 200, "", "motd.txt"},
	} {
		header := []string{}
		if c.header != "" {
			header = []string{c.header, c.value}
		}
		res, body := roundTrip(t, client, c.method, c.url, "", header...)
		if res.StatusCode != c.status || res.Header.Get("Content-Range") != c.contentRange || !strings.Contains(body, c.body) || strings.HasPrefix(c.url, file) && body != c.body {
			t.Errorf("%s %s with %s %s: %s, Content-Range %q, body %q", c.method, c.url, c.header, c.value, res.Status, res.Header.Get("Content-Range"), body)
		}
		if c.method == "HEAD" && c.status == 200 && (res.ContentLength != 10 || res.Header.Get("ETag") != tag) {
			t.Errorf("HEAD: %v", res.Header)
		}
	}
	// If-Range: the part of the document that the client has, else all of it.
	for value, want := range map[string]string{tag: "789", `"other"`: "0123456789", "Tue, 20 Dec 1994 17:04:05 GMT": "789", "Tue, 20 Dec 1994 17:04:06 GMT": "0123456789"} {
		if _, body := roundTrip(t, client, "GET", file, "", "Range", "bytes=7-", "If-Range", value); body != want {
			t.Errorf("If-Range %s: %q, want %q", value, body, want)
		}
	}

	// PUT replaces, POST appends; conditions that cannot be checked are refused.
	if res, _ := roundTrip(t, client, "PUT", srv.URL+"/new.txt", "one"); res.StatusCode != 204 {
		t.Errorf("PUT: %s", res.Status)
	}
	roundTrip(t, client, "POST", srv.URL+"/new.txt", " two")
	if _, body := roundTrip(t, client, "GET", srv.URL+"/new.txt", ""); body != "one two" {
		t.Errorf("stored %q", body)
	}
	req, _ := http.NewRequest("PUT", srv.URL+"/new.txt", strings.NewReader("three"))
	req.Header.Set("If-None-Match", "*")
	if _, err := client.Do(req); !errors.Is(err, fetch.ErrUnsupported) {
		t.Errorf("PUT with If-None-Match: %v", err)
	}
	req, _ = http.NewRequest("DELETE", srv.URL+"/new.txt", nil)
	if _, err := client.Do(req); !errors.Is(err, fetch.ErrUnsupported) {
		t.Errorf("DELETE: %v", err)
	}
}

// Errors are those of package fetch, or statuses where that is asked for.
// Package net/url encodes a host beyond ASCII, which no URL of RFC 1738 may have so.
func TestTransportHostBeyondASCII(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = content() })
	r := &fetch1738.Resolver{Env: fetch.Env{Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		_, port, _ := net.SplitHostPort(address)
		return new(net.Dialer).DialContext(ctx, network, net.JoinHostPort("127.0.0.1", port))
	}}}
	defer r.Close()
	client := &http.Client{Transport: &transport.Transport{Resolver: r}}
	for _, host := range []string{"münchen.example", "m%C3%BCnchen.example", "xn--mnchen-3ya.example"} {
		res, err := client.Get(strings.Replace(srv.URL, "127.0.0.1", host, 1) + "/pub/motd.txt")
		if err != nil {
			t.Error(err)
			continue
		}
		text, err := io.ReadAll(res.Body)
		res.Body.Close()
		if string(text) != "0123456789" || err != nil {
			t.Errorf("%s: %q, %v", host, text, err)
		}
	}
	if _, err := client.Get("ftp://ä_b.example/"); fetch.KindOf(err) != fetch.ErrBadURL {
		t.Error(err)
	}
}

// closed is an address without a listener. Its port is below those that the system assigns: one of these that
// a test has closed may be that of a server of another test, which waits until the client speaks.
const closed = "127.0.0.1:1738"

func TestTransportErrors(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) {
		s.Content = content()
		s.Anonymous = false
		s.Users = map[string]testserver.User{"lab": {Password: "secret"}}
	})
	srv.On("RETR motd.txt", 1, testserver.Truncate(4))
	client := &http.Client{Transport: &transport.Transport{}}
	defer client.CloseIdleConnections()
	login := strings.Replace(srv.URL, "ftp://", "ftp://lab:secret@", 1)
	if _, err := client.Get(login + "/missing"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	} else if strings.Contains(err.Error(), "secret") {
		t.Errorf("the error shows a password: %v", err)
	}
	res, err := client.Get(login + "/pub/motd.txt")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(res.Body); !errors.Is(err, fetch.ErrTruncated) {
		t.Errorf("a truncated transfer: %v", err)
	}
	res.Body.Close()
	// Basic authentication that the caller sets is the login.
	req, _ := http.NewRequest("GET", srv.URL+"/pub/motd.txt", nil)
	req.SetBasicAuth("lab", "secret")
	res, err = client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()

	statuses := &http.Client{Transport: &transport.Transport{Statuses: true}}
	defer statuses.CloseIdleConnections()
	for url, want := range map[string]int{
		login + "/missing":                     404,
		srv.URL + "/pub/motd.txt":              401,
		"ftp://127.0.0.1:25/":                  403,
		"ftp://" + closed + "/a":               502,
		"telnet://127.0.0.1/":                  501,
		"unknown://127.0.0.1/":                 501,
		"file:///etc/motd":                     403,
		"gopher://127.0.0.1:" + "70/0a%0D%0Ab": 400,
	} {
		res, body := roundTrip(t, statuses, "GET", url, "")
		if res.StatusCode != want || !strings.HasSuffix(body, "\n") || strings.Contains(body, "secret") {
			t.Errorf("%s: %s, %q; want %d", url, res.Status, body, want)
		}
		if res, body := roundTrip(t, statuses, "HEAD", url, ""); res.StatusCode != want || body != "" {
			t.Errorf("HEAD %s: %s; want %d", url, res.Status, want)
		}
	}
}

// Every scheme, by a whole Client.
func TestTransportSchemes(t *testing.T) {
	docs := content()
	gopher := gophertest.New(t, func(s *gophertest.Server) { s.Content = docs })
	wais := waistest.New(t, func(s *waistest.Server) { s.Content = docs })
	web := httptest.NewServer(http.FileServerFS(docs))
	defer web.Close()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "motd.txt"), []byte("0123456789"), 0o600); err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &transport.Transport{Files: true}}
	defer client.CloseIdleConnections()
	for _, url := range []string{
		gopher.URL + "/0/pub/motd.txt",
		wais.URL + "/pub?0123456789",
		web.URL + "/pub/motd.txt",
		"file://" + filepath.ToSlash(filepath.Join(dir, "motd.txt")),
	} {
		res, body := roundTrip(t, client, "GET", url, "")
		if res.StatusCode != 200 || strings.TrimSpace(body) != "0123456789" && !strings.HasPrefix(url, "wais") {
			t.Errorf("%s: %s %q", url, res.Status, body)
		}
		if res, _ := roundTrip(t, client, "HEAD", url, ""); res.StatusCode != 200 {
			t.Errorf("HEAD %s: %s", url, res.Status)
		}
		if res, body := roundTrip(t, client, "GET", url, "", "Range", "bytes=2-4"); body != "234" && res.StatusCode != 200 {
			t.Errorf("a part of %s: %s %q", url, res.Status, body)
		}
	}
}

// A listing is text unless the scheme says what it is, so that nothing guesses its type from its bytes.
func TestTransportListings(t *testing.T) {
	docs := content()
	ftp := ftptest.New(t, func(s *ftptest.Server) { s.Content = docs })
	gopher := gophertest.New(t, func(s *gophertest.Server) { s.Content = docs })
	wais := waistest.New(t, func(s *waistest.Server) { s.Content = docs })
	archie := prosperotest.New(t, func(s *prosperotest.Server) { s.Content = docs })
	phones := csotest.New(t, func(s *csotest.Server) { s.Entries = []csotest.Entry{{{Name: "name", Value: "Frodo"}}} })
	news := nntptest.New(t, func(s *nntptest.Server) {
		s.Groups = map[string][]string{"lab.test": {"From: a@lab.test\r\nSubject: hello\r\nNewsgroups: lab.test\r\n\r\nhello\r\n"}}
	})
	client := &http.Client{Transport: &transport.Transport{Files: true, Resolver: &fetch1738.Resolver{Env: fetch.Env{NewsServer: news.Addr}}}}
	defer client.CloseIdleConnections()
	for url, want := range map[string]string{
		ftp.URL + "/pub/":                         "text/plain",
		gopher.URL + "/":                          "application/gopher-menu",
		gopher.URL + "/1/pub":                     "application/gopher-menu",
		wais.URL + "/pub?0123456789":              "text/plain",
		archie.URL + "/pub":                       "text/plain",
		phones.URL + "%09Frodo":                   "text/plain",
		"news:*":                                  "text/plain",
		news.URL:                                  "text/plain",
		news.URL + "/":                            "text/plain",
		"news:lab.test":                           "text/plain",
		news.URL + "/lab.test":                    "text/plain",
		news.URL + "/lab.test/1":                  "message/rfc822",
		"file://" + filepath.ToSlash(t.TempDir()): "text/plain",
	} {
		for _, method := range []string{"GET", "HEAD"} {
			if res, body := roundTrip(t, client, method, url, ""); res.Header.Get("Content-Type") != want {
				t.Errorf("%s %s: %s %v %q", method, url, res.Status, res.Header, body)
			}
		}
	}
}

// A redirect of an http server is judged by the policy, to the same host and to another. It reaches
// no server but one of ftp, and that only where the policy permits it. It carries nothing along.
func TestTransportRedirects(t *testing.T) {
	ftp := ftptest.New(t, func(s *ftptest.Server) { s.Content = content() })
	gopher := gophertest.New(t, func(s *gophertest.Server) { s.Content = content() })
	news := nntptest.New(t)
	telnet := telnettest.New(t)
	wais := waistest.New(t, func(s *waistest.Server) { s.Content = content() })
	file := filepath.ToSlash(filepath.Join(t.TempDir(), "motd.txt"))
	if err := os.WriteFile(filepath.FromSlash(file), []byte("0123456789"), 0o600); err != nil {
		t.Fatal(err)
	}
	var to string
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusTemporaryRedirect) }))
	defer web.Close()
	address := func(url string) string { _, address, _ := strings.Cut(url, "://"); return address }
	targets := []struct {
		url  string
		open bool // by the relaxed rules
	}{
		{ftp.URL + "/pub/motd.txt", true},
		{gopher.URL + "/0/pub/motd.txt", false},
		{"news:1@example.org", false},
		{news.URL + "/group/1", false},
		{wais.URL + "/pub?motd", false},
		{"file://" + file, false},
		{"file://127.0.0.1" + file, false},
		{telnet.URL, false},
		{"mailto:someone@example.org", false},
		{"unknown://127.0.0.1/", false},
	}
	for _, rules := range []*policy.Rules{nil, {}, {LocalLinks: true, AllowZones: []policy.Zone{policy.ZoneLoopback}}, {RedirectToFTP: true, LocalLinks: true}} {
		relaxed := rules != nil && rules.RedirectToFTP
		for _, target := range targets {
			for _, url := range []string{target.url, strings.Replace(target.url, "127.0.0.1", "localhost", 1)} {
				for _, method := range []string{"GET", "HEAD", "POST", "PUT"} {
					to = url
					r := &fetch1738.Resolver{Env: fetch.Env{NewsServer: address(news.URL)}}
					if rules != nil {
						r.Env.Allow = rules.Allow
					}
					whole := &http.Client{Transport: &transport.Transport{Resolver: r, Files: true}}
					req, _ := http.NewRequestWithContext(t.Context(), method, web.URL+"/canary", strings.NewReader("stored"))
					req.SetBasicAuth("anne", "canary")
					req.Header.Set("Cookie", "canary=1")
					req.Header.Set("X-Token", "canary")
					res, err := whole.Do(req)
					whole.CloseIdleConnections()
					what := fmt.Sprintf("redirect of %s to %s, rules %+v", method, url, rules)
					switch {
					case relaxed && target.open && (method == "GET" || method == "HEAD"):
						if err != nil {
							t.Errorf("%s: %v", what, err)
							continue
						}
						got, err := io.ReadAll(res.Body)
						if want := map[string]string{"GET": "0123456789"}[method]; string(got) != want || err != nil {
							t.Errorf("%s: %q, %v", what, got, err)
						}
						res.Body.Close()
					case relaxed && target.open && method == "PUT":
						if err != nil {
							t.Errorf("%s: %v", what, err)
							continue
						}
						res.Body.Close()
						ftp.Put("pub/motd.txt", content()["pub/motd.txt"].Data)
					case err == nil:
						res.Body.Close()
						t.Errorf("%s: %s", what, res.Status)
					case target.open && !relaxed && method != "POST" && !strings.Contains(err.Error(), "policy.Rules.RedirectToFTP"):
						t.Errorf("%s does not say what permits it: %v", what, err)
					case target.open && !errors.Is(err, fetch.ErrRefused):
						t.Errorf("%s: %v", what, err)
					case strings.Contains(err.Error(), "canary") && !strings.Contains(err.Error(), web.URL+"/canary"):
						t.Errorf("%s: %v", what, err)
					}
				}
			}
		}
		for name, said := range map[string]testserver.Transcript{"gopher": gopher.Transcript(), "news": news.Transcript(), "telnet": telnet.Transcript(), "wais": wais.Transcript()} {
			if len(said) > 0 {
				t.Errorf("rules %+v: a redirect reached the server of %s:\n%s", rules, name, said)
			}
		}
		if said := ftp.Transcript(); !relaxed && len(said) > 0 {
			t.Errorf("rules %+v: a redirect reached the server of ftp:\n%s", rules, said)
		}
	}
	said := ftp.Transcript().String()
	for _, secret := range []string{"canary", "anne", "X-Token", address(web.URL)} {
		if strings.Contains(said, secret) {
			t.Errorf("a redirect carried %q along:\n%.2000s", secret, said)
		}
	}
	if !strings.Contains(said, "C: USER anonymous") || strings.Contains(said, "C: APPE") {
		t.Errorf("not what the redirects permit:\n%.2000s", said)
	}
}

// Registered for one scheme, the Transport does not learn which address redirected, so a redirect
// leads to public addresses only.
func TestTransportRegistered(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = content() })
	web := httptest.NewServer(http.RedirectHandler(srv.URL+"/pub/motd.txt", http.StatusFound))
	defer web.Close()
	for _, c := range []struct {
		rules policy.Rules
		ok    bool
	}{
		{policy.Rules{}, false},
		{policy.Rules{RedirectToFTP: true}, false},
		{policy.Rules{RedirectToFTP: true, AllowZones: []policy.Zone{policy.ZoneLoopback}}, true},
	} {
		ours := &transport.Transport{Resolver: &fetch1738.Resolver{Env: fetch.Env{Allow: c.rules.Allow}}}
		base := &http.Transport{}
		base.RegisterProtocol("ftp", ours)
		client := &http.Client{Transport: base}
		roundTrip(t, client, "GET", srv.URL+"/pub/motd.txt", "")
		res, err := client.Get(web.URL)
		if (err == nil) != c.ok {
			t.Errorf("with %+v: %v", c.rules, err)
		}
		if err == nil {
			res.Body.Close()
		}
		client.CloseIdleConnections()
		ours.CloseIdleConnections()
	}

	// For a scheme that is Base's, it passes requests on, once.
	base := &http.Transport{}
	base.RegisterProtocol("http", &transport.Transport{Base: base})
	client := &http.Client{Transport: base, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	defer client.CloseIdleConnections()
	if res, _ := roundTrip(t, client, "GET", web.URL, ""); res.StatusCode != http.StatusFound {
		t.Errorf("http through its own Transport: %s", res.Status)
	}
}

// Through a proxy the client does not know the address of the server that redirects: that of the
// proxy must not stand for it.
func TestTransportRedirectThroughProxy(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = content() })
	proxy := httptest.NewServer(http.RedirectHandler(srv.URL+"/pub/motd.txt", http.StatusFound))
	defer proxy.Close()
	at, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	base := &http.Transport{Proxy: http.ProxyURL(at)}
	rules := policy.Rules{RedirectToFTP: true}
	client := &http.Client{Transport: &transport.Transport{Base: base, Resolver: &fetch1738.Resolver{Env: fetch.Env{Allow: rules.Allow}}}}
	defer client.CloseIdleConnections()
	if _, err := client.Get("http://www.example.org/"); !errors.Is(err, fetch.ErrRefused) {
		t.Errorf("%v", err)
	}
}

func TestTransportTrace(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = content() })
	client := &http.Client{Transport: &transport.Transport{}}
	defer client.CloseIdleConnections()
	for _, reused := range []bool{false, true} {
		var called []string
		ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
			GetConn: func(hostPort string) { called = append(called, "GetConn "+hostPort) },
			GotConn: func(info httptrace.GotConnInfo) {
				called = append(called, "GotConn")
				if info.Reused != reused || info.Conn.RemoteAddr().String() != strings.TrimPrefix(srv.URL, "ftp://") {
					t.Errorf("reused %v, %v", info.Reused, info.Conn.RemoteAddr())
				}
			},
			WroteRequest:         func(httptrace.WroteRequestInfo) { called = append(called, "WroteRequest") },
			GotFirstResponseByte: func() { called = append(called, "GotFirstResponseByte") },
		})
		req, _ := http.NewRequestWithContext(ctx, "GET", srv.URL+"/pub/motd.txt", nil)
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(res.Body); err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		slices.Sort(called)
		if want := []string{"GetConn " + strings.TrimPrefix(srv.URL, "ftp://"), "GotConn", "GotFirstResponseByte", "WroteRequest"}; !slices.Equal(called, want) {
			t.Errorf("reused %v: %q, want %q", reused, called, want)
		}
	}
}

// Cancelling ends the request, wherever it is, and its connections.
func TestTransportCancel(t *testing.T) {
	for stage, method := range map[string]string{"GREETING": "GET", "USER": "GET", "EPSV": "GET", "SIZE": "HEAD", "RETR": "GET", "DATA": "GET", "STOR": "PUT"} {
		synctest.Test(t, func(t *testing.T) {
			srv := ftptest.New(t, func(s *ftptest.Server) { s.InMemory, s.Content = true, content() })
			var fault ftptest.Fault = testserver.Silence()
			if stage == "DATA" {
				fault = testserver.Drip(4, time.Hour)
			}
			srv.On(stage, 1, fault)
			transport := &transport.Transport{Statuses: true, Resolver: &fetch1738.Resolver{Env: fetch.Env{Dial: srv.Dial}}}
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() {
				req, _ := http.NewRequestWithContext(ctx, method, srv.URL+"/pub/motd.txt", strings.NewReader("stored"))
				res, err := (&http.Client{Transport: transport}).Do(req)
				if err == nil {
					defer res.Body.Close()
					_, err = io.ReadAll(res.Body)
				}
				ended <- err
			}()
			synctest.Wait() // until the server is silent
			if err := srv.PendingFaults(); err != nil {
				t.Errorf("%s: %v", stage, err)
			}
			cancel()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("canceled at %s: %v", stage, err)
			}
			synctest.Wait()
			idle, giveUp := context.WithTimeout(t.Context(), time.Minute)
			defer giveUp()
			if err := srv.WaitIdle(idle); err != nil { // all connections have ended
				t.Errorf("canceled at %s: %v", stage, err)
			}
			transport.CloseIdleConnections()
		})
	}
}

// Many goroutines use one Transport at the same time, and leave nothing behind.
func TestTransportConcurrent(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	docs := content()
	ftp, err := ftptest.Start(t.Context(), "", func(s *ftptest.Server) { s.Content = docs })
	if err != nil {
		t.Fatal(err)
	}
	defer ftp.Close()
	gopher, err := gophertest.Start(t.Context(), "", func(s *gophertest.Server) { s.Content = docs })
	if err != nil {
		t.Fatal(err)
	}
	defer gopher.Close()
	web := httptest.NewServer(http.FileServerFS(docs))
	defer web.Close()
	transport := &transport.Transport{Base: &http.Transport{}}
	client := &http.Client{Transport: transport}
	defer client.CloseIdleConnections()
	var users sync.WaitGroup
	for i := range 64 {
		users.Go(func() {
			var calls atomic.Int64
			ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
				GotConn:              func(httptrace.GotConnInfo) { calls.Add(1) },
				GotFirstResponseByte: func() { calls.Add(1) },
			})
			url := []string{ftp.URL, gopher.URL + "/0", web.URL}[i%3] + "/pub/motd.txt"
			for _, value := range []string{"", "bytes=2-4", "bytes=-3"} {
				calls.Store(0)
				req, _ := http.NewRequestWithContext(ctx, "GET", url, nil)
				req.Header.Set("Range", value)
				res, err := client.Do(req)
				if err != nil {
					t.Errorf("%s: %v", url, err)
					continue
				}
				got, err := io.ReadAll(res.Body)
				res.Body.Close()
				want := map[string]string{"": "0123456789", "bytes=2-4": "234", "bytes=-3": "789"}[value]
				if res.StatusCode == 200 {
					want = "0123456789"
				}
				if strings.TrimSpace(string(got)) != want || err != nil || calls.Load() < 2 {
					t.Errorf("%s %s: %s %q, %v, %d hooks", url, value, res.Status, got, err, calls.Load())
				}
			}
		})
	}
	users.Wait()
}

// TestTransportAllocations limits the allocations of a RoundTrip beyond those of the Resolver's
// Fetch.
func TestTransportAllocations(t *testing.T) {
	file := filepath.Join(t.TempDir(), "motd.txt")
	if err := os.WriteFile(file, []byte("0123456789"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := &fetch1738.Resolver{Schemes: []fetch1738.Scheme{{Names: []string{"ftp"}, New: func(*fetch.Env) driver.Fetcher { return inMemory{} }}}}
	transport := &transport.Transport{Resolver: r, Files: true}
	for _, text := range []string{"file://" + filepath.ToSlash(file), "ftp://ftp.example.org/pub/motd.txt"} {
		asked, err := r.Request(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		req, err := http.NewRequest("GET", text, nil)
		if err != nil {
			t.Fatal(err)
		}
		bare := testing.AllocsPerRun(100, func() {
			res, err := r.Fetch(t.Context(), asked)
			if err != nil {
				t.Fatal(err)
			}
			res.Close()
		})
		whole := testing.AllocsPerRun(100, func() {
			res, err := transport.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
		})
		if whole-bare > 12 {
			t.Errorf("%s: RoundTrip allocates %v times, Fetch %v times", asked.Locator.Scheme(), whole, bare)
		}
	}
}

// inMemory fetches the same file for every URL.
type inMemory struct{}

func (inMemory) Fetch(_ context.Context, req *fetch.Request) (*fetch.Resource, error) {
	return &fetch.Resource{
		Locator: req.Locator, Attributes: fetch.Attributes{Size: 10, ModTime: time.Unix(1e9, 0)},
		Body: io.NopCloser(strings.NewReader("0123456789")),
	}, nil
}
