package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/play"
	"github.com/fetch1738/fetch1738/testserver"
)

// documentedPorts are those of the servers that the pages ask a reader to run.
var documentedPorts = map[string]string{"ftp": "2121", "gopher": "7070", "http": "8080", "nntp": "1119", "wais": "2210", "prospero": "1525"}

// Every block of "console" in a page is true: its commands, run in turn by one shell
// in a folder of the page's own, print what the page shows. What cannot be run is
// in blocks of "text". -update writes what they print into the pages.
func TestPagesConsole(t *testing.T) {
	commands := 0
	for _, p := range pages(t) {
		examples := p.examples()
		commands += len(examples)
		if len(examples) == 0 {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			p.runExamples(t, examples)
		})
	}
	if commands < 60 {
		t.Errorf("found only %d commands", commands)
	}
}

// An example is a command in a block of "console", and the lines behind it.
type example struct {
	command  string
	from, to int // the lines that show what it prints
}

func (p page) examples() (list []example) {
	inside := false
	for i, line := range p.lines {
		command, isCommand := strings.CutPrefix(line, "$ ")
		switch {
		case strings.HasPrefix(line, "```"):
			inside = !inside && line == "```console\n"
		case inside && isCommand:
			list = append(list, example{strings.TrimSuffix(command, "\n"), i + 1, i + 1})
		case inside && len(list) > 0 && list[len(list)-1].to == i:
			list[len(list)-1].to = i + 1
		}
	}
	return list
}

// measured matches the figures in a page that differ from run to run.
var measured = regexp.MustCompile(`[0-9]+ bytes in [0-9.]+ s`)

func normalized(text string) string {
	return measured.ReplaceAllString(text, "N bytes in N s")
}

// endOfCommand ends what one command prints, for the test. It keeps $?.
const endOfCommand = "\x01mark\n"

func (p page) runExamples(t *testing.T, examples []example) {
	sh := installed(t, "sh")
	toReal, toDocumented := exampleServers(t)
	var script strings.Builder
	script.WriteString("exec 2>&1\nmark() { code=$?; printf '\\001mark\\n'; return $code; }\n")
	for _, e := range examples {
		fmt.Fprintf(&script, "%s\nmark\n", toReal.Replace(e.command))
	}
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), sh, "-c", script.String())
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LC_ALL=C", "HOME="+dir, "NNTPSERVER=", "XDG_CONFIG_HOME=", "XDG_STATE_HOME=", "PWD="+dir, "http_proxy=", "all_proxy=", "ALL_PROXY=")
	out, _ := cmd.CombinedOutput() // the exit code is that of the last command
	printed := strings.Split(string(out), endOfCommand)
	if len(printed) != len(examples)+1 || printed[len(examples)] != "" {
		t.Fatalf("of %d commands %d have ended: %s", len(examples), len(printed)-1, out)
	}
	updated := bytes.NewBuffer(nil)
	line := 0
	for i, e := range examples {
		got, want := strings.ReplaceAll(toDocumented.Replace(printed[i]), "\r\n", "\n"), strings.Join(p.lines[e.from:e.to], "")
		updated.WriteString(strings.Join(p.lines[line:e.from], ""))
		line = e.to
		if normalized(got) == normalized(want) {
			updated.WriteString(want)
			continue
		}
		updated.WriteString(got)
		if !*update {
			t.Errorf("%s:%d: $ %s\nprints (-update writes it into the page):\n%s\nand not:\n%s", p.name, e.from, e.command, got, want)
		}
	}
	updated.WriteString(strings.Join(p.lines[line:], ""))
	if *update {
		if err := os.WriteFile(filepath.Join(root, p.name), updated.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// exampleServers starts what "fetch1738 serve" does, on free ports. It returns what
// puts these in place of those in the pages, and back.
func exampleServers(t *testing.T) (toReal, toDocumented *strings.Replacer) {
	content, err := play.Content("")
	if err != nil {
		t.Fatal(err)
	}
	var forth, back []string
	for _, s := range play.Servers() {
		srv, err := s.Start(t.Context(), "127.0.0.1:0", func(srv *testserver.Server) { srv.Content = content })
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(srv.Wait)
		_, port, _ := strings.Cut(srv.Addr, ":")
		for _, separator := range []string{":", "%3A", "(", "\t", ", port "} {
			documented, real := "127.0.0.1"+separator+documentedPorts[s.Scheme], "127.0.0.1"+separator+port
			forth, back = append(forth, documented, real), append(back, real, documented)
		}
	}
	return strings.NewReplacer(forth...), strings.NewReplacer(back...)
}
