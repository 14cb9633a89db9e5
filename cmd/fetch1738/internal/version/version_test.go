package version

import (
	"archive/zip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

func TestDescribe(t *testing.T) {
	const (
		placeholders = "$Format:%H %cs %(describe:match=v[0-9]*)$\n"
		commit       = "5a4eb828c9ab0d2f6b8f6e1c2f7a4d3b9e8c7f60"
	)
	stamped := []debug.BuildSetting{{Key: "vcs", Value: "git"}, {Key: "vcs.time", Value: "2026-11-23T09:22:58Z"}}
	for _, tt := range []struct {
		name, main    string
		settings      []debug.BuildSetting
		archive       string
		version, date string
	}{
		{"release, built in a checkout", "v0.1.0", stamped, placeholders, "0.1.0", "2026-11-23"},
		{"go install …@v0.1.0", "v0.1.0", nil, placeholders, "0.1.0", "[unknown]"},
		{"go install …@v0.2.0-rc.1", "v0.2.0-rc.1", nil, placeholders, "0.2.0-rc.1", "[unknown]"},
		{"go install …@main", "v0.0.0-20261122235958-5a4eb828c9ab", nil, placeholders, "0.0.0-20261122235958-5a4eb828c9ab", "2026-11-22"},
		{"go install …@main after a release", "v0.1.1-0.20261122235958-5a4eb828c9ab", nil, placeholders, "0.1.1-0.20261122235958-5a4eb828c9ab", "2026-11-22"},
		{"go install …@main after a candidate", "v0.2.0-rc.1.0.20261122235958-5a4eb828c9ab", nil, placeholders, "0.2.0-rc.1.0.20261122235958-5a4eb828c9ab", "2026-11-22"},
		{"a tag with three parts", "v0.2.0-rc-1-x", nil, placeholders, "0.2.0-rc-1-x", "[unknown]"},
		{"checkout", "v0.0.0-20261123092258-5a4eb828c9ab", stamped, placeholders, "0.0.0-20261123092258-5a4eb828c9ab", "2026-11-23"},
		{"changed checkout", "v0.0.0-20261123092258-5a4eb828c9ab+dirty", stamped, placeholders, "0.0.0-20261123092258-5a4eb828c9ab+dirty", "[unreleased]"},
		{"changed release", "v0.1.0+dirty", stamped, placeholders, "0.1.0+dirty", "[unreleased]"},
		{"-buildvcs=false", "(devel)", nil, placeholders, "devel", "[unreleased]"},
		{"no build information", "", nil, placeholders, "devel", "[unreleased]"},
		{"archive of a release", "(devel)", nil, commit + " 2026-11-23 v0.1.0\n", "0.1.0", "2026-11-23"},
		{"archive of a candidate", "(devel)", nil, commit + " 2026-11-23 v0.2.0-rc.1\n", "0.2.0-rc.1", "2026-11-23"},
		{"archive after a release", "(devel)", nil, commit + " 2026-11-24 v0.1.0-3-g5a4eb82\n", "devel-5a4eb828c9ab", "2026-11-24"},
		{"archive before the first release", "(devel)", nil, commit + " 2026-11-23 \n", "devel-5a4eb828c9ab", "2026-11-23"},
		{"archive by an old git", "(devel)", nil, commit + " 2026-11-23 %(describe:match=v[0-9]*)\n", "devel-5a4eb828c9ab", "2026-11-23"},
		{"archive in another repository", "v0.0.0-20270101000000-0123456789ab", stamped, commit + " 2026-11-23 v0.1.0\n", "0.1.0", "2026-11-23"},
		{"empty file", "(devel)", nil, "", "devel", "[unreleased]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			info := &debug.BuildInfo{Main: debug.Module{Version: tt.main}, Settings: tt.settings}
			version, date := describe(info, tt.archive)
			if version != tt.version || date != tt.date {
				t.Errorf("got %q, %q, want %q, %q", version, date, tt.version, tt.date)
			}
			// The User-Agent is fetch1738/ and the version: a token of RFC 9110, section 5.6.2.
			if !regexp.MustCompile(`^[0-9A-Za-z.+-]+$`).MatchString(version) {
				t.Errorf("%q is not a token", version)
			}
		})
	}
}

// TestBuilds builds a small program with this package in every way that a user may build it, with
// the real git and go commands.
func TestBuilds(t *testing.T) {
	for _, tool := range []string{"git", "tar"} {
		if _, err := exec.LookPath(tool); err != nil {
			if os.Getenv("CI") != "" {
				t.Fatal(err)
			}
			t.Skip(err)
		}
	}
	const module = "example.test/program"
	dir := t.TempDir()
	repo := filepath.Join(dir, "repo")
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(repo, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	source := map[string]string{
		"go.mod": "module " + module + "\n\ngo 1.26.0\n",
		"main.go": "package main\n\nimport \"" + module + "/version\"\n\n" +
			"func main() { println(version.String(), version.Date()) }\n",
	}
	for _, name := range []string{"version.go", "archive.txt", ".gitattributes"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		source["version/"+name] = string(text)
	}
	for name, text := range source {
		write(name, text)
	}

	environ := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GIT_") })
	environ = append(environ, "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull,
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.test", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.test",
		"GIT_AUTHOR_DATE=2026-11-22T12:00:00Z", "GIT_COMMITTER_DATE=2026-11-22T12:00:00Z",
		"GOFLAGS=-modcacherw", "GOWORK=off", "GOTOOLCHAIN=local", "GONOSUMDB=*", "GONOPROXY=none", "GOPRIVATE=", "GOBIN="+dir,
		"GOMODCACHE="+filepath.Join(dir, "modules"), "GOPROXY=file://"+filepath.ToSlash(filepath.Join(dir, "proxy")))
	run := func(in string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
		cmd.Dir, cmd.Env = in, environ
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return strings.TrimSpace(string(out))
	}
	program := filepath.Join(dir, "program.exe")
	built := func(in, vcs string) string {
		t.Helper()
		run(in, "go", "build", "-buildvcs="+vcs, "-o", program, ".")
		return run(in, program)
	}
	unpacked := func() string {
		t.Helper()
		to, err := os.MkdirTemp(dir, "archive")
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(to, "source.tar")
		run(repo, "git", "archive", "-o", file, "HEAD")
		run(to, "tar", "-xf", file)
		return to
	}
	check := func(name, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}

	run(repo, "git", "init", "-q")
	run(repo, "git", "add", ".")
	run(repo, "git", "commit", "-q", "-m", "a")
	commit := run(repo, "git", "rev-parse", "HEAD")[:12]
	check("checkout", built(repo, "true"), "0.0.0-20261122120000-"+commit+" 2026-11-22")
	check("checkout without VCS information", built(repo, "false"), "devel [unreleased]")
	check("archive", built(unpacked(), "false"), "devel-"+commit+" 2026-11-22")

	run(repo, "git", "tag", "-a", "-m", "a", "v0.1.0")
	check("release", built(repo, "true"), "0.1.0 2026-11-22")
	check("archive of a release", built(unpacked(), "auto"), "0.1.0 2026-11-22")

	write("extra.txt", "not in the commit\n")
	check("changed release", built(repo, "true"), "0.1.0+dirty [unreleased]")
	run(repo, "git", "add", ".")
	run(repo, "git", "commit", "-q", "-m", "b")
	commit = run(repo, "git", "rev-parse", "HEAD")[:12]
	check("after a release", built(repo, "true"), "0.1.1-0.20261122120000-"+commit+" 2026-11-22")
	check("archive after a release", built(unpacked(), "auto"), "devel-"+commit+" 2026-11-22")

	proxy := filepath.Join(dir, "proxy", module, "@v")
	if err := os.MkdirAll(proxy, 0o777); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"list":        "v0.1.0\n",
		"v0.1.0.info": `{"Version":"v0.1.0","Time":"2026-11-22T12:00:00Z"}`,
		"v0.1.0.mod":  source["go.mod"],
	} {
		if err := os.WriteFile(filepath.Join(proxy, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	file, err := os.Create(filepath.Join(proxy, "v0.1.0.zip"))
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(file)
	for name, text := range source {
		w, err := z.Create(module + "@v0.1.0/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	run(dir, "go", "install", module+"@v0.1.0")
	check("go install", run(dir, filepath.Join(dir, "program")), "0.1.0 [unknown]")
}
