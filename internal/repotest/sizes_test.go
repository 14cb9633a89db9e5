package repotest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"testing"
)

// The usual limits of size. What is larger has a row in the table large.
const (
	maxPackage  = 2500 // lines of code that is not a test
	maxType     = 25   // methods
	maxFields   = 20   // fields of a struct
	maxFunction = 60   // lines
)

// large lists the packages, types and functions that may be larger: each with a limit of its own,
// its size rounded up, and the reason why it is not split. A name with {} is the fields of a struct.
var large = map[string]struct {
	limit int
	why   string
}{
	"fetch/ftp":    {7020, "control, data connections, pipelining and listings without LIST change the state of one session; the parsers are in ftplist and talk"},
	"fetch/gopher": {2950, "the end of a response depends on the request, so framing, Gopher+ and menus share it; the parsers are in menu and cso"},
	"fetch/http":   {2560, "one operation with what a request says, how its response is framed in, and where it goes on: redirects, logins, cookies, the rest of a document; versions of HTTP are in packages of their own"},
	"fetch/nntp":   {2570, "one session: articles, listings, searches and posts share its selected group, its pipeline and the commands that its server has"},
	"gateway":      {8200, "every kind of page reads one request and writes one response in the same frame; a second package would export all three"},
	"locator":      {2950, "one grammar: Locator is a sealed interface, whose types must be in one package"},
	"mirror":       {4100, "listing, comparing, deleting and fetching hand on the entries of a listing and write the manifest, whose lines are part of the API; the packages beside it have what needs neither"},
	"deploy":       {3150, "the steps of an upload hand on the types of one another: files, listings, differences; the options and events with their documentation are a tenth"},

	"fetch/ftp.access":          {35, "a request as FTP commands, for the session and for Explain"},
	"fetch/ftp.session":         {40, "one login: every command depends on what the earlier ones have changed"},
	"fetch/http.call":           {45, "one operation with its redirects, logins, cookies and repeats"},
	"locator.parser":            {50, "one method for each production of the grammar"},
	"testserver/simdisk.folder": {30, "a method for each system call"},
	"..Resolver":                {30, "the operations of every scheme, with short forms for those that take a URL"},
	"testserver.Server":         {30, "what users do with every server: content, faults, the transcript, its end"},
	"testserver/ftptest":        {3750, "the imitated servers set the fields of one server; their texts are a third of it"},

	"cmd/fetch1738/internal/curl":         {2704, "one grammar: the table of options, what each sets, configuration files and variables"},
	"cmd/fetch1738/internal/files":        {3350, "six verbs share one run, its operands and its listings; a fifth keeps rm and mv from deleting too much, a tenth is the options of coreutils"},
	"cmd/fetch1738/internal/transfer":     {3050, "what one transfer does, from its URL to its file, and the pool of several; its files point one way, and what has another user is in other packages"},
	"cmd/fetch1738/internal/curl.Options": {205, "a table with one line for each option"},
}

// options lists the structs that may have any number of fields, because they only hold what a caller
// sets.
var options = []string{
	"cmd/fetch1738/internal/plan.Operation",
	"crawl.Crawl",
	"deploy.Upload",
	"fetch/ftp.Options",
	"judge.Case",
	"mirror.Mirror",
	"testserver/ftptest.Server",
}

// TestPackagesAreSmall limits the lines of each package and function, and the methods and fields of
// each type.
func TestPackagesAreSmall(t *testing.T) {
	unused, wide := maps.Clone(large), make(map[string]bool)
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
					for name, n := range structs(d) {
						name = pkg + "." + name
						wide[name] = n > maxFields
						if !slices.Contains(options, name) {
							check(name+"{}", n, maxFields, "fields")
						}
					}
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
	for _, name := range options {
		if !wide[name] {
			t.Errorf("the list options has %s, which is not larger than usual", name)
		}
	}
}

// structs returns the structs that d declares, each with its number of fields.
func structs(d ast.Decl) map[string]int {
	types, _ := d.(*ast.GenDecl)
	if types == nil || types.Tok != token.TYPE {
		return nil
	}
	all := make(map[string]int)
	for _, spec := range types.Specs {
		typ := spec.(*ast.TypeSpec)
		if s, ok := typ.Type.(*ast.StructType); ok {
			all[typ.Name.Name] = s.Fields.NumFields()
		}
	}
	return all
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
