package fetchgetter_test

import (
	"strings"
	"testing"

	"github.com/hashicorp/go-getter/v2"

	fetchgetter "github.com/fetch1738/fetch1738/adapters/getter"
)

// An error has no password, also one about a text that is not a URL.
func TestNotAURL(t *testing.T) {
	client := getter.Client{Getters: []getter.Getter{&fetchgetter.Getter{}}}
	_, err := client.Get(t.Context(), &getter.Request{Src: "ftp://user:secret@127.0.0.1/100%", Dst: t.TempDir() + "/copy", GetMode: getter.ModeFile})
	if err == nil || !strings.Contains(err.Error(), "invalid URL escape") || strings.Contains(err.Error(), "secret") {
		t.Errorf("not a URL: %v", err)
	}
}

// A Getter is for its schemes only, also where another one is forced.
func TestDetect(t *testing.T) {
	g := &fetchgetter.Getter{}
	for src, want := range map[string]bool{
		"ftp://h/a": true, "FTP://h/a": true, "news:1@x": true, "gophers://h/1": true, "wais://h/d/T/x": true,
		"http://h/a": false, "file:///a": false, "./ftp": false, "ftp.example.org/a": false, "ftp": false, "": false,
	} {
		if got, err := g.Detect(&getter.Request{Src: src}); got != want || err != nil {
			t.Errorf("%s: %v, %v", src, got, err)
		}
	}
	for forced, want := range map[string]bool{"ftp": true, "gopher": true, "git": false, "file": false} {
		if got, err := g.Detect(&getter.Request{Src: "ftp://h/a", Forced: forced}); got != want || err != nil {
			t.Errorf("%s::ftp://h/a: %v, %v", forced, got, err)
		}
	}
	if got, err := g.Detect(&getter.Request{Src: "file:///etc/passwd", Forced: "ftp"}); got || err != nil {
		t.Errorf("ftp::file: %v, %v", got, err)
	}
}
