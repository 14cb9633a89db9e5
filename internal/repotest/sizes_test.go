package repotest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"testing"
)

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
	"fetch/fetchtest":        {3200, "all tests share one rig: its network, trace and limits are set by each test"},
	"fetch/ftp":              {7000, "control, data connections, pipelining and listings without LIST change the state of one session; the parsers are in ftplist and talk"},
	"fetch/gopher":           {2950, "the end of a response depends on the request, so framing, Gopher+ and menus share it; the parsers are in menu and cso"},
	"fetch/nntp":             {2650, "one session: articles, listings, searches and posts share its selected group, its pipeline and the commands that its server has"},
	"gateway":                {8200, "every kind of page reads one request and writes one response in the same frame; a second package would export all three"},
	"locator":                {2950, "one grammar: Locator is a sealed interface, whose types must be in one package"},
	"mirror":                 {4150, "listing, comparing, fetching and noticing loops change one run; the manifest is part of the API"},
	"deploy": {2720, "comparing, sending, checking, renaming and deleting change one run; the packages beside it have what does not"},

	"fetch/fetchtest.rig":              {60, "the fixture of all tests; what each test checks is a method"},
	"fetch/ftp.access":                 {38, "a request as FTP commands, for the session and for Explain"},
	"fetch/ftp.control":                {40, "a net.Conn for the client library, with the replies that it awaits"},
	"fetch/ftp.session":                {95, "one login: every command depends on what the earlier ones have changed"},
	"fetch/http.call":                  {40, "one operation with its redirects, logins and repeats"},
	"locator.parser":                   {50, "one method for each production of the grammar"},
	"testserver/simdisk.folder":        {30, "a method for each system call"},
	"deploy.run":       {80, "one run, whose steps share what was listed, the state and the summary"},
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
