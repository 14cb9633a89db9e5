package term

import (
	"context"
	"errors"
	"fmt"
	"os"

	"golang.org/x/term"
)

// file is an *os.File, or what stands for one.
type file interface{ Fd() uintptr }

// IsTerminal reports whether stream is a file that leads to a terminal.
func IsTerminal(stream any) bool {
	f, ok := stream.(file)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Columns is the width of the terminal that stream leads to; 80 when it cannot
// be told.
func Columns(stream any) int {
	if f, ok := stream.(file); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
			return columns
		}
	}
	return 80
}

// ErrNoTerminal says that there is nobody to ask.
var ErrNoTerminal = errors.New("no terminal to prompt on")

// AskSecret asks a question on the process's own terminal, wherever its streams
// lead, and reads a line in answer without showing it. When ctx ends first the
// terminal is left as it was.
func AskSecret(ctx context.Context, question string) (string, error) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return "", ErrNoTerminal
	}
	defer tty.Close()
	return askSecret(ctx, tty, question)
}

func askSecret(ctx context.Context, tty *os.File, question string) (string, error) {
	fd := int(tty.Fd())
	before, err := term.GetState(fd)
	if err != nil {
		return "", ErrNoTerminal
	}
	type answer struct {
		text string
		err  error
	}
	// A read from a terminal cannot be interrupted; a caller that gives up waiting
	// leaves it behind.
	answers := make(chan answer, 1)
	go func() {
		text, err := readHidden(tty, SafeLine(question, 400))
		answers <- answer{text, err}
	}()
	defer fmt.Fprintln(tty)
	select {
	case a := <-answers:
		return a.text, a.err
	case <-ctx.Done():
		return "", errors.Join(ctx.Err(), term.Restore(fd, before))
	}
}
