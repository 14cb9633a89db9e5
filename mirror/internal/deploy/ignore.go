package deploy

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/git-lfs/wildmatch/v2"

	"github.com/fetch1738/fetch1738/internal/disk"
)

// IgnoreFile is the file in Dir with patterns of what is not sent, in the syntax of .gitignore. It is
// not sent either.
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
		if r.pattern != nil {
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
	pattern  *wildmatch.Wildmatch
	negated  bool
	dirs     bool // it is about folders only
	anchored bool // it is about paths from the top; otherwise about names in any folder
}

// parseRule parses a line. One that is empty or a comment has no pattern.
func parseRule(line string) (r rule, err error) {
	for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
		line = line[:len(line)-1]
	}
	if strings.HasPrefix(line, "#") {
		return r, nil
	}
	line, r.negated = strings.CutPrefix(line, "!")
	line, r.dirs = strings.CutSuffix(line, "/")
	r.anchored = strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	for _, c := range []string{" ", "!"} { // wildmatch takes another backslash for a separator
		line = strings.ReplaceAll(line, `\`+c, c)
	}
	if line != "" {
		r.pattern, err = compile(line)
	}
	return r, err
}

// compile parses a pattern. The library panics if a bracket expression is not complete.
func compile(pattern string) (w *wildmatch.Wildmatch, err error) {
	defer func() {
		if recover() != nil {
			err = fmt.Errorf("the pattern %q is malformed", pattern)
		}
	}()
	return wildmatch.NewWildmatch(pattern), nil
}

func (r rule) matches(name string, dir bool) bool {
	if r.dirs && !dir {
		return false
	}
	if !r.anchored {
		name = path.Base(name)
	}
	return r.pattern.Match(name)
}
