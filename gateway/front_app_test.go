package gateway

import (
	"bytes"
	"encoding/json"
	"image/png"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestManifest tests that a browser can install the gateway: what the manifest names is there, below
// the Prefix, and every page leads to it.
func TestManifest(t *testing.T) {
	s := start(t, func(h *Handler) { h.Prefix = "/net" })
	browser := []string{"Sec-Fetch-Site", "same-origin", "Sec-Fetch-Mode", "cors", "Sec-Fetch-Dest", "manifest"}
	res, body, err := ask(t, s, http.MethodGet, "/net/manifest.webmanifest", browser...)
	if err != nil || res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "application/manifest+json" {
		t.Fatalf("%v %v", res, err)
	}
	var m struct {
		Start    string `json:"start_url"`
		Scope    string
		Icons    []struct{ Src, Sizes, Type string }
		Handlers []struct{ Protocol, URL string } `json:"protocol_handlers"`
	}
	if err := json.Unmarshal([]byte(body), &m); err != nil {
		t.Fatal(err)
	}
	if m.Start != "/net/" || m.Scope != "/net/" || len(m.Icons) == 0 {
		t.Errorf("%+v", m)
	}
	for _, icon := range m.Icons {
		res, body := get(t, s, icon.Src)
		if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != icon.Type || len(body) > 4<<10 {
			t.Errorf("%s: %s %s, %d bytes", icon.Src, res.Status, res.Header.Get("Content-Type"), len(body))
		}
		if icon.Type != "image/png" {
			continue
		}
		size, err := png.DecodeConfig(bytes.NewReader([]byte(body)))
		if want := strconv.Itoa(size.Width) + "x" + strconv.Itoa(size.Height); err != nil || want != icon.Sizes {
			t.Errorf("%s is %s, not %s: %v", icon.Src, want, icon.Sizes, err)
		}
	}
	for _, h := range m.Handlers {
		of := h.Protocol + "://h.example/x"
		if h.Protocol == "news" {
			of = "news:local.test"
		}
		path := strings.Replace(h.URL, "%s", url.QueryEscape(of), 1)
		if res, _, err := ask(t, s, http.MethodGet, path); err != nil || res.StatusCode != http.StatusSeeOther {
			t.Errorf("%s: %v %v", path, res, err)
		}
	}
	for _, path := range []string{"/net/", "/net/help", "/net/none", "/net/mailto/a@b.example"} {
		if _, body := get(t, s, path); !strings.Contains(body, `<link rel="manifest" href="/net/manifest.webmanifest"`) || !strings.Contains(body, `<link rel="icon" href="/net/icon.svg"`) {
			t.Errorf("%s does not lead to the manifest and the icon", path)
		}
	}
	// Nothing else is a manifest, and none is for another site.
	for _, fields := range [][]string{browser, {"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "cors", "Sec-Fetch-Dest", "manifest"}} {
		path := "/net/ftp/h.example/manifest.webmanifest"
		if !slices.Equal(fields, browser) {
			path = "/net/manifest.webmanifest"
		}
		if res, _, err := ask(t, s, http.MethodGet, path, fields...); err != nil || res.StatusCode != http.StatusForbidden {
			t.Errorf("%s with %q: %v %v", path, fields, res, err)
		}
	}
}
