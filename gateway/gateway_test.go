package gateway

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
)

// start starts a gateway that may fetch from the servers of the test.
func start(t *testing.T, set func(*Handler)) *httptest.Server {
	t.Helper()
	h := &Handler{Resolver: &fetch1738.Resolver{Env: fetch.Env{Limits: Limits(), Allow: func(context.Context, fetch.Target) error { return nil }}}}
	if set != nil {
		set(h)
	}
	s := httptest.NewServer(h)
	t.Cleanup(func() { s.Close(); _ = h.Close() })
	return s
}

// get returns the status and the body of a path of a gateway, as a browser gets it.
func get(t *testing.T, s *httptest.Server, path string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/html")
	res, err := s.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return res, string(body)
}

// ask makes a request of a gateway, with names and values of header fields in turn. It follows no
// redirect. The error is that of the connection, or of reading the body.
func ask(t *testing.T, s *httptest.Server, method, path string, header ...string) (*http.Response, string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := s.Client().Transport.RoundTrip(req)
	if err != nil {
		return nil, "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return res, string(body), err
}

// pathOf is the path of the page of a URL.
func pathOf(t *testing.T, url string) string {
	t.Helper()
	l, err := place.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	return place.Of(l)
}

// TestPages tests that a URL of each kind has a page.
func TestPages(t *testing.T) {
	content := fstest.MapFS{"pub/octets.bin": {Data: []byte{0, 1, 2}}, "pub/README": {Data: []byte("Read me.\n")}}
	ftp, err := ftptest.Start(t.Context(), "127.0.0.1:0", func(s *ftptest.Server) { s.Content = content })
	if err != nil {
		t.Fatal(err)
	}
	gopher, err := gophertest.Start(t.Context(), "127.0.0.1:0", func(s *gophertest.Server) { s.Content = content })
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, nil)
	for url, want := range map[string]string{
		ftp.URL + "/pub/":             "octets.bin",
		gopher.URL + "/1/pub":         "README",
		"telnet://user@example.org/":  "<dt>Log in as</dt><dd>user</dd>",
		"mailto:someone@example.org":  "someone@example.org",
		"gopher://example.org/8login": "gopher://example.org/8login",
	} {
		res, body := get(t, s, pathOf(t, url))
		if res.StatusCode != 200 || !strings.Contains(body, want) {
			t.Errorf("%s: %s\n%s", url, res.Status, body)
		}
	}
}
