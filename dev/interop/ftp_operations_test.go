package interop

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/dev/interop/ftpservers"
)

// The table of operations of TestFTPServers. Its format is described in the file.

const minOperations = 60

// An outcome is what an operation must do.
type outcome struct {
	code    int
	command string // whose output and files are wanted
	skip    bool
}

// An operation is a row of the table.
type operation struct {
	name    string
	line    int
	command string
	normal  outcome
	stored  map[string]string // commands by name of file on the server
	without map[ftpservers.Ability]outcome
	on      map[string]outcome // by name of server
}

// expects returns what the operation must do at a server. The reasons for exceptions are in the
// table and in the kind's Lacks.
func (o *operation) expects(k *ftpservers.Kind) (_ outcome, stored map[string]string) {
	if special, ok := o.on[k.Name]; ok {
		return special, nil
	}
	for _, ability := range slices.Sorted(maps.Keys(o.without)) {
		if !k.Can(ability) {
			return o.without[ability], nil
		}
	}
	return o.normal, o.stored
}

func readOperations(t *testing.T) []*operation {
	t.Helper()
	const file = "testdata/ftp/operations.txt"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var table []*operation
	names := make(map[string]bool)
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		line = strings.TrimRight(line, "\n")
		detail, indented := strings.CutPrefix(line, "\t")
		switch {
		case line == "" || line[0] == '#':
		case !indented:
			table = append(table, &operation{name: line, line: number, stored: make(map[string]string), without: make(map[ftpservers.Ability]outcome), on: make(map[string]outcome)})
			if names[line] {
				t.Fatalf("%s:%d: the name %q is not the only one", file, number, line)
			}
			names[line] = true
		case len(table) == 0:
			t.Fatalf("%s:%d: an indented line without a row", file, number)
		default:
			if err := table[len(table)-1].add(detail); err != nil {
				t.Fatalf("%s:%d: %v", file, number, err)
			}
		}
	}
	checkOperations(t, table)
	return table
}

// checkOperations checks that the table is large enough, and that each exception applies to a server.
func checkOperations(t *testing.T, table []*operation) {
	t.Helper()
	if len(table) < minOperations {
		t.Errorf("%d operations, want %d or more", len(table), minOperations)
	}
	servers, lacking := make(map[string]bool), make(map[ftpservers.Ability]bool)
	for _, kind := range ftpservers.Kinds() {
		servers[kind.Name] = true
		for ability := range kind.Lacks {
			lacking[ability] = true
		}
	}
	for _, o := range table {
		for name := range o.on {
			if !servers[name] {
				t.Errorf("%s: no server is named %s", o.name, name)
			}
		}
		for ability := range o.without {
			if !lacking[ability] {
				t.Errorf("%s: no server lacks %s", o.name, ability)
			}
		}
	}
}

// add reads a line of the row.
func (o *operation) add(line string) error {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "$":
		o.command = rest
		return nil
	case "=", "exit":
		return o.normal.read(line)
	case "stored":
		name, command, ok := strings.Cut(rest, " = ")
		if !ok {
			return fmt.Errorf("no command in %q", line)
		}
		o.stored[name] = command
		return nil
	case "without", "on":
		names, what, ok := strings.Cut(rest, ": ")
		if !ok {
			return fmt.Errorf("no outcome in %q", line)
		}
		what, _, explained := strings.Cut(what, " # ")
		if word == "on" && !explained {
			return fmt.Errorf("no reason in %q", line)
		}
		var instead outcome
		if err := instead.read(what); err != nil {
			return err
		}
		for name := range strings.SplitSeq(names, ", ") {
			if word == "on" {
				o.on[name] = instead
			} else {
				o.without[ftpservers.Ability(name)] = instead
			}
		}
		return nil
	}
	return fmt.Errorf("%q is not understood", line)
}

// read reads "exit CODE", "= COMMAND" or both, or "skip".
func (o *outcome) read(text string) (err error) {
	if text == "skip" {
		o.skip = true
		return nil
	}
	code, command, both := strings.Cut(text, " = ")
	if !both && strings.HasPrefix(text, "= ") {
		code, command = "", text[2:]
	}
	if digits, ok := strings.CutPrefix(code, "exit "); ok {
		o.code, err = strconv.Atoi(digits)
	} else if code != "" {
		err = fmt.Errorf("%q is not understood", text)
	}
	if command != "" {
		o.command = command
	}
	return err
}
