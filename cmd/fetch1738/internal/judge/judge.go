// Package judge implements the judge command, which finds out whether a client lies.
package judge

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/cli"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/exit"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/progress"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
	"github.com/fetch1738/fetch1738/judge"
)

const help = `Usage: fetch1738 judge [--scheme NAME] [--task NAME] [--only NAME]... [--accept FILE]
                       [--json|--tap|--junit|--accept-lines] -- COMMAND [ARG]...
       fetch1738 judge --cases [--scheme NAME] [--task NAME] [--only NAME]...

Finds out whether a client lies: runs COMMAND against servers that misbehave, each
in one way, and compares what it says (exit code 0 is success) with what it has
done. In the arguments, {url} is replaced by the document, {out} by the file for
it, {dir} by a folder, {user} and {password} by a login, and {ca} by a file
with the certificate to trust. Without {out}, the standard output is the document.
All servers are on this host.

The tasks are download, resume (the beginning is in {out}), list (print the names
in a directory, one in each line), upload (the file {out}), tree (a directory
with all below it, into {dir}), and deploy (all that is in {dir}, to a directory).
The scheme ftp+tls is for a command that insists on TLS, and https+h2 has https URLs
of servers that speak HTTP/2. Without --scheme, all schemes are tried that the
command can do.

With --reports the cases are bug reports of other programs: what a server did, or
what a text or a file had, when a client failed. They have more tasks: save (the
document into {dir}, under the name that the server says), decode (without its
content coding), show (a directory, menu or newsgroup, for people), mail (send the
message {in} by the SMTP server {server}), extract (the URLs of the text {in}),
unpack (the document {url} of the WARC file {in}), and verify (exit code 0 only if
the WARC file {in} is without faults).

A client has lied if it says success, and bytes are wrong or missing; or, whatever
it says, if it has written outside its folder, or sent a secret to another host or
in the clear. It gave up if it failed where a careful client gets the document.
Give it time limits, as in curl's -m, that are shorter than --limit; otherwise it
hangs where a server is silent. The exit code is 0 if it never lied, crashed or
hung, 1 if it did, and 2 if it could not be judged.

Findings are shown by cause, the worst first, each with one example; -v shows all.
The file of --accept has known findings, which do not count for the exit code, one in
each line: the case and its cause. --accept-lines prints them. Lines whose findings no
longer occur are named on standard error.

  $ fetch1738 judge --scheme ftp -- curl -sS -m 5 -o {out} {url}
  $ fetch1738 judge --accept known.txt -- ./client {url} {out}
  $ fetch1738 judge --reports --task save -- curl -sSf -m 5 -OJ {url}
  $ fetch1738 judge --task tree -- wget -q -r -nH -T 5 -t 1 -P {dir} {url}
`

// Command returns the judge command.
func Command() cli.Command {
	return cli.New("judge", "find out whether a client lies, with servers that misbehave", help, define)
}

// found is the exit code if a client lied, crashed or hung.
const found = 1

// options are the options of the command.
type options struct {
	*cli.Verb
	schemes, tasks, only   []string
	json, tap, junit, list bool
	reports, verbose       bool
	accept                 string
	acceptLines            bool
	limit                  time.Duration
	parallel               int
}

// define adds the flags and returns the function that runs the command.
func define(v *cli.Verb) func(context.Context) int {
	o := &options{Verb: v}
	v.SetInterspersed(false) // the options after the command are its own
	v.StringArrayVar(&o.schemes, "scheme", nil, "Only cases of the scheme `NAME`: "+strings.Join(judge.Schemes(), ", ")+"; may be repeated")
	v.StringArrayVar(&o.tasks, "task", []string{string(judge.Download)}, "The task that the command does: `NAME` is "+taskNames()+"")
	v.StringArrayVar(&o.only, "only", nil, "Only the case `NAME`, the cases whose names begin with NAME/, or those that match it as a pattern; may be repeated")
	v.BoolVar(&o.reports, "reports", false, "Judge by the cases that are bug reports of other programs")
	v.BoolVar(&o.list, "cases", false, "List the cases instead of judging")
	v.BoolVar(&o.json, "json", false, "Print JSON Lines, one for each case")
	v.BoolVar(&o.tap, "tap", false, "Print the Test Anything Protocol, version 14")
	v.BoolVar(&o.junit, "junit", false, "Print JUnit's XML")
	v.StringVar(&o.accept, "accept", "", "Do not fail for the findings that `FILE` lists, one per line")
	v.BoolVar(&o.acceptLines, "accept-lines", false, "Print the findings as lines for --accept, without those that it has")
	v.DurationVar(&o.limit, "limit", judge.Limit, "Say that a command hangs that has not ended after `TIME`")
	v.IntVar(&o.parallel, "parallel", 0, "Run `N` commands at once; 0 means two for each processor")
	v.BoolVarP(&o.verbose, "verbose", "v", false, "Show each case as it is judged, with the conversation of each finding")
	return o.run
}

func taskNames() string {
	var names []string
	for _, t := range judge.Tasks() {
		names = append(names, string(t))
	}
	return strings.Join(names, ", ")
}

// run judges the client and returns the exit code.
func (o *options) run(ctx context.Context) int {
	cases, err := o.cases()
	formats := 0
	for _, set := range []bool{o.json, o.tap, o.junit, o.acceptLines} {
		if set {
			formats++
		}
	}
	switch {
	case err != nil:
		return o.Complain("%v", err)
	case formats > 1:
		return o.Complain("--json, --tap, --junit and --accept-lines exclude each other")
	case o.limit <= 0:
		return o.Complain("--limit must be more than 0")
	case o.parallel < 0:
		return o.Complain("--parallel must not be negative")
	case o.list && o.NArg() > 0:
		return o.Complain("--cases runs no command")
	case o.list:
		return o.showCases(cases)
	case o.NArg() == 0:
		return o.Complain("there is no COMMAND to judge")
	case !slices.ContainsFunc(o.Args(), func(arg string) bool { return strings.Contains(arg, "{url}") || strings.Contains(arg, "{in}") }):
		return o.Complain("the command has no {url} and no {in}, so it cannot know what to fetch")
	}
	var accept *baseline
	if o.accept != "" {
		if accept, err = readBaseline(o.accept); err != nil {
			return o.Complain("%v", err)
		}
	}
	return o.judge(ctx, cases, accept)
}

// judge runs the client in cases, and returns the exit code.
func (o *options) judge(ctx context.Context, cases []judge.Case, accept *baseline) int {
	fmt.Fprintf(o.Std.Err, "fetch1738: judging %s in %s\n", stdio.Line(o.Arg(0)), stdio.Count(len(cases), "case"))
	report := o.report(cases, accept)
	out, shown := o.progress(report.line)
	report.w = bufio.NewWriter(out)
	j := &judge.Judge{Client: judge.Command(o.Args()...), Limit: o.limit, Parallel: o.parallel, Ended: report.end}
	for r := range j.All(ctx, cases) {
		report.add(r)
	}
	shown()
	if ctx.Err() != nil {
		if _, ok := report.show.(*lines); ok { // the other formats would seem to be complete
			_ = report.finish()
		}
		fmt.Fprintf(o.Std.Err, "fetch1738: judge: interrupted; %s\n", report.line())
		return exit.OfSignal(ctx)
	}
	if err := report.finish(); err != nil {
		return o.FailOutput(err)
	}
	switch lines, n := accept.stale(report.all()); n {
	case 0:
	case 1:
		o.Std.Warn("%s:%s: this finding no longer occurs; delete the line", accept.file, lines)
	default:
		o.Std.Warn("%s: %d findings no longer occur; delete lines %s", accept.file, n, lines)
	}
	return report.code()
}

// progress shows on standard error how far the run is until the returned function is called: on a
// terminal all the time, and elsewhere in a line now and then. It returns standard output beside that.
func (o *options) progress(line func() string) (out io.Writer, end func()) {
	if term.IsTerminal(o.Std.Err) {
		display := progress.New(o.Std.Err, progress.Options{Sum: func(progress.Totals) string { return line() }})
		return display.Above(o.Std.Out), display.Close
	}
	log := progress.NewLog(o.Std.Err, line)
	return o.Std.Out, log.Close
}

// cases returns the cases that the options select.
func (o *options) cases() ([]judge.Case, error) {
	for _, name := range o.schemes {
		if !slices.Contains(judge.Schemes(), name) {
			return nil, fmt.Errorf("--scheme: there is no %q; there are %s", name, strings.Join(judge.Schemes(), ", "))
		}
	}
	for _, name := range o.tasks {
		if !slices.Contains(judge.Tasks(), judge.Task(name)) {
			return nil, fmt.Errorf("--task: there is no %q; there are %s", name, taskNames())
		}
	}
	all := judge.Cases()
	if o.reports {
		all = judge.Reports()
	}
	if len(o.only) > 0 && !o.Changed("task") { // the names tell the task
		o.tasks = nil
	}
	all = slices.DeleteFunc(all, func(c judge.Case) bool {
		return len(o.schemes) > 0 && !slices.Contains(o.schemes, c.Scheme) || len(o.tasks) > 0 && !slices.Contains(o.tasks, string(c.Task))
	})
	for _, name := range o.only {
		if len(judge.Select(all, name)) == 0 {
			return nil, fmt.Errorf("--only: no case is named %q; --cases lists them", name)
		}
	}
	if len(all) == 0 && !o.reports {
		return nil, errors.New("there is no such case; the tasks of reports need --reports")
	}
	return judge.Select(all, o.only...), nil
}
