package raced_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What does less with the race detector is run by the gate without it, too: interop as a whole, and the
// step "whole tests", whose list of tests and of packages is compared with the places that ask.
func TestGateRunsWhole(t *testing.T) {
	const root = "../.."
	gate, err := os.ReadFile(filepath.Join(root, ".ci/run"))
	if err != nil {
		t.Fatal(err)
	}
	step := regexp.MustCompile(`(?s)\nstep "whole tests"\n[^\n]* -run '(\S+)' \\\n  ([^\n]+)\n`).FindSubmatch(gate)
	if step == nil {
		t.Fatal(`.ci/run has no step "whole tests"`)
	}
	tests, packages := regexp.MustCompile(string(step[1])), strings.Fields(string(step[2]))
	asks := regexp.MustCompile(`(?m)^func (?:\(.*?\) )?(\w+)|\braced\.Enabled\b`)
	found := 0
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		dir, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		dir = "./" + filepath.ToSlash(dir)
		if dir == "./dev/interop" || dir == "./internal/raced" {
			return nil
		}
		for function := ""; ; {
			m := asks.FindSubmatchIndex(source)
			if m == nil {
				return nil
			}
			if m[2] >= 0 {
				function = string(source[m[2]:m[3]])
			} else {
				found++
				if !listed(packages, dir) {
					t.Errorf("%s asks for the race detector, but %q of .ci/run does not include its package", path, packages)
				}
				// Others are called by tests, of which the list has at least one.
				if strings.HasPrefix(function, "Test") && !tests.MatchString(function) {
					t.Errorf("%s of %s asks for the race detector, but %s of .ci/run does not match it", function, path, tests)
				}
			}
			source = source[m[1]:]
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if found == 0 {
		t.Error("nothing asks for the race detector")
	}
}

// listed reports whether one of the patterns of packages matches a directory.
func listed(patterns []string, dir string) bool {
	for _, p := range patterns {
		if tree, all := strings.CutSuffix(p, "/..."); p == dir || all && strings.HasPrefix(dir+"/", tree+"/") {
			return true
		}
	}
	return false
}
