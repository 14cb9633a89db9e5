package testserver_test

import (
	"context"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/csotest"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
	"github.com/fetch1738/fetch1738/testserver/nntptest"
	"github.com/fetch1738/fetch1738/testserver/prosperotest"
	"github.com/fetch1738/fetch1738/testserver/smtptest"
	"github.com/fetch1738/fetch1738/testserver/telnettest"
	"github.com/fetch1738/fetch1738/testserver/waistest"
	"github.com/fetch1738/fetch1738/testserver/webtest"
)

var update = flag.Bool("update", false, "write the faults and the personalities into docs/testing.md")

// described is implemented by all servers.
type described interface {
	Faults() []testserver.FaultInfo
	Stages() []string
	Arm(stage string, n int, faults ...testserver.Fault) error
	ParseFault(text string) (testserver.Fault, error)
	ResetFaults()
	Close() error
}

// servers starts one server of each package.
func servers(t *testing.T) map[string]described {
	t.Helper()
	all := map[string]described{
		"ftptest":      started(ftptest.Start),
		"webtest":      started(webtest.Start),
		"gophertest":   started(gophertest.Start),
		"nntptest":     started(nntptest.Start),
		"waistest":     started(waistest.Start),
		"prosperotest": started(prosperotest.Start),
		"csotest":      started(csotest.Start),
		"telnettest":   started(telnettest.Start),
		"smtptest":     started(smtptest.Start),
	}
	packages, err := filepath.Glob("*test")
	if err != nil || !slices.Equal(packages, slices.Sorted(maps.Keys(all))) {
		t.Fatalf("the packages are %q, %v, but this test has %q", packages, err, slices.Sorted(maps.Keys(all)))
	}
	for name, s := range all {
		if s == nil {
			t.Fatalf("%s does not start", name)
		}
		t.Cleanup(func() {
			s.ResetFaults()
			s.Close()
		})
	}
	return all
}

// started starts a server, or returns nil.
func started[S described](start func(context.Context, string, ...func(S)) (S, error)) described {
	s, err := start(context.Background(), "")
	if err != nil {
		return nil
	}
	return s
}

// common are the faults that all servers of connections have.
var common = []string{"Delay", "Gather", "Reply", "Silence", "Close", "EndlessLine", "Truncate", "Reset", "Drip", "Split", "Garble", "Connection", "From", "After", "Until", "Matching"}

// TestDocsListFaults compares the servers and faults in docs/testing.md with those that exist.
func TestDocsListFaults(t *testing.T) {
	const file = "../docs/testing.md"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	all := servers(t)
	var want strings.Builder
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(line, " | ")
		name := strings.TrimPrefix(cells[0], "| ")
		if s := all[name]; len(cells) == 3 && s != nil {
			line = cells[0] + " | " + cells[1] + " | " + faultCell(s.Faults()) + " |\n"
			delete(all, name)
		}
		want.WriteString(line)
	}
	if len(all) > 0 {
		t.Errorf("docs/testing.md has no row for %q", slices.Sorted(maps.Keys(all)))
	}
	if *update {
		err = os.WriteFile(file, []byte(want.String()), 0o644)
	} else if want.String() != string(page) {
		t.Error("docs/testing.md lists other faults than the servers have; use -update")
	}
	_, list, _ := strings.Cut(string(page), "have these faults too:")
	list, _, _ = strings.Cut(list, ".")
	if got := strings.Fields(strings.NewReplacer("`", "", ",", "").Replace(list)); err != nil || !slices.Equal(got, common) {
		t.Errorf("the common faults are %q, %v, but docs/testing.md lists %q", common, err, got)
	}
}

// faultCell lists the faults that are not common, with the stages where they can act.
func faultCell(faults []testserver.FaultInfo) string {
	isCommon := func(f testserver.FaultInfo) bool { return slices.Contains(common, f.Name) }
	if slices.ContainsFunc(faults, func(f testserver.FaultInfo) bool { return f.Name == "Gather" }) {
		faults = slices.DeleteFunc(faults, isCommon)
	}
	var cell []string
	for i, f := range faults {
		if i > 0 && slices.Equal(f.At, faults[i-1].At) {
			cell[len(cell)-1] += ", `" + f.Name + "`"
		} else {
			cell = append(cell, "`"+f.Name+"`")
		}
		if last := i+1 == len(faults) || !slices.Equal(f.At, faults[i+1].At); last && f.At != nil {
			cell[len(cell)-1] += " at " + strings.Join(f.At, " ")
		}
	}
	return strings.Join(cell, "; ")
}

// TestDocsListPersonalities compares the table of personalities in docs/testing.md with those that
// exist. Their names are unique within a protocol.
func TestDocsListPersonalities(t *testing.T) {
	const file, begin, end = "../docs/testing.md", "<!-- personalities: TestDocsListPersonalities -update writes this table -->\n\n", "\n<!-- end of personalities -->"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(page), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatal("docs/testing.md has no table of personalities")
	}
	rows := slices.Concat(rowsOf(ftptest.Personalities()), rowsOf(gophertest.Personalities()), rowsOf(nntptest.Personalities()))
	if len(rows) < 30 {
		t.Errorf("there are %d personalities, want at least 30", len(rows))
	}
	table := "| name | in Go | what it does | pinned by |\n| --- | --- | --- | --- |\n" + strings.Join(rows, "")
	want := before + begin + table + end + after
	if *update {
		err = os.WriteFile(file, []byte(want), 0o644)
	} else if want != string(page) {
		t.Error("docs/testing.md lists other personalities than there are; use -update")
	}
	if err != nil {
		t.Error(err)
	}
}

func rowsOf[S any](all []testserver.Personality[S]) (rows []string) {
	for _, p := range all {
		function := path.Base(runtime.FuncForPC(reflect.ValueOf(p.Configure).Pointer()).Name())
		rows = append(rows, fmt.Sprintf("| `%s` | `%s` | %s | %s |\n", p.Name, function, p.Summary, p.Source))
	}
	return rows
}

// TestDocsListStages checks that the package comment lists the stages of all servers.
func TestDocsListStages(t *testing.T) {
	page, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range servers(t) {
		for _, stage := range s.Stages() {
			if stage != "*" && !regexp.MustCompile(`(?m)^//\t[A-Z, -]*\b`+stage+`\b`).Match(page) {
				t.Errorf("%s: the package comment does not list %s", name, stage)
			}
		}
	}
}

// TestConstructors checks that each fault of a table has a constructor of its name and arguments, in
// the package of the server or in testserver, and that each kind of a package is in its table.
func TestConstructors(t *testing.T) {
	shared := functions(t, ".")
	kinds := regexp.MustCompile(`&core\.Kind\{Name: "(\w+)"`)
	for name, s := range servers(t) {
		own := functions(t, name)
		inTable := make(map[string]bool)
		for _, f := range s.Faults() {
			inTable[f.Name] = true
			params, ok := own[f.Name]
			if !ok {
				params, ok = shared[f.Name]
			}
			if !ok || params != len(f.Params) {
				t.Errorf("%s: the constructor of %s has %d parameters (exists: %v), the table has %q", name, f.Name, params, ok, f.Params)
			}
		}
		for _, text := range matching(t, name+"/*.go", kinds) {
			for _, m := range kinds.FindAllStringSubmatch(text, -1) {
				if !inTable[m[1]] {
					t.Errorf("%s: %s is not in the table", name, m[1])
				}
			}
		}
	}
}

// functions returns the exported functions of a package, with their numbers of parameters.
func functions(t *testing.T, dir string) map[string]int {
	t.Helper()
	files, err := filepath.Glob(dir + "/*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string]int)
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.IsExported() {
				found[f.Name.Name] = f.Type.Params.NumFields()
			}
		}
	}
	return found
}

// TestDocsOnConformance checks that each Fetcher has a conformance test, as docs/testing.md says.
func TestDocsOnConformance(t *testing.T) {
	fetchers, err := filepath.Glob("../fetch/*")
	if err != nil || len(fetchers) == 0 {
		t.Fatal(fetchers, err)
	}
	n := 0
	for _, dir := range fetchers {
		if matching(t, dir+"/*.go", regexp.MustCompile(`(?m)^type Fetcher struct`)) == nil {
			continue
		}
		if n++; matching(t, dir+"/*_test.go", regexp.MustCompile(`fetchtest\.Run\(`)) == nil {
			t.Errorf("%s has no test that calls fetchtest.Run", dir)
		}
	}
	if n < 9 {
		t.Errorf("found only %d Fetchers, want at least 9", n)
	}
}

// matching returns the texts of the files that match wanted.
func matching(t *testing.T, pattern string, wanted *regexp.Regexp) (texts []string) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if wanted.Match(text) {
			texts = append(texts, string(text))
		}
	}
	return texts
}
