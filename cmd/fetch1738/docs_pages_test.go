package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// root is the repository, as the tests of this package see it.
const root = "../.."

// A page is a file in Markdown, in lines that keep their line ends.
type page struct {
	name  string // below root
	lines []string
}

func pages(t *testing.T) (list []page) {
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/decisions/*.md"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			name, err := filepath.Rel(root, file)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, page{filepath.ToSlash(name), strings.SplitAfter(string(b), "\n")})
		}
	}
	if len(list) < 20 {
		t.Fatalf("found only %d pages", len(list))
	}
	return list
}

// prose calls f with each paragraph, heading and row of a table that is not in a
// block of code, white space made single, and with the number of its last line.
func (p page) prose(f func(line int, text string)) {
	var paragraph []string
	code := false
	for i, line := range append(p.lines, "") {
		trimmed := strings.TrimSpace(line)
		fence := strings.HasPrefix(trimmed, "```")
		single := trimmed == "" || fence || strings.HasPrefix(trimmed, "|") || strings.HasPrefix(trimmed, "#")
		if single && len(paragraph) > 0 {
			f(i, strings.Join(strings.Fields(strings.Join(paragraph, " ")), " "))
			paragraph = nil
		}
		switch {
		case fence:
			code = !code
		case code || trimmed == "" || strings.HasPrefix(line, "    ") && len(paragraph) == 0:
		case single:
			f(i+1, trimmed)
		default:
			paragraph = append(paragraph, trimmed)
		}
	}
}

var sentenceEnd = regexp.MustCompile(`[.:;] `)

// No page says the same twice, as after a merge. The list of reports does, because it is made from data.
func TestPagesRepeatNothing(t *testing.T) {
	for _, p := range pages(t) {
		if strings.HasSuffix(p.name, "reports.md") {
			continue
		}
		seen := make(map[string]int)
		p.prose(func(line int, text string) {
			for _, sentence := range sentenceEnd.Split(text, -1) {
				if len(sentence) < 45 || strings.HasPrefix(sentence, "| ---") {
					continue
				}
				if first := seen[sentence]; first != 0 {
					t.Errorf("%s:%d: said before, in line %d: %s", p.name, line, first, sentence)
				}
				seen[sentence] = line
			}
		})
	}
}

var (
	link      = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	codeSpan  = regexp.MustCompile("`[^`]*`")
	noAnchor  = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	otherSite = regexp.MustCompile(`^[a-z]+:`)
	goFile    = regexp.MustCompile("`([\\w/]+/\\w+\\.go)`")
)

// anchor is what GitHub calls a heading.
func anchor(heading string) string {
	return strings.ReplaceAll(noAnchor.ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
}

// anchors are what links to a page may end with.
func (p page) anchors() map[string]bool {
	found := make(map[string]bool)
	p.prose(func(_ int, text string) {
		if heading := strings.TrimLeft(text, "#"); heading != text {
			found[anchor(strings.TrimSpace(heading))] = true
		}
	})
	return found
}

// Relative links lead to files that exist, and to headings in them.
func TestPagesLinks(t *testing.T) {
	anchors := make(map[string]map[string]bool)
	list := pages(t)
	for _, p := range list {
		anchors[p.name] = p.anchors()
	}
	links := 0
	for _, p := range list {
		p.prose(func(line int, text string) {
			for _, m := range link.FindAllStringSubmatch(codeSpan.ReplaceAllString(text, ""), -1) {
				if otherSite.MatchString(m[1]) {
					continue
				}
				links++
				path, fragment, _ := strings.Cut(m[1], "#")
				target := p.name
				if path != "" {
					target = filepath.ToSlash(filepath.Join(filepath.Dir(p.name), path))
				}
				if _, err := os.Stat(filepath.Join(root, target)); err != nil {
					t.Errorf("%s:%d: %s leads nowhere", p.name, line, m[1])
				} else if fragment != "" && !anchors[target][fragment] {
					t.Errorf("%s:%d: %s has no heading %q", p.name, line, target, fragment)
				}
			}
		})
	}
	if links < 30 {
		t.Errorf("found only %d links", links)
	}
}

// The files of Go that the decisions name exist. Other pages have examples.
func TestPagesFiles(t *testing.T) {
	files := 0
	for _, p := range pages(t) {
		if !strings.HasPrefix(p.name, "docs/decisions/") {
			continue
		}
		p.prose(func(line int, text string) {
			for _, m := range goFile.FindAllStringSubmatch(text, -1) {
				files++
				if _, err := os.Stat(filepath.Join(root, m[1])); err != nil {
					t.Errorf("%s:%d: %s does not exist", p.name, line, m[1])
				}
			}
		})
	}
	if files == 0 {
		t.Error("found no files")
	}
}

// The README says which module this is and which Go it needs.
func TestReadmeModule(t *testing.T) {
	module, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^module (\S+)$(?s:.*)^go (\d+\.\d+)`).FindSubmatch(module)
	for _, want := range []string{"git clone https://" + string(m[1]), "go get " + string(m[1]), "Go " + string(m[2])} {
		if !strings.Contains(string(readme), want) {
			t.Errorf("README.md lacks %q", want)
		}
	}
}
