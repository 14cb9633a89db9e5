package repotest

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestWings checks the table of wings in docs/architecture.md: each directory with Go code is in one
// wing, and the lines are those of the tree, within 15 %. The table of the README is the same one.
func TestWings(t *testing.T) {
	page, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	table := regexp.MustCompile(`(?m)^\| wing \|.*\n(?:\|.*\n)+`).FindString(string(page))
	if !strings.Contains(string(readme), table) || table == "" {
		t.Error("the README has another table of wings")
	}
	lines := linesOfCode(t)
	for _, row := range strings.Split(table, "\n") {
		cells := strings.Split(row, "|")
		if len(cells) < 6 || !strings.Contains(cells[2], "`") {
			continue
		}
		says, err := strconv.Atoi(strings.ReplaceAll(strings.TrimSpace(cells[3]), ",", ""))
		if err != nil {
			t.Errorf("%s: %v", row, err)
		}
		has := 0
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[2], -1) {
			if lines[m[1]] == 0 {
				t.Errorf("%s has no lines, or is in two wings", m[1])
			}
			has += lines[m[1]]
			delete(lines, m[1])
		}
		if 100*max(says-has, has-says) > 15*has {
			t.Errorf("the wing%shas %d lines, not %d", cells[1], has, says)
		}
	}
	for dir := range lines {
		t.Errorf("%s is in no wing", dir)
	}
}

// linesOfCode returns the lines of the Go files that are not tests, by directory of the root.
func linesOfCode(t *testing.T) map[string]int {
	t.Helper()
	lines := make(map[string]int)
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{"testdata", "node_modules", ".git"}, d.Name()):
			return fs.SkipDir
		case d.IsDir() || path.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(file)
		top, _, below := strings.Cut(filepath.ToSlash(file), "/")
		if !below {
			top = "."
		}
		lines[top] += bytes.Count(text, []byte("\n"))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}
