package locator

import (
	"go/ast"
	goparser "go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"
)

// TestSchemes: every scheme with a grammar has exactly one row; twins name each other.
func TestSchemes(t *testing.T) {
	rows := map[string]Scheme{}
	for _, s := range Schemes() {
		if _, twice := rows[s.Name]; twice {
			t.Errorf("%s has two rows", s.Name)
		}
		rows[s.Name] = s
		if got, ok := SchemeOf(s.Name); !ok || got != s || DefaultPort(s.Name) != s.Port {
			t.Errorf("SchemeOf(%s) is %v, %v", s.Name, got, ok)
		}
		if twin, ok := SchemeOf(s.Twin); ok && (twin.Twin != s.Name || twin.Secure == s.Secure) || ok != (s.Twin != "") {
			t.Errorf("%s has the twin %v", s.Name, twin)
		}
	}
	for _, name := range grammars(t) {
		if _, ok := rows[name]; !ok {
			t.Errorf("%s has a grammar but no row", name)
		}
	}
	if s, ok := SchemeOf("x-none"); ok || s != (Scheme{Name: "x-none"}) {
		t.Errorf("x-none: %v, %v", s, ok)
	}
}

// grammars returns the schemes that the parser has a case for.
func grammars(t *testing.T) (names []string) {
	t.Helper()
	file, err := goparser.ParseFile(token.NewFileSet(), "parse.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	known := file.Decls[slices.IndexFunc(file.Decls, func(d ast.Decl) bool {
		f, ok := d.(*ast.FuncDecl)
		return ok && f.Name.Name == "known"
	})]
	ast.Inspect(known, func(n ast.Node) bool {
		if c, ok := n.(*ast.CaseClause); ok {
			for _, e := range c.List {
				name, err := strconv.Unquote(e.(*ast.BasicLit).Value)
				if err != nil {
					t.Fatal(err)
				}
				names = append(names, name)
			}
		}
		return true
	})
	return names
}
