package fetch1738

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/policy"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
	"github.com/fetch1738/fetch1738/testserver/webtest"
)

// leadingTo returns an Env that connects every dial to one server, and records the addresses.
func leadingTo(addr string, dialled *[]string) fetch.Env {
	return fetch.Env{Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		*dialled = append(*dialled, address)
		var d net.Dialer
		return d.DialContext(ctx, network, addr)
	}}
}

// asked returns the request lines and Host fields that a server has received.
func asked(s *webtest.Server) (lines []string) {
	for _, line := range s.Transcript() {
		text := line.String()
		for _, start := range []string{"C: GET ", "C: Host: "} {
			if rest, ok := strings.CutPrefix(text, start); ok {
				lines = append(lines, strings.TrimSuffix(strings.TrimSpace(rest), " HTTP/1.1"))
			}
		}
	}
	return lines
}

// TestEverydayURLs: URLs as people write them are accepted by default, with a note. A strict Resolver
// refuses them.
func TestEverydayURLs(t *testing.T) {
	for _, c := range []struct {
		url, request, host, dialled string
		used                        locator.Tolerance
	}{
		{"http://h/~user", "/%7Euser", "h", "h:80", locator.UnsafeOctets},
		{"http://h/a b|ü", "/a%20b%7C%C3%BC", "h", "h:80", locator.UnsafeOctets},
		{"http://h/100%", "/100%25", "h", "h:80", locator.StrayPercent},
		{"http://h/a#top", "/a", "h", "h:80", locator.Fragments},
		{"http://h?q", "/?q", "h", "h:80", locator.MissingSlashes},
		{"http://h:/", "/", "h", "h:80", locator.EmptyPort},
		{"http://a_b/", "/", "a_b", "a_b:80", locator.ModernHosts},
		{"http://[::1]/", "/", "[::1]", "[::1]:80", locator.ModernHosts},
		{"http://[fe80::1%25eth0]/", "/", "[fe80::1]", "[fe80::1%eth0]:80", locator.ModernHosts},
		{"http://[fe80::1%eth0]:8080/", "/", "[fe80::1]:8080", "[fe80::1%eth0]:8080", locator.ModernHosts},
		{"http://u:p@h/", "/", "h", "h:80", locator.HTTPLogin},
	} {
		s := webtest.New(t)
		var dialled, notes []string
		ctx := fetch.WithTrace(t.Context(), &fetch.Trace{Note: func(text string) { notes = append(notes, text) }})
		strict := Resolver{Parser: new(locator.Parser)}
		if _, err := strict.Get(ctx, c.url); !errors.Is(err, fetch.ErrBadURL) {
			t.Errorf("%s, strict: %v", c.url, err)
		}
		r := Resolver{Env: leadingTo(s.Addr, &dialled)}
		if _, err := attributesAt(t.Context(), &r, c.url); errors.Is(err, fetch.ErrBadURL) {
			t.Errorf("%s: %v", c.url, err)
		}
		s.ResetTranscript()
		res, err := r.Get(ctx, c.url)
		if errors.Is(err, fetch.ErrBadURL) {
			t.Errorf("%s: %v", c.url, err)
		}
		if err == nil {
			_, _ = io.Copy(io.Discard, res.Body)
			res.Close()
		}
		r.Close()
		if got := asked(s); !slices.Equal(got, []string{c.request, c.host}) || dialled[0] != c.dialled {
			t.Errorf("%s: requested %q at %q", c.url, got, dialled)
		}
		if want := "the URL departs from RFC 1738: " + c.used.String(); !slices.Contains(notes, want) {
			t.Errorf("%s: notes %q", c.url, notes)
		}
	}
}

// TestAmbiguousURLs: every Resolver refuses ambiguous URLs.
func TestAmbiguousURLs(t *testing.T) {
	for _, url := range []string{
		"http://127.1/", "http://0x7f.1/", "http://2130706433/", "http://1.2.3.4./", "http://h\\x/", "ftp://u\\@h/", "http://h%2Fx/",
		"http://[fe80::1%12]/", "http://[fe80::1%25]/", "http://[::1%25eth0]/", "<URL:http://h/>", "http://h/\n", "http://h/a\r\nb",
	} {
		var dialled []string
		r := Resolver{Env: leadingTo("127.0.0.1:1", &dialled)}
		if _, err := r.Get(t.Context(), url); !errors.Is(err, fetch.ErrBadURL) || dialled != nil {
			t.Errorf("%q: %v, dialled %q", url, err, dialled)
		}
	}
}

// TestLinkLocal connects to a link-local address with a zone, if this computer has one.
func TestLinkLocal(t *testing.T) {
	addr := ""
	cards, _ := net.Interfaces()
	for _, card := range cards {
		addrs, _ := card.Addrs()
		for _, a := range addrs {
			if ip, ok := a.(*net.IPNet); ok && ip.IP.To4() == nil && ip.IP.IsLinkLocalUnicast() {
				addr = ip.IP.String() + "%" + card.Name
			}
		}
	}
	if addr == "" {
		t.Skip("this computer has no link-local IPv6 address")
	}
	web, err := webtest.Start(t.Context(), net.JoinHostPort(addr, "0"))
	if err != nil {
		t.Skipf("cannot listen on %s: %v", addr, err)
	}
	defer web.Close()
	archive, err := ftptest.Start(t.Context(), net.JoinHostPort(addr, "0"), func(s *ftptest.Server) {
		s.Content = fstest.MapFS{"a": {Data: []byte("by ftp")}} // and by a data connection
	})
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	get := func(scheme, at, path string) string {
		_, port, _ := net.SplitHostPort(at)
		var r Resolver
		defer r.Close()
		res, err := r.Get(t.Context(), scheme+"://["+strings.Replace(addr, "%", "%25", 1)+"]:"+port+path)
		if err != nil {
			t.Error(err)
			return ""
		}
		defer res.Close()
		got, err := io.ReadAll(res.Body)
		if err != nil {
			t.Error(err)
		}
		return string(got)
	}
	literal, _, _ := strings.Cut(addr, "%")
	if got := get("http", web.Addr, "/echo"); !strings.Contains(got, "\r\nHost: ["+literal+"]:") {
		t.Errorf("by http: %q", got)
	}
	if got := get("ftp", archive.Addr, "/a"); got != "by ftp" {
		t.Errorf("by ftp: %q", got)
	}
}

// TestLinkedZone: only a typed URL can name a network interface. The server at that address may link to
// itself.
func TestLinkedZone(t *testing.T) {
	const away, elsewhere = "http://[fe80::1%25eth0]/", "http://[fe80::1%25eth1]/"
	s := webtest.New(t, func(s *webtest.Server) {
		s.Redirects = map[string]webtest.Redirect{"/old": {Location: "/echo"}, "/away": {Location: elsewhere}}
	})
	menu := gophertest.New(t, func(s *gophertest.Server) {
		s.Content = fstest.MapFS{"gophermap": {Data: []byte("hAway\tURL:" + away + "\tx\t70\n")}}
	})
	var dialled []string
	r := Resolver{Env: leadingTo(s.Addr, &dialled)}
	defer r.Close()
	res, err := r.Get(t.Context(), away+"old")
	if err != nil {
		t.Fatal(err)
	}
	res.Close()
	refused := func(err error) {
		t.Helper()
		var denied *policy.Denied
		if !errors.As(err, &denied) || denied.Rule != "zone-id" || !errors.Is(err, fetch.ErrRefused) || !strings.Contains(err.Error(), "only a typed URL") {
			t.Errorf("%v", err)
		}
		for _, address := range dialled {
			if strings.Contains(address, "eth1") {
				t.Errorf("dialled %s", address)
			}
		}
	}
	_, err = r.Get(t.Context(), away+"away")
	refused(err)

	var reader Resolver
	defer reader.Close()
	dir, err := reader.Get(t.Context(), menu.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	links := 0
	for item, err := range dir.Items {
		if err != nil || item.Locator == nil || item.Locator.Scheme() != "http" {
			t.Fatalf("%+v, %v", item, err)
		}
		links++
		_, err := r.Fetch(t.Context(), &fetch.Request{Locator: item.Locator, From: dir.Origin()})
		refused(err)
	}
	if links != 1 {
		t.Errorf("%d links", links)
	}
}

// TestLocalhost: localhost and names that end in .localhost are loopback addresses, without a name
// server (RFC 6761 §6.3).
func TestLocalhost(t *testing.T) {
	defer func(r *net.Resolver) { net.DefaultResolver = r }(net.DefaultResolver)
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		t.Error("a name server is queried")
		return nil, errors.New("no network")
	}}
	s := webtest.New(t)
	_, port, _ := strings.Cut(s.Addr, ":")
	for _, host := range []string{"localhost", "x.localhost", "a.b.LocalHost", "x.localhost."} {
		var r Resolver
		res, err := r.Get(t.Context(), "http://"+host+":"+port+"/echo")
		if err != nil {
			t.Errorf("%s: %v", host, err)
			continue
		}
		if got, err := io.ReadAll(res.Body); err != nil || !strings.Contains(string(got), "Host: "+host+":"+port) {
			t.Errorf("%s: %q, %v", host, got, err)
		}
		res.Close()
		r.Close()

		public := Resolver{Env: fetch.Env{Allow: policy.Public}}
		var denied *policy.Denied
		if _, err := public.Get(t.Context(), "http://"+host+":"+port+"/"); !errors.As(err, &denied) || denied.Rule != "loopback-address" {
			t.Errorf("%s, by policy.Public: %v", host, err)
		}
		public.Close()
	}
}
