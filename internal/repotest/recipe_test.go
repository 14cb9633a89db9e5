package repotest

import (
	"bufio"
	"context"
	"go/format"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestRecipes follows every step of the recipes of docs/architecture.md and docs/simulation.md, in one
// copy of the module, which is compiled once. What each of them adds must then work.
func TestRecipes(t *testing.T) {
	onlyInCI(t)
	r := &recipe{t: t, dir: copyModule(t)}
	r.section("docs/architecture.md", "Adding a page", 5, wholeRecipe)
	r.section("docs/architecture.md", "Adding a test server", 8, wholeRecipe)
	r.section("docs/architecture.md", "Adding a fault", 4, wholeRecipe)
	r.section("docs/simulation.md", "Adding an event", 1, onlyCode)
	r.section("docs/simulation.md", "Adding a habit", 2, onlyCode)
	r.section("docs/simulation.md", "Adding an operation", 1, onlyCode)
	scheme := r.section("docs/architecture.md", "Adding a scheme", 6, nil)
	update := regexp.MustCompile(`(?m)^go test (\S+) -run '(.*)' -update$`).FindStringSubmatch(scheme)
	if update == nil {
		t.Fatal("the recipe does not say how to regenerate the pages")
	}

	r.run("go", "test", "-trimpath", "-vet=off", update[1], "-run", update[2], "-update")
	r.run("go", "test", "-trimpath", "-vet=off", "./testserver", "-run", "Docs|Constructors", "-update")
	r.run("go", "test", "-trimpath", "./fetch/finger", "./testserver/fingertest")
	r.run("go", "test", "-trimpath", "./testserver/ftptest", "-run", "TestBadSize")
	r.run("go", "test", "-trimpath", "./gateway", "-run", "TestSize|TestPages")
	// All of the tests would follow these recipes again. A package that has one more of everything may be
	// larger than is allowed.
	r.run("go", "test", "-trimpath", "-vet=off", "-short", ".", "./internal/repotest", "./locator", "./policy", "-run", "Scheme|Port|Readme|Rules|Forbidden|Packages|EveryPackage", "-skip", "TestPackagesAreSmall")
	r.run("go", "test", "-trimpath", "-vet=off", update[1], "-run", "Demo|GeneratedPages|ManualPage|PagesLinks|TestVersion")
	r.run("go", "test", "-trimpath", "-vet=off", "./cmd/fetch1738/internal/demo", "./cmd/fetch1738/internal/play")
	t.Setenv("SIM_SEEDS", "300")
	r.run("go", "test", "-trimpath", "./cmd/fetch1738/internal/simulation", "-run", "TestSeeds|TestReplay|TestHabits")
	r.fetches()
}

// What a section may have at most 14 of: lines, or lines of code.
var (
	wholeRecipe = regexp.MustCompile(`(?m)^.+$`)
	onlyCode    = regexp.MustCompile(`\n   [\t{}]`)
)

// fetches runs the command of the copy.
func (r *recipe) fetches() {
	t := r.t
	bin := filepath.Join(t.TempDir(), "fetch1738.exe")
	r.run("go", "build", "-trimpath", "-o", bin, "./cmd/fetch1738")
	content := t.TempDir()
	if err := os.WriteFile(filepath.Join(content, "lab"), []byte("Login: lab\r\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	server := inCopy(t.Context(), r.dir, bin, "serve", "--finger", "127.0.0.1:0", "--root", content)
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	}()
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		t.Fatalf("the server printed no URL: %v", lines.Err())
	}
	url := lines.Text() + "lab"
	if got := r.run(bin, url); got != "Login: lab\r\n" {
		t.Errorf("%s is %q", url, got)
	}
	if got := r.run(bin, "explain", url, "finger://host.example/lab"); !strings.Contains(got, `"lab\r\n"`) || !strings.Contains(got, "host.example, port 79 (tcp)") || strings.Count(got, "allowed") != 2 {
		t.Errorf("explained as\n%s", got)
	}
	if got := r.run(bin, "--version"); !strings.Contains(got, " file finger ftp ") {
		t.Errorf("the version is\n%s", got)
	}
}

// A recipe is a copy of the module in which steps of pages are performed.
type recipe struct {
	t   *testing.T
	dir string // of the copy
}

// section performs the steps of a section, which has at least a number of them, without a network,
// and returns its text. If short is not nil, it may match at most ten times.
func (r *recipe) section(page, title string, atLeast int, short *regexp.Regexp) string {
	r.t.Helper()
	b, err := os.ReadFile(page)
	if err != nil {
		r.t.Fatal(err)
	}
	_, text, found := strings.Cut(string(b), "\n## "+title+"\n")
	if !found {
		r.t.Fatalf("%s has no section %q", page, title)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	steps := regexp.MustCompile(`(?m)^\d+\. `).Split(text, -1)[1:]
	if len(steps) < atLeast {
		r.t.Fatalf("%s: found only %d steps", title, len(steps))
	}
	if short != nil {
		if n := len(short.FindAllString(text, -1)); n > 14 {
			r.t.Errorf("%s takes %d lines", title, n)
		}
	}
	for _, step := range steps {
		r.follow(step)
	}
	return text
}

// run runs a command in the copy, which must succeed, and returns its output.
func (r *recipe) run(name string, args ...string) string {
	r.t.Helper()
	out, err := inCopy(r.t.Context(), r.dir, name, args...).CombinedOutput()
	if err != nil {
		r.t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// follow performs one step. "`FILE`: [what it is](SOURCE)" creates a file. "`FILE`, below `LINE`:"
// and code, in a block or in the same line, insert the code after the line that starts with LINE, "above"
// before it.
func (r *recipe) follow(step string) {
	t, dir := r.t, r.dir
	t.Helper()
	if m := regexp.MustCompile("^`([^`]+)`: \\[[^]]+\\]\\(\\.\\./([^)]+)\\)").FindStringSubmatch(step); m != nil {
		text, err := os.ReadFile(filepath.FromSlash(m[2]))
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, filepath.FromSlash(m[1])), string(text))
		return
	}
	where := "^`([^`]+)`, (above|below) (?:`([^`]+)`|\"([^\"]+)\"):"
	m := regexp.MustCompile(where + "\n+( +)```\\w*\n((?: *.*\n)+?) +```\n").FindStringSubmatch(step)
	if inline := regexp.MustCompile(where + "()\\s+`([^`].*)`\n").FindStringSubmatch(step); inline != nil {
		m = inline
		m[6] += "\n"
	}
	if m == nil {
		t.Fatalf("cannot parse the step: %s", step)
	}
	path := filepath.Join(dir, filepath.FromSlash(m[1]))
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	times := 0
	for line := range strings.Lines(string(text)) {
		block, start := "", strings.TrimLeft(line, "\t")
		if strings.HasPrefix(start, m[3]+m[4]) {
			times++
			for inserted := range strings.Lines(m[6]) {
				block += line[:len(line)-len(start)] + strings.TrimPrefix(inserted, m[5])
			}
		}
		if m[2] == "above" {
			block, line = line, block
		}
		b.WriteString(line + block)
	}
	if times != 1 {
		t.Fatalf("%s has %d lines that begin with %s", m[1], times, m[3]+m[4])
	}
	write(t, path, b.String())
}

// write writes a file. A Go file must be formatted.
func write(t *testing.T, path, text string) {
	t.Helper()
	if filepath.Ext(path) == ".go" {
		if formatted, err := format.Source([]byte(text)); err != nil || string(formatted) != text {
			t.Errorf("%s is not formatted: %v", path, err)
		}
	}
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// onlyInCI skips a test that builds programs, which takes longer than all other tests of its package.
func onlyInCI(t *testing.T) {
	t.Helper()
	if os.Getenv("CI") == "" || testing.Short() { // TestRecipes runs the tests of its copy with -short
		t.Skip("builds programs; set CI=true to run it")
	}
}

// inCopy returns a command in a copy of the module that downloads nothing. It builds without C, as a
// release is built: what the two compile is shared.
func inCopy(ctx context.Context, dir, name string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off", "NO_COLOR=1", "CGO_ENABLED=0")
	return c
}

// copyModule copies the files of the module.
func copyModule(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		switch {
		case d.IsDir() && (name == ".git" || path == "dev"):
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(dir, path), 0o755)
		case !d.Type().IsRegular():
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, path), text, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
