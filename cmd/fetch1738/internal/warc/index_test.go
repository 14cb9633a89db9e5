package warc

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	archives "github.com/fetch1738/fetch1738/archive"
)

// TestIndex writes an index to standard output and to a file, where an Archive finds it, and packs a
// WACZ file.
func TestIndex(t *testing.T) {
	name := archive(t)
	code, out, errs := ran(t, "", "index", name)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if code != 0 || errs != "" || len(lines) != 7 || !strings.HasPrefix(lines[1], `gopher://h/0/a 20261124120000500 {"url":"gopher://h/0/a",`) {
		t.Fatal(code, out, errs)
	}
	beside, packed := name+".cdxj", filepath.Join(t.TempDir(), "x.wacz")
	if code, _, errs := ran(t, "", "index", "-o", beside, name); code != 0 {
		t.Fatal(code, errs)
	}
	if file, err := os.ReadFile(beside); string(file) != out || err != nil {
		t.Error(err, string(file))
	}
	if code, _, errs := ran(t, "", "index", "--wacz", packed, name); code != 0 {
		t.Fatal(code, errs)
	}
	for _, name := range []string{name, filepath.Dir(name), packed} {
		a, err := archives.Open(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if c, err := a.Find("http://h/", time.Time{}); err != nil || c.Status != 200 {
			t.Error(c, err)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestIndexErrors checks exit codes, and that a failure leaves no file behind.
func TestIndexErrors(t *testing.T) {
	good, dir := archive(t), t.TempDir()
	out := filepath.Join(dir, "out")
	for _, test := range []struct {
		code int
		want string
		args []string
	}{
		{26, "no such file", []string{"-o", out, filepath.Join(dir, "absent.warc")}},
		{26, "there are no WARC files", []string{"-o", out, dir}},
		{23, "no such file", []string{"-o", filepath.Join(dir, "absent", "out"), good}},
		{2, "exclude each other", []string{"-o", out, "--wacz", out, good}},
	} {
		code, _, errs := ran(t, "", append([]string{"index"}, test.args...)...)
		if code != test.code || !strings.Contains(errs, test.want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%q: %d %s", test.args, code, errs)
		}
	}
	if left, err := os.ReadDir(dir); len(left) > 0 || err != nil {
		t.Error(left, err)
	}
}

// TestIndexOfDamage: the index of a file with defects has the records before and behind them, and the
// exit code says that it does not have all.
func TestIndexOfDamage(t *testing.T) {
	name, dir := archive(t), t.TempDir()
	damage(t, name, "WARC/1.1\r\nWARC-Type: revisit", "WARC/1.1\r\nWARC-Typo revisit")
	for _, option := range []string{"-o", "--wacz"} {
		out := filepath.Join(dir, option+".wacz")
		code, _, errs := ran(t, "", "index", option, out, name)
		if code != 1 || !strings.Contains(errs, "(1) warc: index "+name+": record at offset 1168: ") || strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: %d %s", option, code, errs)
		}
		file, err := os.ReadFile(out)
		if n := bytes.Count(file, []byte(`"type":"resource"`)) + bytes.Count(file, []byte(`"type":"response"`)); n != 4 || err != nil {
			t.Errorf("%s: %d lines, %v", option, n, err)
		}
		if strings.Contains(string(file), `"offset":"1168"`) || !strings.Contains(string(file), "ftp://h/cut") {
			t.Errorf("%s: %s", option, file)
		}
	}
}
