package simulation

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the table of mutants into docs/testing.md")

// A mutant is a fault that is put into the code, to find out whether TestSeeds finds it.
type mutant struct {
	name     string
	wrong    string // what is wrong then
	file     string // below the module
	old, new string
}

// module is the directory of the module.
const module = "../../../../"

// TestMutants builds this package with one mutant after the other and runs TestSeeds until it
// fails. SIM_MUTANTS is a regular expression of names, or "all"; SIM_SEEDS is another number than
// 10000. With -update it writes the table in docs/testing.md. It takes an hour, so use -timeout 0;
// and it is best run under "ulimit -v", as a mutant may use any amount of memory.
func TestMutants(t *testing.T) {
	which := os.Getenv("SIM_MUTANTS")
	switch which {
	case "":
		t.Skip("SIM_MUTANTS is not set")
	case "all":
		which = ""
	}
	names := regexp.MustCompile(which)
	rows := table(t)
	original := build(t, t.TempDir(), "", nil)
	for _, m := range mutants(t) {
		if !names.MatchString(m.name) {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			seed, found := m.find(t, original)
			if seed == "–" {
				t.Error("no seed finds it")
			}
			t.Logf("seed %s: %s", seed, found)
			rows[m.name] = fmt.Sprintf("| %s | %s | %s | %s |", m.name, m.wrong, seed, strings.ReplaceAll(found, "|", `\|`))
		})
		if *update { // after each one, as all of them take long
			write(t, rows)
		}
	}
}

// operations returns a regular expression for the operations that reach the mutant.
func (m mutant) operations() string {
	group, _, _ := strings.Cut(m.name, "/")
	return map[string]string{
		"segments": "^Download|egments", "download": "^Download", "readerat": "^ReaderAt", "slots": "^Gets",
		"mirror": "(?i)^mirror [^t]", "upload": "^Upload|^mirror to", "file": "^Put", "command": "^-",
		"ftp": " ftp", "http": " http", "nntp": " nntp", "gopher": " gopher", "wais": " wais", "prospero": " prospero",
	}[group]
}

// find returns the first seed that finds the mutant, and what it reports. The seed must fail alone,
// too, and must not fail without the mutant.
func (m mutant) find(t *testing.T, original string) (seed, found string) {
	dir := t.TempDir()
	program := build(t, dir, m.file, m.apply(t))
	most, err := strconv.Atoi(cmp.Or(os.Getenv("SIM_SEEDS"), "10000"))
	if err != nil {
		t.Fatal(err)
	}
	for next := 0; next < most; {
		n, text := fails(t, program, dir, m.operations(), next, most-1)
		if n < 0 {
			break
		}
		with, _ := fails(t, program, dir, "", n, n)
		without, _ := fails(t, original, dir, "", n, n)
		if with == n && without < 0 {
			return strconv.Itoa(n), text
		}
		t.Logf("seed %d does not count: alone it fails with the mutant: %v, without it: %v: %s", n, with == n, without == n, text)
		next = n + 1
	}
	return "–", "nothing"
}

// fails runs TestSeeds for the seeds from a number to another one. It returns the first one that
// fails and what it reports, or -1.
func fails(t *testing.T, program, dir, operations string, from, to int) (seed int, text string) {
	tell := filepath.Join(dir, "plan")
	run := exec.Command(program, "-test.run=^TestSeeds$", "-test.v", "-test.timeout=0")
	run.Env = append(os.Environ(), fmt.Sprintf("SIM_SEEDS=%d-%d", from, to), "SIM_OPERATIONS="+operations, "SIM_TELL="+tell, "GOMEMLIMIT=3GiB")
	output, err := run.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var crash bytes.Buffer
	run.Stderr = &crash
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	hangs := make(chan bool, 1)
	ended := make(chan struct{})
	go func() { hangs <- watch(run, tell, ended) }()
	lines := bufio.NewScanner(output)
	lines.Buffer(nil, 16<<20)
	for seed = -1; seed < 0 && lines.Scan(); {
		if seed, text = failure(lines.Text()); seed >= 0 {
			_ = run.Process.Kill() // it would search for a shorter plan now
		}
	}
	err = run.Wait()
	close(ended)
	hung := <-hangs
	var last Plan
	switch plan, _ := os.ReadFile(tell); {
	case seed >= 0 || err == nil:
		return seed, text
	case json.Unmarshal(plan, &last) != nil:
		t.Fatalf("no plan: %v\n%s", err, crash.Bytes())
	case hung:
		return int(last.Seed), "it does not end"
	}
	text, _, _ = strings.Cut(crash.String(), "\n")
	return int(last.Seed), short("crash: " + text)
}

// watch kills a run that stays at one seed, and reports whether it has done so.
func watch(run *exec.Cmd, tell string, ended <-chan struct{}) bool {
	for {
		select {
		case <-ended:
			return false
		case <-time.After(10 * time.Second):
		}
		if info, err := os.Stat(tell); err == nil && time.Since(info.ModTime()) > 3*time.Minute {
			_ = run.Process.Kill()
			return true
		}
	}
}

// build builds the test of this package, with another text of a file of the module.
func build(t *testing.T, dir, file string, text []byte) (program string) {
	changed, overlay, program := filepath.Join(dir, "changed.go"), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "simulation.test")
	replace := make(map[string]string)
	if file != "" {
		path, err := filepath.Abs(module + file)
		if err != nil {
			t.Fatal(err)
		}
		replace[path] = changed
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err = cmp.Or(err, os.WriteFile(changed, text, 0o666), os.WriteFile(overlay, list, 0o666)); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// apply returns the file with the change.
func (m mutant) apply(t *testing.T) []byte {
	text, err := os.ReadFile(module + m.file)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(text, []byte("\n"+m.old)); n != 1 || m.old == m.new {
		t.Fatalf("the old lines occur %d times in %s", n, m.file)
	}
	return bytes.Replace(text, []byte("\n"+m.old), []byte("\n"+m.new), 1)
}

var reported = regexp.MustCompile(`: seed (\d+): (.*)`)

// failure returns the seed and the text of a line with which TestSeeds reports a failure, or -1.
func failure(line string) (seed int, text string) {
	if found := reported.FindStringSubmatch(line); found != nil {
		seed, _ = strconv.Atoi(found[1])
		return seed, short(found[2])
	}
	return -1, ""
}

// short returns the beginning of a text.
func short(text string) string {
	if text = strings.Join(strings.Fields(text), " "); len(text) > 100 {
		text = strings.ToValidUTF8(text[:100], "") + "…"
	}
	return text
}

// mutants returns those of testdata/mutants.txt, which says how it is read.
func mutants(t *testing.T) (all []mutant) {
	text, err := os.ReadFile("testdata/mutants.txt")
	if err != nil {
		t.Fatal(err)
	}
	at := 0 // of the line in its mutant
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		name, begins := strings.CutPrefix(line, "== ")
		switch at++; {
		case line == "", line[0] == '#':
		case begins:
			all, at = append(all, mutant{name: name}), 0
		case at == 1:
			all[len(all)-1].wrong = line
		case at == 2:
			all[len(all)-1].file = line
		default:
			m := &all[len(all)-1]
			if line[0] != '+' {
				m.old += line[1:] + "\n"
			}
			if line[0] != '-' {
				m.new += line[1:] + "\n"
			}
		}
	}
	return all
}

// TestMutantsFit checks that each mutant is still a change of its file, and that docs/testing.md
// has all of them.
func TestMutantsFit(t *testing.T) {
	var names, listed []string
	for _, m := range mutants(t) {
		names = append(names, m.name)
		t.Run(m.name, func(t *testing.T) {
			if _, err := parser.ParseFile(token.NewFileSet(), m.file, m.apply(t), 0); err != nil {
				t.Error(err)
			}
		})
	}
	for name := range table(t) {
		listed = append(listed, name)
	}
	slices.Sort(names)
	slices.Sort(listed)
	if !slices.Equal(names, listed) {
		t.Errorf("docs/testing.md has other mutants than testdata/mutants.txt: %q, not %q", listed, names)
	}
	if unique := slices.Compact(slices.Clone(names)); len(unique) < len(names) {
		t.Errorf("%d names are used twice", len(names)-len(unique))
	}
}

// The table is between these lines.
const (
	page       = module + "docs/testing.md"
	tableBegin = "<!-- mutants: TestMutants -update writes this table -->\n"
	tableEnd   = "<!-- end of mutants -->\n"
	tableHead  = "\n| mutant | what is wrong | seed | what is reported |\n| --- | --- | --- | --- |\n"
)

// table returns the rows of the table, by name.
func table(t *testing.T) map[string]string {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, text, begins := bytes.Cut(text, []byte(tableBegin))
	text, _, ends := bytes.Cut(text, []byte(tableEnd))
	if !begins || !ends {
		t.Fatal("docs/testing.md has no table of mutants")
	}
	rows := make(map[string]string)
	for line := range strings.Lines(strings.TrimPrefix(string(text), tableHead)) {
		if cells := strings.Split(line, " | "); len(cells) > 1 {
			rows[strings.TrimPrefix(cells[0], "| ")] = strings.TrimSuffix(line, "\n")
		}
	}
	return rows
}

// write writes the table, in the order of the list.
func write(t *testing.T, rows map[string]string) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var list strings.Builder
	list.WriteString(tableHead)
	for _, m := range mutants(t) {
		list.WriteString(cmp.Or(rows[m.name], fmt.Sprintf("| %s | %s | – | not run |", m.name, m.wrong)) + "\n")
	}
	before, rest, _ := bytes.Cut(text, []byte(tableBegin))
	_, after, _ := bytes.Cut(rest, []byte(tableEnd))
	if err := os.WriteFile(page, fmt.Appendf(nil, "%s%s%s\n%s%s", before, tableBegin, list.String(), tableEnd, after), 0o666); err != nil {
		t.Fatal(err)
	}
}
