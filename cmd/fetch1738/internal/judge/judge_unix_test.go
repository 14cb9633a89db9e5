//go:build unix

package judge

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/cli"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/judge"
)

// envClient makes this program a client: it prints what it gets of its last argument, and follows
// no redirect. "careful" says that an error is one; the name of a file that does not exist means
// that it gets something only once.
const envClient = "FETCH1738_TEST_JUDGE_CLIENT"

func TestMain(m *testing.M) {
	how := os.Getenv(envClient)
	if how == "" {
		os.Exit(m.Run())
	}
	if strings.HasPrefix(how, "/") && os.Mkdir(how, 0o700) != nil {
		os.Exit(1)
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return errors.ErrUnsupported }}
	resp, err := client.Get(os.Args[len(os.Args)-1])
	if err != nil {
		os.Exit(1)
	}
	if _, err := io.Copy(os.Stdout, resp.Body); err != nil && how == "careful" {
		os.Exit(1)
	}
}

// TestExitCodes judges a client that believes what it gets, and one that is careful.
func TestExitCodes(t *testing.T) {
	self := os.Args[0]
	lies := []string{"--only", "http/download/body/cut/1000", "--", self, "{url}"}
	for _, tc := range []struct {
		how  string
		args []string
		code int
		has  []string
	}{
		{"believes", lies, 1, []string{"the end is missing. (lied, 1 case)\n    Cases:    http/download/body (1)\n    Example:  http/download/body/cut/1000\n", "Said:     success\n    True:     the file has only the first 500 of 1000 bytes\n", "Again:    fetch1738 judge -v --only http/download/body/cut/1000 -- " + self + " {url}\n\n", "http download: 1 case: 1 lied, 0 crashed, 0 hung, 0 gave up, 0 right (0 did not come up)\n"}},
		{"believes", append([]string{"--limit", "9s"}, lies...), 1, []string{"Again:    fetch1738 judge -v --limit 9s --only"}},
		{"careful", lies, 0, []string{"http download: 1 case: 0 lied, 0 crashed, 0 hung, 0 gave up, 1 right (0 did not come up)\n"}},
		{"believes", []string{"--only", "http/download/body/cut/1000", self, "--json", "{url}"}, 1, []string{"Example:  http/download/body/cut/1000\n"}},
		{"believes", append([]string{"-v"}, lies...), 1, []string{"lied     http/download/body/cut/1000\n    Server:   ", "C: GET ", "the end is missing. (lied, 1 case)\n    http/download/body/cut/1000\n\n"}},
		{"careful", append([]string{"-v"}, lies...), 0, []string{"right    http/download/body/cut/1000: exit 1\n"}},
		{t.TempDir() + "/once", append([]string{"-v"}, lies...), 0, []string{"right    http/download/body/cut/1000: exit 1; the fault did not come up\n", "1 right (1 did not come up)"}},
		{"believes", []string{"--only", "http/download/redirect/absolute", "--", self, "{url}"}, 0, []string{"It failed where a careful client succeeds. (gave up, 1 case)\n", "Said:     exit 1\n    Right:"}},
		{"careful", []string{"--only", "http/download/body/cut/1000", "--", "false", "{url}"}, 2, []string{"http download: not judged; the client cannot do it with an ordinary server: exit 1\n"}},
		{"believes", []string{"--only", "http/download/body/cut/1000", "--", "echo", "{url}"}, 1, []string{"Example:  http/download/plain\n", "http download: 1 case: 1 lied", "; the others are not judged, because of what it did with an ordinary server\n"}},
		{"careful", []string{"--scheme", "https", "--", "false", "{url}"}, 2, []string{"https download: not judged; the client cannot do it with an ordinary server: exit 1\n"}},
	} {
		t.Setenv(envClient, tc.how)
		code, out, errs := ran(t, tc.args...)
		lacks := slices.ContainsFunc(tc.has, func(text string) bool { return !strings.Contains(out, text) })
		if code != tc.code || lacks || !strings.HasPrefix(errs, "fetch1738: judging ") || strings.Count(errs, "\n") > 2 {
			t.Errorf("%q: %d\n%s%s", tc.args, code, out, errs)
		}
	}
}

// TestFormats reads the reports for programs.
func TestFormats(t *testing.T) {
	t.Setenv(envClient, "believes")
	args := []string{"--only", "http/download/body/cut/1000", "--only", "http/download/redirect/absolute", "--", os.Args[0], "it's", "{url}"}
	_, out, _ := ran(t, append([]string{"--json"}, args...)...)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	var r struct{ Name, Verdict, Cause, Claim, Fact, Again string }
	if err := json.Unmarshal([]byte(lines[0]), &r); err != nil || len(lines) != 2 || r.Verdict != "lied" || r.Cause != "cut" || r.Claim != "success" || r.Fact != "the file has only the first 500 of 1000 bytes" || !strings.HasSuffix(r.Again, ` 'it'\''s' {url}`) {
		t.Errorf("%v: %s", err, out)
	}
	_, out, _ = ran(t, append([]string{"--tap"}, args...)...)
	if !strings.HasPrefix(out, "TAP version 14\nnot ok 1 - http/download/body/cut/1000\n  ---\n") || !strings.HasSuffix(out, "\nok 2 - http/download/redirect/absolute (gave up)\n1..2\n") {
		t.Error(out)
	}
	_, out, _ = ran(t, append([]string{"--junit"}, args...)...)
	var read struct {
		Suites []struct {
			Tests    int `xml:"tests,attr"`
			Failures int `xml:"failures,attr"`
			Cases    []struct {
				Name    string `xml:"name,attr"`
				Failure struct {
					Type string `xml:"type,attr"`
					Text string `xml:",chardata"`
				} `xml:"failure"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	err := xml.Unmarshal([]byte(out), &read)
	if s := read.Suites; err != nil || len(s) != 1 || s[0].Tests != 2 || s[0].Failures != 1 || len(s[0].Cases) != 2 ||
		s[0].Cases[0].Failure.Type != "lied/cut" || !strings.Contains(s[0].Cases[0].Failure.Text, `'it'\''s'`) {
		t.Errorf("%v: %s", err, out)
	}
}

// TestAccept makes a file of the findings, with which the same client passes. A finding that is not
// in the file still fails, and one that is gone is said.
func TestAccept(t *testing.T) {
	t.Setenv(envClient, "believes")
	const cut, status = "http/download/body/cut/1000", "http/download/status/404"
	client := []string{"--only", cut, "--only", status, "--", os.Args[0], "{url}"}
	with := func(options ...string) (code int, out, errs string) { return ran(t, append(options, client...)...) }
	code, lines, _ := with("--accept-lines")
	if want := cut + " cut\n" + status + " changed\n"; code != 1 || lines != want {
		t.Fatalf("%d: %q, want %q", code, lines, want)
	}
	all := accepting(t, lines)
	if code, out, errs := with("--accept", all); code != 0 || strings.Contains(out, "Example") || !strings.Contains(out, "http download: 2 cases: 2 lied, 0 crashed, 0 hung, 0 gave up, 0 right (0 did not come up, 2 accepted)\n") || strings.Contains(errs, "warning") {
		t.Errorf("%d: %s%s", code, out, errs)
	}
	if code, out, _ := with("-v", "--accept", all); code != 0 || !strings.Contains(out, "lied     "+cut+" (accepted)\n") {
		t.Errorf("%d: %s", code, out)
	}
	if code, out, _ := with("--accept", all, "--tap"); code != 0 || !strings.Contains(out, "\nnot ok 1 - "+cut+" # TODO accepted\n") {
		t.Errorf("%d: %s", code, out)
	}
	if code, out, _ := with("--accept", all, "--junit"); code != 0 || strings.Contains(out, "<failure") || strings.Count(out, `<skipped message="accepted: success, but `) != 2 {
		t.Errorf("%d: %s", code, out)
	}
	if code, out, _ := with("--accept", all, "--json"); code != 0 || strings.Count(out, `"accepted":true`) != 2 {
		t.Errorf("%d: %s", code, out)
	}
	one := accepting(t, "# the cause is another one\n"+cut+" changed\n"+status+" changed\nftp/download/plain cut\n")
	code, out, errs := with("--accept", one)
	if code != 1 || !strings.Contains(out, "Example:  "+cut+"\n") || strings.Contains(out, "Example:  "+status) || !strings.Contains(errs, "fetch1738: warning: "+one+":2: this finding no longer occurs; delete the line\n") {
		t.Errorf("%d: %s%s", code, out, errs)
	}
	if code, out, _ := with("--accept", one, "--accept-lines"); code != 1 || out != cut+" cut\n" {
		t.Errorf("%d: %s", code, out)
	}
	changed := accepting(t, status+" cut\n\n"+cut+" changed\n"+cut+" hang\n")
	if code, _, errs := with("--accept", changed); code != 1 || !strings.Contains(errs, "fetch1738: warning: "+changed+": 3 findings no longer occur; delete lines 1, 3-4\n") {
		t.Errorf("%d: %s", code, errs)
	}
	plain := accepting(t, "http/download/plain empty\n")
	if code, out, _ := ran(t, "--accept", plain, "--only", cut, "--", "true", "{url}"); code != 2 || !strings.Contains(out, "1 accepted); the others are not judged") {
		t.Errorf("a client that can do nothing: %d: %s", code, out)
	}
}

// TestBegins says what runs before anything has run, and how far it came when it is interrupted.
func TestBegins(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	fifo := t.TempDir() + "/fifo"
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	errs, ended := make(chan string, 10), make(chan int)
	go func() {
		args := []string{"--only", "http/download/plain", "--", "sh", "-c", "echo > $0; sleep 1000", fifo, "{url}"}
		ended <- Command().Run(ctx, args, stdio.Streams{Out: io.Discard, Err: said(errs)})
	}()
	if got := <-errs; got != "fetch1738: judging sh in 1 case\n" {
		t.Errorf("%q", got)
	}
	if _, err := os.ReadFile(fifo); err != nil { // it runs
		t.Error(err)
	}
	cancel()
	if got := <-errs; got != "fetch1738: judge: interrupted; 0 of 1 case judged, 0 findings\n" {
		t.Errorf("%q", got)
	}
	if code := <-ended; code == 0 {
		t.Error("the exit code is 0")
	}
}

// said is a writer whose writes are received.
type said chan string

func (s said) Write(p []byte) (int, error) { s <- string(p); return len(p), nil }

// TestLine counts what has ended, without the cases that are left out.
func TestLine(t *testing.T) {
	cases := judge.Select(judge.Cases(), "http/upload", "gopher/list")
	r := (&options{Verb: cli.NewVerb("judge", "", stdio.Streams{})}).report(cases, nil)
	uploads := len(judge.Select(cases, "http/upload"))
	for i, c := range judge.Select(cases, "http/upload/plain", "gopher/list/plain") {
		r.end(judge.Result{Case: c, Verdict: []judge.Verdict{judge.Right, judge.Lied}[i], Cause: []judge.Cause{"", judge.CauseCut}[i]})
		total := len(cases)
		if i == 1 {
			total = uploads + 1
		}
		if got, want := r.line(), fmt.Sprintf("%d of %d cases judged, %s", i+1, total, stdio.Count(i, "finding")); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestJUnitEscapes writes what XML forbids: a client may say anything.
func TestJUnitEscapes(t *testing.T) {
	const said, want = "a\x00<\x1b\xff\n\ufffe&]]>\"'", "a\uFFFD<\uFFFD\uFFFD\n\uFFFD&]]>\"'"
	var out bytes.Buffer
	r := &junit{}
	for _, verdict := range []judge.Verdict{judge.Lied, judge.Right} {
		if err := r.result(&out, judged{judge.Result{Case: judge.Case{Name: said}, Verdict: verdict, Claim: said}, false, said}); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.end(&out, nil); err != nil {
		t.Fatal(err)
	}
	var read junit
	if err := xml.Unmarshal(out.Bytes(), &read); err != nil || len(read.Suites) != 1 || len(read.Suites[0].Cases) != 2 {
		t.Fatalf("%v: %s", err, out.String())
	}
	s := read.Suites[0]
	if c := s.Cases[0]; s.Tests != 2 || s.Failures != 1 || s.Skipped != 1 || c.Name != want || c.Skipped != nil || c.Failure.Message != want || !strings.Contains(c.Failure.Text, "Again:    "+want) {
		t.Errorf("%+v, %+v", s, c)
	}
	if c := s.Cases[1]; c.Failure != nil || c.Skipped == nil {
		t.Errorf("%+v", c)
	}
}

// TestInterrupted ends with the code of the signal, as other verbs do.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errs bytes.Buffer
	code := Command().Run(ctx, []string{"--scheme", "ftp", "--", "false", "{url}"}, stdio.Streams{Out: &out, Err: &errs})
	if code == 0 || out.Len() > 0 {
		t.Errorf("%d: %s", code, out.String())
	}
}
