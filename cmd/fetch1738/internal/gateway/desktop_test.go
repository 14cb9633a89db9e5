package gateway

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// testEntry returns an entry in a new home directory, and the lines that it says.
func testEntry(t *testing.T, home string) (*entry, *[]string) {
	t.Helper()
	var said []string
	e := &entry{
		program: "/opt/x/fetch1738", command: []string{"/opt/x/fetch1738", "gateway"},
		apps: filepath.Join(home, ".local", "share", "applications"), config: filepath.Join(home, ".config"),
		say: func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) },
	}
	e.refresh = func(dir string) error {
		return os.WriteFile(filepath.Join(dir, "mimeinfo.cache"), []byte("[MIME Cache]\n"), 0o600)
	}
	return e, &said
}

// tree returns the names and texts of all files below dir.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			found[path] = "directory"
			return err
		}
		text, err := os.ReadFile(path)
		found[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// uninstall leaves the home directory as it was before install, however often that ran.
func TestUninstallLeavesNoTrace(t *testing.T) {
	const other = "[Desktop Entry]\nType=Application\nName=Other\nExec=other\n"
	for name, files := range map[string]map[string]string{
		"empty":                    {},
		"a list":                   {".config/mimeapps.list": "[Default Applications]\nx-scheme-handler/news=other.desktop\n"},
		"an empty list":            {".config/mimeapps.list": ""},
		"another application":      {".local/share/applications/other.desktop": other, ".local/share/applications/mimeinfo.cache": "[MIME Cache]\n"},
		"a directory of its own":   {".local/share/applications/x/other.desktop": other, ".config/x": ""},
		"a directory that is used": {".local/share/x": ""},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			for file, text := range files {
				write(t, filepath.Join(home, file), text)
			}
			before := tree(t, home)
			e, said := testEntry(t, home)
			for range 2 {
				if err := e.install(); err != nil {
					t.Fatal(err)
				}
			}
			list, err := os.ReadFile(e.list())
			if err != nil || strings.Count(string(list), entryName) != len(schemes) {
				t.Errorf("%q, %v", list, err)
			}
			if err := e.uninstall(); err != nil {
				t.Fatal(err)
			}
			after := tree(t, home)
			for path := range before {
				if after[path] != before[path] {
					t.Errorf("%s is %q, was %q", path, after[path], before[path])
				}
				delete(after, path)
			}
			for path, text := range after {
				t.Errorf("%s is left: %q", path, text)
			}
			if t.Failed() {
				t.Logf("%q", *said)
			}
			if err := e.uninstall(); err != nil {
				t.Errorf("the second time: %v", err)
			}
		})
	}
}

// install says which application it replaces, and writes through a symbolic link.
func TestInstallReplaces(t *testing.T) {
	home := t.TempDir()
	e, said := testEntry(t, home)
	write(t, filepath.Join(home, "dotfiles", "list"), "[Default Applications]\nx-scheme-handler/news=mail.desktop;b.desktop;\n")
	write(t, filepath.Join(home, ".config", "x"), "")
	if err := os.Symlink("../dotfiles/list", e.list()); err != nil {
		t.Fatal(err)
	}
	if err := e.install(); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(*said, "It replaces mail.desktop;b.desktop for news.") {
		t.Errorf("%q", *said)
	}
	if to, err := os.Readlink(e.list()); err != nil || to != "../dotfiles/list" {
		t.Errorf("the link leads to %q, %v", to, err)
	}
}

func TestEntryText(t *testing.T) {
	e, _ := testEntry(t, t.TempDir())
	e.command = append(e.command, "--news-server", "news.example", "--cacert", `/a b/"$x`+"`\\.pem", "100%")
	text, err := e.text(nil)
	if err != nil {
		t.Fatal(err)
	}
	want := `Exec=/opt/x/fetch1738 gateway --news-server news.example --cacert "/a b/\\"\\$x\\` + "`" + `\\\\.pem" 100%% --open %u` + "\n"
	if !strings.Contains(text, want) {
		t.Errorf("%s is not in:\n%s", want, text)
	}
	e.command = []string{"a\nExec=b"}
	if text, err := e.text(nil); err == nil {
		t.Errorf("a line end in a word: %s", text)
	}
}

// An error of the file system is reported, and nothing else is done.
func TestInstallFails(t *testing.T) {
	home := t.TempDir()
	e, _ := testEntry(t, home)
	write(t, filepath.Join(home, ".config"), "")
	if err := e.install(); err == nil {
		t.Error("no error for a file in the place of a directory")
	}
	e, _ = testEntry(t, t.TempDir())
	e.refresh = func(string) error { return errors.New("it failed") }
	if err := e.install(); err == nil || err.Error() != "it failed" {
		t.Errorf("%v", err)
	}
}

func TestSupported(t *testing.T) {
	if err := supported("linux"); err != nil {
		t.Error(err)
	}
	for _, goos := range []string{"darwin", "windows", "freebsd"} {
		if err := supported(goos); err == nil || !strings.Contains(err.Error(), "are for Linux desktops; on "+goos+" ") {
			t.Errorf("%s: %v", goos, err)
		}
	}
}

func TestServingArguments(t *testing.T) {
	got := serving(strings.Fields("--port 9000 --open gopher://h/ --news-server n --install --open=news:a -v"))
	if want := strings.Fields("--port 9000 --news-server n -v"); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestPackagedEntry: the entry that packages install is that of --install for /usr/bin/fetch1738,
// without the list of created files.
func TestPackagedEntry(t *testing.T) {
	packaged, err := os.ReadFile("../../../../dev/release/fetch1738-gateway.desktop")
	if err != nil {
		t.Fatal(err)
	}
	e := &entry{program: "/usr/bin/fetch1738", command: []string{"/usr/bin/fetch1738", "gateway"}}
	text, err := e.text(nil)
	if err != nil {
		t.Fatal(err)
	}
	text, _, _ = strings.Cut(text, madeKey)
	if string(packaged) != text {
		t.Errorf("dev/release/fetch1738-gateway.desktop:\n%s\nwant\n%s", packaged, text)
	}
}
