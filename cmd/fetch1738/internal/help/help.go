// Package help is the verb help, and the version.
package help

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/cli"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/curl"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/exit"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
)

const usageLine = "Usage: fetch1738 [options] URL...\n"

const helpHelp = `Usage: fetch1738 help [TOPIC]

Explains a verb, an option, or a group of options; "all" is all options, and
exit-codes the exit codes. Without a topic it is a summary of everything.

  $ fetch1738 help --limit-rate
`

// Command is the verb; all are all verbs. It takes no options, so that options can
// be topics.
func Command(all func() []cli.Command) cli.Command {
	return cli.Command{
		Name: "help", Summary: "explain a verb, an option or a group of options",
		Run: func(_ context.Context, args []string, std stdio.Streams) int {
			topic := strings.TrimPrefix(strings.Join(args, " "), "-- ")
			if topic == "-h" || topic == "--help" {
				topic = "help"
			}
			var b bytes.Buffer
			if err := showHelp(&b, all(), topic); err != nil {
				return cli.NewVerb("help", helpHelp, std).Fail(exit.Usage, "%v", err)
			}
			if _, err := std.Out.Write(b.Bytes()); err != nil {
				return exit.Write
			}
			return exit.OK
		},
		Options: func() []curl.Option { return nil },
	}
}

// showHelp explains a topic: a group of options, a verb, an option or the exit
// codes. "" is a summary.
func showHelp(w io.Writer, all []cli.Command, topic string) error {
	if topic == "help" {
		_, err := io.WriteString(w, helpHelp)
		return err
	}
	for _, c := range all {
		if c.Name == topic {
			c.Run(context.Background(), []string{"--help"}, stdio.Streams{In: strings.NewReader(""), Out: w, Err: w})
			return nil
		}
	}
	switch {
	case topic == "":
		return showSummary(w, all)
	case topic == "exit-codes":
		return exit.Show(w)
	case topic == "all", slices.Contains(groups(), topic):
		return showOptions(w, topic)
	}
	return showOption(w, all, topic)
}

// showSummary prints what there is, and the options that are used most.
func showSummary(w io.Writer, all []cli.Command) error {
	var b strings.Builder
	b.WriteString(usageLine)
	for _, c := range all {
		fmt.Fprintf(&b, "       fetch1738 %-10s %s\n", c.Name, c.Summary)
	}
	b.WriteString("\n")
	for _, o := range curl.Options() {
		if o.In("important") {
			b.WriteString(Line(o))
		}
	}
	fmt.Fprintf(&b, "\nMore: fetch1738 help and a verb, an option, exit-codes, or one of\n  all %s\n", strings.Join(groups(), " "))
	_, err := io.WriteString(w, b.String())
	return err
}

// showOptions prints the options of a group.
func showOptions(w io.Writer, group string) error {
	var b strings.Builder
	b.WriteString(usageLine)
	for _, o := range curl.Options() {
		if group == "all" || o.In(group) {
			b.WriteString(Line(o))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// showOption prints all that is known of the option called name, with its
// dashes or without, wherever there is one.
func showOption(w io.Writer, all []cli.Command, name string) error {
	var b strings.Builder
	for _, o := range curl.Options() {
		if o.Called(name) {
			b.WriteString(Line(o))
			if o.Curl != "" {
				fmt.Fprintf(&b, "      %s\n", o.Compared())
			}
		}
	}
	for _, c := range all {
		for _, o := range c.Options() {
			if o.Called(name) {
				fmt.Fprintf(&b, "fetch1738 %s\n%s", c.Name, Line(o))
			}
		}
	}
	if b.Len() == 0 {
		long, short := strings.TrimLeft(name, "-"), ""
		if len(long) == 1 {
			long, short = "", long
		}
		if said, known := curl.RefusedOption(long, short); known {
			return errors.New(said)
		}
		if near := curl.NearestOption(long, curl.Options()); near != "" {
			return fmt.Errorf("there is no help on %q; did you mean %s?", name, near)
		}
		topics := append(append(cli.Names(all), groups()...), "exit-codes", "all")
		if near := curl.Nearest(name, topics); near != "" {
			return fmt.Errorf("there is no help on %q; did you mean %s?", name, near)
		}
		return fmt.Errorf("there is no help on %q; topics are the verbs, options, exit-codes, all, %s", name, strings.Join(groups(), ", "))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Line is an option in a line of help.
func Line(o curl.Option) string {
	letter := "    "
	if o.Short != "" {
		letter = "-" + o.Short + ", "
	}
	name := "--" + o.Long
	if o.Arg != "" {
		name += " " + o.Arg
	}
	return fmt.Sprintf(" %s%-24s %s\n", letter, name, o.Help)
}

// groups are the groups of options, but for the one that the summary shows.
func groups() []string {
	names := make(map[string]bool)
	for _, o := range curl.Options() {
		for name := range strings.FieldsSeq(o.Groups) {
			names[name] = true
		}
	}
	delete(names, "important")
	return slices.Sorted(maps.Keys(names))
}
