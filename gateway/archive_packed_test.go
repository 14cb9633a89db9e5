package gateway

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestPackedCaptures tests that what is in a zip archive of a web archive has the bar of its captures,
// whose links stay within the zip archive, and is not said to be the zip archive.
func TestPackedCaptures(t *testing.T) {
	zipped, _ := packedBoth(t)
	var records []record
	for _, year := range []string{"1993", "1994", "2003"} {
		records = append(records, record{year + "-03-14T08:00:00Z", "ftp://h.example/a.zip", "application/zip", zipped})
	}
	s := startArchive(t, captured(t, records), time.Time{}, nil)
	const path = "/ftp/h.example/a.zip"
	for in, query := range map[string]string{"": "", "docs/": "docs%2F", "docs/readme.txt": "docs%2Freadme.txt"} {
		res, body, err := ask(t, s, http.MethodGet, "/at/1994"+path+"?in="+in, browser...)
		if err != nil || res.StatusCode != http.StatusOK || res.Header.Get("Content-Location")+res.Header.Get("Memento-Datetime")+res.Header.Get("Link") != "" {
			t.Errorf("%q: %v, %s, %q", in, err, res.Status, res.Header)
		}
		for _, want := range []string{"/at/19930314080000" + path + "?in=" + query + `" rel="prev`, "/at/20030314080000" + path + "?in=" + query + `" rel="next`, `href="` + path + "?in=" + query + `"`, `<input type="hidden" name="in" value="` + in + `">`} {
			if !strings.Contains(body, want) {
				t.Errorf("%q: %s is missing in\n%s", in, want, body)
			}
		}
		if res, _, err := ask(t, s, http.MethodGet, path+"?at=1993&in="+in, browser...); err != nil || res.Header.Get("Location") != "/at/19931231235959"+path+"?in="+query {
			t.Errorf("%q: %v, %s", in, err, res.Header.Get("Location"))
		}
	}
	if res, body, err := ask(t, s, http.MethodGet, "/at/1994"+path+"?in=tool.bin&raw"); err != nil || body != packedFiles[5].data || res.Header.Get("Content-Location") != "" {
		t.Errorf("%v, %q, %q", err, body, res.Header)
	}
}
