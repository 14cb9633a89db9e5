package file

import (
	"errors"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

func TestWindowsPath(t *testing.T) {
	for path, want := range map[string]string{
		"C:/": `C:\`, "C:/dir/x.txt": `C:\dir\x.txt`, "c|/dir/": `c:\dir\`, "C:": `C:\`,
		// Not on a drive, on another host, or with a character that the system takes for a
		// separator or stream.
		"": "", "dir/x": "", "/host/share/x": "", "/C:/x": "", `\\host\share`: "", `C:\x`: "", "1:/x": "", "CC:/x": "",
		`C:/dir\x`: "", "C:/x:stream": "", `C:/..\x`: "", "C:/D:/x": "",
	} {
		got, err := windowsPath(strings.Split(path, "/"))
		if got != want || (want == "") != errors.Is(err, fetch.ErrBadURL) {
			t.Errorf("%s: %q, %v; want %q", path, got, err, want)
		}
	}
}

// TestEscapes checks that URLs are refused whose escapes would change the structure of the path.
func TestEscapes(t *testing.T) {
	for _, url := range []string{"file:///etc%2Fpasswd", "file:///%2Fetc/passwd", "file:///x%00y", "file://other/x", "file://[::1]/x"} {
		ref, err := locator.Parser{Tolerate: locator.TolerateAll}.Parse(url)
		if err != nil {
			continue
		}
		f := new(Fetcher)
		if _, err := f.Fetch(t.Context(), &fetch.Request{Locator: ref.Locator}); !errors.Is(err, fetch.ErrBadURL) {
			t.Errorf("%s: Fetch: %v", url, err)
		}
		if _, err := f.Replace(t.Context(), &fetch.Request{Locator: ref.Locator}, strings.NewReader("")); !errors.Is(err, fetch.ErrBadURL) {
			t.Errorf("%s: Replace: %v", url, err)
		}
		if _, err := f.Explain(&fetch.Request{Locator: ref.Locator}); !errors.Is(err, fetch.ErrBadURL) {
			t.Errorf("%s: Explain: %v", url, err)
		}
	}
}
