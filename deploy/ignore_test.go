package deploy

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/deploy/internal/state"
	"github.com/fetch1738/fetch1738/internal/file/disk"
	"github.com/fetch1738/fetch1738/internal/sync/filter"
	"github.com/fetch1738/fetch1738/internal/sync/site"
)

// The patterns that the ignore file may have, with the files that git leaves.
var ignores = []string{
	"*.o", "*.o\n!keep.o", "/a.txt", "a.txt", "dir/", "dir", "/dir/", "dir/*", "dir/*\n!dir/x", "**/x", "a/**", "a/**/x", "a/*/x",
	"# comment\nx", "\\#x", "\\!x", "x\\ ", "x ", "[ab].txt", "[!a].txt", "?.txt", "dir/sub", "/*\n!/dir", "*\n!*/\n!*.txt", "a/x\r\n", "\ufeffx",
	"sub/\n!dir/sub/", "*.txt\n!a.txt\na.txt", "a.t", "dir*", "**", "*", "a**x", "**/sub/**", "a/**\n!a/x", "!x", "x\n\n!x",
}

var ignorable = []string{
	"a.txt", "b.txt", "c.txt", "x", "x y", "#x", "!x", "keep.o", "m.o", "a/x", "a/b/x", "a/b/c/x", "a/y", "dir/x", "dir/y", "dir/sub/x", "dir/sub/z.txt",
	"dir2/x", "sub/x", "abx", "a.t",
}

// The ignore file means what git makes of the same patterns.
func TestIgnoreIsThatOfGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("git is required")
		}
		t.Skip("no git")
	}
	for _, patterns := range ignores {
		dir := t.TempDir()
		for _, name := range ignorable {
			full := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(full), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(full, nil, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range []string{".gitignore", IgnoreFile} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(patterns), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		run := func(args ...string) string {
			cmd := exec.CommandContext(t.Context(), git, append([]string{"-c", "core.excludesFile=", "-c", "core.quotePath=false"}, args...)...)
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "HOME="+dir)
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("git %v: %v", args, err)
			}
			return string(out)
		}
		run("init", "-q")
		want := slices.DeleteFunc(strings.Split(strings.TrimSuffix(run("ls-files", "-z", "--others", "--exclude-standard"), "\x00"), "\x00"),
			func(name string) bool { return name == "" || name == ".gitignore" || name == IgnoreFile })
		slices.Sort(want)
		got := filesOf(t, dir)
		if !slices.Equal(got, want) {
			t.Errorf("%q:\n got %q\nwant %q", patterns, got, want)
		}
	}
}

// filesOf returns the files that a walk finds, but for those of git.
func filesOf(t *testing.T, dir string) (names []string) {
	t.Helper()
	root, err := disk.System().OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	u := &Upload{Dir: dir, MaxEntries: 1000}
	of, err := newSelection(u)
	if err != nil {
		t.Fatal(err)
	}
	if of.ignored, err = readIgnore(root); err != nil {
		t.Fatal(err)
	}
	w := &walker{Upload: u, journal: newJournal(new(site.Site), nil), selection: of, root: folder{root}, isAside: state.New("", "").IsAside, maxDepth: 64}
	here, err := w.walk(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range here.files {
		if !strings.HasPrefix(f.path, ".git") {
			names = append(names, f.path)
		}
	}
	return names
}

// No line makes the program fail, and what a folder rule excludes no file rule names.
func FuzzRule(f *testing.F) {
	for _, patterns := range ignores {
		for line := range strings.SplitSeq(patterns, "\n") {
			f.Add(line, "dir/sub/x")
		}
	}
	for _, line := range []string{"[", "[a", "[[:alpha:]]x", `\`, `a\`, "[!", "[]a]", "[a-", "***", "a/[/]b", "\xff*", `\ `} {
		f.Add(line, "a/b")
	}
	f.Fuzz(func(t *testing.T, line, name string) {
		line, _, _ = strings.Cut(line, "\n")
		ignored, err := filter.Ignore(line)
		if err == nil && !strings.HasPrefix(line, "!") && ignored(name, false) && !ignored(name, true) {
			t.Errorf("%q matches the file %q, but not a folder of that name", line, name)
		}
	})
}
