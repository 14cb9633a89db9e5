package interop

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// pageContains checks that a page contains texts.
func pageContains(t *testing.T, url string, texts ...string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/html")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if res.StatusCode != 200 || err != nil {
		t.Fatalf("%s: %s, %v\n%s", url, res.Status, err, body)
	}
	for _, text := range texts {
		if !strings.Contains(string(body), text) {
			t.Errorf("%s has no %q:\n%.5000s", url, text, body)
		}
	}
}

// TestGatewayGophernicus reads menus and texts of gophernicus, and searches, by way of the gateway.
func TestGatewayGophernicus(t *testing.T) {
	t.Parallel()
	srv := startGophernicus(t)
	base, at := startGateway(t), "/gopher/"+srv.addr
	pageContains(t, base+at+"/1/docs", `<span>text</span></span> <span class="name"><a href="`+at+`/0/docs/hello.txt"`)
	pageContains(t, base+at+"/0/docs/hello.txt", "hello gopher\nsecond line")
	pageContains(t, base+at+"/0/docs/dots.txt", ".leading dot\n..two dots\n.\nafter a lone dot\n..")
	pageContains(t, base+at+"/1/map", "<title>", `action="`+at+`/7/cgi-bin/search"`, `<a href="http://127.0.0.1/" rel="noreferrer">Web</a>`, "127.0.0.1, port 2323, log in as guest")
	pageContains(t, base+at+"/7/cgi-bin/search?q=two+words", "query=two words", `value="two words"`, `href="`+at+`/0/docs/hello.txt"`)
}

// TestGatewayPygopherd reads a menu, a text, attributes and a form of pygopherd.
func TestGatewayPygopherd(t *testing.T) {
	t.Parallel()
	addr := startPygopherd(t, map[string]string{
		"about.txt": "About.\n", "about.txt.abstract": "What it is about.\n", "sub/deep.txt": "deep\n",
		"form": "form\n", "form.ask": "Ask: How many volts?\t220\nChoose: Colour\tRed\tGreen\n",
	})
	base, at := startGateway(t), "/gopher/"+addr
	pageContains(t, base+at+"/1", `href="`+at+`/0/about.txt"`, `href="`+at+`/0/about.txt?info"`, `href="`+at+`/1/sub"`)
	pageContains(t, base+at+"/0/about.txt", "About.")
	pageContains(t, base+at+"/0/about.txt?info", "What it is about.", "<th scope=\"col\">Language</th>", "Administrator")
	pageContains(t, base+at+"/1/%09%09$", `href="`+at+`/1/sub"`)
	pageContains(t, base+at+"/0/form%09%09%3F", `<label for="a0">How many volts?</label>`, `value="220"`, "<legend>Colour</legend>")
}
