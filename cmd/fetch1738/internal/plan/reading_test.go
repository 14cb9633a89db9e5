package plan

import "testing"

// TestRangedWildcard tests which URLs have a range where a wildcard is meant. All others are curl's.
func TestRangedWildcard(t *testing.T) {
	for url, want := range map[string]bool{
		"ftp://h/[a-z]*.txt": true, "ftp://h/x*[0-9]": true, "FTPS://h/d/[A-Z]?": true, "file:///d/[a-c]*": true, "ftp.example.org/[a-z]*": true,
		"ftp://h/[a-z].txt": false, "ftp://h/[01-99]*": false, "ftp://h/[a-z]/*.txt": false, "ftp://h/{a,b}*": false, `ftp://h/\[a-z\]*`: false,
		"http://h/[a-z]*": false, "gopher://h/0[a-z]*": false, "ftp://h/[a-z:2]*": false, "ftp://h/%5Ba-z%5D*": false, "ftp://h/[a-z]": false,
	} {
		o := New(new(Global))
		o.URLs = []string{url}
		if _, _, err := o.Globs(0); (err != nil) != want {
			t.Errorf("%s: %v", url, err)
		}
		o.Uploads = []string{"file"}
		if _, _, err := o.Globs(0); err != nil {
			t.Errorf("upload to %s: %v", url, err)
		}
		o.Uploads, o.GlobOff = nil, true
		if _, _, err := o.Globs(0); err != nil {
			t.Errorf("%s with -g: %v", url, err)
		}
	}
}
