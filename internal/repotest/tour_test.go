package repotest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestTour checks that each stop of docs/tour.md names a file and a function or method that it has. A
// reader who does not find the first one does not look for the second.
func TestTour(t *testing.T) {
	page, err := os.ReadFile("docs/tour.md")
	if err != nil {
		t.Fatal(err)
	}
	stop := regexp.MustCompile("^\\| (\\d+) \\| `([^`]+\\.go)` `([^`]+)` \\|")
	stops := 0
	for line := range strings.Lines(string(page)) {
		if !regexp.MustCompile(`^\| \d+ `).MatchString(line) {
			continue
		}
		m := stop.FindStringSubmatch(line)
		if m == nil {
			t.Errorf("the stop names no file and function: %s", line)
			continue
		}
		if stops++; !functions(t, m[2])[m[3]] {
			t.Errorf("stop %s: %s has no function %s", m[1], m[2], m[3])
		}
	}
	if stops < 12+3*5 {
		t.Errorf("found only %d stops", stops)
	}
}

// functions returns the functions of a file, and its methods as "Type.Method".
func functions(t *testing.T, file string) map[string]bool {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Error(err)
		return nil
	}
	names := make(map[string]bool)
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		name := fn.Name.Name
		if fn.Recv != nil {
			name = typeName(fn.Recv.List[0].Type) + "." + name
		}
		names[name] = true
	}
	return names
}
