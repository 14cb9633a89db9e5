package stdio

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// fields are what messages of the library call the fields of its structs.
var fields = regexp.MustCompile(`\b(policy\.Rules|Rules|Env|Limits|Fetcher|Mirror|Upload|Handler|Resolver|Config|Options)\.[A-Z]\w*`)

// options are options of the command in a message, not in a listing or a protocol.
var options = regexp.MustCompile(`(^|[ (;])(--[a-z][a-z0-9-]+|-[a-zA-Z])([ ),;.=]|$)`)

// ofPrograms are messages about mistakes in a program, which the command does not make.
var ofPrograms = map[string]bool{"DialControl called outside Env.Dial": true, "unknown Options.Method": true}

// The messages of the library name its fields, and never an option. Those that the command shows have
// a row in inOptions.
func TestMessagesOfTheLibrary(t *testing.T) {
	const module = "../../../.."
	named := 0
	err := filepath.WalkDir(module, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch place, _ := filepath.Rel(module, path); {
		case d.IsDir() && isOther(filepath.ToSlash(place)):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		for _, text := range literals(t, path) {
			if option := options.FindString(text); option != "" && !strings.Contains(text, "rw") && text != "LIST -a" { // as in "drwxr-xr-x"
				t.Errorf("%s: the message %q names an option of the command; name a field", path, text)
			}
			if field := fields.FindString(text); field != "" && !ofPrograms[text] {
				named++
				if field == text { // a Denied.Relax
					text = "use " + text + " to permit"
				}
				if got := InOptions(text); fields.MatchString(got) {
					t.Errorf("%s: for users of the command, inOptions has no row for the field of the message %q", path, got)
				}
			}
		}
		return nil
	})
	if err != nil || named < 20 {
		t.Errorf("%d messages with fields, %v", named, err)
	}
}

// isOther reports whether a directory has no code of the library, or code for tests.
func isOther(place string) bool {
	switch place {
	case "cmd", "dev", "adapters", "fetch/fetchtest", "judge", "scale/cmd", "testserver":
		return true
	}
	base := filepath.Base(place)
	return base == "testdata" || base == "node_modules" || base == ".git"
}

// literals returns the strings in a file.
func literals(t *testing.T, path string) (texts []string) {
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), path, src, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			texts = append(texts, lit.Value[1:len(lit.Value)-1])
		}
		return true
	})
	return texts
}

func TestInOptions(t *testing.T) {
	for text, want := range map[string]string{
		"gopher on port 25 (smtp); use policy.Rules.AllowPorts with 25 to permit": "gopher on port 25 (smtp); use --allow-port 25 to permit",
		"use Mirror.MaxDelete 7 or Mirror.MaxDelete -1 to delete them":            "use --max-delete 7 or --max-delete all to delete them",
		"Handler.Proxy": "--proxy",
	} {
		if got := InOptions(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
