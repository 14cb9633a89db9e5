package judge

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	reportsPage  = "../docs/reports.md"
	reportsBegin = "<!-- reports: go test ./judge -run TestReportsPage -update writes this -->\n"
	reportsEnd   = "<!-- end of reports -->\n"
	readme       = "../README.md"
)

// reported are the cases that are reports, without those of ordinary servers.
func reported() []Case {
	return slices.DeleteFunc(Reports(), func(c Case) bool { return c.Plain() })
}

// TestReportsPage compares docs/reports.md, and the number in README.md, with the cases.
func TestReportsPage(t *testing.T) {
	all := reported()
	page := read(t, reportsPage)
	before, rest, ok := strings.Cut(page, reportsBegin)
	_, after, ok2 := strings.Cut(rest, reportsEnd)
	if !ok || !ok2 {
		t.Fatal("docs/reports.md has no place for the list")
	}
	same(t, reportsPage, page, before+reportsBegin+"\n"+summary(all)+decisions(all)+list(all)+reportsEnd+after)
	text := read(t, readme)
	number := regexp.MustCompile(`\d+ cases: \[docs/reports.md\]`)
	same(t, readme, text, number.ReplaceAllString(text, fmt.Sprintf("%d cases: [docs/reports.md]", len(all))))
	if !number.MatchString(text) {
		t.Error("README.md does not say how many cases there are")
	}
}

// read returns a file of the repository.
func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// same compares a file with what it should be, or writes it.
func same(t *testing.T, name, has, want string) {
	t.Helper()
	switch {
	case has == want:
	case *update:
		if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s differs from the cases; use -update", name)
	}
}

// folder returns the folder of a case of a report.
func folder(c Case) string { return strings.Split(c.Name, "/")[1] }

// sources returns the sources of a case.
func sources(c Case) []string { return strings.Split(c.Source, ", ") }

// since reports whether one of the sources is from a month or later; one without a month counts from the
// beginning of its year.
func since(c Case, month string) bool {
	return slices.ContainsFunc(sources(c), func(s string) bool {
		_, date, _ := strings.Cut(s, "(")
		date = strings.TrimSuffix(date, ")")
		if len(date) == len("2006") {
			date += "-01"
		}
		return date >= month
	})
}

// summary returns how many cases there are, by folder and by program.
func summary(all []Case) string {
	type count struct{ cases, recent, decided, avoided int }
	counts, programs := make(map[string]*count), make(map[string]int)
	for _, c := range all {
		for _, key := range []string{folder(c), "all"} {
			if counts[key] == nil {
				counts[key] = new(count)
			}
			n := counts[key]
			n.cases++
			n.recent += number(since(c, "2021-12"))
			n.decided += number(c.Decided != "")
			n.avoided += number(c.Avoided != "")
		}
		of := make(map[string]bool)
		for _, s := range sources(c) {
			program, _, _ := strings.Cut(s, "#")
			of[program] = true
		}
		for program := range of {
			programs[program]++
		}
	}
	total := counts["all"]
	text := wrapped("", fmt.Sprintf("There are %d cases, which are about reports of %d programs. %d of them have a report from December 2021 or later. In %d fetch1738 ends with an error by decision.", total.cases, len(programs), total.recent, total.decided))
	text += "\n| folder | cases | with a report since December 2021 | decided otherwise | never met by fetch1738 |\n| --- | --- | --- | --- | --- |\n"
	for _, name := range folders(all) {
		n := counts[name]
		text += fmt.Sprintf("| %s | %d | %d | %d | %d |\n", name, n.cases, n.recent, n.decided, n.avoided)
	}
	names := slices.SortedFunc(maps.Keys(programs), func(a, b string) int {
		if programs[a] != programs[b] {
			return programs[b] - programs[a]
		}
		return strings.Compare(strings.ToLower(a), strings.ToLower(b))
	})
	for i, name := range names {
		names[i] = name + " " + strconv.Itoa(programs[name])
	}
	return text + "\nThe programs, with the number of cases that their reports are in:\n\n" + wrapped("", strings.Join(names, ", ")+".") + "\n"
}

// number is 1 for true.
func number(is bool) int {
	if is {
		return 1
	}
	return 0
}

// folders returns the folders in the order of the cases.
func folders(all []Case) (names []string) {
	for _, c := range all {
		if !slices.Contains(names, folder(c)) {
			names = append(names, folder(c))
		}
	}
	return names
}

// decisions returns what is decided otherwise.
func decisions(all []Case) string {
	text := "## Decided otherwise\n\n"
	for _, c := range all {
		if c.Decided != "" {
			text += wrapped("* ", fmt.Sprintf("`%s`: %s", strings.TrimPrefix(c.Name, "reports/"), c.Decided))
		}
	}
	return text + "\n"
}

// list returns all cases.
func list(all []Case) string {
	text, last := "## All cases\n", ""
	for _, c := range all {
		if folder(c) != last {
			last = folder(c)
			text += "\n### " + last + "\n\n"
		}
		text += wrapped("* ", fmt.Sprintf("`%s` (%s %s): %s %s From %s.", strings.TrimPrefix(c.Name, "reports/"+last+"/"), c.Scheme, c.Task, c.Does, c.Should, strings.Join(sources(c), ", ")))
	}
	return text + "\n"
}

// wrapped returns a paragraph in lines of at most 100 columns. Lines after the first are indented as much
// as begin is long.
func wrapped(begin, text string) string {
	const columns = 100
	line, all := begin, ""
	empty := true
	for word := range strings.FieldsSeq(text) {
		if !empty && len([]rune(line))+1+len([]rune(word)) > columns {
			all += line + "\n"
			line, empty = strings.Repeat(" ", len(begin)), true
		}
		if !empty {
			line += " "
		}
		line, empty = line+word, false
	}
	return all + line + "\n"
}
