package interop

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWebDAV changes files on the servers that support it. nginx has no PROPFIND.
func TestWebDAV(t *testing.T) {
	t.Parallel()
	for n, s := range http2Servers {
		path := map[string]string{"nginx": "webdav", "apache": "dav", "lighttpd": "dav"}[s.name]
		if path == "" {
			continue // they forward requests to nginx
		}
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			lab := startHTTP2(t, n)
			writeFile(t, filepath.Join(lab.dav, "a"), "a")
			writeFile(t, filepath.Join(lab.dav, "b"), "b")
			for _, name := range []string{"a", "b"} {
				if err := os.Chmod(filepath.Join(lab.dav, name), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			url := "https://" + lab.addr + "/" + path
			const failure = -1
			try := func(code int, tree string, args ...string) {
				t.Helper()
				for i, arg := range args {
					args[i] = strings.ReplaceAll(arg, "@", url)
				}
				if out, got := runTool(t, lab.command, append(args, "--cacert", lab.cert)...); got != code && (code != failure || got == 0) {
					t.Errorf("%q: exit code %d, want %d; %s", args, got, code, out)
				}
				if got := below(t, lab.dav); got != tree {
					t.Errorf("%q: the server has %q, want %q", args, got, tree)
				}
			}
			try(0, "a b d/", "mkdir", "@/d")
			try(25, "a b d/", "mkdir", "@/d")
			try(0, "a b d/", "mkdir", "-p", "@/d")
			try(78, "a b d/", "mkdir", "@/x/y")
			try(0, "a b d/ d/e/ d/e/f/", "mkdir", "-p", "@/d/e/f/")
			try(25, "a b d/ d/e/ d/e/f/", "mv", "@/a", "@/b")
			try(0, "b d/ d/a d/e/ d/e/f/", "mv", "@/a", "@/d")
			try(0, "c d/ d/a d/e/ d/e/f/", "mv", "@/b", "@/c")
			try(0, "d/ d/a d/e/ d/e/f/", "mv", "-f", "@/c", "@/d/a")
			try(0, "d/ d/a g/ g/f/", "mv", "@/d/e", "@/g")
			try(failure, "d/ d/a g/ g/f/", "mv", "-f", "@/g/f", "@/d/a") // Apache says that d/a is no directory
			try(25, "d/ d/a g/ g/f/", "rm", "@/d")
			try(25, "d/ d/a g/ g/f/", "rm", "@/g/")
			try(2, "d/ d/a g/ g/f/", "rm", "-r", "@/d")
			try(0, "d/ d/a g/ g/f/", "rm", "-r", "--dry-run", "@/d")
			try(78, "d/ d/a g/ g/f/", "rm", "@/none")
			try(0, "d/ g/ g/f/", "rm", "-f", "@/none", "@/d/a")
			lists := map[bool]int{true: 0, false: 1}[s.name != "nginx"]
			try(lists, "d/ g/ g/f/", "ls", "-lR", "@/")
			try(lists, "d/ g/ g/f/", "du", "@")
			try(0, "", "rm", "-rf", "@/d", "@/g/")
		})
	}
}

// below returns the names below a directory, with a slash after those of directories.
func below(t *testing.T, dir string) string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		name, _ := filepath.Rel(dir, path)
		switch {
		case err != nil || name == "." || strings.HasPrefix(name, "."):
			return err
		case d.IsDir():
			name += "/"
		}
		names = append(names, name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(names, " ")
}
