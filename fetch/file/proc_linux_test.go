package file

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
)

// TestMadeUp reads files that the system generates when they are read. They state a size of 0, or of
// a page.
func TestMadeUp(t *testing.T) {
	for _, path := range []string{"/proc/version", "/sys/class/net/lo/mtu"} {
		want, err := os.ReadFile(path)
		if err != nil || len(want) < 4 {
			t.Fatalf("%s: %q, %v", path, want, err)
		}
		size := int64(len(want))
		for _, tc := range []struct {
			offset, length int64
			want           string
			kind           fetch.ErrorKind
		}{
			{0, 0, string(want), fetch.ErrOther},
			{0, 2, string(want[:2]), fetch.ErrOther},
			{1, 2, string(want[1:3]), fetch.ErrOther},
			{2, 0, string(want[2:]), fetch.ErrOther},
			{2, 1 << 20, string(want[2:]), fetch.ErrOther},
			{size, 0, "", fetch.ErrOther},
			{size + 1, 0, "", fetch.ErrBadRange},
			{-2, 0, "", fetch.ErrBadRange},
		} {
			res, err := new(Fetcher).Fetch(t.Context(), &fetch.Request{Locator: locate(path), Offset: tc.offset, Length: tc.length})
			if err != nil {
				if tc.kind == fetch.ErrOther || fetch.KindOf(err) != tc.kind {
					t.Errorf("%s, %d bytes from %d: %v", path, tc.length, tc.offset, err)
				}
				continue
			}
			got, err := io.ReadAll(res.Body)
			if string(got) != tc.want || err != nil || res.Size != -1 || tc.kind != fetch.ErrOther {
				t.Errorf("%s, %d bytes from %d: %q, %v, size %d", path, tc.length, tc.offset, got, err, res.Size)
			}
			res.Close()
		}
		if a, err := new(Fetcher).FindAttributes(t.Context(), &fetch.Request{Locator: locate(path)}); err != nil || a.Size != -1 {
			t.Errorf("%s: attributes %+v, %v", path, a, err)
		}
	}
}

// TestCopyMadeUp copies such a file to another, which the system can do by itself.
func TestCopyMadeUp(t *testing.T) {
	want, err := os.ReadFile("/sys/class/net/lo/mtu")
	if err != nil {
		t.Fatal(err)
	}
	res, err := new(Fetcher).Fetch(t.Context(), &fetch.Request{Locator: locate("/sys/class/net/lo/mtu")})
	if err != nil {
		t.Fatal(err)
	}
	defer res.Close()
	copied, err := os.Create(filepath.Join(t.TempDir(), "copy"))
	if err != nil {
		t.Fatal(err)
	}
	defer copied.Close()
	if _, err := io.Copy(copied, res.Body); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(copied.Name()); string(got) != string(want) {
		t.Errorf("%q, %v", got, err)
	}
}
