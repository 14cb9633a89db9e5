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
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
)

// Every fetch.Op is declared where its meaning stands, has an exit code or is
// said to need none, and happens: as the Op of an error, or as a command sent,
// after which errors are called.
func TestOps(t *testing.T) {
	ops := findOps(t)
	for _, at := range ops.literals {
		t.Errorf("%s: an Op that is not one of the constants of package fetch", at)
	}
	ruled := map[fetch.Op]bool{}
	for _, r := range exitRules() {
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
	for op := range ops.declared {
		if !ruled[op] {
			t.Errorf("%q has no rule for its exit code and is not in opsByKind", op)
		}
		if !ops.used[op] {
			t.Errorf("nothing fails at %q", op)
		}
	}
	for op := range ops.sent {
		if !ops.declared[op] {
			t.Errorf("the command %s is no fetch.Op", op)
		}
	}
}

// foundOps is what the module's source, tests aside, says of Ops.
type foundOps struct {
	declared, used, sent map[fetch.Op]bool
	literals             []string // places of Ops that are not called by their names
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
	ops := &foundOps{declared: map[fetch.Op]bool{}, used: map[fetch.Op]bool{}, sent: map[fetch.Op]bool{}}
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
	position := func() string { return filepath.ToSlash(files.Position(n.Pos()).Filename) }
	file := func() string { return path.Base(position()) }
	switch n := n.(type) {
	case *ast.Ident:
		if op, ok := opOf(info.Defs[n]); ok {
			o.declared[op] = true
		}
		if op, ok := opOf(info.Uses[n]); ok && !strings.HasSuffix(position(), "/internal/exit/rules.go") {
			o.used[op] = true
		}
	case *ast.BasicLit:
		text := unquoted(n)
		if isOp(info.Types[n].Type) && text != "" && file() != "op.go" {
			o.literals = append(o.literals, files.Position(n.Pos()).String())
		}
		// A command may be in a text, a step of ours is called by its constant.
		if word := firstWord(text); file() != "op.go" && strings.ToUpper(text) == text {
			o.used[word] = true
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
			o.sent[firstWord(unquoted(lit))] = true
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
