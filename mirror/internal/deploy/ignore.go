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
	for line := range strings.SplitSeq(strings.TrimPrefix(string(text), "\ufeff"), "\n") {
		if r, ok := parseRule(strings.TrimSuffix(line, "\r")); ok {
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

// parseRule parses a line. ok is false for one that is empty or a comment.
func parseRule(line string) (r rule, ok bool) {
	for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
		line = line[:len(line)-1]
	}
	if strings.HasPrefix(line, "#") {
		return r, false
	}
	line, r.negated = strings.CutPrefix(line, "!")
	line, r.dirs = strings.CutSuffix(line, "/")
	r.anchored = strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	for _, c := range []string{" ", "!"} { // wildmatch takes another backslash for a separator
		line = strings.ReplaceAll(line, `\`+c, c)
	}
	if line != "" {
		r.pattern = wildmatch.NewWildmatch(line)
	}
	return r, line != ""
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
