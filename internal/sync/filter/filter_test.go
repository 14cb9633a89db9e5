package filter

import (
	"strings"
	"testing"
)

func TestFilter(t *testing.T) {
	for _, tc := range []struct {
		pattern, path string
		isDir         bool
		want          bool
	}{
		{"*.txt", "a.txt", false, true},
		{"*.txt", "b/c/a.txt", false, true},
		{"*.txt", "a.txt.gz", false, false},
		{"b/*.txt", "b/a.txt", false, true},
		{"b/*.txt", "b/c/a.txt", false, false},
		{"b/*.txt", "a/b/a.txt", false, false},
		{"/a.txt", "a.txt", false, true},
		{"**/a.txt", "a.txt", false, true},
		{"**/a.txt", "x/y/a.txt", false, true},
		{"b/**", "b/a/x", false, true},
		{"b/**", "b", true, true},
		{"b/**/x", "b/x", false, true},
		{"b/**/c/**/x", "b/1/c/2/c/3/x", false, true},
		{"b/**/c/**/x", "b/1/d/2/x", false, false},
		{"old/", "old", true, true},
		{"old/", "old", false, false},
		{"old/", "a/old", true, true},
		{"a/old/", "a/old", true, true},
		{"[a-c]?", "x/b1", false, true},
		{"*", "", true, false},
	} {
		f, err := New(nil, []string{tc.pattern})
		if err != nil {
			t.Errorf("%q: %v", tc.pattern, err)
			continue
		}
		var path []string
		if tc.path != "" {
			path = strings.Split(tc.path, "/")
		}
		got := !f.File(path)
		if tc.isDir {
			got = !f.Dir(path)
		}
		if got != tc.want {
			t.Errorf("%q and %q: %v", tc.pattern, tc.path, got)
		}
	}
	for _, bad := range []string{"", "/", "[", "a//b", `a\`} {
		if Check(bad) == nil {
			t.Errorf("%q is accepted as a pattern", bad)
		}
	}
}
