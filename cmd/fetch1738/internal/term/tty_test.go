package term

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

// A read that waits for a key ends when the context does; what it reads later is discarded.
func TestAwait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		keys := make(chan string)
		read := func() (string, error) { return <-keys, nil }
		ctx, cancel := context.WithCancel(t.Context())
		go func() { keys <- "typed" }()
		if text, err := Await(ctx, read); text != "typed" || err != nil {
			t.Errorf("%q, %v", text, err)
		}
		go cancel()
		if text, err := Await(ctx, read); text != "" || !errors.Is(err, context.Canceled) {
			t.Errorf("interrupted: %q, %v", text, err)
		}
		keys <- "late" // the abandoned read does not block
	})
}
