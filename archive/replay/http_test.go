package replay_test

import (
	"io"
	"testing"

	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
)

// TestReplayHTTP2 has a response as HTTP/2 is recorded: names in lower case, and no reason phrase.
func TestReplayHTTP2(t *testing.T) {
	_, r := openReplay(t, writeArchive(t,
		capture{url: "https://a.example/", body: "HTTP/1.1 301 \r\nlocation: https://a.example/page\r\n\r\n"},
		capture{url: "https://a.example/page", body: "HTTP/1.1 203 \r\ncontent-type: text/x-y\r\nserver: old\r\nalt-svc: h3\r\nstrict-transport-security: max-age=1\r\n\r\nfive5"}))
	res, err := r.Get(t.Context(), "https://a.example/")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Close()
	body, err := io.ReadAll(res.Body)
	info := res.Info.(*fetchhttp.Info)
	if err != nil || string(body) != "five5" || res.MediaType != "text/x-y" || info.StatusCode != 203 || res.Locator.String() != "https://a.example/page" {
		t.Errorf("%q, %v, %+v", body, err, info)
	}
	if h := info.Header; h.Get("Server") != "old" || h.Get("Alt-Svc") != "" || h.Get("Strict-Transport-Security") != "" || info.Redirects == nil {
		t.Errorf("%v", h)
	}
}
