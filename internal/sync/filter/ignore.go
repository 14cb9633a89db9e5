package filter

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Ignore parses the text of an ignore file (gitignore(5)), and returns a function that reports whether it
// excludes a path.
func Ignore(text string) (func(path string, dir bool) bool, error) {
	var rules []rule
	for i, line := range strings.Split(strings.TrimPrefix(text, "\ufeff"), "\n") {
		r, err := parseRule(strings.TrimSuffix(line, "\r"))
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		if r.parts != nil {
			rules = append(rules, r)
		}
	}
	return func(path string, dir bool) bool {
		for _, r := range slices.Backward(rules) { // the last one that matches decides
			if r.matches(path, dir) {
				return !r.negated
			}
		}
		return false
	}, nil
}

// A rule is a line of an ignore file. What is below a folder that it excludes is not
// looked at, as git does.
type rule struct {
	parts    []string // of the pattern; "**" matches any number of components. Without any it is no rule
	negated  bool
	dirs     bool // it is about folders only
	anchored bool // it is about paths from the top; otherwise about names in any folder
}

// parseRule parses a line. One that is empty or a comment has no parts.
func parseRule(line string) (r rule, err error) {
	for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
		line = line[:len(line)-1]
	}
	if strings.HasPrefix(line, "#") {
		return r, nil
	}
	text, negated := strings.CutPrefix(line, "!")
	text, dirs := strings.CutSuffix(text, "/")
	anchored := strings.Contains(text, "/")
	if text = strings.TrimPrefix(text, "/"); text == "" {
		return r, nil
	}
	r = rule{strings.Split(text, "/"), negated, dirs, anchored}
	if last := len(r.parts) - 1; r.parts[last] == "**" {
		r.parts = append(r.parts, "*") // what is in the folder, and not the folder
	}
	for i, part := range r.parts {
		if part != "**" {
			r.parts[i] = strings.ReplaceAll(stars.ReplaceAllString(part, "*"), "[!", "[^")
		}
		if _, err := path.Match(r.parts[i], ""); err != nil {
			return r, fmt.Errorf("the pattern %q is malformed", line)
		}
	}
	return r, nil
}

// stars are several stars in a name, which mean what one does.
var stars = regexp.MustCompile(`\*\*+`)

// matches reports whether the rule applies to a path.
func (r rule) matches(name string, dir bool) bool {
	if r.dirs && !dir {
		return false
	}
	if !r.anchored {
		name = path.Base(name)
	}
	return Match(r.parts, strings.Split(name, "/"))
}
