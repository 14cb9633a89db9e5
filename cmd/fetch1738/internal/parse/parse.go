// Package parse is the verb parse: it shows what URLs consist of.
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

Shows the parts of each URL, one URL a line, in order. The line of a refused URL
gives the reason. URLs are read as when they are fetched; a departure from RFC
1738 is shown as "tolerated", and --strict tolerates none. Without URLs, or for
"-", it reads URLs from standard input, one a line. The exit code is 3 if a URL
was refused. Passwords are shown.

  $ fetch1738 parse 'ftp://lab@ftp.example/pub/a%20b' news:*
  ftp       ftp.example               user "lab"  cwd "pub"  name "a b"
  news      -                         all
`

// Command is the verb.
func Command() cli.Command {
	return cli.New("parse", "show the parts of URLs", help, define)
}

// define adds the flags and gives what the verb does.
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
			return v.Fail(exit.Write, "%v", err)
		case p.refused:
			return exit.BadURL
		}
		return exit.OK
	}
}

// printer writes one line a URL.
type printer struct {
	parser  locator.Parser
	show    func(w io.Writer, url string, ref locator.Reference, bad *locator.SyntaxError) error
	w       *bufio.Writer
	refused bool
}

// all writes the lines of urls, "-" being those of stdin.
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

func (p *printer) url(text string) error {
	ref, err := p.parser.Parse(text)
	var bad *locator.SyntaxError
	if errors.As(err, &bad) {
		p.refused = true
		if len(text) > maxTextLine {
			bad.Msg = fmt.Sprintf("URL of more than %d octets, at most %d", maxTextLine, locator.MaxLength)
		}
	}
	return p.show(p.w, text, ref, bad)
}

// lines is url for each line of r. A line is written as soon as it is known
// when nothing more is there to be read, so that a program may ask and wait.
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

// maxTextLine is how many octets of a line matter: what is longer is no URL.
const maxTextLine = 1 << 20

// textLines yields the lines of r without their LF or CR LF, long ones cut to
// maxTextLine octets and one more, and a read error last, if there is one.
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

func withoutEnd(line []byte) string {
	line, ended := bytes.CutSuffix(line, []byte{'\n'})
	if ended {
		line = bytes.TrimSuffix(line, []byte{'\r'})
	}
	return string(line)
}
