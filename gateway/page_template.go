package gateway

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	texttemplate "text/template"

	"github.com/fetch1738/fetch1738/gateway/internal/visible"
)

// html/template makes the pages. It escapes each value for the place where it stands, and its
// templates are HTML, which people know from Hugo and Caddy. Each kind of page has a file of its own;
// page.html is the frame of all, and parts.html has what several share.
//
//go:embed templates
var files embed.FS

// Templates are the files that the pages of a Handler are made of: see docs/gateway.md.
type Templates struct {
	kinds  map[string]pageTemplate
	style  []byte
	script []byte
	digest string // of script, as in Subresource Integrity
	icons  map[string][]byte
}

// A pageTemplate makes the pages of a kind, with their frame.
type pageTemplate struct {
	*template.Template
	security string // the value of Content-Security-Policy
}

// isTemplateError reports whether a template could not be executed; other errors are those of writing.
func isTemplateError(err error) bool {
	_, ok := errors.AsType[texttemplate.ExecError](err)
	return ok
}

// ParseTemplates returns the templates of this package, but a file of changed replaces the one of its
// name. A file of another name is an error, unless the name begins with a dot. An error in a template
// says in which file and line it is.
func ParseTemplates(changed fs.FS) (*Templates, error) {
	own, err := fs.Sub(files, "templates")
	if err != nil {
		return nil, err
	}
	all := make(map[string][]byte)
	for i, from := range []fs.FS{own, changed} {
		found, err := fs.ReadDir(from, ".")
		if e, ok := errors.AsType[*fs.PathError](err); ok {
			return nil, e.Err // without the "."
		} else if err != nil {
			return nil, err
		}
		for _, f := range found {
			name := f.Name()
			if _, known := all[name]; i > 0 && !known {
				if strings.HasPrefix(name, ".") {
					continue
				}
				return nil, fmt.Errorf("%s: no template has this name; the names are %s", name, strings.Join(slices.Sorted(maps.Keys(all)), ", "))
			}
			if all[name], err = fs.ReadFile(from, name); err != nil {
				return nil, err
			}
		}
	}
	return parseTemplates(all)
}

// parseTemplates parses the files of all templates.
func parseTemplates(all map[string][]byte) (*Templates, error) {
	t := &Templates{kinds: make(map[string]pageTemplate), style: all["style.css"], script: all["script.js"], icons: make(map[string][]byte)}
	t.digest = digestOf(t.script)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if strings.HasPrefix(name, "icon") {
			t.icons[name] = all[name]
		}
		kind, isHTML := strings.CutSuffix(name, ".html")
		if !isHTML || kind == "page" || kind == "parts" {
			continue
		}
		page := template.New("").Funcs(template.FuncMap{"visible": visible.Name, "breakable": visible.Breakable})
		for _, part := range []string{"page.html", "parts.html", name} {
			// Only "\n", as a browser has it when it hashes a script.
			if _, err := page.New(part).Parse(strings.ReplaceAll(string(all[part]), "\r\n", "\n")); err != nil {
				return nil, templateError(err)
			}
		}
		template.Must(page.New("main").Parse(`{{template "` + name + `" .}}`))
		// The package looks at the places for values when a template is first executed. Alone, the
		// template of the kind gets the blame for what it leaves open.
		for _, part := range []string{name, "page.html"} {
			if err, ok := errors.AsType[*template.Error](page.ExecuteTemplate(io.Discard, part, nil)); ok {
				return nil, templateError(err)
			}
		}
		t.kinds[kind] = pageTemplate{page.Lookup("page.html"), securityOf(page, t.digest)}
	}
	return t, nil
}

// templateError returns an error of a template so that it begins with the file and the line.
func templateError(err error) error {
	text := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "html/"), "template:")
	return errors.New(strings.TrimSpace(text))
}

// builtin are the templates of this package.
var builtin = sync.OnceValue(func() *Templates {
	t, err := ParseTemplates(embed.FS{})
	if err != nil {
		panic(err)
	}
	return t
})

// pageSecurity are the restrictions of all pages: no script but those of the templates, nothing from
// elsewhere, no frame around it.
const pageSecurity = "default-src 'none'; style-src 'self'; img-src 'self'; media-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

var script = regexp.MustCompile(`(?is)<script(?:\s[^>]*)?>(.*?)</script`)

// digestOf is the digest of a script, as Content-Security-Policy and Subresource Integrity write it.
func digestOf(script []byte) string {
	sum := sha256.Sum256(script)
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// securityOf is pageSecurity with the scripts of a page, by their digests: that of script.js, which
// all pages share, and those within the templates. They are constants: no server or query can change
// them, and no other path of the gateway can become a script.
func securityOf(page *template.Template, shared string) string {
	digests := []string{"'" + shared + "'"}
	for _, part := range page.Templates() {
		if part.Tree == nil { // that of no name
			continue
		}
		for _, found := range script.FindAllStringSubmatch(part.Tree.Root.String(), -1) {
			if found[1] != "" {
				digests = append(digests, "'"+digestOf([]byte(found[1]))+"'")
			}
		}
	}
	slices.Sort(digests[1:])
	return pageSecurity + "; script-src " + strings.Join(digests, " ")
}
