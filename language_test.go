package fetch1738

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// relapses are phrases that kept coming back into texts, and what to write instead. It is a
// sample: CONTRIBUTING.md has the rule.
var relapses = []struct{ phrase, better string }{
	{`\b(is|are|was|were) none\b`, `"is not one", "there is no …", "means no …"`},
	{`\btells whether\b`, `"reports whether"`},
	{`\bso (often|much|many)\b`, `the number itself: "at most N times", "N bytes"`},
	{`\bbe it (that|a|the)\b`, `"whether … or …"`},
	{`\ball the same\b`, `"anyway"`},
	{`\btakes? it ill\b`, `"fails", "refuses"`},
	{`\breadily\b|\breluctan`, `what is meant: "initial", "delay"`},
	{`\b(go|goes|gone|going) on (with|where|behind)\b`, `"resume", "continue"`},
	{`\bwho else\b|\bwhoever\b`, `"any other user", "anyone who"`},
	{`\bsomebody\b`, `"someone", or the person's part: "user", "attacker"`},
	{`\bwith a word\b`, `"with a warning"`},
	{`\b(is|be) had\b`, `"is available", "can be fetched"`},
	{`\bpassed over\b`, `"skipped"`},
	{`\bgopher ?holes?\b`, `"gopher site"`},
	{`\bleave-taking\b`, `"QUIT"`},
	{`\bfor nobody\b|\bfrom nobody\b`, `what is meant`},
	{`\ba fetcher of no\b|\bno fetcher for\b`, `"scheme X is not supported"`},
}

// TestPlainEnglish keeps phrases that no reader should have to decode out of code and
// pages, and prose within 100 columns.
func TestPlainEnglish(t *testing.T) {
	var phrases []*regexp.Regexp
	for _, r := range relapses {
		phrases = append(phrases, regexp.MustCompile(`(?i)`+r.phrase))
	}
	err := filepath.WalkDir(".", func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" && path != "cmd/fetch1738/testdata" || d.Name() == ".git"):
			return filepath.SkipDir
		case path == "language_test.go":
			return nil
		}
		ext := filepath.Ext(path)
		if ext != ".go" && ext != ".md" && ext != ".tmpl" && ext != ".txtar" {
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		code := false
		for i, line := range strings.Split(string(b), "\n") {
			for j, phrase := range phrases {
				if found := phrase.FindString(line); found != "" {
					t.Errorf("%s:%d: %q; better %s", path, i+1, found, relapses[j].better)
				}
			}
			if ext != ".md" {
				continue
			}
			if strings.HasPrefix(strings.TrimSpace(line), "```") {
				code = !code
			}
			if n := utf8.RuneCountInString(line); n > 100 && !code && strings.Contains(line, " ") &&
				!strings.HasPrefix(strings.TrimSpace(line), "|") && !strings.HasPrefix(line, "    ") {
				t.Errorf("%s:%d: %d columns; wrap prose at 100", path, i+1, n)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
