// Package help implements the verb help.
package help

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/cli"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/curl"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/exit"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/render"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/internal/urls/typed"
)

const usageLine = "Usage: fetch1738 [options] URL...\n"

const helpHelp = `Usage: fetch1738 help [TOPIC | WORD...]

Shows the help for a verb, an option or a group of options. Any other words are
searched for in the help of all options, verbs and exit codes. Without a topic,
it shows the verbs and the most used options.

  $ fetch1738 help --limit-rate
  $ fetch1738 help resume

Topics:
`

// most lists the options in the summary, in the order in which users look for them: output,
// listings, logins, uploads, HTTP, messages. The summary fits a terminal of 24 lines together with
// the prompt.
var most = []string{
	"output", "remote-name", "continue-at",
	"list-only", "head", "list", "json", "number",
	"user", "netrc", "ssl-reqd",
	"upload-file",
	"location", "data", "header",
	"verbose", "silent", "parallel",
}

// Command returns the verb; all returns all verbs. It takes no options, so that an option can be a
// topic.
func Command(all func() []cli.Command) cli.Command {
	return cli.Command{
		Name: "help", Summary: "show the help for a verb, an option or a group of options",
		Run: func(_ context.Context, args []string, std stdio.Streams) int {
			topic := strings.TrimPrefix(strings.Join(args, " "), "-- ")
			if topic == "-h" || topic == "--help" {
				topic = "help"
			}
			text, err := explained(all(), topic, cli.Width(std.Out))
			if err != nil {
				return cli.NewVerb("help", helpHelp, std).Fail(exit.Usage, "%v", err)
			}
			return cli.Print(std, text)
		},
		Options: func() []curl.Option { return nil },
		Help:    func(width int) string { return topics(all(), width) },
	}
}

// explained returns the help on a topic, width columns wide. The topic "" is the summary.
func explained(all []cli.Command, topic string, width int) (string, error) {
	for _, c := range all {
		if c.Name == topic {
			return c.Help(width), nil
		}
	}
	switch {
	case topic == "":
		return summary(all, width), nil
	case topic == "verbs":
		return verbs(all, width), nil
	case topic == "exit-codes":
		return exitCodes(width), nil
	case topic == "all", slices.Contains(groups(), topic):
		return usageLine + cli.Options(inGroup(topic), width), nil
	}
	return option(all, topic, width)
}

// summary returns the list of verbs, the most used options, and the topics with more help.
func summary(all []cli.Command, width int) string {
	byName := make(map[string]curl.Option)
	for _, o := range curl.Options() {
		byName[o.Long] = o
	}
	list := make([]curl.Option, len(most))
	for i, name := range most {
		list[i] = byName[name]
	}
	return usageLine + render.Paragraph("Verbs: ", strings.Join(cli.Names(all), " "), 7, width) +
		"\n" + cli.Options(list, width) +
		render.Paragraph("More:  ", "fetch1738 help TOPIC: all, ftp, verbs, exit-codes, VERB, OPTION or WORD", 7, width)
}

// verbs returns a line about each verb.
func verbs(all []cli.Command, width int) string {
	var rows []cli.Row
	for _, c := range all {
		rows = append(rows, cli.Row{Name: " " + c.Name, Text: c.Summary})
	}
	return "Usage: fetch1738 VERB [argument...]\n" + cli.Rows(rows, width)
}

// topics returns the help of the verb help.
func topics(all []cli.Command, width int) string {
	return cli.Prose(helpHelp, width) + cli.Rows([]cli.Row{
		{Name: " all", Text: "all options"},
		{Name: " OPTION", Text: "an option, with or without its dashes, and how it differs from curl's"},
		{Name: " GROUP", Text: "a group of options: " + strings.Join(groups(), ", ")},
		{Name: " verbs", Text: "all verbs"},
		{Name: " VERB", Text: "a verb: " + strings.Join(cli.Names(all), ", ")},
		{Name: " exit-codes", Text: "the exit codes"},
		{Name: " WORD...", Text: "what has all these words in its help"},
	}, width)
}

func exitCodes(width int) string {
	var rows []cli.Row
	for _, m := range exit.Meanings() {
		rows = append(rows, cli.Row{Name: fmt.Sprintf("%3d", m.Code), Text: m.Text})
	}
	return cli.Rows(rows, width)
}

// inGroup returns the options of a group; "all" means all options.
func inGroup(group string) (list []curl.Option) {
	for _, o := range curl.Options() {
		if group == "all" || o.In(group) {
			list = append(list, o)
		}
	}
	return list
}

// option returns the help on the option called name, with or without its dashes, and on the
// options of verbs with that name. If there is no such option, name is searched for.
func option(all []cli.Command, name string, width int) (string, error) {
	var b strings.Builder
	for _, o := range curl.Options() {
		if o.Called(name) {
			b.WriteString(cli.Options([]curl.Option{o}, width))
			if o.Curl != "" {
				b.WriteString(cli.Rows([]cli.Row{{Name: "    ", Text: o.Compared()}}, width))
			}
		}
	}
	for _, c := range all {
		for _, o := range c.Options() {
			if o.Called(name) {
				b.WriteString("fetch1738 " + c.Name + "\n" + cli.Options([]curl.Option{o}, width))
			}
		}
	}
	if b.Len() > 0 {
		return b.String(), nil
	}
	if found := search(all, name, width); found != "" && refused(name) == "" {
		return found, nil
	}
	return "", unknown(all, name)
}

// refused returns why an option of curl is not supported, or "" for any other name.
func refused(name string) string {
	long, short := strings.TrimLeft(name, "-"), ""
	if len(long) == 1 {
		long, short = "", long
	}
	said, known := curl.RefusedOption(long, short)
	if !known {
		return ""
	}
	return said
}

// unknown returns the error for an unknown topic.
func unknown(all []cli.Command, name string) error {
	if said := refused(name); said != "" {
		return errors.New(said)
	}
	long := strings.TrimLeft(name, "-")
	if wgets := curl.FromWget(long); wgets != "" {
		return errors.New(wgets)
	}
	if near := curl.NearestOption(long, curl.Options()); near != "" {
		return fmt.Errorf("nothing in the help on %q; did you mean %s?", name, near)
	}
	topics := append(append(cli.Names(all), groups()...), "exit-codes", "all", "verbs")
	if near := typed.Nearest(name, topics); near != "" {
		return fmt.Errorf("nothing in the help on %q; did you mean %s?", name, near)
	}
	return fmt.Errorf("nothing in the help on %q; topics are the verbs, options, exit-codes, all, verbs, %s", name, strings.Join(groups(), ", "))
}

// groups returns the names of the option groups, sorted.
func groups() []string {
	names := make(map[string]bool)
	for _, o := range curl.Options() {
		for name := range strings.FieldsSeq(o.Groups) {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}
