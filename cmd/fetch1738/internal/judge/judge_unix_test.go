//go:build unix

package judge

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

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
		{"believes", lies, 1, []string{"lied     http/download/body/cut/1000\n", "Again: fetch1738 judge --only http/download/body/cut/1000 -- " + self + " {url}\n", "http download: 1 cases: 1 lied, 0 crashed, 0 hung, 0 gave up, 0 right"}},
		{"believes", append([]string{"--limit", "9s"}, lies...), 1, []string{"Again: fetch1738 judge --limit 9s --only"}},
		{"careful", lies, 0, []string{"http download: 1 cases: 0 lied, 0 crashed, 0 hung, 0 gave up, 1 right (0 did not come up)\n"}},
		{"believes", []string{"--only", "http/download/body/cut/1000", self, "--json", "{url}"}, 1, []string{"lied     http/download/body/cut/1000\n"}},
		{"careful", append([]string{"-v"}, lies...), 0, []string{"right    http/download/body/cut/1000: exit 1\n"}},
		{t.TempDir() + "/once", append([]string{"-v"}, lies...), 0, []string{"right    http/download/body/cut/1000: exit 1; the fault did not come up\n", "1 right (1 did not come up)"}},
		{"believes", []string{"--only", "http/download/redirect/absolute", "--", self, "{url}"}, 0, []string{"gave up  http/download/redirect/absolute: exit 1\n"}},
		{"careful", []string{"--only", "http/download/body/cut/1000", "--", "false", "{url}"}, 2, []string{"http download: not judged; the client cannot do it with an ordinary server: exit 1\n"}},
		{"believes", []string{"--only", "http/download/body/cut/1000", "--", "echo", "{url}"}, 1, []string{"lied     http/download/plain\n", "http download: 1 cases: 1 lied"}},
		{"careful", []string{"--scheme", "https", "--", "false", "{url}"}, 2, []string{"https download: not judged; the client cannot do it with an ordinary server: exit 1\n"}},
	} {
		t.Setenv(envClient, tc.how)
		code, out, errs := ran(t, tc.args...)
		lacks := slices.ContainsFunc(tc.has, func(text string) bool { return !strings.Contains(out, text) })
		if code != tc.code || lacks || errs != "" {
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
	var r struct{ Name, Verdict, Why, Again string }
	if err := json.Unmarshal([]byte(lines[0]), &r); err != nil || len(lines) != 2 || r.Verdict != "lied" || !strings.HasSuffix(r.Again, ` 'it'\''s' {url}`) {
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
		s[0].Cases[0].Failure.Type != "lied" || !strings.Contains(s[0].Cases[0].Failure.Text, `'it'\''s'`) {
		t.Errorf("%v: %s", err, out)
	}
}

// TestJUnitEscapes writes what XML forbids: a client may say anything.
func TestJUnitEscapes(t *testing.T) {
	const said, want = "a\x00<\x1b\xff\n\ufffe&]]>\"'", "a\uFFFD<\uFFFD\uFFFD\n\uFFFD&]]>\"'"
	var out bytes.Buffer
	r := &junit{}
	for _, verdict := range []judge.Verdict{judge.Lied, judge.Right} {
		if err := r.result(&out, judge.Result{Case: judge.Case{Name: said}, Verdict: verdict, Why: said}, said); err != nil {
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
	if c := s.Cases[0]; s.Tests != 2 || s.Failures != 1 || s.Skipped != 1 || c.Name != want || c.Skipped != nil || c.Failure.Message != want || !strings.Contains(c.Failure.Text, "Again: "+want) {
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
