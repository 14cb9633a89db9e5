package reports

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	// txtar has the files of a case, as of the scripts that its servers are.
	"golang.org/x/tools/txtar"

	"github.com/fetch1738/fetch1738/judge/internal/testcase"
)

// report is a case as its file has it.
type report struct {
	fields map[string]string // of the comment
	script []byte            // the servers with their files; nil without servers
	files  map[string][]byte // the files of the client: input, local/…, want/…
}

// fields returns the fields with the tasks that each is for, "" for all. docs/reports.md describes them.
func fields() map[string]string {
	return map[string]string{
		"source": "", "scheme": "", "task": "", "url": "", "does": "", "should": "", "error": "", "waits": "", "decided": "", "avoided": "",
		"plain": "", "login": "", "home": "", "sent": "", "never": "", "then": "",
		"document": "download resume save decode unpack upload", "or": "download resume decode unpack upload", "same": "download resume decode unpack upload",
		"begun": "resume", "names": "list", "found": "extract", "shows": "show", "hides": "show",
		"files": "tree save", "gone": "tree save", "times": "tree", "local": "tree save deploy download show", "input": "mail extract unpack verify",
	}
}

// needs returns the fields of which a case of a task needs one.
func needs() map[string]string {
	return map[string]string{"list": "names error", "extract": "found", "show": "shows hides error", "mail": "sent never error"}
}

// sourceForm is the form of one source: the program, the number of the report, and when it was written.
var sourceForm = regexp.MustCompile(`^[\w.-]+/[\w.-]+#\d+ \(\d{4}(-\d\d)?\)$`)

// validate returns what is wrong with the fields.
func (r *report) validate() error {
	task, all := r.fields["task"], fields()
	for _, name := range slices.Sorted(maps.Keys(r.fields)) {
		tasks, ok := all[name]
		if !ok {
			return fmt.Errorf("there is no field %q", name)
		}
		if tasks != "" && !slices.Contains(strings.Fields(tasks), task) {
			return fmt.Errorf("the field %q is for %s, not for %s", name, tasks, task)
		}
	}
	for _, name := range []string{"source", "scheme", "task", "does"} {
		if r.fields[name] == "" && (name != "source" || r.fields["plain"] == "") {
			return fmt.Errorf("the field %q is missing", name)
		}
	}
	if one := needs()[task]; one != "" && !slices.ContainsFunc(strings.Fields(one), func(name string) bool { return r.fields[name] != "" }) {
		return fmt.Errorf("the task %s needs one of the fields %s", task, one)
	}
	for one := range strings.SplitSeq(r.fields["source"], ", ") {
		if one != "" && !sourceForm.MatchString(one) {
			return fmt.Errorf("source: %q has not the form of owner/name#17 (2024-05)", one)
		}
	}
	if how := r.fields["error"]; how != "" && how != "allowed" && how != "required" {
		return fmt.Errorf("error: %q is neither allowed nor required", how)
	}
	return nil
}

// read splits a file into its fields, the script of its servers, and the files of the client.
func read(data []byte) (*report, error) {
	archive := txtar.Parse(data)
	r := &report{fields: make(map[string]string), files: make(map[string][]byte)}
	var script, last string
	for line := range strings.Lines(string(archive.Comment)) {
		text, isField := strings.CutPrefix(strings.TrimRight(line, "\n"), "#")
		name, value, ok := strings.Cut(text, ": ")
		switch {
		case !isField:
			script += line
		case strings.HasPrefix(text, "   ") && last != "":
			r.fields[last] += " " + strings.TrimSpace(text)
		case ok && r.fields[strings.TrimSpace(name)] != "":
			return nil, fmt.Errorf("the field %q is there twice", strings.TrimSpace(name))
		case ok:
			last = strings.TrimSpace(name)
			r.fields[last] = strings.TrimSpace(value)
		default:
			return nil, fmt.Errorf("%q is no field as in \"# task: list\"", line)
		}
	}
	rest := &txtar.Archive{Comment: []byte(script)}
	for _, f := range archive.Files {
		if ofClient(f.Name) {
			r.files[f.Name] = f.Data
		} else {
			rest.Files = append(rest.Files, f)
		}
	}
	if strings.TrimSpace(script) != "" {
		r.script = txtar.Format(rest)
	} else if len(rest.Files) > 0 {
		return nil, fmt.Errorf("there is no server for the file %q", rest.Files[0].Name)
	}
	return r, nil
}

// ofClient reports whether a file is not one of the servers.
func ofClient(name string) bool {
	return name == "input" || strings.HasPrefix(name, "local/") || strings.HasPrefix(name, "want/")
}

// decode reads a field in JSON; a field that is not there changes nothing.
func (r *report) decode(name string, to any) {
	if text := r.fields[name]; text != "" {
		if err := json.Unmarshal([]byte(text), to); err != nil {
			testcase.Check(fmt.Errorf("%s: %w", name, err))
		}
	}
}

// octets returns the octets of a field, or those of a file of the case.
func (r *report) octets(field, name string) ([]byte, bool) {
	if text := r.fields[field]; text != "" {
		data, err := file(text)
		if err != nil {
			testcase.Check(fmt.Errorf("%s: %w", field, err))
		}
		return data, true
	}
	data, ok := r.files[name]
	return data, ok
}
