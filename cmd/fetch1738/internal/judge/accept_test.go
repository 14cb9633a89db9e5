package judge

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/judge"
)

// accepting writes a file for --accept.
func accepting(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "known.txt")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestReadBaseline reads lines with comments, and says where a line is wrong.
func TestReadBaseline(t *testing.T) {
	const cut, status = "http/download/body/cut/1000", "http/download/status/404"
	b, err := readBaseline(accepting(t, "# known\r\n\r\n  "+cut+"\tcut # see #17\r\n#x\n"+cut+" hang\n"+status+" changed"))
	if err != nil || len(b.lines) != 3 || b.lines[finding{cut, judge.CauseCut}] != 3 || b.lines[finding{cut, judge.CauseHang}] != 5 || b.lines[finding{status, judge.CauseChanged}] != 6 {
		t.Errorf("%+v, %v", b, err)
	}
	for text, want := range map[string]string{
		"\n" + cut + "\n":                          `known.txt:2: "` + cut + `" is not the name of a case and a cause, as in `,
		cut + " cut too\n":                         `known.txt:1: "` + cut + ` cut too" is not`,
		"http/download/nothing cut\n":              `known.txt:1: there is no case "http/download/nothing" in this version`,
		cut + " lied\n":                            `known.txt:1: there is no cause "lied" to accept; there are outside, secret, `,
		cut + " error\n":                           `known.txt:1: there is no cause "error" to accept`,
		cut + " cut\n# and\n" + cut + "  cut  # x": `known.txt:3: ` + cut + ` cut is in line 1, too`,
	} {
		if _, err := readBaseline(accepting(t, text)); err == nil || !strings.HasPrefix(err.Error(), "--accept ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// TestStale tells which lines can be deleted: those of cases that were judged.
func TestStale(t *testing.T) {
	b := &baseline{"known.txt", map[finding]int{
		{"a", "cut"}: 1, {"b", "cut"}: 2, {"c", "cut"}: 3, {"d", "cut"}: 4, {"e", "cut"}: 5, {"f", "cut"}: 6, {"g", "cut"}: 9, {"h", "hang"}: 11,
	}}
	result := func(name string, cause judge.Cause) judged {
		return judged{Result: judge.Result{Case: judge.Case{Name: name}, Cause: cause, Verdict: cause.Verdict()}}
	}
	lines, n := b.stale([]judged{
		result("a", "cut"), result("b", ""), result("c", "hang"), result("d", judge.CauseError), result("e", judge.CauseSetup), result("g", ""), result("h", "hang"), result("z", "cut"),
	})
	if lines != "2-4, 9" || n != 4 {
		t.Errorf("%q, %d", lines, n)
	}
	if lines, n := (*baseline)(nil).stale([]judged{result("a", "cut")}); lines != "" || n != 0 {
		t.Errorf("without a file: %q, %d", lines, n)
	}
}
