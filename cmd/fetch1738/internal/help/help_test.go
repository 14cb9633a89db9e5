package help

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/archie"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/cli"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/completion"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/curl"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/demo"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/exit"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/explain"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/extract"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/gateway"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/manual"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/parse"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/serve"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
)

var widths = []int{40, 60, 80, 120}

// verbsHere returns all verbs but mirror, which imports this package.
func verbsHere() []cli.Command {
	return []cli.Command{
		parse.Command(), explain.Command(), extract.Command(), archie.Command(nil), gateway.Command(), serve.Command(), demo.Command(),
		Command(verbsHere), completion.Command(verbsHere), manual.Command(verbsHere),
	}
}

// unfolded returns text with all white space as single spaces.
func unfolded(text string) string { return strings.Join(strings.Fields(text), " ") }

// checkWidth fails if a line is too long. Examples may always use 80 columns, because users copy
// them to a shell.
func checkWidth(t *testing.T, topic, text string, width int) {
	t.Helper()
	example := false
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		example = strings.HasPrefix(line, "  $ ") || example && strings.HasPrefix(line, "  ")
		limit := width
		if example {
			limit = max(width, 80)
		}
		if len(line) > limit && strings.Contains(line, " ") { // a URL is not broken
			t.Errorf("help %s has %d columns on %d: %q", topic, len(line), width, line)
		}
		if strings.TrimRight(line, " ") != line {
			t.Errorf("help %s on %d columns: spaces at the end of %q", topic, width, line)
		}
	}
}

func explainedOK(t *testing.T, topic string, width int) string {
	t.Helper()
	text, err := explained(verbsHere(), topic, width)
	if err != nil || text == "" {
		t.Fatalf("help %s: %q, %v", topic, text, err)
	}
	return text
}

// The summary and the prompt below it fit 80x24.
func TestSummaryFits(t *testing.T) {
	text := summary(append(verbsHere(), cli.Command{Name: "mirror"}), 80)
	if lines := strings.Count(text, "\n"); lines > 23 {
		t.Errorf("%d lines and a prompt do not fit a terminal:\n%s", lines, text)
	}
	for _, want := range []string{
		" -C, --continue-at", " -l, --list-only", " -I, --head", " --json", " --number", " -o, --output", " -T, --upload-file",
		"Verbs: parse ", " mirror", "fetch1738 help", "exit-codes",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the summary lacks %q:\n%s", want, text)
		}
	}
}

// Options for FTP and gopher come before those for POST.
func TestSummaryOrder(t *testing.T) {
	text := summary(verbsHere(), 80)
	last := -1
	for _, name := range []string{"-o, ", "-C, ", "-l, ", "--json", "--number", "-u, ", "-T, ", "-L, ", "-d, ", "-v, "} {
		at := strings.Index(text, name)
		if at <= last {
			t.Errorf("%q is at offset %d, the option expected before it at %d", name, at, last)
		}
		last = at
	}
}

// Every option of the summary is in the option table.
func TestSummaryNamesOptions(t *testing.T) {
	for _, name := range most {
		if !slices.ContainsFunc(curl.Options(), func(o curl.Option) bool { return o.Long == name }) {
			t.Errorf("no option --%s", name)
		}
	}
}

// No help text is wider than the terminal, and folding loses no words.
func TestHelpFolds(t *testing.T) {
	for _, width := range widths {
		texts := map[string][]string{"": nil, "verbs": nil, "help": groups(), "exit-codes": nil}
		for _, group := range append(groups(), "all") {
			for _, o := range inGroup(group) {
				texts[group] = append(texts[group], o.Help)
			}
		}
		for _, name := range most {
			for _, o := range curl.Options() {
				if o.Long == name {
					texts[""] = append(texts[""], o.Help)
				}
			}
		}
		for _, c := range verbsHere() {
			texts["verbs"] = append(texts["verbs"], c.Name+" "+c.Summary)
			for _, o := range c.Options() {
				texts[c.Name] = append(texts[c.Name], o.Help)
			}
			texts[c.Name] = append(texts[c.Name], "Usage: fetch1738 "+c.Name)
		}
		for _, m := range exit.Meanings() {
			texts["exit-codes"] = append(texts["exit-codes"], m.Text)
		}
		for _, o := range curl.Options() {
			texts["--"+o.Long] = []string{"--" + o.Long, o.Help, o.Compared()}
		}
		for topic, want := range texts {
			text := explainedOK(t, topic, width)
			checkWidth(t, topic, text, width)
			whole := unfolded(text)
			for _, w := range want {
				if !strings.Contains(whole, unfolded(w)) {
					t.Errorf("help %s on %d columns lacks %q", topic, width, w)
				}
			}
		}
	}
}

// The help of a verb has the same words at every width.
func TestVerbHelpKeepsItsWords(t *testing.T) {
	for _, c := range verbsHere() {
		want := unfolded(c.Help(80))
		for _, width := range widths {
			if got := unfolded(c.Help(width)); got != want {
				t.Errorf("help %s on %d columns differs:\n%s\nwant\n%s", c.Name, width, got, want)
			}
		}
	}
}

// Help for a very narrow terminal is complete.
func TestHelpNarrow(t *testing.T) {
	for _, topic := range []string{"", "all", "explain", "help", "exit-codes", "verbs"} {
		for _, width := range []int{-1, 0, 1, 7, 20} {
			if got, want := unfolded(explainedOK(t, topic, width)), unfolded(explainedOK(t, topic, 80)); got != want {
				t.Errorf("help %s on %d columns differs from 80 columns", topic, width)
			}
		}
	}
}

// Without a terminal, help is 80 columns wide.
func TestHelpWithoutTerminal(t *testing.T) {
	var out, err bytes.Buffer
	code := Command(verbsHere).Run(context.Background(), []string{"all"}, stdio.Streams{In: strings.NewReader(""), Out: &out, Err: &err})
	if code != exit.OK || err.Len() > 0 || out.String() != explainedOK(t, "all", 80) {
		t.Errorf("code %d, %q:\n%s", code, err.String(), out.String())
	}
}

func TestHelpUnknown(t *testing.T) {
	for topic, want := range map[string]string{
		"important": "topics are the verbs",
		"--digest":  "not supported; use curl for this",
		"--retyr":   "did you mean --retry?",
		"exit-code": "did you mean exit-codes?",
	} {
		if text, err := explained(verbsHere(), topic, 80); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("help %s: %q, %v", topic, text, err)
		}
	}
}
