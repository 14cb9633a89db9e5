package gateway

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var (
	inText      = regexp.MustCompile(`(^|>)[^<>="]*$`)
	inAttribute = regexp.MustCompile(`\s([a-z-]+)="([^"<>]*)$`)
	inScript    = regexp.MustCompile(`(?i)<(script|style)[^>]*>`)
)

// urlAttributes have a URL, and are loaded or followed by a browser. Other attributes of a page need
// no more than escaping.
var urlAttributes = []string{"action", "href", "src"}

var plainAttributes = []string{
	"aria-describedby", "aria-label", "aria-sort", "alt", "class", "data-open", "data-scheme", "datetime", "for", "id", "name", "placeholder", "title", "value",
}

// badPlace says what is wrong with a place of a format for markup; empty if nothing is.
func badPlace(format string) string {
	for rest, at := format, 0; ; {
		i := strings.IndexByte(rest, '%')
		if i < 0 || i+1 == len(rest) {
			return ""
		}
		at += i + 2
		before, verb, after := format[:at-2], rest[i+1], format[at:]
		rest = rest[i+2:]
		if open := inScript.FindAllStringIndex(before, -1); open != nil && !strings.Contains(before[open[len(open)-1][1]:], "</") {
			return "in a script or style sheet"
		}
		m := inAttribute.FindStringSubmatch(before)
		switch {
		case verb == 'u' && (m == nil || m[2] != "" || !strings.HasPrefix(after, `"`) || !slices.Contains(urlAttributes, m[1])):
			return "a URL that is not the value of such an attribute"
		case verb == 'u':
		case m == nil && !inText.MatchString(before):
			return "within a tag"
		case m != nil && !slices.Contains(plainAttributes, m[1]):
			return "in the attribute " + m[1]
		}
	}
}

func TestBadPlace(t *testing.T) {
	for _, format := range []string{
		`<a href="%s">`, `<a href="x%u">`, `<a href="%ux">`, `<a href=%u>`, `<a href='%u'>`, `<p onclick="%s">`, `<p style="%s">`, `<%s>`, `<p %s>`, `<p id=%s>`,
		`<p title='%s'>`, `<script>%s</script>`, `<style>p{%s}`, `%u`, `<p>%u</p>`, `<p>%s</p><a href="%s">`,
	} {
		if badPlace(format) == "" {
			t.Errorf("%s: accepted", format)
		}
	}
	for _, format := range []string{`%s`, `<p>%s</p>`, ` depth-%s`, `<p class="a %s">`, `<a href="%u">%s</a>`, `<script>x</script>%s`, ` title="%s"> and %s`} {
		if why := badPlace(format); why != "" {
			t.Errorf("%s: %s", format, why)
		}
	}
}

// TestPlaces looks at the places for values in the markup of all pages: each is in a text, in an
// attribute that is only text, or the whole URL of a link.
func TestPlaces(t *testing.T) {
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var calls []*ast.CallExpr
	constants := make(map[string]ast.Expr)
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), f.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				if len(n.Values) == 1 {
					constants[n.Names[0].Name] = n.Values[0]
				}
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "Put" {
					calls = append(calls, n)
				}
			}
			return true
		})
	}
	var text func(ast.Expr) string
	text = func(e ast.Expr) string {
		switch e := e.(type) {
		case *ast.BasicLit:
			s, _ := strconv.Unquote(e.Value)
			return s
		case *ast.BinaryExpr:
			return text(e.X) + text(e.Y)
		case *ast.Ident:
			return text(constants[e.Name])
		}
		t.Fatalf("a format is %T", e)
		return ""
	}
	if len(calls) < 100 {
		t.Fatalf("%d calls of Put", len(calls))
	}
	for _, c := range calls {
		format := text(c.Args[0])
		if why := badPlace(format); why != "" {
			t.Errorf("a place is %s:\n%s", why, format)
		}
		if n := strings.Count(format, "%s") + strings.Count(format, "%u"); n != len(c.Args)-1 || strings.Count(format, "%") != n {
			t.Errorf("%d values for\n%s", len(c.Args)-1, format)
		}
	}
}
