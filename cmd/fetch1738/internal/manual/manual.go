// Package manual implements the verb manual, which prints the manual page.
package manual

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"

	fetch1738 "github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/cli"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/curl"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/exit"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
)

const help = `Usage: fetch1738 manual

Shows the manual page with man. Without a terminal it prints the source
(docs/man/fetch1738.1) for a directory of MANPATH. Where there is no man,
fetch1738 help all shows the options, help verbs the verbs.

  $ fetch1738 manual > fetch1738.1 && man ./fetch1738.1
`

// manualText is the prose of the manual page, with places in braces for the tables.
//
//go:embed manual.roff
var manualText string

// Command returns the verb; all returns all verbs.
func Command(all func() []cli.Command) cli.Command {
	return cli.New("manual", "show the manual page", help, func(v *cli.Verb) func(context.Context) int { return define(v, all) })
}

func define(v *cli.Verb, all func() []cli.Command) func(context.Context) int {
	return func(context.Context) int {
		if v.NArg() > 0 {
			return v.Complain("unexpected argument %q", v.Arg(0))
		}
		var text strings.Builder
		if err := write(&text, all()); err != nil {
			return v.Fail(exit.Write, "%v", err)
		}
		if term.IsTerminal(v.Std.Out) && term.IsTerminal(os.Stdout) {
			if err := show(text.String()); err != nil {
				return v.Fail(exit.Write, "cannot show the page with man: %v; fetch1738 help all and help verbs show the same", err)
			}
			return exit.OK
		}
		return cli.Print(v.Std, text.String())
	}
}

// show shows the manual page on the terminal with man and its pager, which no shell starts. Every man
// reads the file of a path; not all read standard input.
func show(text string) error {
	file, err := os.CreateTemp("", "fetch1738-*.1")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	_, err = file.WriteString(text)
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt) // Ctrl-C is the pager's
	defer signal.Stop(interrupts)
	c := exec.Command("man", file.Name())
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	return c.Run()
}

// write writes the manual page in roff.
func write(w io.Writer, all []cli.Command) error {
	var synopsis, verbs, codes strings.Builder
	for _, c := range all {
		fmt.Fprintf(&synopsis, ".br\n.B fetch1738 %s\n.RI [ arguments ]\n", c.Name)
		fmt.Fprintf(&verbs, ".SS fetch1738 %s\n%s.\n%s", c.Name, roff(c.Summary), options(c.Options(), false))
	}
	for _, e := range exit.Meanings() {
		fmt.Fprintf(&codes, ".TP\n.B %d\n%s.\n", e.Code, roff(e.Text))
	}
	_, err := strings.NewReplacer(
		"{schemes}", strings.Join(fetch1738.Schemes(), ", "), "{synopsis}\n", synopsis.String(),
		"{options}\n", options(curl.Options(), true), "{verbs}\n", verbs.String(), "{codes}\n", codes.String(),
	).WriteString(w, manualText)
	return err
}

// options returns a table of options, each with its meaning and, if they are curl's, how that differs.
func options(table []curl.Option, compare bool) string {
	var b strings.Builder
	for _, o := range table {
		fmt.Fprintf(&b, ".TP\n%s\n%s.\n", roffOption(o), roff(o.Help))
		if compared := o.Compared(); compare && compared != "" {
			fmt.Fprintf(&b, "%s\n", roff(compared))
		}
	}
	return b.String()
}

// roff escapes text for roff.
func roff(text string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n.", "\n\\&.", "\n'", "\n\\&'", "^", `\(ha`, "~", `\(ti`, "`", `\(ga`, "'", `\(aq`).Replace(text)
}

// roffOption returns the heading of an option: its names in bold, the name of its value in italics.
func roffOption(o curl.Option) string {
	name := `\fB` + roff("--"+o.Long) + `\fR`
	if o.Short != "" {
		name = `\fB` + roff("-"+o.Short) + `\fR, ` + name
	}
	if o.Arg != "" {
		name += ` \fI` + roff(o.Arg) + `\fR`
	}
	return name
}
