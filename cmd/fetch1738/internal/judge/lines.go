package judge

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
	"github.com/fetch1738/fetch1738/judge"
)

// lines is the format for people: the findings by cause, at the end. With verbose, each case comes
// before, as soon as it is judged.
type lines struct{ verbose bool }

func (l *lines) result(w io.Writer, r judged) error {
	if !l.verbose {
		return nil
	}
	if r.isFinding() {
		accepted := ""
		if r.accepted {
			accepted = " (accepted)"
		}
		_, err := fmt.Fprintf(w, "%-8s %s%s\n%s", r.Verdict, r.Case.Name, accepted, details(r))
		return err
	}
	unmet := ""
	if !r.Met {
		unmet = "; the fault did not come up"
	}
	_, err := fmt.Fprintf(w, "%-8s %s: %s%s\n", r.Verdict, r.Case.Name, term.Safe(r.Why()), unmet)
	return err
}

// details explains a finding, with the conversation.
func details(r judged) string {
	var b strings.Builder
	explain(&b, r)
	for text := range strings.Lines(r.Transcript) {
		fmt.Fprintf(&b, "      %s\n", term.Safe(strings.TrimRight(text, "\r\n")))
	}
	fmt.Fprintf(&b, "    Again:    %s\n", r.again)
	return b.String()
}

// explain writes what was said, what was true, and what a careful client does.
func explain(b *strings.Builder, r judged) {
	line := func(label, text string) { fmt.Fprintf(b, "    %-9s %s\n", label, term.Safe(text)) }
	line("Server:", r.Case.Does)
	if r.Verdict == judge.Hung || r.Verdict == judge.Crashed {
		line("Did:", r.Claim)
	} else {
		line("Said:", r.Claim)
	}
	if r.Fact != "" {
		line("True:", r.Fact)
	}
	line("Right:", r.Case.Should)
	line("Source:", r.Case.Source)
}

// end writes a section for each cause, with one example or, if each case was shown, the names of all,
// and then the counts.
func (l *lines) end(w io.Writer, r *report) error {
	var b strings.Builder
	for _, g := range grouped(r) {
		fmt.Fprintf(&b, "%s (%v, %s)\n", g[0].Cause.Sentence(), g[0].Verdict, stdio.Count(len(g), "case"))
		if l.verbose { // each is explained above
			for _, one := range g {
				fmt.Fprintf(&b, "    %s\n", one.Case.Name)
			}
		} else {
			fmt.Fprintf(&b, "    Cases:    %s\n", places(g))
			fmt.Fprintf(&b, "    Example:  %s\n", g[0].Case.Name)
			explain(&b, g[0])
			fmt.Fprintf(&b, "    Again:    %s\n", g[0].again)
		}
		b.WriteByte('\n')
	}
	for _, c := range r.counts() {
		fmt.Fprintf(&b, "%s\n", c)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// grouped returns what is not right by cause, the worst first, without what is accepted and what the
// client cannot do at all.
func grouped(r *report) (groups [][]judged) {
	shown := make(map[string]judged)
	var results []judge.Result
	for _, one := range r.all() {
		if !one.accepted && !one.unable() {
			shown[one.Case.Name] = one
			results = append(results, one.Result)
		}
	}
	for _, g := range judge.Grouped(results) {
		var all []judged
		for _, one := range g.Results {
			all = append(all, shown[one.Case.Name])
		}
		groups = append(groups, all)
	}
	return groups
}

// places returns where cases are, as --only takes it, those with the most cases first.
func places(all []judged) string {
	type place struct {
		name string
		n    int
	}
	var found []*place
	for _, one := range all {
		name := one.Case.Name
		if parts := strings.Split(name, "/"); len(parts) > 3 {
			name = strings.Join(parts[:3], "/")
		}
		i := slices.IndexFunc(found, func(p *place) bool { return p.name == name })
		if i < 0 {
			i = len(found)
			found = append(found, &place{name: name})
		}
		found[i].n++
	}
	slices.SortStableFunc(found, func(a, b *place) int { return b.n - a.n })
	const most = 5
	var texts []string
	for _, p := range found[:min(most, len(found))] {
		texts = append(texts, fmt.Sprintf("%s (%d)", p.name, p.n))
	}
	if more := len(found) - most; more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more places; -v lists all", more))
	}
	return strings.Join(texts, ", ")
}
