package term

import (
	"io"
	"os"
	"slices"
	"sync/atomic"
	"testing"
)

// Control-C discards the line, and keeps what was typed after it.
func TestControlC(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	k := &keys{file: r, interrupted: new(atomic.Bool)}
	if _, err := io.WriteString(w, "lost\x03kept"); err != nil {
		t.Fatal(err)
	}
	w.Close()
	got, err := io.ReadAll(k)
	if want := "\x05\x15\rkept"; string(got) != want || err != nil || !k.interrupted.Load() {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
}

func TestHistory(t *testing.T) {
	h := new(history)
	for _, line := range []string{"a", "", "b", "b", "a"} {
		h.Add(line)
	}
	if want := []string{"a", "b", "a"}; !slices.Equal(h.lines, want) || h.At(1) != "b" {
		t.Errorf("%q, want %q", h.lines, want)
	}
	for range 2 * maxHistory {
		h.Add("x")
		h.Add("y")
	}
	if h.Len() != maxHistory || h.At(0) != "y" {
		t.Errorf("%d lines", h.Len())
	}
}

func TestCommon(t *testing.T) {
	for _, tc := range []struct {
		all  []string
		want string
	}{{nil, ""}, {[]string{"one"}, "one"}, {[]string{"save", "same"}, "sa"}, {[]string{"säge", "säen"}, "sä"}, {[]string{"a", "ab"}, "a"}, {[]string{"ab", "a"}, "a"}} {
		if got := common(tc.all); got != tc.want {
			t.Errorf("common(%q) = %q, want %q", tc.all, got, tc.want)
		}
	}
}
