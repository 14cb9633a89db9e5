package netrc

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       File
	}{
		{"empty", "", nil},
		{"one line", "machine h login u password p", File{{Machine: "h", Login: "u", Password: "p", HasPassword: true}}},
		{"many lines", "machine h\n\tlogin u\r\n\tpassword p\n\taccount a\n", File{{Machine: "h", Login: "u", Password: "p", HasPassword: true, Account: "a"}}},
		{"quoted", `machine h login "a b" password "x\"y\\z\n"`, File{{Machine: "h", Login: "a b", Password: "x\"y\\z\n", HasPassword: true}}},
		{"empty password differs from none", "machine h login u password \"\"\nmachine g login u", File{{Machine: "h", Login: "u", HasPassword: true}, {Machine: "g", Login: "u"}}},
		{"the end in place of a password", "machine h login u password", File{{Machine: "h", Login: "u"}}},
		{"NUL", "machine h login u password\x00 p", File{{Machine: "h", Login: "u"}}},
		{"NUL behind a word in quotes", "machine h login u \"password\"\x00 p", File{{Machine: "h", Login: "u"}}},
		{"comments", "# first\nmachine h # behind\nlogin u#v", File{{Machine: "h", Login: "u#v"}}},
		{"macdef", "machine h login u\nmacdef init\ncd /pub\nmachine evil login x\n\nmachine g login v", File{{Machine: "h", Login: "u"}, {Machine: "g", Login: "v"}}},
		{"macdef to the end", "machine h login u\nmacdef init\nmachine evil", File{{Machine: "h", Login: "u"}}},
		{"default", "default login anonymous password me@", File{{Login: "anonymous", Password: "me@", HasPassword: true}}},
		{"keyword as value", "machine machine login password password login", File{{Machine: "machine", Login: "password", Password: "login", HasPassword: true}}},
		{"foreign words", "version 2 machine h port 21 login u protocol ftp password p", File{{Machine: "h", Login: "u", Password: "p", HasPassword: true}}},
		{"8-bit", "machine h login \xe9 password \u00e9", File{{Machine: "h", Login: "\xe9", Password: "\u00e9", HasPassword: true}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Parse(c.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"machine h password \"secret":     "line 1: missing closing quote",
		"machine h password \"sec\nret\"": "line 1: missing closing quote",
		"machine \"\" login u":            "line 1: machine without a name",
		"machine":                         "line 1: machine without a value",
	} {
		_, err := Parse(text)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("Parse(%q): %v, want %s", text, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "sec") {
			t.Errorf("Parse(%q) shows the password: %v", text, err)
		}
	}
}

func TestFind(t *testing.T) {
	file, err := Parse(`
machine h login first password 1
machine h login second password 2
machine h login third
machine nologin password 4
machine münchen.example login m password 6
machine xn--kln-sna.example login k password 7
default login anonymous password guest@
machine hidden login late password 5
`)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		host, login string
		want        string // login:password, or ""
	}{
		{"h", "", "first:1"},
		{"H", "second", "second:2"},
		{"h", "third", "third:"}, // never the password of another entry
		{"h", "fourth", ""},
		{"h", "anonymous", "anonymous:guest@"},
		{"xn--mnchen-3ya.example", "", "m:6"},
		{"köln.example", "", "k:7"},
		{"other", "", "anonymous:guest@"},
		{"other", "lab", ""},
		{"nologin", "", ":4"},
		{"nologin", "u", "u:4"},
		{"h.example", "", "anonymous:guest@"},
		{"hidden", "", "anonymous:guest@"},
		{"hidden", "late", "late:5"},
	} {
		got := ""
		if e, ok := file.Find(c.host, c.login); ok {
			got = e.Login + ":" + e.Password
		}
		if got != c.want {
			t.Errorf("Find(%q, %q) = %q, want %q", c.host, c.login, got, c.want)
		}
	}
}

func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "netrc")
	if err := os.WriteFile(path, []byte("machine h login u password secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if file, exposed, err := Read(path); err != nil || exposed || len(file) != 1 {
		t.Fatalf("a private file: %v, %v, %v", file, exposed, err)
	}
	for _, mode := range []fs.FileMode{0o640, 0o604, 0o620, 0o602} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if file, exposed, err := Read(path); err != nil || !exposed || len(file) != 1 {
			t.Errorf("a file of mode %o: %v, %v, %v", mode, file, exposed, err)
		}
	}
	if _, _, err := Read(path + "x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

func TestReadIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "netrc")
	if err := os.WriteFile(path, make([]byte, maxSize+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Read(path); err == nil || !strings.Contains(err.Error(), "longer than") {
		t.Errorf("Read of a huge file: %v", err)
	}
}

// FuzzParse checks that the values that Parse returns are not longer than the text, and that an
// error names a line of the text.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"machine h login u password p", "default", "machine h\nmacdef x\n\n\nmachine g", `machine "a\"b" login "\\"`,
		"#", "macdef", "machine h password \"", "\"machine\" h", "machine h account a user u passwd p",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		file, err := Parse(text)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "line ") {
				t.Errorf("error without a line: %v", err)
			}
			return
		}
		for _, e := range file {
			if n := len(e.Machine) + len(e.Login) + len(e.Password) + len(e.Account); n > len(text) {
				t.Errorf("%d bytes of values from %d bytes of text", n, len(text))
			}
		}
	})
}
