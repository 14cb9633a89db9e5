package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the pages made of the program's tables anew")

// generated are the pages, and the places in them, that are made of the
// program's tables. -update writes them anew.
var generated = []struct {
	file, from, to string
	text           func() string
}{
	{"curl.md", "<!-- from the option table; go test ./cmd/fetch1738 -run TestGeneratedPages -update -->\n", "<!-- end of the option table -->", optionTables},
	{"cli.md", "<!-- exit codes; go test ./cmd/fetch1738 -run TestGeneratedPages -update -->\n", "<!-- end of exit codes -->", exitCodeTable},
	{"man/fetch1738.1", "", "", manualPage},
}

func TestGeneratedPages(t *testing.T) {
	for _, g := range generated {
		file := "../../docs/" + g.file
		b, err := os.ReadFile(file)
		if err != nil && !*update {
			t.Fatal(err)
		}
		want := g.text()
		if g.from != "" {
			before, rest, found := strings.Cut(string(b), g.from)
			_, after, closed := strings.Cut(rest, g.to)
			if !found || !closed {
				t.Fatalf("%s has no place for its tables", file)
			}
			want = before + g.from + want + g.to + after
		}
		if *update {
			if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		} else if string(b) != want {
			t.Errorf("%s is not what the tables say; run this test with -update", file)
		}
	}
}

func manualPage() string {
	var b strings.Builder
	if err := writeManual(&b); err != nil {
		return err.Error()
	}
	return b.String()
}

func exitCodeTable() string {
	var b strings.Builder
	b.WriteString("\n| code | meaning |\n| --- | --- |\n")
	for _, m := range exitMeanings() {
		fmt.Fprintf(&b, "| %d | %s |\n", m.code, m.meaning)
	}
	b.WriteString("\n")
	return b.String()
}

// Every exit code that a rule gives has a meaning, and they are in order.
func TestExitMeanings(t *testing.T) {
	known := make(map[int]bool)
	last := -1
	for _, m := range exitMeanings() {
		if m.code <= last {
			t.Errorf("code %d is behind %d", m.code, last)
		}
		known[m.code], last = true, m.code
	}
	for _, r := range exitRules() {
		if !known[r.code] {
			t.Errorf("code %d has no meaning", r.code)
		}
	}
}

func optionTables() string {
	var b strings.Builder
	b.WriteString("\n| option | what it does | compared with curl |\n| --- | --- | --- |\n")
	for _, o := range options() {
		compared := o.curl
		if compared == "" {
			compared = "the same"
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", spelledOption(o), strings.ReplaceAll(o.help, "|", `\|`), compared)
	}
	b.WriteString("\n### Refused\n\n| option of curl's | what is said, with exit code 2 |\n| --- | --- |\n")
	for _, r := range refusals() {
		for name := range strings.FieldsSeq(r.options) {
			letter, long, found := strings.Cut(name, "/")
			if !found {
				letter, long = "", letter
			}
			spelled := "`--" + long + "`"
			if letter != "" {
				spelled = "`-" + letter + "`, " + spelled
			}
			said, _ := refusedOption(long, "")
			fmt.Fprintf(&b, "| %s | %s |\n", spelled, said)
		}
	}
	b.WriteString("\n")
	return b.String()
}

func spelledOption(o option) string {
	name := "`--" + o.long
	if o.arg != "" {
		name += " " + strings.ReplaceAll(o.arg, "|", `\|`)
	}
	name += "`"
	if o.short != "" {
		name = "`-" + o.short + "`, " + name
	}
	return name
}

// The table is in order, without doubles, and every entry is complete.
func TestOptionTable(t *testing.T) {
	var names, letters []string
	for _, o := range options() {
		names = append(names, o.long)
		if o.short != "" {
			letters = append(letters, o.short)
		}
		if o.help == "" || o.groups == "" || o.set == nil || len(helpLine(o)) > 110 {
			t.Errorf("--%s: incomplete, or its help is too long: %q", o.long, helpLine(o))
		}
		if o.curl != "" && !strings.HasSuffix(o.curl, ".") {
			t.Errorf("--%s: %q is no sentence", o.long, o.curl)
		}
	}
	if !slices.IsSorted(names) {
		t.Error("the options are not in the order of their names")
	}
	for _, list := range [][]string{names, letters} {
		slices.Sort(list)
		if compact := slices.Compact(slices.Clone(list)); len(compact) != len(list) {
			t.Errorf("doubles in %q", list)
		}
	}
	for _, r := range refusals() {
		for name := range strings.FieldsSeq(r.options) {
			letter, long, found := strings.Cut(name, "/")
			if !found {
				letter, long = "", letter
			}
			if slices.Contains(names, long) || slices.Contains(letters, letter) {
				t.Errorf("%s is refused and an option", name)
			}
		}
	}
}

// allScripts is the text of all scripts.
func allScripts(t *testing.T) string {
	files, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(b)
	}
	return all.String()
}

// Every option is used in a script.
func TestOptionsHaveScripts(t *testing.T) {
	all := allScripts(t)
	for _, o := range options() {
		pattern := `--(no-)?` + o.long + `\b`
		if o.short != "" {
			pattern += `|(^|[ '])-[A-Za-z#]*` + o.short
		}
		if !regexp.MustCompile(`(?m)` + pattern).MatchString(all) {
			t.Errorf("no script uses --%s", o.long)
		}
	}
}
