package repotest

import (
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// upward lists the uses that go against the order of the files of fetch/ftp, each with its reason.
var upward = map[string]string{
	"body.go start.go": "the end of a transfer is where its start is checked, in a file of its own",
	"list.go ftp.go":   "a listing without facts is replaced by another one",
}

// TestFTPFilesPointDown checks that each file of fetch/ftp uses only types, functions and fields of
// files that follow it in the list in docs/architecture.md.
func TestFTPFilesPointDown(t *testing.T) {
	page, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## The FTP client\n")
	section, _, _ = strings.Cut(section, "\n## ")
	rank := make(map[string]int)
	for i, m := range regexp.MustCompile("(?m)`([a-z]+\\.go)`").FindAllStringSubmatch(section, -1) {
		rank[m[1]] = i
	}
	seen := make(map[string]bool)
	for use, name := range usesBetween(t, "fetch/ftp") {
		seen[use] = true
		from, to, _ := strings.Cut(use, " ")
		for _, file := range []string{from, to} {
			if _, ok := rank[file]; !ok {
				t.Errorf("docs/architecture.md does not list %s", file)
			}
		}
		if rank[from] > rank[to] && upward[use] == "" {
			t.Errorf("%s uses %s of %s, which stands above it", from, name, to)
		}
	}
	for use := range upward {
		if !seen[use] {
			t.Errorf("the list upward has %s, which is not used any more", use)
		}
	}
}

// usesBetween returns the pairs "from to" of files of a package of which one uses something of the
// other, with the name of one such thing.
func usesBetween(t *testing.T, dir string) map[string]string {
	t.Helper()
	set := token.NewFileSet()
	pkg, err := build.ImportDir(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", "./"+dir).Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	exports := make(map[string]string) // the files with what packages export
	for line := range strings.Lines(string(out)) {
		imported, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		exports[imported] = file
	}
	var files []*ast.File
	for _, name := range pkg.GoFiles {
		f, err := parser.ParseFile(set, filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	info := &types.Info{Uses: make(map[*ast.Ident]types.Object)}
	conf := types.Config{Importer: importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })}
	checked, err := conf.Check(dir, set, files, info)
	if err != nil {
		t.Fatal(err)
	}
	uses := make(map[string]string)
	for id, used := range info.Uses {
		v, isVar := used.(*types.Var)
		local := isVar && !v.IsField() && used.Parent() != checked.Scope()
		from, to := filepath.Base(set.Position(id.Pos()).Filename), filepath.Base(set.Position(used.Pos()).Filename)
		if used.Pkg() == checked && !local && from != to {
			uses[from+" "+to] = id.Name
		}
	}
	return uses
}
