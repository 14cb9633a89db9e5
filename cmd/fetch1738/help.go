package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
)

const usageLine = "Usage: fetch1738 [options] URL...\n"

const helpHelp = `Usage: fetch1738 help [TOPIC]

Explains a verb, an option, or a group of options; "all" is all options, and
exit-codes the exit codes. Without a topic it is a summary of everything.

  $ fetch1738 help --limit-rate
`

// runHelp is the verb help. It takes no options, so that options can be topics.
func runHelp(_ context.Context, args []string, std stdio.Streams) int {
	topic := strings.TrimPrefix(strings.Join(args, " "), "-- ")
	if topic == "-h" || topic == "--help" {
		topic = "help"
	}
	var b bytes.Buffer
	if err := showHelp(&b, topic); err != nil {
		return newVerb("help", helpHelp, std).fail(exitUsage, "%v", err)
	}
	if _, err := std.Out.Write(b.Bytes()); err != nil {
		return exitWrite
	}
	return exitOK
}

// showHelp explains a topic: a group of options, a verb, an option or the exit
// codes. "" is a summary.
func showHelp(w io.Writer, topic string) error {
	if topic == "help" {
		_, err := io.WriteString(w, helpHelp)
		return err
	}
	for _, c := range commands() {
		if c.name == topic {
			c.run(context.Background(), []string{"--help"}, stdio.Streams{strings.NewReader(""), w, w})
			return nil
		}
	}
	switch {
	case topic == "":
		return showSummary(w)
	case topic == "exit-codes":
		return showExitCodes(w)
	case topic == "all", slices.Contains(groups(), topic):
		return showOptions(w, topic)
	}
	return showOption(w, topic)
}

// showSummary prints what there is, and the options that are used most.
func showSummary(w io.Writer) error {
	var b strings.Builder
	b.WriteString(usageLine)
	for _, c := range commands() {
		fmt.Fprintf(&b, "       fetch1738 %-10s %s\n", c.name, c.summary)
	}
	b.WriteString("\n")
	for _, o := range options() {
		if o.in("important") {
			b.WriteString(helpLine(o))
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
	for _, o := range options() {
		if group == "all" || o.in(group) {
			b.WriteString(helpLine(o))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// showOption prints all that is known of the option called name, with its
// dashes or without, wherever there is one.
func showOption(w io.Writer, name string) error {
	var b strings.Builder
	for _, o := range options() {
		if o.called(name) {
			b.WriteString(helpLine(o))
			if o.curl != "" {
				fmt.Fprintf(&b, "      %s\n", o.compared())
			}
		}
	}
	for _, c := range commands() {
		for _, o := range c.options() {
			if o.called(name) {
				fmt.Fprintf(&b, "fetch1738 %s\n%s", c.name, helpLine(o))
			}
		}
	}
	if b.Len() == 0 {
		long, short := strings.TrimLeft(name, "-"), ""
		if len(long) == 1 {
			long, short = "", long
		}
		if said, known := refusedOption(long, short); known {
			return errors.New(said)
		}
		if near := nearestOption(long, options()); near != "" {
			return fmt.Errorf("there is no help on %q; did you mean %s?", name, near)
		}
		topics := append(append(verbNames(), groups()...), "exit-codes", "all")
		if near := nearest(name, topics); near != "" {
			return fmt.Errorf("there is no help on %q; did you mean %s?", name, near)
		}
		return fmt.Errorf("there is no help on %q; topics are the verbs, options, exit-codes, all, %s", name, strings.Join(groups(), ", "))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func helpLine(o option) string {
	letter := "    "
	if o.short != "" {
		letter = "-" + o.short + ", "
	}
	name := "--" + o.long
	if o.arg != "" {
		name += " " + o.arg
	}
	return fmt.Sprintf(" %s%-24s %s\n", letter, name, o.help)
}

// groups are the groups of options, but for the one that the summary shows.
func groups() []string {
	names := make(map[string]bool)
	for _, o := range options() {
		for name := range strings.FieldsSeq(o.groups) {
			names[name] = true
		}
	}
	delete(names, "important")
	return slices.Sorted(maps.Keys(names))
}
