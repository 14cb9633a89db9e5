package repotest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// relapses are phrases that kept coming back into texts, and what to write instead. It is a
// sample: CONTRIBUTING.md has the rule. Each contains the word, which is faster to find.
var relapses = []struct{ word, phrase, better string }{
	{"none", `\b(is|are|was|were) none\b`, `"is not one", "there is no …", "means no …"`},
	{"tells whether", `\btells whether\b`, `"reports whether"`},
	{"so ", `\bso (often|much|many)\b`, `the number itself: "at most N times", "N bytes"`},
	{"be it ", `\bbe it (that|a|the)\b`, `"whether … or …"`},
	{"all the same", `\ball the same\b`, `"anyway"`},
	{" ill", `\btakes? it ill\b`, `"fails", "refuses"`},
	{"readily", `\breadily\b`, `what is meant: "initial", "delay"`},
	{"reluctan", `\breluctan`, `what is meant: "initial", "delay"`},
	{" on ", `\b(go|goes|gone|going) on (with|where|behind)\b`, `"resume", "continue"`},
	{"who", `\bwho else\b|\bwhoever\b`, `"any other user", "anyone who"`},
	{"somebody", `\bsomebody\b`, `"someone", or the person's part: "user", "attacker"`},
	{"with a word", `\bwith a word\b`, `"with a warning"`},
	{" had", `\b(is|be) had\b`, `"is available", "can be fetched"`},
	{"passed over", `\bpassed over\b`, `"skipped"`},
	{"hole", `\bgopher ?holes?\b`, `"gopher site"`},
	{"leave-taking", `\bleave-taking\b`, `"QUIT"`},
	{"nobody", `\bfor nobody\b|\bfrom nobody\b`, `what is meant`},
	{"fetcher", `\ba fetcher of no\b|\bno fetcher for\b`, `"scheme X is not supported"`},
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
		case d.IsDir() && (d.Name() == "testdata" && path != "cmd/fetch1738/testdata" || d.Name() == ".git" || d.Name() == "node_modules"):
			return filepath.SkipDir
		case path == "internal/repotest/language_test.go":
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
			lower := strings.ToLower(line)
			for j, phrase := range phrases {
				if !strings.Contains(lower, relapses[j].word) {
					continue
				}
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
