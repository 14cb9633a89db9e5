package repotest

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/fetch1738/fetch1738"

// layers lists the packages of the command line, below cmd/fetch1738/internal, from the lowest
// layer to the highest. A package may import packages of lower layers only.
var layers = []string{
	"cookies dial glob localerr outcome picture play term used version wildcard",
	"stdio progress render",
	"plan",
	"formdata",
	"client output listing form",
	"transfer curl exit",
	"dialogue report",
	"cli",
	"help",
	"get files parse explain extract mirror crawl search archie gateway serve judge warc demo completion manual",
	"browse",   // shows what explain does
	"verbtest", // for the tests of verbs
	"simulation",
}

const commandPackages = "cmd/fetch1738/internal/"

// TestLayers checks the imports between the packages of the command line, and that each has tests.
func TestLayers(t *testing.T) {
	layer := make(map[string]int)
	for i, names := range layers {
		for name := range strings.FieldsSeq(names) {
			layer[name] = i + 1
		}
	}
	seen := make(map[string]bool)
	for _, p := range listPackages(t) {
		name, inside := strings.CutPrefix(inModule(p.ImportPath), commandPackages)
		if !inside {
			continue
		}
		seen[name] = true
		if name != "verbtest" && !slices.ContainsFunc(p.TestGoFiles, func(file string) bool { return file != "main_test.go" }) {
			t.Errorf("%s%s has no tests beside it", commandPackages, name)
		}
		if layer[name] == 0 {
			t.Errorf("%s%s is in no layer", commandPackages, name)
		}
		for _, imp := range p.Imports {
			if dep, ok := strings.CutPrefix(inModule(imp), commandPackages); ok && layer[dep] >= layer[name] {
				t.Errorf("%s imports %s, which is not in a lower layer", name, dep)
			}
			if name == "transfer" && slices.Contains([]string{module + "/" + commandPackages + "term", "os/signal", "github.com/spf13/pflag"}, imp) {
				t.Errorf("the engine imports %s", imp)
			}
		}
	}
	for name := range layer {
		if !seen[name] {
			t.Errorf("a layer lists %s%s, which does not exist", commandPackages, name)
		}
	}
}

type listedPackage struct {
	ImportPath, Dir string
	Doc             string // the first sentence of the package comment
	GoFiles         []string
	TestGoFiles     []string // in the package itself
	Imports         []string
}

// TestForbidden rejects code that would break the design in any package: starting programs for
// URLs, registering schemes in HTTP transports, package unsafe, and work at import time.
func TestForbidden(t *testing.T) {
	// The programs of a desktop, which the user runs with gateway --install and --open; the program
	// that the user wants to have judged; the one that the user gives a document to; man, for the
	// manual page.
	allowed := map[string]string{
		"cmd/fetch1738/internal/browse/files.go":           `"os/exec"`,
		"cmd/fetch1738/internal/gateway/programs_linux.go": `"os/exec"`, "cmd/fetch1738/internal/manual/manual.go": `"os/exec"`,
		"judge/command.go": `"os/exec"`, "judge/command_unix.go": `"os/exec"`, "judge/command_other.go": `"os/exec"`,
	}
	comments := regexp.MustCompile(`(?m)^\s*//.*$`)
	// A template calls methods by name, so that the linker keeps all of them.
	allowed["dev/release/build/recipes.go"] = `/template"`
	// The gateway is a product of its own: what it keeps is not in a program with the root package.
	allowed["gateway/page_template.go"], allowed["gateway/internal/place/place.go"] = `/template"`, `/template"`
	for _, p := range listPackages(t) {
		for _, file := range p.GoFiles {
			place := path.Join(inModule(p.ImportPath), file)
			text, err := os.ReadFile(filepath.Join(p.Dir, file))
			if err != nil {
				t.Fatal(err)
			}
			code := comments.ReplaceAllString(string(text), "")
			for _, word := range []string{`"os/exec"`, `"unsafe"`, `/template"`, ".RegisterProtocol(", "\nfunc init()", "DialWithShutTimeout", "DialWithDebugOutput"} {
				if strings.Contains(code, word) && allowed[place] != word {
					t.Errorf("%s contains %s", place, strings.TrimSpace(word))
				}
			}
		}
	}
}

// TestOnlyResolverCallsFetchers checks that the command calls Fetchers through a Resolver only,
// which applies the policy, gateways, limits and referrals.
func TestOnlyResolverCallsFetchers(t *testing.T) {
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
		for _, word := range []string{"driver.AttributeFinder", "driver.Updater", "driver.Replacer", "driver.Explainer", "Fetcher)(nil)"} {
			if !strings.HasSuffix(file, "_test.go") && strings.Contains(string(text), word) {
				t.Errorf("%s uses %s", file, word)
			}
		}
	}
}

// TestEveryPackageIsNamed checks that docs/architecture.md names all packages.
func TestEveryPackageIsNamed(t *testing.T) {
	page, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	schemes, err := os.ReadFile("scheme.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range listPackages(t) {
		name := strings.TrimPrefix(inModule(p.ImportPath), commandPackages)
		name = strings.TrimPrefix(name, "gateway/") // its section names them from there
		if server := strings.HasPrefix(name, "testserver/") && strings.HasSuffix(name, "test"); server {
			continue // docs/testing.md names it, by a test of testserver
		}
		if strings.Contains(string(schemes), `"`+p.ImportPath+`"`) {
			continue // the page names scheme.go, which is the list of the Fetchers
		}
		if name != "." && !strings.Contains(string(page), "`"+name) {
			t.Errorf("docs/architecture.md does not name %s", name)
		}
	}
}

// TestEveryPackageHasComment checks what go doc begins with.
func TestEveryPackageHasComment(t *testing.T) {
	for _, p := range listPackages(t) {
		if p.Doc == "" && len(p.GoFiles) > 0 {
			t.Errorf("%s has no package comment", inModule(p.ImportPath))
		}
	}
}

// TestNoTestingInPrograms checks that programs which start a test server do not depend on package
// testing.
func TestNoTestingInPrograms(t *testing.T) {
	servers, err := filepath.Glob("testserver/*test")
	if err != nil || len(servers) < 9 {
		t.Fatal(servers, err)
	}
	args := []string{"list", "-deps", "./cmd/fetch1738"}
	for _, dir := range servers {
		args = append(args, "./"+filepath.ToSlash(dir))
	}
	out, err := exec.Command("go", args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	if slices.Contains(strings.Fields(string(out)), "testing") {
		t.Error("the program or testserver depends on package testing")
	}
}

// listPackages returns the packages of the module, except those that only test, measure or release
// others.
func listPackages(t *testing.T) []listedPackage {
	t.Helper()
	out, err := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,Doc,GoFiles,TestGoFiles,Imports", "./...").Output()
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
		if inside := p.ImportPath == module || strings.HasPrefix(p.ImportPath, module+"/"); inside && !beside(inModule(p.ImportPath)) {
			pkgs = append(pkgs, p)
		}
	}
	if len(pkgs) < 10 {
		t.Fatalf("go list found only %d packages", len(pkgs))
	}
	return pkgs
}

// beside reports whether a package only tests, measures or releases the others.
func beside(pkg string) bool {
	top, _, _ := strings.Cut(pkg, "/")
	return top == "dev"
}

// TestNeverImported checks that no package imports the workshop.
func TestNeverImported(t *testing.T) {
	for _, p := range listPackages(t) {
		for _, imp := range p.Imports {
			if strings.HasPrefix(imp, module) && beside(inModule(imp)) {
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
