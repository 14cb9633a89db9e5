package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/curl"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/exit"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/manual"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
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
	var out, complaints strings.Builder
	if code := manual.Command(commands).Run(context.Background(), nil, stdio.Streams{Out: &out, Err: &complaints}); code != exit.OK {
		return complaints.String()
	}
	return out.String()
}

func exitCodeTable() string {
	var b strings.Builder
	b.WriteString("\n| code | meaning |\n| --- | --- |\n")
	for _, m := range exit.Meanings() {
		fmt.Fprintf(&b, "| %d | %s |\n", m.Code, m.Text)
	}
	b.WriteString("\n")
	return b.String()
}

func optionTables() string {
	var b strings.Builder
	b.WriteString("\n| option | what it does | compared with curl |\n| --- | --- | --- |\n")
	for _, o := range curl.Options() {
		compared := o.Curl
		if compared == "" {
			compared = "the same"
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", spelledOption(o), strings.ReplaceAll(o.Help, "|", `\|`), compared)
	}
	b.WriteString("\n### Refused\n\n| option of curl | error message (exit code 2) |\n| --- | --- |\n")
	for _, r := range curl.Refusals() {
		for name := range strings.FieldsSeq(r.Options) {
			letter, long, found := strings.Cut(name, "/")
			if !found {
				letter, long = "", letter
			}
			spelled := "`--" + long + "`"
			if letter != "" {
				spelled = "`-" + letter + "`, " + spelled
			}
			said, _ := curl.RefusedOption(long, "")
			fmt.Fprintf(&b, "| %s | %s |\n", spelled, said)
		}
	}
	b.WriteString("\n")
	return b.String()
}

func spelledOption(o curl.Option) string {
	name := "`--" + o.Long
	if o.Arg != "" {
		name += " " + strings.ReplaceAll(o.Arg, "|", `\|`)
	}
	name += "`"
	if o.Short != "" {
		name = "`-" + o.Short + "`, " + name
	}
	return name
}

// The table is in order, without doubles, and every entry is complete.
func TestOptionTable(t *testing.T) {
	var names, letters []string
	for _, o := range curl.Options() {
		names = append(names, o.Long)
		if o.Short != "" {
			letters = append(letters, o.Short)
		}
		if o.Help == "" || o.Groups == "" || o.Set == nil || len(o.Help) > 80 {
			t.Errorf("--%s: incomplete, or its help is too long: %q", o.Long, o.Help)
		}
		if o.Curl != "" && !strings.HasSuffix(o.Curl, ".") {
			t.Errorf("--%s: %q is no sentence", o.Long, o.Curl)
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
	for _, r := range curl.Refusals() {
		for name := range strings.FieldsSeq(r.Options) {
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
	words := strings.Fields(allScripts(t)) // each once: there are hundreds of options to look for
	slices.Sort(words)
	all := strings.Join(slices.Compact(words), "\n")
	for _, o := range curl.Options() {
		pattern := `--(no-)?` + o.Long + `\b`
		if o.Short != "" {
			pattern += `|(^|[ '])-[A-Za-z#]*` + o.Short
		}
		if !regexp.MustCompile(`(?m)` + pattern).MatchString(all) {
			t.Errorf("no script uses --%s", o.Long)
		}
	}
}
