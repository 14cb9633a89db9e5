package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/curl"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/exit"
)

// man reads the manual page without a complaint, and every option is in it.
func TestManualPage(t *testing.T) {
	page := filepath.Join(t.TempDir(), "fetch1738.1")
	done := runVerb(t, "manual", "")
	if done.Code != exit.OK {
		t.Fatalf("%+v", done)
	}
	if err := os.WriteFile(page, []byte(done.Out), 0o644); err != nil {
		t.Fatal(err)
	}
	if complaints := shell(t, "man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", page); strings.Contains(complaints, "warning") {
		t.Error(complaints)
	}
	text := shell(t, "man", "-l", page)
	for _, o := range curl.Options() {
		if !strings.Contains(text, "--"+o.Long) {
			t.Errorf("--%s is not in the page as man shows it", o.Long)
		}
	}
	for _, c := range commands() {
		if !strings.Contains(text, "fetch1738 "+c.Name) {
			t.Errorf("the verb %s is not in the page as man shows it", c.Name)
		}
	}
}
