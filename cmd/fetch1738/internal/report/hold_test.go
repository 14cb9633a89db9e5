package report

import (
	"bytes"
	"testing"
)

// fakeTerminal is a writer that may stand for a terminal.
type fakeTerminal struct{ bytes.Buffer }

func (*fakeTerminal) Fd() uintptr { return 0 }

// What is said while the user types comes afterwards, in its order, and nothing is lost.
func TestHold(t *testing.T) {
	screen := new(fakeTerminal)
	h := new(Hold)
	messages, conversation := &held{screen, h}, &held{screen, h}
	say := func(w *held, text string) {
		buf := []byte(text)
		if n, err := w.Write(buf); n != len(text) || err != nil {
			t.Errorf("%d bytes, %v", n, err)
		}
		clear(buf) // as the buffer of a writer
	}
	say(messages, "before\n")
	h.While(func() {
		screen.WriteString("> li")
		said := make(chan bool)
		go func() {
			defer close(said)
			say(messages, "one\n")
			say(conversation, "two\n")
		}()
		<-said
		screen.WriteString("st\n")
	})
	say(conversation, "after\n")
	if got, want := screen.String(), "before\n> list\none\ntwo\nafter\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	var none *Hold
	typed := false
	none.While(func() { typed = true })
	if !typed {
		t.Error("nothing was typed")
	}
}
