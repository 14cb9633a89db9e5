package browse

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/exit"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/report"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/transfer"
	"github.com/fetch1738/fetch1738/locator"
)

// A session is what a user has browsed, and how.
type session struct {
	*report.Reporter
	std     stdio.Streams // for the prompt and other programs; those of the Reporter wait for the prompt
	hold    *report.Hold  // nil if nobody types
	op      *plan.Operation
	network *client.Network
	login   *locator.Login  // of -u, for the server of the first URL only
	first   locator.Locator // the first URL; nil until there was one

	isTerminal   bool // a user types the commands
	input        input
	out          *stdio.Checked
	bookmarkFile string
	temporary    string // the folder of files for other programs, or ""

	pages []*page  // visited; the last one is shown
	rest  []string // lines that are still to be shown
	code  int      // the exit code
}

// A failure is the error of a request.
type failure struct {
	of *transfer.Result
	error
}

// Unwrap returns the cause.
func (f *failure) Unwrap() error { return f.error }

// run visits the first URL, then carries out commands until the end.
func (s *session) run(ctx context.Context, urls []string) {
	line := "bookmarks"
	if len(urls) > 0 {
		line = "go " + quoted(urls[0])
	}
	s.perform(ctx, line)
	begun := s.code
	for ctx.Err() == nil && s.out.Err() == nil {
		var line string
		var err error
		s.hold.While(func() { line, err = s.input.line(ctx, s.prompt()) })
		switch {
		case errors.Is(err, term.ErrInterrupted):
			continue
		case err != nil:
			if err != io.EOF && ctx.Err() == nil {
				s.fail(err)
			}
			if s.isTerminal {
				fmt.Fprintln(s.out)
			}
			return
		}
		if errors.Is(s.perform(ctx, line), errQuit) {
			return
		}
		if s.isTerminal {
			s.code = begun
		}
	}
}

// perform carries out a command, which Control-C ends.
func (s *session) perform(ctx context.Context, line string) error {
	ctx, cancel := context.WithCancel(ctx) // what has ended tells nothing at the next prompt
	defer cancel()
	if s.isTerminal {
		var stop func()
		ctx, stop = signal.NotifyContext(ctx, os.Interrupt)
		defer stop()
	}
	err := s.do(ctx, line)
	if err != nil && !errors.Is(err, errQuit) {
		if ctx.Err() != nil && s.isTerminal {
			fmt.Fprintln(s.Err) // the terminal has shown ^C
			err = errors.New("interrupted")
		}
		s.fail(err)
	}
	return err
}

// fail reports the failure of a command. The first one decides the exit code.
func (s *session) fail(err error) {
	code := exit.Usage
	if f, ok := errors.AsType[*failure](err); ok {
		f.of.Err = f.error
		code = report.Code(f.of)
		s.Failed(f.of)
	} else {
		fmt.Fprintf(s.Err, "fetch1738: %s\n", stdio.Line(err.Error()))
	}
	s.code = cmp.Or(s.code, code)
}

// current returns the page that is shown. It is empty at the beginning.
func (s *session) current() *page {
	if len(s.pages) == 0 {
		return new(page)
	}
	return s.pages[len(s.pages)-1]
}

// maxPages is how many pages are kept.
const maxPages = 100

// navigate shows a page, to which the command back returns.
func (s *session) navigate(p *page) error {
	s.pages = append(s.pages[max(0, len(s.pages)-maxPages+1):], p)
	s.show(p)
	return p.err
}

// show shows a page from its beginning.
func (s *session) show(p *page) {
	lines := p.format(s.columns())
	if lines = append([]string{p.heading(len(lines))}, lines...); p.items == nil {
		s.writeText(lines)
		return
	}
	s.write(lines)
}

// columns returns the width for text.
func (s *session) columns() int { return term.Columns(s.Out) }

// write shows lines: on a terminal as many as fit, and the others when more is called.
func (s *session) write(lines []string) {
	s.rest = lines
	s.more()
}

// writeText shows lines that are to be read and not chosen from: those that do not fit on the screen,
// in the program that PAGER names.
func (s *session) writeText(lines []string) {
	pager := split(os.Getenv("PAGER"))
	if s.isTerminal && len(pager) > 0 && fitting(s.Out, lines) < len(lines) {
		err := showInPager(s.std, pager, lines)
		if err == nil {
			s.rest = nil
			return
		}
		s.Warn("PAGER: %v", err)
	}
	s.write(lines)
}

// more shows the next lines.
func (s *session) more() {
	w := bufio.NewWriter(s.out)
	defer w.Flush() // s.out keeps the error
	n := len(s.rest)
	if s.isTerminal {
		n = fitting(s.Out, s.rest)
	}
	for _, line := range s.rest[:n] {
		fmt.Fprintln(w, line)
	}
	s.rest = s.rest[n:]
}

// fitting returns how many of the lines fit on the screen of out above the prompt, at least one. If out
// is no terminal, these are all.
func fitting(out io.Writer, lines []string) int {
	columns, rows := term.Size(out)
	if rows < 2 || columns == 0 {
		return len(lines)
	}
	left := int(rows) - 1
	for i, line := range lines {
		height := 1 + max(0, term.Width(line)-1)/int(columns)
		if height > left && i > 0 {
			return i
		}
		left -= height
	}
	return len(lines)
}

// prompt returns the text before a command: where the user is, and whether there is more to read.
func (s *session) prompt() string {
	columns, where, more := s.columns(), "", "(Enter: %d more) "
	if columns < wide {
		more = "(%d more) "
	}
	if at := s.current().at; at != nil {
		where = at.Redacted() // in ASCII; of a long one, the end says most
		if most := max(12, columns/3); len(where) > most {
			where = "…" + where[len(where)-most+1:]
		}
		where += " "
	}
	if n := len(s.rest); n > 0 {
		where += fmt.Sprintf(more, n)
	}
	return where + "> "
}

// An input is where commands come from.
type input struct {
	editor *term.LineEditor // nil if lines cannot be edited
	reader *bufio.Reader    // for lines otherwise, and for the answers to forms
	prompt io.Writer        // nil if nobody reads it
}

// newInput returns the input of a session.
func newInput(s *session) input {
	in := input{reader: bufio.NewReader(s.std.In)}
	switch {
	case !s.isTerminal:
		return in
	case term.IsTerminal(s.std.Out):
		in.prompt = s.std.Out
	default:
		in.prompt = s.std.Err
	}
	in.editor = term.NewLineEditor(s.std.In, s.std.Out, s.complete)
	return in
}

// line reads a command.
func (in *input) line(ctx context.Context, prompt string) (string, error) {
	if in.editor != nil {
		return in.editor.ReadLine(ctx, prompt)
	}
	if in.prompt != nil {
		fmt.Fprint(in.prompt, prompt)
	}
	return term.Await(ctx, func() (string, error) {
		line, err := in.reader.ReadString('\n')
		if err == io.EOF && line != "" {
			err = nil // a last line without an end
		}
		return strings.TrimRight(line, "\r\n"), err
	})
}

// malformed returns the failure of a typed text that is no URL.
func malformed(s *session, typed string, err error) error {
	return &failure{&transfer.Result{Call: client.Call{Network: s.network}, Task: transfer.Task{URL: typed}}, err}
}
