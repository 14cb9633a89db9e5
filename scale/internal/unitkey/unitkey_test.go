package unitkey_test

import (
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/scale/internal/unitkey"
)

// Names are keys and back again, and different names have different keys on every file system.
func FuzzKey(f *testing.F) {
	for _, name := range []string{"h.example", "a..b", ".", "=2e", "A", "news.example/a.b", "\x00\xff", "::1"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		key := unitkey.Of(name)
		if got := unitkey.Name(key); got != name {
			t.Errorf("%q became %q, and that %q", name, key, got)
		}
		if strings.ToLower(key) != key || strings.Contains(key, "..") || strings.HasPrefix(key, ".") || strings.HasSuffix(key, ".") || strings.Trim(key, "abcdefghijklmnopqrstuvwxyz0123456789-.=") != "" {
			t.Errorf("%q became %q", name, key)
		}
	})
}
