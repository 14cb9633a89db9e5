package testclient

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/conversation"
)

// Pinned plays what was recorded with real servers, in testdata/personalities, to their personalities:
// play starts a server with one, in a bubble, plays a conversation, and returns what it became.
func Pinned[S any](t *testing.T, all []testserver.Personality[S], play func(t *testing.T, p testserver.Personality[S], text string) (string, error)) {
	t.Helper()
	pinned := 0
	for _, p := range all {
		file := filepath.Join("testdata/personalities", p.Name+".txt")
		want, err := os.ReadFile(file)
		if err != nil {
			continue // a way, which has a test of its own
		}
		pinned++
		InBubble(t, p.Name, func(t *testing.T) {
			got, err := play(t, p, string(want))
			if err != nil {
				t.Fatalf("%v after\n%s", err, got)
			}
			if d := conversation.Compare(got, string(want)); d != "" {
				t.Errorf("%s: %s", file, d)
			}
		})
	}
	if files, err := filepath.Glob("testdata/personalities/*.txt"); err != nil || len(files) != pinned || pinned == 0 {
		t.Errorf("%d files, but %d personalities have one: %v", len(files), pinned, err)
	}
}
