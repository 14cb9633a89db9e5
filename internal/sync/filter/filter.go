// Package filter selects the files of a tree by patterns for their paths.
package filter

import (
	"fmt"
	"path"
	"strings"
)

// A Filter selects entries by their paths.
type Filter struct{ include, exclude []pattern }

// A pattern is a parsed element of Mirror.Include or Exclude.
type pattern struct {
	parts  []string // components; "**" matches any number of them
	dir    bool     // matches directories only
	anyDir bool     // matches the last component, in any directory
}

// New returns the Filter for the elements of Mirror.Include and Exclude.
func New(include, exclude []string) (f Filter, err error) {
	if f.include, err = patterns(include); err == nil {
		f.exclude, err = patterns(exclude)
	}
	return f, err
}

// patterns parses elements of Include or Exclude.
func patterns(texts []string) ([]pattern, error) {
	var list []pattern
	for _, text := range texts {
		var p pattern
		rest, dir := strings.CutSuffix(text, "/")
		p.dir = dir
		p.anyDir = !strings.Contains(rest, "/")
		p.parts = strings.Split(strings.TrimPrefix(rest, "/"), "/")
		for _, part := range p.parts {
			if _, err := path.Match(part, ""); err != nil || part == "" {
				return nil, fmt.Errorf("invalid pattern %q; valid patterns look like *.txt, old/ or pub/**/*.gz", text)
			}
		}
		list = append(list, p)
	}
	return list, nil
}

// File reports whether the file with path p is copied.
func (f Filter) File(p []string) bool {
	return (len(f.include) == 0 || anyMatches(f.include, p, false)) && !anyMatches(f.exclude, p, false)
}

// Dir reports whether the directory with path p is entered.
func (f Filter) Dir(p []string) bool { return !anyMatches(f.exclude, p, true) }

func anyMatches(list []pattern, p []string, isDir bool) bool {
	for _, pattern := range list {
		if pattern.matches(p, isDir) {
			return true
		}
	}
	return false
}

func (p pattern) matches(names []string, isDir bool) bool {
	switch {
	case len(names) == 0 || p.dir && !isDir:
		return false
	case p.anyDir:
		names = names[len(names)-1:]
	}
	return Match(p.parts, names)
}

// Match reports whether the parts of a pattern, each as [path.Match] takes it or "**", match names.
// It backtracks to the last "**" only, so its time is at most proportional to the product of the
// lengths.
func Match(parts, names []string) bool {
	i, j, star, mark := 0, 0, -1, 0
	for j < len(names) {
		if i < len(parts) && parts[i] == "**" {
			star, mark = i, j
			i++
			continue
		}
		if i < len(parts) {
			if ok, _ := path.Match(parts[i], names[j]); ok { // the pattern was checked before
				i++
				j++
				continue
			}
		}
		if star < 0 {
			return false
		}
		mark++
		i, j = star+1, mark
	}
	for i < len(parts) && parts[i] == "**" {
		i++
	}
	return i == len(parts)
}

// Check returns an error if text is not a valid pattern.
func Check(text string) error {
	_, err := patterns([]string{text})
	return err
}
