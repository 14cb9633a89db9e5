package judge

import (
	"bufio"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/cli"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/exit"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
	"github.com/fetch1738/fetch1738/judge"
)

// showCases lists cases.
func (o *options) showCases(cases []judge.Case) int {
	var text strings.Builder
	for _, c := range cases {
		if o.json {
			line, _ := json.Marshal(caseOf(c))
			text.Write(append(line, '\n'))
			continue
		}
		fmt.Fprintf(&text, "%s\n      %s\n", c.Name, c.Does)
		if o.reports {
			fmt.Fprintf(&text, "      %s\n", c.Source)
		}
	}
	return cli.Print(o.Std, text.String())
}

// report writes results as they come.
type report struct {
	w      *bufio.Writer
	show   format
	rerun  func(name string) string // returns the command line that repeats a case
	meter  io.Writer
	err    error
	total  int
	done   int
	groups []*count
}

// format is how results are shown.
type format interface {
	result(w io.Writer, r judge.Result, rerun string) error
	end(w io.Writer, groups []*count) error
}

// count counts the verdicts of a task of a scheme.
type count struct {
	scheme   string
	task     judge.Task
	verdicts [judge.Lied + 1]int
	unmet    int
	unable   string // why the client was not judged
}

// report returns the report of total cases, in the format of the options.
func (o *options) report(total int) *report {
	r := &report{w: bufio.NewWriter(o.Std.Out), total: total, show: &lines{verbose: o.verbose}}
	switch {
	case o.json:
		r.show = jsonLines{}
	case o.tap:
		r.show = &tap{}
	case o.junit:
		r.show = &junit{}
	}
	r.rerun = func(name string) string {
		args := []string{"fetch1738", "judge"}
		if o.reports && strings.HasPrefix(name, "reports/") { // the others show what the client can do at all
			args = append(args, "--reports")
		}
		if o.Changed("limit") {
			args = append(args, "--limit", o.limit.String())
		}
		return quoted(append(append(args, "--only", name, "--"), o.Args()...))
	}
	if stderr, ok := o.Std.Err.(*os.File); ok && term.IsTerminal(stderr) {
		r.meter = stderr
	}
	return r
}

// add writes and counts a result.
func (r *report) add(result judge.Result) {
	r.done++
	r.erase()
	g := r.group(result.Case)
	switch {
	case result.Case.Plain() && result.Verdict == judge.GaveUp:
		g.unable = result.Why
	default:
		g.verdicts[result.Verdict]++
		if !result.Met {
			g.unmet++
		}
	}
	r.keep(r.show.result(r.w, result, r.rerun(result.Case.Name)))
	r.keep(r.w.Flush())
	if r.meter != nil {
		fmt.Fprintf(r.meter, "%d of %d cases", r.done, r.total)
	}
}

// erase removes the number of cases from the terminal.
func (r *report) erase() {
	if r.meter != nil {
		fmt.Fprint(r.meter, "\r\x1b[K")
	}
}

// keep keeps the first error of writing.
func (r *report) keep(err error) {
	if r.err == nil && err != nil {
		r.err = stdio.OutputError(err)
	}
}

// group returns the counts for the task and scheme of a case.
func (r *report) group(c judge.Case) *count {
	for _, g := range r.groups {
		if g.scheme == c.Scheme && g.task == c.Task {
			return g
		}
	}
	g := &count{scheme: c.Scheme, task: c.Task}
	r.groups = append(r.groups, g)
	return g
}

// end writes the totals, and returns the first error of writing.
func (r *report) end() error {
	r.erase()
	r.keep(r.show.end(r.w, r.groups))
	r.keep(r.w.Flush())
	return r.err
}

// code returns the exit code.
func (r *report) code() int {
	judged := false
	for _, g := range r.groups {
		if g.verdicts[judge.Lied]+g.verdicts[judge.Crashed]+g.verdicts[judge.Hung] > 0 {
			return found
		}
		judged = judged || g.unable == ""
	}
	if !judged {
		return exit.Usage
	}
	return exit.OK
}

// quoted returns arguments as a shell reads them.
func quoted(args []string) string {
	words := make([]string, len(args))
	for i, arg := range args {
		words[i] = arg
		if arg == "" || strings.ContainsAny(arg, " \t\n'\"\\$&|;<>()*?[]#~`!") {
			words[i] = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

// lines is the format for people.
type lines struct{ verbose bool }

func (l *lines) result(w io.Writer, r judge.Result, rerun string) error {
	switch {
	case r.Verdict > judge.GaveUp:
		_, err := fmt.Fprintf(w, "%-8s %s\n%s", r.Verdict, r.Case.Name, details(r, rerun))
		return err
	case r.Verdict == judge.GaveUp:
		_, err := fmt.Fprintf(w, "%-8s %s: %s\n", r.Verdict, r.Case.Name, term.Safe(r.Why))
		return err
	case l.verbose:
		unmet := ""
		if !r.Met {
			unmet = "; the fault did not come up"
		}
		_, err := fmt.Fprintf(w, "%-8s %s: %s%s\n", r.Verdict, r.Case.Name, term.Safe(r.Why), unmet)
		return err
	}
	return nil
}

// details explains a finding.
func details(r judge.Result, rerun string) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, "    "+format+"\n", args...) }
	line("The client: %s.", term.Safe(r.Why))
	line("%s", r.Case.Does)
	line("It is from: %s", r.Case.Source)
	line("A careful client: %s", r.Case.Should)
	for text := range strings.Lines(r.Transcript) {
		line("  %s", term.Safe(strings.TrimRight(text, "\r\n")))
	}
	line("Again: %s", rerun)
	return b.String()
}

func (l *lines) end(w io.Writer, groups []*count) error {
	for _, g := range groups {
		if g.unable != "" {
			if _, err := fmt.Fprintf(w, "%s %s: not judged; the client cannot do it with an ordinary server: %s\n", g.scheme, g.task, term.Safe(g.unable)); err != nil {
				return err
			}
			continue
		}
		if _, err := fmt.Fprintf(w, "%s\n", g); err != nil {
			return err
		}
	}
	return nil
}

// String returns the counts as a line.
func (g *count) String() string {
	n := 0
	var parts []string
	for v := judge.Lied; ; v-- {
		n += g.verdicts[v]
		parts = append(parts, fmt.Sprintf("%d %v", g.verdicts[v], v))
		if v == judge.Right {
			break
		}
	}
	return fmt.Sprintf("%s %s: %d cases: %s (%d did not come up)", g.scheme, g.task, n, strings.Join(parts, ", "), g.unmet)
}

// A jsonCase is a case in JSON.
type jsonCase struct {
	Name   string     `json:"name"`
	Scheme string     `json:"scheme"`
	Task   judge.Task `json:"task"`
	Does   string     `json:"does"`
	Source string     `json:"source"`
	Should string     `json:"should"`
	Gets   bool       `json:"gets"`
	Waits  bool       `json:"waits"`
}

func caseOf(c judge.Case) jsonCase {
	return jsonCase{c.Name, c.Scheme, c.Task, c.Does, c.Source, c.Should, c.Gets, c.Waits}
}

// jsonLines is the format for programs.
type jsonLines struct{}

func (jsonLines) result(w io.Writer, r judge.Result, rerun string) error {
	line, err := json.Marshal(struct {
		jsonCase
		Verdict    judge.Verdict `json:"verdict"`
		Why        string        `json:"why"`
		Met        bool          `json:"met"`
		Seconds    float64       `json:"seconds"`
		Transcript string        `json:"transcript,omitempty"`
		Stderr     string        `json:"stderr,omitempty"`
		Again      string        `json:"again"`
	}{caseOf(r.Case), r.Verdict, r.Why, r.Met, r.Took.Seconds(), r.Transcript, r.Said, rerun})
	if err == nil {
		_, err = w.Write(append(line, '\n'))
	}
	return err
}

func (jsonLines) end(io.Writer, []*count) error { return nil }

// tap is the Test Anything Protocol (https://testanything.org). Giving up is not a failure.
type tap struct{ n int }

func (t *tap) result(w io.Writer, r judge.Result, rerun string) error {
	if t.n++; t.n == 1 {
		fmt.Fprintln(w, "TAP version 14")
	}
	switch {
	case r.Verdict > judge.GaveUp:
		text, _ := json.Marshal(details(r, rerun))
		_, err := fmt.Fprintf(w, "not ok %d - %s\n  ---\n  verdict: %v\n  message: %s\n  ...\n", t.n, r.Case.Name, r.Verdict, text)
		return err
	case !r.Met:
		_, err := fmt.Fprintf(w, "ok %d - %s # SKIP the fault did not come up\n", t.n, r.Case.Name)
		return err
	}
	_, err := fmt.Fprintf(w, "ok %d - %s (%v)\n", t.n, r.Case.Name, r.Verdict)
	return err
}

func (t *tap) end(w io.Writer, _ []*count) error {
	_, err := fmt.Fprintf(w, "1..%d\n", t.n)
	return err
}

// junit is the XML that test reports of many programs are read from.
type junit struct {
	XMLName struct{}      `xml:"testsuites"`
	Suites  []*junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	Time    string        `xml:"time,attr"`
	Failure *junitFailure `xml:"failure"`
	Skipped *struct{}     `xml:"skipped"`
}

type junitFailure struct {
	Type    string `xml:"type,attr"`
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

func (j *junit) result(_ io.Writer, r judge.Result, rerun string) error {
	group := r.Case.Scheme + "/" + string(r.Case.Task)
	i := slices.IndexFunc(j.Suites, func(s *junitSuite) bool { return s.Name == group })
	if i < 0 {
		i = len(j.Suites)
		j.Suites = append(j.Suites, &junitSuite{Name: group})
	}
	s := j.Suites[i]
	s.Tests++
	c := junitCase{Name: r.Case.Name, Class: group, Time: fmt.Sprintf("%.3f", r.Took.Seconds())}
	switch {
	case r.Verdict > judge.GaveUp:
		s.Failures++
		c.Failure = &junitFailure{r.Verdict.String(), r.Why, details(r, rerun)}
	case !r.Met:
		s.Skipped++
		c.Skipped = new(struct{})
	}
	s.Cases = append(s.Cases, c)
	return nil
}

func (j *junit) end(w io.Writer, _ []*count) error {
	text, err := xml.MarshalIndent(j, "", " ")
	if err == nil {
		_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, text)
	}
	return err
}
