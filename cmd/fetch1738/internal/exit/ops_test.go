package exit

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
)

// TestOps checks that every Op, a constant or a literal of the module or a command sent, has an exit
// code or is said to need none, and that there are no others: a misspelt one would have no rule.
func TestOps(t *testing.T) {
	ops := findOps(t)
	ruled := map[fetch.Op]bool{}
	for _, r := range exitRules {
		for _, op := range r.ops {
			ruled[op] = true
		}
	}
	for _, op := range opsByKind {
		if ruled[op] {
			t.Errorf("%q has a rule, or is in opsByKind twice", op)
		}
		ruled[op] = true
	}
	for op, at := range ops.used {
		if !ruled[op] {
			t.Errorf("%s: %q has no rule for its exit code and is not in opsByKind", at, op)
		}
	}
	for op := range ruled {
		if ops.used[op] == "" && !ops.words[op] {
			t.Errorf("nothing fails at %q", op)
		}
	}
	for op := range ops.declared {
		if ops.used[op] == "" {
			t.Errorf("nothing fails at %q", op)
		}
	}
	for _, at := range ops.literals {
		t.Errorf("%s: an Op that has a constant in package fetch", at)
	}
}

// foundOps is what the module's source, tests and the rules aside, says of Ops.
type foundOps struct {
	declared map[fetch.Op]bool   // the constants
	used     map[fetch.Op]string // constants, literals and commands sent, with a place
	words    map[fetch.Op]bool   // the first words of texts in capitals, which may be commands
	literals []string            // places of constants that are not called by their names
}

// senders are the methods of fetch/X that send a command line.
var senders = []string{"ask", "exchange", "expect", "command"}

func findOps(t *testing.T) *foundOps {
	type listed struct {
		ImportPath, Dir, Export string
		GoFiles                 []string
	}
	list := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles", "./...")
	list.Dir = filepath.Join("..", "..", "..", "..")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	exports := map[string]string{}
	ops := &foundOps{declared: map[fetch.Op]bool{}, used: map[fetch.Op]string{}, words: map[fetch.Op]bool{}}
	files := token.NewFileSet()
	imports := importer.ForCompiler(files, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	for d := json.NewDecoder(bytes.NewReader(out)); ; { // every package after those that it imports
		var p listed
		if err := d.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
		if !strings.HasPrefix(p.ImportPath, "github.com/fetch1738/fetch1738") {
			continue
		}
		var parsed []*ast.File
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(files, filepath.Join(p.Dir, name), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			parsed = append(parsed, f)
		}
		info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}
		config := types.Config{Importer: imports}
		if _, err := config.Check(p.ImportPath, files, parsed, info); err != nil {
			t.Fatal(err)
		}
		for _, f := range parsed {
			ast.Inspect(f, func(n ast.Node) bool { ops.see(n, info, files); return true })
		}
	}
	return ops
}

func (o *foundOps) see(n ast.Node, info *types.Info, files *token.FileSet) {
	if n == nil {
		return
	}
	at := files.Position(n.Pos()).String()
	if strings.Contains(filepath.ToSlash(at), "/internal/exit/rules.go") {
		return
	}
	switch n := n.(type) {
	case *ast.Ident:
		if op, ok := opOf(info.Defs[n]); ok {
			o.declared[op] = true
		}
		if op, ok := opOf(info.Uses[n]); ok {
			o.used[op] = at
		}
	case *ast.BasicLit:
		text := unquoted(n)
		switch op := fetch.Op(text); {
		case !isOp(info.Types[n].Type) || text == "":
			if text == strings.ToUpper(text) {
				o.words[firstWord(text)] = true
			}
		case strings.HasSuffix(files.Position(n.Pos()).Filename, "op.go"): // the declaration
		case o.declared[op]:
			o.literals = append(o.literals, at)
		default:
			o.used[op] = at
		}
	case *ast.CallExpr:
		method, ok := n.Fun.(*ast.SelectorExpr)
		if !ok || len(n.Args) == 0 || !slices.Contains(senders, method.Sel.Name) {
			return
		}
		line := n.Args[0]
		if sum, ok := line.(*ast.BinaryExpr); ok {
			line = sum.X
		}
		if lit, ok := line.(*ast.BasicLit); ok && len(firstWord(unquoted(lit))) > 1 {
			o.used[firstWord(unquoted(lit))] = at
		}
	}
}

func unquoted(lit *ast.BasicLit) string {
	text, _ := strconv.Unquote(lit.Value)
	return text
}

func firstWord(s string) fetch.Op {
	word, _, _ := strings.Cut(s, " ")
	return fetch.Op(word)
}

// opOf is the Op that an object is a constant of.
func opOf(o types.Object) (fetch.Op, bool) {
	c, ok := o.(*types.Const)
	if !ok || !isOp(c.Type()) || c.Name() == "_" {
		return "", false
	}
	return fetch.Op(constant.StringVal(c.Val())), true
}

func isOp(t types.Type) bool {
	return t != nil && t.String() == "github.com/fetch1738/fetch1738/fetch.Op"
}
