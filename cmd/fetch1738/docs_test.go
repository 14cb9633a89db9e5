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

var update = flag.Bool("update", false, "write the tables of docs/curl.md anew")

const (
	curlPage  = "../../docs/curl.md"
	tableFrom = "<!-- from the option table; go test ./cmd/fetch1738 -run TestCurlPage -update -->\n"
	tableTo   = "<!-- end of the option table -->"
)

// The tables of docs/curl.md are the option table.
func TestCurlPage(t *testing.T) {
	b, err := os.ReadFile(curlPage)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(b), tableFrom)
	_, after, closed := strings.Cut(rest, tableTo)
	if !found || !closed {
		t.Fatalf("%s has no place for the tables", curlPage)
	}
	want := before + tableFrom + optionTables() + tableTo + after
	if *update {
		if err := os.WriteFile(curlPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(b) != want {
		t.Errorf("%s is not what the option table says; run this test with -update", curlPage)
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
			fmt.Fprintf(&b, "| %s | %s |\n", spelled, unknownOption(long, ""))
		}
	}
	b.WriteString("\n")
	return b.String()
}

func spelledOption(o option) string {
	name := "`--" + o.long
	if o.arg != "" {
		name += " " + o.arg
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

// Every option is used in a script.
func TestOptionsHaveScripts(t *testing.T) {
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
	for _, o := range options() {
		pattern := `--(no-)?` + o.long + `\b`
		if o.short != "" {
			pattern += `|(^|[ '])-[A-Za-z#]*` + o.short
		}
		if !regexp.MustCompile(`(?m)` + pattern).MatchString(all.String()) {
			t.Errorf("no script uses --%s", o.long)
		}
	}
}
