// Package extract implements the extract command, which finds the URLs in text.
package extract

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"regexp"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/cli"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/exit"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/render"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/locator"
)

const help = `Usage: fetch1738 extract [--json] [--strict] [FILE...]

Finds URLs in text as described in the Appendix of RFC 1738: in angle brackets
with or without "URL:", even if broken across lines, and in plain sentences. The
rules are those of a fetch; --strict accepts RFC 1738 syntax only. Prints one
URL per line, with its #fragment. Without files, or for "-", reads standard
input. Passwords are shown.

  $ echo 'See <URL:ftp://ds.in
    ternic.net/rfc>, Jim.' | fetch1738 extract
  ftp://ds.internic.net/rfc
`

// extracted is the JSON line of a URL found.
type extracted struct {
	URL         string   `json:"url"` // canonical, without the fragment
	Fragment    *string  `json:"fragment"`
	Text        string   `json:"text"` // as it was found
	Tolerated   []string `json:"tolerated"`
	HyphenBreak bool     `json:"hyphen_break"`
}

// Command returns the extract command.
func Command() cli.Command {
	return cli.New("extract", "find the URLs in text", help, define)
}

// define adds the flags and returns the function that runs the command.
func define(v *cli.Verb) func(context.Context) int {
	asJSON := v.Bool("json", false, "Print JSON Lines")
	op := new(plan.Operation)
	v.Take(op, "strict")
	return func(ctx context.Context) int {
		files := v.Args()
		if len(files) == 0 {
			files = []string{"-"}
		}
		w := bufio.NewWriter(v.Std.Out)
		show := showURL
		if *asJSON {
			show = showReference
		}
		code := exit.OK
		for _, file := range files {
			var bad stdio.ReadError
			switch err := extractFile(ctx, w, op.Reading.Parser(), file, v.Std.In, show); {
			case ctx.Err() != nil:
				return exit.OfSignal(ctx)
			case errors.As(err, &bad):
				code = v.Fail(exit.Read, "%v", bad)
			case err != nil:
				return v.FailOutput(err)
			}
		}
		if err := w.Flush(); err != nil {
			return v.FailOutput(err)
		}
		return code
	}
}

// extractFile shows the URLs in a file, or in stdin for "-".
func extractFile(ctx context.Context, w *bufio.Writer, parser locator.Parser, name string, stdin io.Reader, show func(io.Writer, locator.Reference) error) error {
	in, err := openInput(ctx, name, stdin)
	if err != nil {
		return stdio.FailedToRead(err)
	}
	defer in.Close()
	for text, err := range pieces(in, pieceSize) {
		if err != nil {
			return stdio.FailedToRead(err)
		}
		for ref := range parser.Extract(unescaped(text)) {
			if err := show(w, ref); err != nil {
				return err
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// unescaped returns text without what may stand within a URL and is no part of it: colors of a terminal,
// and the escapes that JSON, JavaScript, HTML, Markdown and LaTeX have for characters of URLs.
func unescaped(text string) string {
	if strings.Contains(text, "\x1b[") {
		text = colors.ReplaceAllString(text, "")
	}
	if strings.Contains(text, `\`) || strings.Contains(text, "&amp;") {
		text = strings.NewReplacer(
			`\/`, "/", `\u0026`, "&", `\u003d`, "=", `\u003D`, "=", `\u003c`, "<", `\u003C`, "<", `\u003e`, ">", `\u003E`, ">",
			"&amp;", "&", `\_`, "_", `\&`, "&", `\%`, "%", `\#`, "#", `\~`, "~", `\*`, "*",
		).Replace(text)
	}
	return text
}

// colors matches the control sequences that set the color and style of a text on a terminal, and the one
// that erases a line, which grep adds to them. A port may be in bold.
var colors = regexp.MustCompile("\x1b\\[[0-9;:]*[mK]")

// openInput opens the file name, or standard input for "-".
func openInput(ctx context.Context, name string, stdin io.Reader) (io.ReadCloser, error) {
	if name == "-" {
		return stdio.Interruptible(ctx, stdin), nil
	}
	return os.Open(name)
}

func showURL(w io.Writer, ref locator.Reference) error {
	_, err := io.WriteString(w, ref.String()+"\n")
	return err
}

func showReference(w io.Writer, ref locator.Reference) error {
	line := extracted{
		URL: render.AsGiven(ref.Locator.String()), Text: render.AsGiven(ref.Text),
		Tolerated: plan.Departures(ref.Used), HyphenBreak: ref.HyphenBreak,
	}
	if ref.HasFragment {
		line.Fragment = new(render.Chars(ref.Fragment))
	}
	return render.JSON(w, line)
}

// pieceSize is the maximum number of bytes of text in memory. It must be more than twice
// locator.MaxLength.
const pieceSize = 1 << 20

// pieces splits a text of any length into pieces of at most size bytes, without splitting a URL. It
// skips a run of more than size bytes without white space, quotation mark or angle bracket. A read
// error comes last.
func pieces(r io.Reader, size int) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		buf := make([]byte, 0, size)
		skipping := false
		for {
			n, err := io.ReadFull(r, buf[len(buf):size])
			buf = buf[:len(buf)+n]
			if skipping {
				n := cmp.Or(bytes.IndexAny(buf, delimiters)+1, len(buf))
				skipping = n == len(buf)
				buf = append(buf[:0], buf[n:]...)
			}
			if err != nil {
				if yield(string(buf), nil) && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
					yield("", err)
				}
				return
			}
			cut := border(buf)
			if cut == 0 && len(buf) == size {
				skipping = true
				cut = size
			} else if !yield(string(buf[:cut]), nil) {
				return
			}
			buf = append(buf[:0], buf[cut:]...)
		}
	}
}

// delimiters are characters that no URL contains outside angle brackets.
const delimiters = " \t\r\n\v\f\"<>"

// border returns where text can be split without splitting a URL, or 0: after the last delimiter,
// but before a "<" whose ">" may follow in the next piece.
func border(text []byte) int {
	i := bytes.LastIndexAny(text, delimiters)
	open := bytes.LastIndexAny(text, "<>")
	if open >= 0 && text[open] == '<' && len(text)-open < locator.MaxLength {
		return open
	}
	return i + 1
}
