package gateway

import (
	"strings"
	"testing"
)

// TestSize tests the page of the size of a file, and that of the error for a file that is missing.
func TestSize(t *testing.T) {
	srv, s := startFTP(t, map[string]string{"a.txt": "four"}), start(t, nil)
	if res, body := get(t, s, at(srv, "/a.txt?size")); res.StatusCode != 200 || !strings.Contains(body, "The document has 4 B.") {
		t.Errorf("%s\n%s", res.Status, body)
	}
	if res, body := get(t, s, at(srv, "/none?size")); res.StatusCode != 404 || !strings.Contains(body, "The server has no such document.") {
		t.Errorf("%s\n%s", res.Status, body)
	}
}
