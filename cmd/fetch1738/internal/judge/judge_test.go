package judge

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/judge"
)

// ran runs the verb with arguments.
func ran(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = Command().Run(t.Context(), args, stdio.Streams{In: strings.NewReader(""), Out: &stdout, Err: &stderr})
	return code, stdout.String(), stderr.String()
}

// TestUsage checks the messages for wrong command lines.
func TestUsage(t *testing.T) {
	for want, args := range map[string][]string{
		"there is no COMMAND to judge":           {},
		"has no {url} and no {in}":               {"--", "true"},
		`--scheme: there is no "fpt"`:            {"--scheme", "fpt", "--", "x", "{url}"},
		`--task: there is no "fetch"`:            {"--task", "fetch", "--", "x", "{url}"},
		`--only: no case is named "ftp/x"`:       {"--only", "ftp/x", "--", "x", "{url}"},
		"--tap, --junit and --accept-lines excl": {"--json", "--accept-lines", "--", "x", "{url}"},
		"--limit must be more than 0":            {"--limit", "0s", "--", "x", "{url}"},
		"--parallel must not be negative":        {"--parallel", "-1", "--", "x", "{url}"},
		"--cases runs no command":                {"--cases", "--", "x", "{url}"},
		"--accept nowhere.txt: ":                 {"--accept", "nowhere.txt", "--", "x", "{url}"},
		"unknown flag: --taks; did you mean --t": {"--taks"},
	} {
		code, out, errs := ran(t, args...)
		if code != 2 || out != "" || !strings.Contains(errs, want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%q: %d, %q, %q", args, code, out, errs)
		}
	}
}

// TestCasesOption lists cases, as text and as JSON.
func TestCasesOption(t *testing.T) {
	code, out, _ := ran(t, "--cases", "--only", "ftp/download/data/cut-226")
	if code != 0 || strings.Count(out, "\n") != 6 || !strings.Contains(out, "ftp/download/data/cut-226/1000\n      The server sends half of the data, and 226.\n") {
		t.Errorf("%d: %s", code, out)
	}
	code, out, _ = ran(t, "--cases", "--reports", "--only", "reports/ftp/list-months-german", "--task", "tree")
	if code != 0 || !strings.Contains(out, "\n      jlaffaye/ftp#444 (2025-08)") {
		t.Errorf("%d: %s", code, out)
	}
	code, out, _ = ran(t, "--cases", "--json", "--scheme", "gopher", "--task", "list")
	var one jsonCase
	first, _, _ := strings.Cut(out, "\n")
	if err := json.Unmarshal([]byte(first), &one); code != 0 || err != nil || one.Name != "gopher/list/plain" || one.Task != judge.List || !one.Gets {
		t.Errorf("%d, %v: %s", code, err, first)
	}
}
