package deploy

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/internal/disk"
	"github.com/fetch1738/fetch1738/mirror/internal/filter"
)

// IgnoreFile is the file in Dir with patterns of what is not sent, in the syntax of .gitignore. It
// is not sent either.
const IgnoreFile = ".fetch1738ignore"

// maxIgnore is the maximum size in bytes of IgnoreFile.
const maxIgnore = 1 << 20

// readIgnore returns a function that reports whether IgnoreFile excludes a path.
func readIgnore(root disk.Folder) (func(path string, dir bool) bool, error) {
	f, err := root.OpenFile(IgnoreFile, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return func(string, bool) bool { return false }, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxIgnore+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxIgnore {
		return nil, fmt.Errorf("%s has more than %d bytes", IgnoreFile, maxIgnore)
	}
	var rules []rule
	for i, line := range strings.Split(strings.TrimPrefix(string(text), "\ufeff"), "\n") {
		r, err := parseRule(strings.TrimSuffix(line, "\r"))
		if err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", IgnoreFile, i+1, err)
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

// A rule is a line of an ignore file (gitignore(5)). What is below a folder that it excludes is not
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
	return filter.Match(r.parts, strings.Split(name, "/"))
}
