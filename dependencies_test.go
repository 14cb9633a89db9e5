package fetch1738_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestLinkedModules checks which third-party modules a program links that imports a package.
func TestLinkedModules(t *testing.T) {
	const (
		compress  = "github.com/klauspost/compress"
		cleanhttp = "github.com/hashicorp/go-cleanhttp"
		retry     = "github.com/hashicorp/go-retryablehttp"
		ftp       = "github.com/jlaffaye/ftp"
		telnet    = "github.com/ziutek/telnet"
		net       = "golang.org/x/net"
		text      = "golang.org/x/text"
	)
	for pkg, want := range map[string][]string{
		".":           {cleanhttp, retry, ftp, telnet, net, text},
		"./mirror":    {cleanhttp, retry, ftp, net, text},
		"./fetch/ftp": {ftp},
		"./fetch":     nil,
		"./policy":    nil,
		"./locator":   nil,

		"./archive/warc": {compress},
	} {
		out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", pkg).Output()
		if err != nil {
			t.Fatalf("go list: %v", err)
		}
		got := slices.Compact(slices.Sorted(strings.FieldsSeq(string(out))))
		got = slices.DeleteFunc(got, func(path string) bool { return path == module })
		if !slices.Equal(got, want) {
			t.Errorf("a program with %s links\n%s\nwant\n%s", pkg, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// TestModuleGraph limits the modules that a program gets in its module graph. It includes those that
// only the command and the tests of this module require.
func TestModuleGraph(t *testing.T) {
	const most = 28 // as "go list -m all" counts: with the program and this module
	dir := newProgram(t, "resolver.go")
	// Unlike "go list -m all", it needs no files that a build of this module has not read.
	out, err := inCopy(t.Context(), dir, "go", "mod", "graph").CombinedOutput()
	if err != nil {
		t.Fatalf("go mod graph: %v\n%s", err, out)
	}
	var paths []string
	for node := range strings.FieldsSeq(string(out)) {
		path, _, _ := strings.Cut(node, "@")
		paths = append(paths, path)
	}
	slices.Sort(paths)
	paths = slices.DeleteFunc(slices.Compact(paths), func(path string) bool { return path == "go" || path == "toolchain" })
	if len(paths) < 10 || len(paths) > most {
		t.Errorf("a program with this module has %d modules in its graph, at most %d are allowed:\n%s", len(paths), most, strings.Join(paths, "\n"))
	}
}

// TestProgramSize limits the size of programs that copy a document to the standard output, relative
// to the one with net/http. docs/decisions/libraries.md says what libraries add to the first.
func TestProgramSize(t *testing.T) {
	onlyInCI(t)
	base := float64(programSize(t, "nethttp.go"))
	for program, most := range map[string]float64{"resolver.go": 1.50, "ftp.go": 1} {
		if ratio := float64(programSize(t, program)) / base; ratio > most {
			t.Errorf("testdata/hello/%s is %.3f times as large as nethttp.go, at most %.2f is allowed", program, ratio, most)
		} else {
			t.Logf("%s: %.3f", program, ratio)
		}
	}
}

func programSize(t *testing.T, program string) int64 {
	t.Helper()
	dir := newProgram(t, program)
	bin := filepath.Join(dir, "hello.exe")
	if out, err := inCopy(t.Context(), dir, "go", "build", "-trimpath", "-o", bin).CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	info, err := os.Stat(bin)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// newProgram creates a module with a program of testdata/hello, as a user of this module has it.
// Nothing is downloaded, so its requirements are not made by "go mod tidy", which reads the go.mod
// files of modules that are not linked.
func newProgram(t *testing.T, program string) (dir string) {
	t.Helper()
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), fmt.Sprintf("module hello.example\n\ngo 1.26.0\n\nreplace %s => %q\n", module, root))
	for from, to := range map[string]string{"go.sum": "go.sum", "testdata/hello/" + program: "main.go"} {
		text, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, to), string(text))
	}
	if out, err := inCopy(t.Context(), dir, "go", "list", "-deps").CombinedOutput(); err != nil {
		t.Fatalf("go list: %v\n%s", err, out)
	}
	return dir
}
