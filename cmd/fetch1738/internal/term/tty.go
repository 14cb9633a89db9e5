package term

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	// x/term measures terminals, sets them to raw mode, and edits lines. It is kept by the authors of
	// Go, supports all systems of a release, and needs x/sys only.
	"golang.org/x/term"
)

// file is an *os.File or a wrapper of one.
type file interface{ Fd() uintptr }

// IsTerminal reports whether stream is a terminal.
func IsTerminal(stream any) bool {
	f, ok := stream.(file)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Columns returns the width of the terminal of stream, or 80 if it is unknown.
func Columns(stream any) int {
	columns, _ := Size(stream)
	return int(cmp.Or(columns, 80))
}

// ErrNoTerminal means that the process has no terminal.
var ErrNoTerminal = errors.New("no terminal to prompt on")

// AskSecret prompts on the process's own terminal, also if its streams are redirected, and
// reads a line without echo. If ctx ends first, the terminal is restored.
func AskSecret(ctx context.Context, question string) (string, error) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return "", ErrNoTerminal
	}
	defer tty.Close()
	return askSecret(ctx, tty, question)
}

// askSecret prompts on tty. If ctx ends, it restores the echo and returns without an answer.
func askSecret(ctx context.Context, tty *os.File, question string) (string, error) {
	fd := int(tty.Fd())
	before, err := term.GetState(fd)
	if err != nil {
		return "", ErrNoTerminal
	}
	defer fmt.Fprintln(tty)
	text, err := Await(ctx, func() (string, error) { return readHidden(tty, SafeLine(question, 400)) })
	if ctx.Err() != nil {
		return "", errors.Join(ctx.Err(), term.Restore(fd, before))
	}
	return text, err
}

// Await returns what read returns, or the error of ctx if that ends first: a read from a terminal cannot
// be interrupted, and is abandoned.
func Await(ctx context.Context, read func() (string, error)) (string, error) {
	type answer struct {
		text string
		err  error
	}
	answers := make(chan answer, 1)
	go func() {
		text, err := read()
		answers <- answer{text, err}
	}()
	select {
	case a := <-answers:
		return a.text, a.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}
