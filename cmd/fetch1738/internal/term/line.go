package term

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"sync/atomic"

	"golang.org/x/term"
)

// ErrInterrupted means that the user has typed Control-C instead of a line.
var ErrInterrupted = errors.New("interrupted")

// A LineEditor reads lines that its user edits at a terminal, with a history and completion. The
// terminal is in raw mode only while a line is read.
type LineEditor struct {
	fd          int
	terminal    *term.Terminal
	interrupted *atomic.Bool
}

// NewLineEditor returns a LineEditor that reads from in and shows lines on out, or nil if one of
// them is not a terminal, or cannot move its cursor. complete returns the lines that the beginning
// of a line may become.
func NewLineEditor(in io.Reader, out io.Writer, complete func(begun string) []string) *LineEditor {
	file, ok := in.(*os.File)
	if kind := os.Getenv("TERM"); !ok || !IsTerminal(in) || !IsTerminal(out) || kind == "dumb" || kind == "" {
		return nil
	}
	e := &LineEditor{fd: int(file.Fd()), interrupted: new(atomic.Bool)}
	e.terminal = term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{&keys{file, e.interrupted, nil}, out}, "")
	e.terminal.History = new(history)
	e.terminal.AutoCompleteCallback = func(line string, pos int, key rune) (string, int, bool) {
		if key != '\t' || pos != len(line) {
			return "", 0, false
		}
		all := complete(line)
		longer := common(all)
		if len(longer) <= len(line) && len(all) > 1 {
			e.suggest(all)
			return line, pos, true
		}
		if len(longer) > len(line) {
			return longer, len(longer), true
		}
		return line, pos, true
	}
	return e
}

// maxSuggestions is how many completions are shown.
const maxSuggestions = 20

// suggest shows what a line may become, above it.
func (e *LineEditor) suggest(all []string) {
	text := ""
	for _, line := range all[:min(len(all), maxSuggestions)] {
		text += line + "\n"
	}
	if len(all) > maxSuggestions {
		text += "...\n"
	}
	_, _ = io.WriteString(e.terminal, text) // the next line that is shown fails, too
}

// common returns the longest beginning that all lines share.
func common(all []string) string {
	if len(all) == 0 {
		return ""
	}
	shared := []rune(all[0])
	for _, line := range all[1:] {
		n := 0
		for _, r := range line {
			if n == len(shared) || shared[n] != r {
				break
			}
			n++
		}
		shared = shared[:n]
	}
	return string(shared)
}

// ReadLine shows the prompt and reads a line. It returns [ErrInterrupted] after Control-C, io.EOF
// after Control-D, and the error of ctx when that ends.
func (e *LineEditor) ReadLine(ctx context.Context, prompt string) (string, error) {
	before, err := term.MakeRaw(e.fd)
	if err != nil {
		return "", err
	}
	if columns, rows, err := term.GetSize(e.fd); err == nil && columns > 0 {
		_ = e.terminal.SetSize(columns, rows)
	}
	e.interrupted.Store(false)
	e.terminal.SetPrompt(prompt)
	line, failed := Await(ctx, e.terminal.ReadLine)
	err = term.Restore(e.fd, before)
	switch {
	case failed != nil:
		return "", failed
	case err == nil && e.interrupted.Load():
		err = ErrInterrupted
	}
	return line, err
}

// keys makes Control-C discard the line: x/term ends the input at that key. The line is cut to
// nothing (Control-E, Control-U) and entered.
type keys struct {
	file        *os.File
	interrupted *atomic.Bool
	rest        []byte
}

const controlC = 3

// Read implements io.Reader.
func (k *keys) Read(p []byte) (int, error) {
	if len(k.rest) == 0 {
		buf := make([]byte, len(p))
		n, err := k.file.Read(buf)
		if err != nil {
			return 0, err
		}
		if i := slices.Index(buf[:n], controlC); i >= 0 {
			k.interrupted.Store(true)
			k.rest = append([]byte("\x05\x15\r"), buf[i+1:n]...)
		} else {
			k.rest = buf[:n]
		}
	}
	n := copy(p, k.rest)
	k.rest = k.rest[n:]
	return n, nil
}

// maxHistory is how many lines are kept.
const maxHistory = 500

// history keeps the lines that were entered, without empty and repeated ones. It implements
// term.History.
type history struct{ lines []string }

// Add implements term.History.
func (h *history) Add(line string) {
	if line == "" || len(h.lines) > 0 && h.lines[len(h.lines)-1] == line {
		return
	}
	h.lines = append(h.lines[max(0, len(h.lines)-maxHistory+1):], line)
}

// Len implements term.History.
func (h *history) Len() int { return len(h.lines) }

// At implements term.History.
func (h *history) At(i int) string { return h.lines[len(h.lines)-1-i] }
