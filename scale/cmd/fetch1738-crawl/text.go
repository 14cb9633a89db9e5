package main

import (
	"cmp"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/fetch1738/fetch1738/scale"
)

// columns is the width of the help and of the other texts.
const columns = 80

const programHelp = `Usage: fetch1738-crawl VERB [option]... [argument]...

Crawls with several processes, on one machine or many. For less than a thousand
hosts, fetch1738 crawl is simpler.

  $ fetch1738-crawl node gopher://gopher.floodgap.com/
  $ fetch1738-crawl node --dir second --join nats://127.0.0.1:4222
  $ fetch1738-crawl status

Verbs:
`

const nodeHelp = `Usage: fetch1738-crawl node [--join URL] [option]... [FILE|URL]...

Takes hosts of the crawl and fetches what they have, until it is told to stop.
Without --join it starts a NATS server, which other nodes can join. The
arguments are added first, as by the verb add.

A node makes one request at a time to a host, and no other node asks that host,
or another name of its address. It obeys robots.txt, and follows links to public
addresses only.

SIGINT and SIGTERM drain the node: each host stops after its request, and what
was fetched is stored. A second signal stops the node at once; others fetch what
it has not stored.
`

const addHelp = `Usage: fetch1738-crawl add [option]... FILE|URL...

Adds URLs to the crawl. An argument without "://" is a file with a URL in each
line; "-" is standard input. Empty lines and lines that begin with "#" are
ignored. A URL that is known is not fetched again. A host that was given up is
tried again.
`

const statusHelp = `Usage: fetch1738-crawl status [option]...

Shows the number of hosts, documents and bytes, the nodes, and up to 10 hosts
that do not answer. With --json it prints one line of JSON, with up to 1000 of
them.
`

const drainHelp = `Usage: fetch1738-crawl drain [option]...

Asks all nodes to stop, or with --node one of them. They take no more hosts,
store what they have fetched, and end. The command does not wait for that;
status shows which nodes are left.
`

const exportHelp = `Usage: fetch1738-crawl export [option]... DIR

Copies the WARC files of the crawl to the folder DIR, with an index of all of
them, index.cdxj. Files that are there are not copied again, so the command can
be repeated while the crawl runs. Prints one line of JSON.
`

// helpText returns the help of the program.
func helpText() string {
	var b strings.Builder
	b.WriteString(programHelp)
	for _, v := range verbs() {
		fmt.Fprintf(&b, "  %-8s %s\n", v.name, v.summary)
	}
	fmt.Fprintf(&b, "\n%s VERB --help shows the options of a verb.\n", program)
	return b.String()
}

// text returns the help of the verb.
func (c *command) text() string { return c.help + "\n" + c.FlagUsagesWrapped(columns) }

// version returns the version of the program, without a "v".
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || !strings.HasPrefix(info.Main.Version, "v") {
		return "devel"
	}
	return info.Main.Version[1:]
}

// maxLine is the length of a message in characters.
const maxLine = 1000

// printable returns a text, which may come from a server, as one line that is safe to show.
func printable(text string) string {
	n := 0
	return strings.Map(func(r rune) rune {
		n++
		switch {
		case n > maxLine:
			return -1
		case n == maxLine:
			return '…'
		case !unicode.IsPrint(r):
			return '�'
		}
		return r
	}, text)
}

// inOptions returns the text of an error with the options that a user types, in place of the fields
// that a program sets.
func inOptions(text string) string {
	return strings.NewReplacer(
		"policy.Rules.AllowZones with", "--allow-zone",
		"use policy.Rules.RedirectToFTP to permit", "no option permits it",
		"use policy.Rules.LocalLinks to permit", "no option permits it",
	).Replace(text)
}

// amount returns a number of bytes as text.
func amount(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	value, unit := float64(n), -1
	for ; value >= 999.5 && unit < 5; unit++ {
		value /= 1024
	}
	return fmt.Sprintf("%.1f %ciB", value, "KMGTPE"[unit])
}

// maxFailing is the number of hosts that do not answer that status shows without --json.
const maxFailing = 10

// table returns a report as text.
func (r *report) table() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	total := 0
	for _, n := range r.Units {
		total += n
	}
	fmt.Fprintf(w, "hosts\t%d%s\n", total, byStatus(r.Units))
	fmt.Fprintf(w, "documents\t%d fetched, %d failed, %d left\n", r.Documents, r.Failed, r.Left)
	fmt.Fprintf(w, "bytes\t%s; %d WARC files with %s\n", amount(r.Octets), r.Files, amount(r.Stored))
	fmt.Fprintf(w, "nodes\t%d\n", len(r.Nodes))
	_ = w.Flush() // to memory
	if len(r.Nodes) > 0 {
		fmt.Fprint(w, "\nNODE\tHOSTS\tDOCUMENTS\tBYTES\tSTARTED (UTC)\t\n")
		for _, n := range r.Nodes {
			draining := ""
			if n.Draining {
				draining = "draining"
			}
			fmt.Fprintf(w, "%s\t%d of %d\t%d\t%s\t%s\t%s\n", printable(n.Name), n.Busy, n.Slots,
				n.Documents, amount(n.Octets), n.Started.UTC().Format(time.DateTime), draining)
		}
		_ = w.Flush()
	}
	if len(r.Failing) > 0 {
		fmt.Fprint(w, "\nNO ANSWER\tSTATUS\tATTEMPTS\tERROR\n")
		for _, f := range r.Failing[:min(maxFailing, len(r.Failing))] {
			fmt.Fprintf(w, "%s\t%s\t%d\t%s\n", printable(f.Unit), f.Status, f.Failures, printable(f.Error))
		}
		_ = w.Flush()
	}
	if more := len(r.Failing) - maxFailing; more > 0 {
		fmt.Fprintf(&b, "and %d more; --json shows them\n", more)
	}
	return trimmed(b.String())
}

// byStatus returns how many units have each status.
func byStatus(units map[scale.Status]int) string {
	var parts []string
	order := []scale.Status{scale.Done, scale.Active, scale.Waiting, scale.New, scale.Dead}
	names := slices.SortedFunc(maps.Keys(units), func(a, b scale.Status) int {
		return cmp.Compare(slices.Index(order, a), slices.Index(order, b))
	})
	for _, s := range names {
		if units[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", units[s], s))
		}
	}
	if parts == nil {
		return ""
	}
	return ": " + strings.Join(parts, ", ")
}

// trimmed removes the spaces at the ends of lines, which a tabwriter leaves.
func trimmed(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return b.String()
}
