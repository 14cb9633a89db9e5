package repotest

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"maps"
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

// imports lists what each package may import besides the standard library (docs/architecture.md). A
// trailing slash means all packages below; "." is the root package of the module.
var imports = []struct {
	pkg     string
	allowed []string
}{
	{"locator/internal/prose", nil},
	{"locator", []string{"locator/internal/prose"}},
	// Below internal/, packages know nothing of fetch, except those that the root package, the gateway
	// or the mirror share with the command: only here can all of them import these.
	{"internal/", []string{"internal/"}},
	{"internal/urls/typed", []string{"locator"}},
	{"internal/text/hypertext", []string{"locator", "internal/urls/relative"}},
	{"internal/urls/relative", []string{"locator"}},
	{"internal/urls/idn", []string{"locator"}},
	{"internal/entry", []string{"fetch", "fetch/gopher", "internal/text/charset", "internal/text/mime822"}},
	{"internal/file/resume", []string{"fetch", "fetch/http"}},
	{"internal/file/segments", []string{"locator", "fetch", "fetch/ftp", "fetch/http", "internal/"}},
	{"fetch", []string{"locator", "internal/wire"}},
	{"fetch/fetchtest", []string{"fetch", "locator", "testserver", "internal/raced"}},
	{"fetch/internal/", []string{"fetch", "internal/"}},
	{"fetch/", []string{"fetch", "fetch/internal/", "locator", "internal/"}},
	{"fetch/http", []string{"fetch", "fetch/proxy", "fetch/http/internal/exchange", "fetch/http/internal/coding", "locator", "internal/"}},
	{"fetch/http/internal/exchange", []string{"fetch", "fetch/proxy", "fetch/internal/session", "fetch/internal/talk", "fetch/http/internal/frames", "locator", "internal/"}},
	{"fetch/http/internal/frames", nil},
	{"fetch/http/internal/coding", nil},
	{"policy", []string{"locator", "fetch"}},
	{"testserver", []string{"testserver/memnet", "testserver/internal/core", "testserver/internal/tree", "testserver/record"}},
	{"testserver/", []string{"testserver", "testserver/internal/build", "testserver/internal/core", "testserver/internal/tree", "testserver/record"}},
	{"testserver/record", nil},
	{"testserver/internal/tree", nil},
	{"testserver/internal/build", []string{"testserver", "testserver/internal/core"}},
	{"testserver/internal/core", []string{"testserver/internal/tree", "testserver/record"}},
	{"testserver/control", []string{"testserver", "testserver/", "testserver/internal/core", "testserver/internal/tree"}},
	{"testserver/internal/testclient", []string{"testserver", "testserver/", "testserver/probe"}},
	{"testserver/waistest", []string{"testserver", "testserver/internal/build", "testserver/internal/core", "testserver/internal/tree", "internal/codec/z3950"}},
	{"testserver/prosperotest", []string{"testserver", "testserver/internal/build", "testserver/internal/core", "testserver/internal/tree", "internal/codec/ardp", "internal/codec/prospero"}},
	{"judge", []string{"judge/internal/"}},
	{"judge/internal/scene", []string{"testserver"}},
	{"judge/internal/", []string{"judge/internal/scene", "testserver", "testserver/"}},
	{"mirror", []string{"locator", "fetch", "fetch/", "internal/", "mirror/internal/"}},
	{"mirror/internal/filter", nil},
	{"mirror/internal/mailbox", []string{"internal/file/disk", "internal/text/mbox"}},
	{"mirror/internal/naming", []string{"internal/file/disk", "internal/file/filename"}},
	{"mirror/internal/loop", []string{"fetch"}},
	{"mirror/internal/selector", nil},
	{"mirror/internal/pool", []string{"fetch", "internal/pace"}},
	{"mirror/internal/state", []string{"internal/file/disk"}},
	{"mirror/internal/site", []string{"locator", "fetch", "fetch/ftp", "fetch/http"}},
	{"mirror/internal/deploy", []string{"locator", "fetch", "internal/file/disk", "internal/pace", "internal/file/resume", "mirror/internal/"}},
	{".", []string{"locator", "fetch", "fetch/", "policy", "internal/"}},
	{"archive/warc", []string{"internal/file/disk", "internal/urls/percent"}},
	{"archive/cdx", []string{"internal/file/disk", "internal/urls/idn", "internal/urls/percent"}},
	{"archive/internal/warctest", []string{"archive/warc"}},
	{"archive/tree", []string{"archive", "archive/cdx", "internal/urls/percent", "locator"}},
	{"archive/wacz", []string{"archive", "archive/", "internal/text/charset", "internal/file/disk", "internal/text/hypertext", "internal/codec/menu", "locator"}},
	{"archive", []string{".", "archive/", "locator", "fetch", "fetch/", "policy", "internal/"}},
	{"archive/replay", []string{".", "archive", "archive/", "locator", "fetch", "fetch/", "internal/", "testserver", "testserver/"}},
	{"crawl", []string{".", "archive", "archive/", "locator", "fetch", "fetch/", "policy", "internal/"}},
	{"gateway", []string{".", "locator", "fetch", "fetch/", "policy", "internal/", "gateway/internal/"}},
	{"gateway/internal/place", []string{"locator", "fetch", "internal/urls/percent"}},
	{"gateway/internal/natural", nil},
	{"gateway/internal/packed", []string{"internal/text/charset"}},
	{"gateway/internal/markup", nil},
	{"gateway/internal/plaintext", nil},
	{"gateway/internal/textview", []string{"gateway/internal/place", "gateway/internal/markup", "gateway/internal/plaintext", "locator"}},
	{"gateway/internal/cause", []string{"fetch"}},
	{"gateway/internal/groups", []string{".", "locator", "fetch", "gateway/internal/article", "gateway/internal/natural"}},
	{"gateway/internal/webapp", nil},
	{"gateway/internal/article", []string{"gateway/internal/place", "fetch", "fetch/nntp", "internal/text/charset", "internal/text/mime822", "internal/text/newssearch"}},
	{"gateway/internal/memento", nil},
	{"cmd/", []string{".", "archive", "archive/", "crawl", "gateway", "mirror", "locator", "fetch", "fetch/", "policy", "testserver", "testserver/", "judge", "internal/", "cmd/fetch1738/internal/"}},
}

// layers lists the packages of the command line, below cmd/fetch1738/internal, from the lowest
// layer to the highest. A package may import packages of lower layers only.
var layers = []string{
	"curlvar dial fault glob multistatus picture play record term used version wildcard",
	"stdio progress render",
	"plan",
	"client output source listing form speed",
	"transfer curl exit",
	"dialogue report",
	"cli",
	"help",
	"get files parse explain extract mirror crawl search archie gateway serve judge warc demo completion manual",
	"browse", // shows what explain does
	"simulation",
}

const commandPackages = "cmd/fetch1738/internal/"

// TestLayers checks the imports between the packages of the command line.
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

// The usual limits of size. What is larger has a row in the table large.
const (
	maxPackage  = 2500 // lines of code that is not a test
	maxType     = 25   // methods
	maxFunction = 60   // lines
)

// large lists the packages, types and functions that may be larger: each with a limit of its own,
// its size rounded up, and the reason why it is not split.
var large = map[string]struct {
	limit int
	why   string
}{
	".":                      {3900, "programs import one package; FS, Transport, ReaderAt, Download and Stat are types and methods of its API"},
	"fetch/fetchtest":        {3200, "all tests share one rig: its network, trace and limits are set by each test"},
	"fetch/ftp":              {6950, "control, data connections, pipelining and listings without LIST change the state of one session; the parsers are in ftplist and talk"},
	"fetch/gopher":           {2950, "the end of a response depends on the request, so framing, Gopher+ and menus share it; the parsers are in menu and cso"},
	"fetch/nntp":             {2650, "one session: articles, listings, searches and posts share its selected group, its pipeline and the commands that its server has"},
	"gateway":                {8650, "every page reads the state of one visit; a second package would export that state"},
	"locator":                {2950, "one grammar: Locator is a sealed interface, whose types must be in one package"},
	"mirror":                 {4120, "listing, comparing, fetching and noticing loops change one run; the manifest is part of the API"},
	"mirror/internal/deploy": {2720, "comparing, sending, checking, renaming and deleting change one run; the packages beside it have what does not"},

	"fetch/fetchtest.rig":              {60, "the fixture of all tests; what each test checks is a method"},
	"fetch/ftp.access":                 {38, "a request as FTP commands, for the session and for Explain"},
	"fetch/ftp.control":                {40, "a net.Conn for the client library, with the replies that it awaits"},
	"fetch/ftp.session":                {95, "one login: every command depends on what the earlier ones have changed"},
	"fetch/http.call":                  {40, "one operation with its redirects, logins and repeats"},
	"gateway.visit":                    {45, "one request of a browser, with all that its page shows"},
	"locator.parser":                   {50, "one method for each production of the grammar"},
	"testserver/simdisk.folder":        {30, "a method for each system call"},
	"mirror/internal/deploy.run":       {80, "one run, whose steps share what was listed, the state and the summary"},
	"..Resolver":                       {30, "the operations of every scheme, with short forms for those that take a URL"},
	"mirror.run":                       {60, "one run, whose steps share the manifest, the directory and the summary"},
	"testserver/gophertest.Server":     {35, "every answer depends on the settings: the imitated server, its menus and their host"},
	"testserver.Server":                {30, "what every server has: content, faults, the transcript, its end"},
	"testserver/internal/core.Machine": {35, "the server that testserver.Server shows, with what the protocols use"},
	"testserver/ftptest":               {3750, "the imitated servers set the fields of one server; their texts are a third of it"},
	"testserver/ftptest.session":       {100, "one login, with a method for each command of FTP"},
	"testserver/nntptest.session":      {50, "one login, with a method for each command of NNTP"},

	"cmd/fetch1738/internal/files":        {3250, "six verbs share one run, its operands and its listings; a fifth keeps rm and mv from deleting too much, a tenth is the options of coreutils"},
	"cmd/fetch1738/internal/transfer":     {2600, "the attempts of one transfer share its state; sources, outputs and reports are in other packages"},
	"cmd/fetch1738/internal/curl.Options": {200, "a table with one line for each option"},
}

// TestPackagesAreSmall limits the lines of each package and function, and the methods of each type.
func TestPackagesAreSmall(t *testing.T) {
	unused := maps.Clone(large)
	check := func(name string, size, limit int, unit string) {
		if size > limit && large[name].limit > 0 {
			limit = large[name].limit
			delete(unused, name)
		}
		if size > limit {
			t.Errorf("%s has %d %s, at most %d are allowed", name, size, unit, limit)
		}
	}
	for _, p := range listPackages(t) {
		pkg, lines, methods := inModule(p.ImportPath), 0, make(map[string]int)
		for _, file := range p.GoFiles {
			files := token.NewFileSet()
			f, err := parser.ParseFile(files, filepath.Join(p.Dir, file), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			lines += files.File(f.FileStart).LineCount()
			for _, d := range f.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok {
					continue
				}
				name := pkg + "." + fn.Name.Name
				if fn.Recv != nil {
					receiver := pkg + "." + typeName(fn.Recv.List[0].Type)
					methods[receiver]++
					name = receiver + "." + fn.Name.Name
				}
				check(name, files.Position(fn.End()).Line-files.Position(fn.Pos()).Line+1, maxFunction, "lines")
			}
		}
		check(pkg, lines, maxPackage, "lines")
		for name, n := range methods {
			check(name, n, maxType, "methods")
		}
	}
	for name := range unused {
		t.Errorf("the table large has a row for %s, which is not larger than usual", name)
	}
}

// typeName returns the name of the type of a receiver.
func typeName(receiver ast.Expr) string {
	switch x := receiver.(type) {
	case *ast.StarExpr:
		return typeName(x.X)
	case *ast.IndexExpr:
		return typeName(x.X)
	case *ast.IndexListExpr:
		return typeName(x.X)
	}
	return receiver.(*ast.Ident).Name
}

type listedPackage struct {
	ImportPath, Dir string
	GoFiles         []string
	Imports         []string
}

// TestImportRules checks the imports of all packages against the table imports.
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
		t.Errorf("the table imports has a row for %s, which does not exist", pkg)
	}
}

// TestForbidden rejects code that would break the design in any package: starting programs for
// URLs, registering schemes in HTTP transports, package unsafe, and work at import time.
func TestForbidden(t *testing.T) {
	// The programs of a desktop, which the user runs with gateway --install and --open; the program
	// that the user wants to have judged; the one that the user gives a document to; man, for the
	// manual page.
	exceptions := map[string]string{
		"cmd/fetch1738/internal/browse/files.go":           `"os/exec"`,
		"cmd/fetch1738/internal/gateway/programs_linux.go": `"os/exec"`, "cmd/fetch1738/internal/manual/manual.go": `"os/exec"`,
		"judge/command.go": `"os/exec"`, "judge/command_unix.go": `"os/exec"`, "judge/command_other.go": `"os/exec"`,
	}
	comments := regexp.MustCompile(`(?m)^\s*//.*$`)
	// A template calls methods by name, so that the linker keeps all of them.
	exceptions["dev/release/build/recipes.go"] = `/template"`
	// The gateway is a product of its own: what it keeps is not in a program with the root package.
	exceptions["gateway/page_template.go"], exceptions["gateway/internal/place/place.go"] = `/template"`, `/template"`
	for _, p := range listPackages(t) {
		for _, file := range p.GoFiles {
			place := path.Join(inModule(p.ImportPath), file)
			text, err := os.ReadFile(filepath.Join(p.Dir, file))
			if err != nil {
				t.Fatal(err)
			}
			code := comments.ReplaceAllString(string(text), "")
			for _, word := range []string{`"os/exec"`, `"unsafe"`, `/template"`, ".RegisterProtocol(", "\nfunc init()", "DialWithShutTimeout", "DialWithDebugOutput"} {
				if strings.Contains(code, word) && exceptions[place] != word {
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
	for _, p := range listPackages(t) {
		name := strings.TrimPrefix(inModule(p.ImportPath), commandPackages)
		if server := strings.HasPrefix(name, "testserver/") && strings.HasSuffix(name, "test"); server {
			continue // docs/testing.md names it, by a test of testserver
		}
		if name != "." && !strings.Contains(string(page), "`"+name) {
			t.Errorf("docs/architecture.md does not name %s", name)
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
	args := []string{"list", "-deps", "./cmd/..."}
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

// mayImport reports whether pkg may import dep, by the most specific row of the table that matches
// pkg.
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
		{"testserver", "testserver/memnet", true}, {"testserver/ftptest", "testserver", true}, {"testserver/ftptest", "internal/wire", false}, {"testserver/ftptest", "testserver/gophertest", false}, {"testserver", "locator", false}, {"testserver", "fetch/internal/session", false},
		{"fetch/ftp", "fetch/internal/talk", true}, {"fetch/internal/talk", "fetch", true}, {"internal/wire", "fetch", false},
		{".", "fetch/ftp", true}, {".", "testserver", false}, {"cmd/fetch1738", ".", true}, {"cmd/fetch1738", "internal/pace", true},
		{"somewhere", "locator", false},
	} {
		if got := mayImport(tc.pkg, tc.dep); got != tc.want {
			t.Errorf("%s → %s: %v", tc.pkg, tc.dep, got)
		}
	}
}

// listPackages returns the packages of the module, except those that only test, measure or release
// others.
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
