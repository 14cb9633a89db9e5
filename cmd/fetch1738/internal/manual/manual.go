// Package manual implements the verb manual, which prints the manual page.
package manual

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"os"
	"strings"
	"text/template"

	fetch1738 "github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/cli"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/curl"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/exit"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
)

const help = `Usage: fetch1738 manual

Shows the manual page, on a terminal with man if it is installed. Without a
terminal it prints the source (docs/man/fetch1738.1) for man -l or a directory
of MANPATH.

  $ fetch1738 manual > fetch1738.1 && man -l ./fetch1738.1
`

// manualText is the template of the manual page: the prose, with places for the tables.
//
//go:embed manual.tmpl
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
		if err := writeManual(&text, all()); err != nil {
			return v.Fail(exit.Write, "%v", err)
		}
		if term.IsTerminal(v.Std.Out) && term.IsTerminal(os.Stdout) {
			return cli.Print(v.Std, page(text.String(), cli.Width(v.Std.Out)))
		}
		return cli.Print(v.Std, text.String())
	}
}

// A manual is the data for the template, escaped for roff.
type manual struct {
	Schemes   string
	Options   []manualEntry
	Verbs     []manualVerb
	ExitCodes []manualEntry
}

type manualEntry struct{ Name, Text, Curl string }

type manualVerb struct {
	Name, Summary string
	Options       []manualEntry
}

// writeManual writes the manual page in roff.
func writeManual(w io.Writer, all []cli.Command) error {
	t, err := template.New("manual").Parse(manualText)
	if err != nil {
		return err
	}
	m := manual{Schemes: strings.Join(fetch1738.Schemes(), ", "), Options: manualOptions(curl.Options())}
	for _, c := range all {
		m.Verbs = append(m.Verbs, manualVerb{c.Name, roff(c.Summary), manualOptions(c.Options())})
	}
	for _, e := range exit.Meanings() {
		m.ExitCodes = append(m.ExitCodes, manualEntry{Name: fmt.Sprint(e.Code), Text: roff(e.Text)})
	}
	return t.Execute(w, m)
}

func manualOptions(table []curl.Option) (entries []manualEntry) {
	for _, o := range table {
		entries = append(entries, manualEntry{roffOption(o), roff(o.Help), roff(o.Compared())})
	}
	return entries
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
