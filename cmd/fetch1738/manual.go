package main

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"strings"
	"text/template"

	fetch1738 "github.com/fetch1738/fetch1738"
)

const manualHelp = `Usage: fetch1738 manual

Writes the manual page, docs/man/fetch1738.1, for man -l or a folder of MANPATH.

  $ fetch1738 manual > fetch1738.1 && man -l ./fetch1738.1
`

// manualText is the prose of the manual page, with places for the tables.
//
//go:embed manual.tmpl
var manualText string

// defineManual gives what the verb manual does.
func defineManual(v *verb) func(context.Context) int {
	return func(context.Context) int {
		if v.NArg() > 0 {
			return v.usage("%q is not an option", v.Arg(0))
		}
		if err := writeManual(v.std.Out); err != nil {
			return v.fail(exitWrite, "%v", err)
		}
		return exitOK
	}
}

// A manual is what the tables give to the manual page, ready for roff.
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

func writeManual(w io.Writer) error {
	t, err := template.New("manual").Parse(manualText)
	if err != nil {
		return err
	}
	m := manual{Schemes: strings.Join(fetch1738.Schemes(), ", "), Options: manualOptions(options())}
	for _, c := range commands() {
		m.Verbs = append(m.Verbs, manualVerb{c.name, roff(c.summary), manualOptions(c.options())})
	}
	for _, e := range exitMeanings() {
		m.ExitCodes = append(m.ExitCodes, manualEntry{Name: fmt.Sprint(e.code), Text: roff(e.meaning)})
	}
	return t.Execute(w, m)
}

func manualOptions(table []option) (entries []manualEntry) {
	for _, o := range table {
		entries = append(entries, manualEntry{roffOption(o), roff(o.help), roff(o.compared())})
	}
	return entries
}

// roff is text as it stands in a manual page.
func roff(text string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n.", "\n\\&.", "\n'", "\n\\&'", "^", `\(ha`, "~", `\(ti`, "`", `\(ga`, "'", `\(aq`).Replace(text)
}

// roffOption is how an option is written: its names in bold, its value's in
// italics.
func roffOption(o option) string {
	name := `\fB` + roff("--"+o.long) + `\fR`
	if o.short != "" {
		name = `\fB` + roff("-"+o.short) + `\fR, ` + name
	}
	if o.arg != "" {
		name += ` \fI` + roff(o.arg) + `\fR`
	}
	return name
}
