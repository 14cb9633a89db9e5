package repotest

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
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
		"./fetch/ftp": {ftp, text},
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

// A library is a third-party module, or a package of one, that code without tests imports.
type library struct {
	path   string // of the import
	places string // the files or packages that import it, separated by spaces
	why    string // there is more than one place
}

// libraries lists the libraries. Each is used in one file or package. A comment above one of the
// imports, or that of the package, says what the library does there and why it is this one.
var libraries = []library{
	{"github.com/hashicorp/go-retryablehttp", "fetch/http/library.go", ""},
	{"github.com/jimsmart/grobotstxt", "crawl/robots.go", ""},
	{"github.com/jlaffaye/ftp", "fetch/ftp/library.go", ""},
	{"github.com/klauspost/compress", "archive/warc", ""},
	{"github.com/spf13/pflag", "cmd/fetch1738/internal/cli/cli.go cmd/fetch1738/internal/curl/commandline.go scale/cmd/fetch1738-crawl/main.go",
		"curl's arguments have rules of their own; the other program is in another module"},
	{"github.com/yuin/goldmark", "gateway/internal/markup", ""},
	{"github.com/ziutek/telnet", "fetch/telnet/library.go", ""},
	{"go.etcd.io/bbolt", "crawl/frontier.go", ""},
	{"golang.org/x/net/html", "internal/text/hypertext", ""},
	{"golang.org/x/net/http/httpguts", "fetch/http/library.go", ""},
	{"golang.org/x/net/http2/hpack", "fetch/http/internal/frames testserver/webtest", "the test server shares no code of HTTP/2 with the client"},
	{"golang.org/x/net/http2", "testserver/traffic testserver/webtest", "the replay knows the names of frames, and plays them without a server"},
	{"golang.org/x/net/idna", "internal/urls/idn", ""},
	{"golang.org/x/net/publicsuffix", "cmd/fetch1738/internal/cookies", ""},
	{"golang.org/x/net/proxy", "fetch/proxy/library.go", ""},
	{"golang.org/x/sys/unix", "cmd/fetch1738/internal/term", ""},
	{"golang.org/x/sys/windows", "internal/file/disk/lock_windows.go", ""},
	{"golang.org/x/term", "cmd/fetch1738/internal/term", ""},
	{"golang.org/x/text/encoding", "internal/text/charset", ""},
	{"golang.org/x/text/transform", "fetch/ftp/ascii.go internal/text/charset", "line ends are no charset, and need none of its tables"},
	{"golang.org/x/text/width", "cmd/fetch1738/internal/term/safe.go", ""},
	{"golang.org/x/tools/txtar", "testserver/control/script.go judge/internal/reports/report.go", "the case of a report is a script, with files of the client"},

	// Of the nested modules.
	{"github.com/hashicorp/go-getter", "adapters/getter", ""},
	{"github.com/nats-io/nats-server", "scale/nats/server.go", ""},
	{"github.com/nats-io/nats.go", "scale/nats scale/cmd/fetch1738-crawl/connect.go", "the command explains the errors of a connection"},
	{"github.com/nats-io/nkeys", "scale/nats scale/cmd/fetch1738-crawl/connect.go", "the command reads the keys of users"},
	{"github.com/spf13/afero", "adapters/afero", ""},
	{"gocloud.dev", "adapters/blob scale/store.go", "one is a bucket, the other uses one"},
	{"golang.org/x/sync/errgroup", "scale/nats/links.go", ""},
}

// TestLibraries checks where the libraries are imported, and that a comment explains each. A
// requirement that only tests use has its comment in go.mod.
func TestLibraries(t *testing.T) {
	used := make(map[string][]string) // the places of each library
	explained := make(map[string]bool)
	for _, file := range sources(t, ".go") {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range f.Imports {
			imp, _ := strconv.Unquote(spec.Path.Value)
			if first, _, _ := strings.Cut(imp, "/"); !strings.Contains(first, ".") || within(imp, module) {
				continue
			}
			i := slices.IndexFunc(libraries, func(l library) bool { return within(imp, l.path) })
			if i < 0 {
				t.Errorf("%s imports %s, which the table libraries does not have", file, imp)
				continue
			}
			places := strings.Fields(libraries[i].places)
			at := slices.IndexFunc(places, func(place string) bool { return within(file, place) })
			if at < 0 {
				t.Errorf("%s imports %s, which only %s may import", file, imp, libraries[i].places)
				continue
			}
			path := libraries[i].path
			used[path] = append(used[path], places[at])
			_, name, _ := strings.Cut(path, "/")
			explained[path] = explained[path] || len(spec.Doc.Text()) > 100 || strings.Contains(f.Doc.Text(), name)
		}
	}
	for _, l := range libraries {
		places := strings.Fields(l.places)
		for _, place := range places {
			if !slices.Contains(used[l.path], place) {
				t.Errorf("the table libraries has %s in %s, which does not import it", l.path, place)
			}
		}
		if !explained[l.path] {
			t.Errorf("no comment at an import of %s says what it does and why it is this one", l.path)
		}
		if (len(places) > 1) != (l.why != "") {
			t.Errorf("%s has the places %s for the reason %q", l.path, l.places, l.why)
		}
	}
	for _, file := range sources(t, "go.mod") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range requirement.FindAllStringSubmatch(string(text), -1) {
			mod, comment := m[1], m[2]
			isUsed := slices.ContainsFunc(libraries, func(l library) bool {
				return within(l.path, mod) || within(mod, l.path)
			})
			if !isUsed && comment == "" && mod != module {
				t.Errorf("%s requires %s, which only tests import, without a comment beside it", file, mod)
			}
		}
	}
}

// requirement is a line of a go.mod file with a module, and its comment.
var requirement = regexp.MustCompile(`(?m)^(?:require|\t)\s*([a-z]\S*\.\S+) v\S+(?: // (.*))?$`)

// sources lists the files of all modules here whose names end in a suffix, except programs and tests
// that only test or measure the others.
func sources(t *testing.T, suffix string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		if entry != nil && entry.IsDir() && (name == "dev/interop" || name == "dev/bench" || entry.Name() == "testdata" || name == ".git") {
			return fs.SkipDir
		}
		if strings.HasSuffix(name, suffix) {
			files = append(files, filepath.ToSlash(name))
		}
		return err
	})
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	return files
}

// within reports whether a path is another one or below it.
func within(name, of string) bool { return name == of || strings.HasPrefix(name, of+"/") }

// TestModuleGraph limits the modules that a program gets in its module graph. It includes those that
// only the command and the tests of this module require.
func TestModuleGraph(t *testing.T) {
	const most = 29 // as "go list -m all" counts: with the program and this module
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
	for program, most := range map[string]float64{"resolver.go": 1.56, "ftp.go": 1} {
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
