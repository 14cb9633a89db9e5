package repotest

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestPromises checks that docs/library.md says of each package whether its API is promised, and
// that .ci/apidiff compares those that are.
func TestPromises(t *testing.T) {
	page, err := os.ReadFile("docs/library.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(page), "\n## What stays compatible\n")
	if !found {
		t.Fatal("docs/library.md has no section about compatibility")
	}
	script, err := os.ReadFile(".ci/apidiff")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^unpromised='(.*)'$`).FindSubmatch(script)
	if m == nil {
		t.Fatal(".ci/apidiff has no list of packages")
	}
	ignored := regexp.MustCompile("^(" + string(m[1]) + ")(/|$)")

	promised := make(map[string]string) // yes, no or separately, by package
	for line := range strings.Lines(section) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 {
			continue
		}
		for _, name := range regexp.MustCompile("`[^`]+`").FindAllString(cells[1], -1) {
			promised[strings.Trim(name, "`")] = strings.TrimSpace(cells[2])
		}
	}
	for _, p := range listPackages(t) {
		name := inModule(p.ImportPath)
		if strings.HasPrefix(name, "internal/") || strings.Contains(name, "/internal/") {
			continue
		}
		var says string
		switch name {
		case ".":
			says = promised["fetch1738"]
		default:
			says = promised[name]
			if top, _, below := strings.Cut(name, "/"); says == "" && below && (promised[top] == "no" || top == "testserver") {
				says = promised[top]
			}
		}
		want := "yes"
		if ignored.MatchString(name) {
			want = "no"
		}
		if says != want {
			t.Errorf("docs/library.md says %q of %s; for .ci/apidiff it is %q", says, name, want)
		}
	}
}
