package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
)

// What docs/parse.md shows after each "$ fetch1738 …" is what is printed. With
// UPDATE=1 in the environment the page is rewritten.
func TestParseDocs(t *testing.T) {
	t.Chdir("../..")
	const page = "docs/parse.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	commands, code := 0, 0
	session := false
	for line := range strings.Lines(string(text)) {
		switch command, isCommand := strings.CutPrefix(line, "$ "); {
		case line == "```console\n":
			session = true
			b.WriteString(line)
		case line == "```\n":
			session = false
			b.WriteString(line)
		case !session:
			b.WriteString(line)
		case isCommand:
			b.WriteString(line)
			if command == "echo $?\n" {
				fmt.Fprintln(&b, code)
				continue
			}
			commands++
			code = runDocumented(t, &b, strings.TrimSuffix(command, "\n"))
		}
	}
	if commands < 8 {
		t.Errorf("only %d commands found", commands)
	}
	if b.String() == string(text) {
		return
	}
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(page, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("%s is out of date (UPDATE=1 go test ./cmd/fetch1738 -run ParseDocs mends it); true is:\n%s", page, b.String())
}

func runDocumented(t *testing.T, w *strings.Builder, command string) int {
	t.Helper()
	args := words(command)
	if args[0] != "fetch1738" {
		t.Fatalf("%q is no command of this program", command)
	}
	var complaint bytes.Buffer
	code := run(t.Context(), args[1:], streams{strings.NewReader(""), w, &complaint})
	w.WriteString(complaint.String())
	return code
}

// words splits a command as a shell does, as far as spaces and single quotes go.
func words(command string) []string {
	var words []string
	for i, part := range strings.Split(command, "'") {
		if i%2 == 1 {
			words = append(words, part)
		} else {
			words = append(words, strings.Fields(part)...)
		}
	}
	return words
}
