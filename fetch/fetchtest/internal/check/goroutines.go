package check

import (
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// Goroutines fails t if goroutines that were started during the test are still running at its end,
// and do not end in a time that is enough.
func Goroutines(t *testing.T, enough time.Duration) {
	before := make(map[string]bool)
	for id := range goroutines() {
		before[id] = true
	}
	t.Cleanup(func() {
		var left []string
		for wait := time.Millisecond; wait < enough; wait *= 2 {
			left = left[:0]
			for id, stack := range goroutines() {
				if !before[id] {
					left = append(left, stack)
				}
			}
			if len(left) == 0 {
				return
			}
			<-time.After(wait)
		}
		t.Errorf("%d goroutines outlive the test; all must end when the Fetcher is closed:\n%s", len(left), strings.Join(left, "\n\n"))
	})
}

// notOurs marks the stacks of goroutines that no test starts.
var notOurs = [...]string{"\ncreated by testing.", "\nruntime.runCleanups(", "\nruntime.runFinalizers("}

// bubble matches the bubble of package synctest in the first line of a stack.
var bubble = regexp.MustCompile(`synctest bubble \d+`)

// goroutines returns the stacks of all other goroutines by their number; in a bubble of package
// synctest, of those in the same bubble. While a fake clock runs, no real time passes, and a timer
// of an earlier test that has just fired would count as a goroutine that never ends.
//
// It leaves out the goroutines of the testing package and the runtime's own. The latter show while
// they run a cleanup or a finalizer, such as that of a pipe that package net no longer needs.
func goroutines() map[string]string {
	buf := make([]byte, 32<<10)
	n := runtime.Stack(buf, true)
	for n == len(buf) {
		buf = make([]byte, 2*len(buf))
		n = runtime.Stack(buf, true)
	}
	list := make(map[string]string)
	stacks := strings.Split(string(buf[:n]), "\n\n")
	ours := bubble.FindString(stacks[0]) // stacks[0] is the caller
	for _, stack := range stacks[1:] {
		id, _, _ := strings.Cut(strings.TrimPrefix(stack, "goroutine "), " ")
		if ours != "" && bubble.FindString(stack) != ours {
			continue
		}
		if !slices.ContainsFunc(notOurs[:], func(mark string) bool { return strings.Contains(stack, mark) }) {
			list[id] = stack
		}
	}
	return list
}
