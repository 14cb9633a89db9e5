package dialogue

import (
	"strings"
	"testing"
)

// TestPromptHolds: from the key that opens the command prompt to the end of the command nothing that
// the server sends is written.
func TestPromptHolds(t *testing.T) {
	var screen strings.Builder
	k := &keyboard{local: &screen}
	free := func() bool {
		if !k.prompt.TryLock() {
			return false
		}
		k.prompt.Unlock()
		return true
	}
	var during bool
	server := held{writerFunc(func(p []byte) (int, error) { during = free(); return len(p), nil }), &k.prompt}
	if _, err := server.Write([]byte("x")); err != nil || during || !free() {
		t.Errorf("%v; the prompt can be opened during a write: %v, and after it: %v", err, during, free())
	}
	for _, command := range []string{"\r", "help\r", "x\x7F\r"} {
		for i, key := range string(rune(escapeKey)) + command {
			if _, err := k.press(byte(key)); err != nil {
				t.Fatal(err)
			}
			if last := i == len(command); free() != last {
				t.Errorf("after key %d of %q the server can write: %v", i, command, free())
			}
		}
	}
	if !strings.Contains(screen.String(), "telnet> ") {
		t.Errorf("the screen shows %q", screen.String())
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
