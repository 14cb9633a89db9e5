// Package parse implements the parse command, which shows the components of URLs.
package parse

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/cli"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/exit"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/locator"
)

const help = `Usage: fetch1738 parse [--json] [--strict] [URL...]

Prints the parts of each URL, one URL per line, in order. For a refused URL, the
line states the reason. The rules are those of a fetch: a departure from RFC
1738 is accepted and shown as "tolerated"; --strict refuses it. Without URLs, or
for "-", reads URLs from standard input, one per line. The exit code is 3 if a
URL was refused. Passwords are shown.

  $ fetch1738 parse 'ftp://lab@ftp.example/pub/a%20b' news:*
  ftp       ftp.example               user "lab"  cwd "pub"  name "a b"
  news      -                         all
`

// Command returns the parse command.
func Command() cli.Command {
	return cli.New("parse", "show the parts of URLs", help, define)
}

// define adds the flags and returns the function that runs the command.
func define(v *cli.Verb) func(context.Context) int {
	asJSON := v.Bool("json", false, "Print JSON Lines")
	op := new(plan.Operation)
	v.Take(op, "strict")
	return func(ctx context.Context) int {
		p := printer{parser: op.Reading.Parser(), show: textLine, w: bufio.NewWriter(v.Std.Out)}
		if *asJSON {
			p.show = jsonLine
		}
		urls := v.Args()
		if len(urls) == 0 {
			urls = []string{"-"}
		}
		err := p.all(ctx, urls, v.Std.In)
		var read stdio.ReadError
		switch {
		case ctx.Err() != nil:
			return exit.OfSignal(ctx)
		case errors.As(err, &read):
			return v.Fail(exit.Read, "%v", read)
		case err != nil:
			return v.FailOutput(err)
		case p.refused:
			return exit.BadURL
		}
		return exit.OK
	}
}

// printer writes one line per URL.
type printer struct {
	parser  locator.Parser
	show    func(w io.Writer, url string, ref locator.Reference, bad *locator.SyntaxError) error
	w       *bufio.Writer
	refused bool
}

// all writes a line for each of urls. For "-" it reads URLs from stdin.
func (p *printer) all(ctx context.Context, urls []string, stdin io.Reader) error {
	for _, url := range urls {
		var err error
		if url == "-" {
			err = p.lines(ctx, stdin)
		} else {
			err = p.url(url)
		}
		if err != nil {
			_ = p.w.Flush()
			return err
		}
	}
	return p.w.Flush()
}

// url writes the line of one URL, or of a text that is not a URL.
func (p *printer) url(text string) error {
	ref, err := p.parser.Parse(text)
	var bad *locator.SyntaxError
	if errors.As(err, &bad) {
		p.refused = true
		if len(text) > maxTextLine {
			bad.Msg = fmt.Sprintf("URL is longer than %d bytes; the maximum is %d", maxTextLine, locator.MaxLength)
		}
	}
	return p.show(p.w, text, ref, bad)
}

// lines calls url for each line of r. When no more input is buffered it flushes the output, so that
// a program can write one URL and wait for its line.
func (p *printer) lines(ctx context.Context, r io.Reader) error {
	in := stdio.Interruptible(ctx, r)
	defer in.Close()
	br := bufio.NewReader(in)
	for line, err := range textLines(br) {
		if err != nil {
			return stdio.FailedToRead(err)
		}
		if err := p.url(line); err != nil {
			return err
		}
		if br.Buffered() == 0 {
			if err := p.w.Flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// maxTextLine is the number of bytes of a line that are kept. A longer line is not a URL.
const maxTextLine = 1 << 20

// textLines yields the lines of r without their LF or CR LF. Long lines are truncated to
// maxTextLine+1 bytes. A read error comes last.
func textLines(r *bufio.Reader) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		var line []byte
		for {
			part, err := r.ReadSlice('\n')
			line = append(line, part[:min(len(part), maxTextLine+1-len(line))]...)
			switch {
			case errors.Is(err, bufio.ErrBufferFull):
				continue
			case err != nil && !errors.Is(err, io.EOF):
				yield("", err)
				return
			case err != nil && len(line) == 0:
				return
			}
			if !yield(withoutEnd(line), nil) || err != nil {
				return
			}
			line = line[:0]
		}
	}
}

// withoutEnd returns a line without its LF or CR LF. A CR alone stays.
func withoutEnd(line []byte) string {
	line, ended := bytes.CutSuffix(line, []byte{'\n'})
	if ended {
		line = bytes.TrimSuffix(line, []byte{'\r'})
	}
	return string(line)
}
