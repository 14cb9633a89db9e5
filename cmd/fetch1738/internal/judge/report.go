package judge

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

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

// judged is a result as it is reported.
type judged struct {
	judge.Result
	accepted bool   // a file of the user has this finding
	again    string // the command line that repeats the case
}

// isFinding reports whether the client is to blame for what it did. Giving up is no reproach.
func (r judged) isFinding() bool { return r.Verdict > judge.GaveUp }

// unable reports whether the client cannot do the task of the case, so that nothing can be said about it.
func (r judged) unable() bool { return r.Case.Plain() && r.Verdict == judge.GaveUp }

// report writes results as they come, and keeps them for the end.
type report struct {
	w      *bufio.Writer // set by the caller
	show   format
	accept *baseline
	rerun  func(name string) string // returns the command line that repeats a case
	err    error                    // the first of writing

	mu    sync.Mutex
	cases []judge.Case
	ended []judged // in the order in which they ended
}

// format is how results are shown.
type format interface {
	result(w io.Writer, r judged) error
	end(w io.Writer, r *report) error
}

// report returns the report of cases, in the format of the options. The caller sets where it is written.
func (o *options) report(cases []judge.Case, accept *baseline) *report {
	r := &report{cases: cases, accept: accept, show: &lines{verbose: o.verbose}}
	switch {
	case o.json:
		r.show = jsonLines{}
	case o.tap:
		r.show = &tap{}
	case o.junit:
		r.show = &junit{}
	case o.acceptLines:
		r.show = acceptLines{}
	}
	r.rerun = func(name string) string {
		args := []string{"fetch1738", "judge", "-v"}
		if o.reports && strings.HasPrefix(name, "reports/") { // the others show what the client can do at all
			args = append(args, "--reports")
		}
		if o.Changed("limit") {
			args = append(args, "--limit", o.limit.String())
		}
		return quoted(append(append(args, "--only", name, "--"), o.Args()...))
	}
	return r
}

// judged returns a result with what is said about it.
func (r *report) judged(result judge.Result) judged {
	return judged{result, r.accept.has(result), r.rerun(result.Case.Name)}
}

// end keeps a result at once, in whatever order they end. Other goroutines than that of add call it.
func (r *report) end(result judge.Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	result.Transcript = "" // it may be long, and what is said at the end has none
	r.ended = append(r.ended, r.judged(result))
}

// add writes a result, in the order of the cases.
func (r *report) add(result judge.Result) {
	r.keep(r.show.result(r.w, r.judged(result)))
	r.keep(r.w.Flush())
}

// finish writes what follows the results, and returns the first error of writing.
func (r *report) finish() error {
	r.keep(r.show.end(r.w, r))
	r.keep(r.w.Flush())
	return r.err
}

// keep keeps the first error of writing.
func (r *report) keep(err error) {
	if r.err == nil && err != nil {
		r.err = stdio.OutputError(err)
	}
}

// all returns the results so far in the order of the cases.
func (r *report) all() []judged {
	order := make(map[string]int, len(r.cases))
	for i, c := range r.cases {
		order[c.Name] = i + 1 // before them are those of ordinary servers that are not among the cases
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.SortedFunc(slices.Values(r.ended), func(a, b judged) int { return cmp.Compare(order[a.Case.Name], order[b.Case.Name]) })
}

// findings returns the results that the client is to blame for, without those that are accepted.
func (r *report) findings() (all []judged) {
	return slices.DeleteFunc(r.all(), func(one judged) bool { return !one.isFinding() || one.accepted })
}

// line returns how far the run is.
func (r *report) line() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	done, findings, total := len(r.ended), 0, len(r.cases)
	for _, one := range r.ended {
		if one.isFinding() && !one.accepted {
			findings++
		}
		if one.Case.Plain() && one.Verdict != judge.Right { // the other cases of the task are left out
			total = max(done, total-r.others(one.Case))
		}
	}
	return fmt.Sprintf("%d of %s judged, %s", done, stdio.Count(total, "case"), stdio.Count(findings, "finding"))
}

// others returns how many cases have the scheme and task of one.
func (r *report) others(one judge.Case) (n int) {
	for _, c := range r.cases {
		if c.Scheme == one.Scheme && c.Task == one.Task && c.Name != one.Name {
			n++
		}
	}
	return n
}

// code returns the exit code.
func (r *report) code() int {
	if len(r.findings()) > 0 {
		return found
	}
	if !slices.ContainsFunc(r.counts(), func(c *count) bool { return c.unfit == nil }) {
		return exit.Usage
	}
	return exit.OK
}

// count counts the verdicts of a task of a scheme.
type count struct {
	scheme          string
	task            judge.Task
	verdicts        [judge.Lied + 1]int
	unmet, accepted int
	unfit           *judged // that of the ordinary server, if the other cases are left out because of it
}

// counts returns the counts of all tasks, in the order of the cases.
func (r *report) counts() (all []*count) {
	of := make(map[string]*count)
	for _, one := range r.all() {
		key := one.Case.Scheme + " " + string(one.Case.Task)
		c := of[key]
		if c == nil {
			c = &count{scheme: one.Case.Scheme, task: one.Case.Task}
			of[key], all = c, append(all, c)
		}
		c.verdicts[one.Verdict]++
		if !one.Met {
			c.unmet++
		}
		if one.accepted {
			c.accepted++
		}
		if one.Case.Plain() && one.Verdict != judge.Right {
			c.unfit = &one
		}
	}
	return all
}

// String returns the counts as a line.
func (c *count) String() string {
	name := c.scheme + " " + string(c.task)
	if c.unfit != nil && c.unfit.unable() {
		return fmt.Sprintf("%s: not judged; the client cannot do it with an ordinary server: %s", name, term.Safe(c.unfit.Why()))
	}
	n := 0
	var parts []string
	for v := judge.Lied; ; v-- {
		n += c.verdicts[v]
		parts = append(parts, fmt.Sprintf("%d %v", c.verdicts[v], v))
		if v == judge.Right {
			break
		}
	}
	text := fmt.Sprintf("%s: %s: %s (%d did not come up", name, stdio.Count(n, "case"), strings.Join(parts, ", "), c.unmet)
	if c.accepted > 0 {
		text += fmt.Sprintf(", %d accepted", c.accepted)
	}
	if text += ")"; c.unfit != nil {
		text += "; the others are not judged, because of what it did with an ordinary server"
	}
	return text
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
