package fetch1738_test

import (
	"encoding/json"
	"errors"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/fetch1738/fetch1738"

// imports is what each part of the house may import besides the standard
// library (docs/architecture.md). A trailing slash means everything below; "."
// is the module's root package.
var imports = []struct {
	pkg     string
	allowed []string
}{
	{"locator", nil},
	{"internal/", []string{"internal/"}},
	{"internal/resume", []string{"fetch", "fetch/http"}},
	{"internal/talk", []string{"fetch", "internal/"}},
	{"fetch", []string{"locator"}},
	{"fetch/fetchtest", []string{"fetch", "locator", "testserver"}},
	{"fetch/", []string{"fetch", "locator", "internal/"}},
	{"fetch/http", []string{"fetch", "fetch/proxy", "locator", "internal/"}},
	{"policy", []string{"locator", "fetch"}},
	{"testserver", []string{"internal/wire", "internal/memnet", "internal/z3950", "internal/ardp", "internal/prospero"}},
	{"mirror", []string{"locator", "fetch", "fetch/", "internal/"}},
	{".", []string{"locator", "fetch", "fetch/", "policy"}},
	{"cmd/", []string{".", "mirror", "locator", "fetch", "fetch/", "policy", "testserver", "internal/", "cmd/fetch1738/internal/"}},
}

// floors are the packages of the command line, below cmd/fetch1738/internal, from the
// lowest to the highest. A package imports from the floors below its own.
var floors = []string{
	"curldate curlvar dial dump fault glob keyfile mime822 netrc play record segments term version wildcard",
	"stdio progress render",
	"plan",
	"client output source listing form speed",
	"transfer curl exit",
	"dialogue report",
	"cli",
	"help",
	"get parse explain extract mirror archie serve demo completion manual",
}

const commandRooms = "cmd/fetch1738/internal/"

// TestFloors keeps the packages of the command line apart.
func TestFloors(t *testing.T) {
	floor := make(map[string]int)
	for i, names := range floors {
		for name := range strings.FieldsSeq(names) {
			floor[name] = i + 1
		}
	}
	seen := make(map[string]bool)
	for _, p := range listPackages(t) {
		name, inside := strings.CutPrefix(inModule(p.ImportPath), commandRooms)
		if !inside {
			continue
		}
		seen[name] = true
		if floor[name] == 0 {
			t.Errorf("%s%s is on no floor", commandRooms, name)
		}
		for _, imp := range p.Imports {
			if dep, ok := strings.CutPrefix(inModule(imp), commandRooms); ok && floor[dep] >= floor[name] {
				t.Errorf("%s imports %s, which is not on a floor below", name, dep)
			}
			if name == "transfer" && slices.Contains([]string{module + "/" + commandRooms + "term", "os/signal", "github.com/spf13/pflag"}, imp) {
				t.Errorf("the engine imports %s", imp)
			}
		}
	}
	for name := range floor {
		if !seen[name] {
			t.Errorf("there is no %s%s", commandRooms, name)
		}
	}
}

// TestRoomsAreSmall keeps the packages of the command line from growing into one
// another again: lines of code, and methods of a type.
func TestRoomsAreSmall(t *testing.T) {
	const maxLines, maxMethods = 2500, 25
	for _, p := range listPackages(t) {
		if !strings.HasPrefix(inModule(p.ImportPath), "cmd/") {
			continue
		}
		lines := 0
		methods := make(map[string]int)
		for _, file := range p.GoFiles {
			text, err := os.ReadFile(filepath.Join(p.Dir, file))
			if err != nil {
				t.Fatal(err)
			}
			lines += strings.Count(string(text), "\n")
			for line := range strings.Lines(string(text)) {
				if receiver, ok := strings.CutPrefix(line, "func ("); ok {
					receiver, _, _ = strings.Cut(receiver, ")")
					methods[receiver[strings.LastIndexAny(receiver, " *")+1:]]++
				}
			}
		}
		if lines > maxLines {
			t.Errorf("%s has %d lines", p.ImportPath, lines)
		}
		for name, n := range methods {
			if n > maxMethods {
				t.Errorf("%s.%s has %d methods", p.ImportPath, name, n)
			}
		}
	}
}

// modules is where each third-party module may be imported: the single file of
// a protocol library, or the package trees of any other.
var modules = map[string][]string{
	"github.com/jlaffaye/ftp":               {"fetch/ftp/session.go"},
	"github.com/ziutek/telnet":              {"fetch/telnet/conn.go"},
	"github.com/hashicorp/go-retryablehttp": {"fetch/http/retry.go"},
	"golang.org/x/net":                      {"fetch/http/", "fetch/proxy/"},
	"golang.org/x/text":                     {"cmd/fetch1738/internal/term/", "cmd/fetch1738/internal/mime822/"},
	"golang.org/x/term":                     {"cmd/fetch1738/internal/term/"},
	"golang.org/x/sys":                      {"cmd/fetch1738/internal/term/"},
	"golang.org/x/time":                     {"internal/pace/"},
	"github.com/spf13/pflag":                {"cmd/"},
}

type listedPackage struct {
	ImportPath, Dir string
	GoFiles         []string
	Imports         []string
}

// TestImportRules holds the tree against the table above.
func TestImportRules(t *testing.T) {
	unused := make(map[string]bool)
	for _, rule := range imports {
		unused[rule.pkg] = true
	}
	for _, p := range listPackages(t) {
		name := inModule(p.ImportPath)
		maps.DeleteFunc(unused, func(pkg string, _ bool) bool { return matches(pkg, name) })
		for _, imp := range p.Imports {
			if !strings.HasPrefix(imp, module) {
				continue
			}
			if dep := inModule(imp); !mayImport(name, dep) {
				t.Errorf("%s must not import %s", name, dep)
			}
		}
	}
	for pkg := range unused {
		t.Errorf("the table has a row for %s, which does not exist", pkg)
	}
}

// TestModuleRules holds the third-party imports to their places.
func TestModuleRules(t *testing.T) {
	for _, p := range listPackages(t) {
		for _, file := range p.GoFiles {
			place := path.Join(inModule(p.ImportPath), file)
			for _, imp := range fileImports(t, filepath.Join(p.Dir, file)) {
				mod, third := thirdParty(imp)
				if !third {
					continue
				}
				fits := func(pattern string) bool { return matches(pattern, place) }
				if !slices.ContainsFunc(modules[mod], fits) {
					t.Errorf("%s imports %s, whose places are %q", place, imp, modules[mod])
				}
			}
		}
	}
}

// TestForbidden names what would undo the design wherever it stood: programs
// started by URLs, schemes hidden in HTTP transports, memory tricks, work at
// import time.
func TestForbidden(t *testing.T) {
	for _, p := range listPackages(t) {
		for _, file := range p.GoFiles {
			place := path.Join(inModule(p.ImportPath), file)
			text, err := os.ReadFile(filepath.Join(p.Dir, file))
			if err != nil {
				t.Fatal(err)
			}
			for _, word := range []string{`"os/exec"`, `"unsafe"`, ".RegisterProtocol(", "\nfunc init()", "DialWithShutTimeout", "DialWithDebugOutput"} {
				if strings.Contains(string(text), word) {
					t.Errorf("%s contains %s", place, strings.TrimSpace(word))
				}
			}
		}
	}
}

// TestOneDoor keeps the command from asking a Fetcher anything but by a Resolver,
// which knows of the policy, gateways, limits and referrals.
func TestOneDoor(t *testing.T) {
	var files []string
	err := filepath.WalkDir("cmd", func(file string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(file, ".go") {
			files = append(files, file)
		}
		return err
	})
	if err != nil || len(files) < 50 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range []string{"fetch.AttributeFinder", "fetch.Updater", "fetch.Replacer", "fetch.Explainer", "Fetcher)(nil)"} {
			if !strings.HasSuffix(file, "_test.go") && strings.Contains(string(text), word) {
				t.Errorf("%s has %s", file, word)
			}
		}
	}
}

// TestEveryRoomIsNamed keeps docs/architecture.md complete.
func TestEveryRoomIsNamed(t *testing.T) {
	page, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range listPackages(t) {
		name := strings.TrimPrefix(inModule(p.ImportPath), commandRooms)
		if name != "." && !strings.Contains(string(page), "`"+name) {
			t.Errorf("docs/architecture.md does not name %s", name)
		}
	}
}

// TestNoTestingInPrograms keeps package testing out of whoever starts a server.
func TestNoTestingInPrograms(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "./cmd/...", "./testserver").Output()
	if err != nil {
		t.Fatal(err)
	}
	if slices.Contains(strings.Fields(string(out)), "testing") {
		t.Error("the program or testserver depends on package testing")
	}
}

// mayImport asks the most specific row of the table that fits pkg.
func mayImport(pkg, dep string) bool {
	var rule string
	var allowed []string
	for _, row := range imports {
		if matches(row.pkg, pkg) && len(row.pkg) > len(rule) {
			rule, allowed = row.pkg, row.allowed
		}
	}
	return slices.ContainsFunc(allowed, func(pattern string) bool { return matches(pattern, dep) })
}

func matches(pattern, pkg string) bool {
	if strings.HasSuffix(pattern, "/") {
		return strings.HasPrefix(pkg, pattern)
	}
	return pattern == pkg
}

func TestMayImport(t *testing.T) {
	for _, tc := range []struct {
		pkg, dep string
		want     bool
	}{
		{"locator", "fetch", false}, {"fetch", "locator", true}, {"fetch", "policy", false},
		{"fetch/ftp", "internal/wire", true}, {"fetch/ftp", "fetch/http", false}, {"fetch/ftp", ".", false},
		{"fetch/fetchtest", "testserver", true}, {"fetch/fetchtest", "internal/wire", false},
		{"testserver", "internal/memnet", true}, {"testserver", "locator", false}, {"testserver", "internal/session", false},
		{".", "fetch/ftp", true}, {".", "testserver", false}, {"cmd/fetch1738", ".", true}, {"cmd/fetch1738", "internal/pace", true},
		{"somewhere", "locator", false},
	} {
		if got := mayImport(tc.pkg, tc.dep); got != tc.want {
			t.Errorf("%s → %s: %v", tc.pkg, tc.dep, got)
		}
	}
}

// listPackages is every package of the module but the ones made of tests.
func listPackages(t *testing.T) []listedPackage {
	t.Helper()
	out, err := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,GoFiles,Imports", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var pkgs []listedPackage
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listedPackage
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if inside := p.ImportPath == module || strings.HasPrefix(p.ImportPath, module+"/"); inside && !measuring(inModule(p.ImportPath)) {
			pkgs = append(pkgs, p)
		}
	}
	if len(pkgs) < 10 {
		t.Fatalf("go list found %d packages only", len(pkgs))
	}
	return pkgs
}

// measuring reports whether a package only tests or measures the others.
func measuring(pkg string) bool {
	return pkg == "interop" || strings.HasPrefix(pkg, "interop/") || pkg == "bench" || strings.HasPrefix(pkg, "bench/")
}

// TestNeverImported keeps interop and bench at the edge.
func TestNeverImported(t *testing.T) {
	for _, p := range listPackages(t) {
		for _, imp := range p.Imports {
			if strings.HasPrefix(imp, module) && measuring(inModule(imp)) {
				t.Errorf("%s imports %s", p.ImportPath, imp)
			}
		}
	}
}

func inModule(importPath string) string {
	if importPath == module {
		return "."
	}
	return strings.TrimPrefix(importPath, module+"/")
}

func fileImports(t *testing.T, file string) []string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // cgo and generated files
	}
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, imp := range f.Imports {
		p, _ := strconv.Unquote(imp.Path.Value)
		paths = append(paths, p)
	}
	return paths
}

// thirdParty is the module of an import path that is neither ours nor of the
// standard library.
func thirdParty(imp string) (string, bool) {
	first, _, _ := strings.Cut(imp, "/")
	if !strings.Contains(first, ".") || strings.HasPrefix(imp, module) {
		return "", false
	}
	for mod := range modules {
		if imp == mod || strings.HasPrefix(imp, mod+"/") {
			return mod, true
		}
	}
	return imp, true
}
