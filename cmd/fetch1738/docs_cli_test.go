package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/testserver"
)

// The examples of these pages are run in turn, in one folder, and print what the
// page shows.
func TestCLIPage(t *testing.T)    { checkPage(t, "../../docs/cli.md", 15) }
func TestMirrorPage(t *testing.T) { checkPage(t, "../../docs/mirror.md", 8) }

// measured is what a page shows of one run and is another in the next.
var measured = regexp.MustCompile(`[0-9]+ octets in [0-9.]+ s`)

func checkPage(t *testing.T, path string, least int) {
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	content, err := contentOf("")
	if err != nil {
		t.Fatal(err)
	}
	ftp := testserver.NewFTP(t, func(s *testserver.FTP) { s.Content = content })
	http := testserver.NewHTTP(t, func(s *testserver.HTTP) { s.Content = content })
	gopher := testserver.NewGopher(t, func(s *testserver.Gopher) { s.Content = content })
	nntp := testserver.NewNNTP(t, func(s *testserver.NNTP) { s.Content = content })
	addresses := []string{"127.0.0.1:2121", ftp.Addr, "127.0.0.1:8080", http.Addr, "127.0.0.1:7070", gopher.Addr, "127.0.0.1:1119", nntp.Addr}
	toReal := strings.NewReplacer(addresses...)
	examples := consoleExamples(string(page))
	if len(examples) < least {
		t.Errorf("only %d examples", len(examples))
	}
	comparable := func(text string) string {
		return measured.ReplaceAllString(strings.ReplaceAll(text, "\r\n", "\n"), "N octets in N s")
	}
	dir := t.TempDir()
	for _, e := range examples {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", toReal.Replace(e.command)+" 2>&1")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "LC_ALL=C", "HOME="+dir, "NNTPSERVER=", "XDG_CONFIG_HOME=", "PWD="+dir, "http_proxy=", "all_proxy=", "ALL_PROXY=")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("$ %s\n%v", e.command, err)
		}
		if got, want := comparable(string(out)), comparable(toReal.Replace(e.output)); got != want {
			t.Errorf("$ %s\n%swant:\n%s", e.command, got, want)
		}
	}
}

type example struct{ command, output string }

// consoleExamples are the commands in a page's blocks of "console", each with
// what is shown behind it.
func consoleExamples(page string) []example {
	var examples []example
	inside := false
	for line := range strings.Lines(page) {
		command, isCommand := strings.CutPrefix(line, "$ ")
		switch {
		case strings.HasPrefix(line, "```"):
			inside = strings.HasPrefix(line, "```console")
		case inside && isCommand:
			examples = append(examples, example{command: strings.TrimRight(command, "\n")})
		case inside:
			examples[len(examples)-1].output += line
		}
	}
	return examples
}
