package repotest

import (
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSnippets checks that each block of Go on the pages is a whole file, which compiles as it is
// printed in the module of a user: go vet checks their types, without a network.
func TestSnippets(t *testing.T) {
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	found := 0
	for _, page := range append(pages, "README.md") {
		for line, code := range blocks(t, page) {
			where := fmt.Sprintf("%s:%d", page, line)
			if formatted, err := format.Source([]byte(code)); err != nil || string(formatted) != code || !strings.HasPrefix(code, "package ") {
				t.Errorf("%s: not a whole file of Go, or not formatted: %v", where, err)
				continue
			}
			if strings.Contains(code, module+"/scale") { // a module of its own, whose requirements may not be here
				continue
			}
			found++
			name := "snippet.go"
			if strings.Contains(code, "*testing.T) {") {
				name = "snippet_test.go"
			}
			folder := fmt.Sprintf("%s-%d", strings.TrimSuffix(filepath.Base(page), ".md"), line)
			write(t, filepath.Join(dir, folder, name), code)
		}
	}
	if found < 40 {
		t.Errorf("found only %d blocks of code", found)
	}
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if own := strings.Replace(string(text), "module "+module+"\n", "module example.org/snippets\n", 1); name == "go.mod" {
			text = fmt.Appendf(nil, "%s\nrequire %s v0.0.0\nreplace %s => %q\n", own, module, module, filepath.ToSlash(wd))
		}
		write(t, filepath.Join(dir, name), string(text))
	}
	// The name of a folder is the page and the line of the block.
	if out, err := inCopy(t.Context(), dir, "go", "vet", "./...").CombinedOutput(); err != nil {
		t.Errorf("go vet: %v\n%s", err, out)
	}
}

// blocks returns the blocks of Go on a page, by the number of the line before each.
func blocks(t *testing.T, page string) map[int]string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[int]string)
	number, start := 0, 0
	for line := range strings.Lines(string(text)) {
		number++
		switch {
		case line == "```go\n":
			start = number
		case line == "```\n":
			start = 0
		case start > 0:
			found[start] += line
		}
	}
	return found
}
