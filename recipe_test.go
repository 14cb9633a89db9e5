package fetch1738_test

import (
	"bufio"
	"context"
	"errors"
	"go/format"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestAddingAScheme follows every step of "Adding a scheme".
func TestAddingAScheme(t *testing.T) {
	onlyInCI(t)
	r := follow(t, 14, "Adding a test server", "Adding a scheme")
	update := regexp.MustCompile(`(?m)^go test (\S+) -run '(.*)' -update$`).FindStringSubmatch(r.text)
	if update == nil {
		t.Fatal("the recipe does not say how to regenerate the pages")
	}
	r.run("go", "test", "-trimpath", "-vet=off", update[1], "-run", update[2], "-update")
	// All of the tests would follow this recipe again.
	r.run("go", "test", "-trimpath", "./fetch/finger")
	r.run("go", "test", "-trimpath", "-vet=off", "-short", ".", "./locator", "./policy", "-run", "Scheme|Port|Readme|Rules|Forbidden|Packages|EveryPackage")
	r.run("go", "test", "-trimpath", "-vet=off", update[1], "-run", "Demo|GeneratedPages|ManualPage|PagesLinks|TestVersion")

	r.run("go", "test", "-trimpath", "-vet=off", "./cmd/fetch1738/internal/demo", "./cmd/fetch1738/internal/play")

	r.fetches()
}

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

// TestAddingAPage follows every step of "Adding a page", which has at most ten lines.
func TestAddingAPage(t *testing.T) {
	onlyInCI(t)
	r := follow(t, 4, "Adding a page")
	r.isShort()
	r.run("go", "test", "-trimpath", "./gateway", "-run", "TestSize|TestPages")
}

// TestAddingATestServer follows every step of "Adding a test server", which has at most ten lines.
func TestAddingATestServer(t *testing.T) {
	onlyInCI(t)
	r := follow(t, 8, "Adding a test server")
	r.isShort()
	r.run("go", "test", "-trimpath", "./testserver", "-run", "Docs|Constructors", "-update")
	r.run("go", "test", "-trimpath", "./testserver/fingertest")
}

// TestAddingAFault follows every step of "Adding a fault", which has at most ten lines.
func TestAddingAFault(t *testing.T) {
	onlyInCI(t)
	r := follow(t, 4, "Adding a fault")
	r.isShort()
	r.run("go", "test", "-trimpath", "./testserver", "-run", "Docs|Constructors", "-update")
	r.run("go", "test", "-trimpath", "./testserver/ftptest", "-run", "TestBadSize")
}

// TestAddingToTheSimulation follows every step of "Adding an event" and "Adding an operation". Each
// has at most ten lines.
func TestAddingToTheSimulation(t *testing.T) {
	onlyInCI(t)
	t.Setenv("SIM_SEEDS", "300")
	for _, section := range []string{"Adding an event", "Adding an operation"} {
		r := follow(t, 1, section)
		if code := strings.Count(r.text, "\n   \t") + strings.Count(r.text, "\n   {") + strings.Count(r.text, "\n   }"); code > 10 {
			t.Errorf("%s takes %d lines of code", section, code)
		}
		r.run("go", "test", "-trimpath", "./cmd/fetch1738/internal/simulation", "-run", "TestSeeds|TestReplay")
	}
}

// isShort checks that a recipe has at most ten lines.
func (r *recipe) isShort() {
	r.t.Helper()
	if lines := regexp.MustCompile(`(?m)^.+$`).FindAllString(r.text, -1); len(lines) > 10 {
		r.t.Errorf("the recipe has %d lines", len(lines))
	}
}

// A recipe is a section of docs/architecture.md or docs/simulation.md whose steps have been
// performed in a copy of the module.
type recipe struct {
	t    *testing.T
	text string // of the section
	dir  string // of the copy
}

// follow performs the steps of sections, which have at least a number of them, without a network. The
// text of the recipe is that of the last section.
func follow(t *testing.T, atLeast int, sections ...string) *recipe {
	t.Helper()
	page, err := os.ReadFile("docs/architecture.md")
	more, failed := os.ReadFile("docs/simulation.md")
	if err := errors.Join(err, failed); err != nil {
		t.Fatal(err)
	}
	page = append(append(page, "\n## \n"...), more...)
	r := &recipe{t: t, dir: copyModule(t)}
	n := 0
	for _, section := range sections {
		_, text, found := strings.Cut(string(page), "\n## "+section+"\n")
		if !found {
			t.Fatalf("the page has no section %q", section)
		}
		r.text, _, _ = strings.Cut(text, "\n## ")
		for _, step := range regexp.MustCompile(`(?m)^\d+\. `).Split(r.text, -1)[1:] {
			r.follow(step)
			n++
		}
	}
	if n < atLeast {
		t.Fatalf("found only %d steps", n)
	}
	return r
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
	if os.Getenv("CI") == "" || testing.Short() { // TestAddingAScheme runs the tests of its copy with -short
		t.Skip("builds programs; set CI=true to run it")
	}
}

// inCopy returns a command in a copy of the module that downloads nothing.
func inCopy(ctx context.Context, dir, name string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off", "NO_COLOR=1")
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
		case d.IsDir() && (name == ".git" || path == "bench" || path == "interop"):
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
