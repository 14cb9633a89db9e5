package interop

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/gateway"
)

// TestGatewayINN reads groups and articles of INN as pages.
func TestGatewayINN(t *testing.T) {
	t.Parallel()
	h := startINN(t)
	h.fill(t)
	handler := &gateway.Handler{Resolver: &fetch1738.Resolver{Env: fetch.Env{
		NewsServer: h.Addr, Limits: gateway.Limits(), Allow: func(context.Context, fetch.Target) error { return nil },
	}}}
	s := httptest.NewServer(handler)
	t.Cleanup(func() { s.Close(); handler.Close() })
	get := func(path string) string {
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
		if res.StatusCode != 200 || err != nil {
			t.Fatalf("%s: %s, %v\n%s", path, res.Status, err, body)
		}
		return string(body)
	}
	contains := func(path string, texts ...string) {
		t.Helper()
		body := get(path)
		for _, text := range texts {
			if !strings.Contains(body, text) {
				t.Errorf("%s has no %q:\n%.5000s", path, text, body)
			}
		}
	}
	group := "/nntp/" + h.Addr + "/local.test"
	number := len(h.letters)
	contains("/news/*", `<a href="/news/local.test">local.test</a>`)
	contains(group, fmt.Sprintf(`<a href="%s/%d">number %d</a>`, group, number, number-1), fmt.Sprintf("about %d articles", number))
	contains("/news/local.test", fmt.Sprintf(`<a href="/news/n%d@lab.example">number %d</a>`, number-1, number-1))
	contains(group+"?threads", fmt.Sprintf(`<li><a href="%s/%d">number %d`, group, number, number-1))
	contains(fmt.Sprintf("%s/%d", group, number), fmt.Sprintf("<h1>number %d</h1>", number-1), fmt.Sprintf(`In reply to <a href="%s/%d">number %d`, group, number-1, number-2), "a line of text")
	contains(fmt.Sprintf("%s?id=n%d%%40lab.example", group, number-2), fmt.Sprintf("<h1>number %d</h1>", number-2))
	contains("/news/utf-8@lab.example", "<h1>")
	contains("/news/local.test?atom", `<feed xmlns="http://www.w3.org/2005/Atom">`, fmt.Sprintf("<title>number %d</title>", number-1))
	checkLetter(t, "raw", get("/news/utf-8@lab.example?raw"), h.letters[2])
}
