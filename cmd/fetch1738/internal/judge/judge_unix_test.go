//go:build unix

package judge

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"slices"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
)

// TestExitCodes judges programs that are on each system with a shell.
func TestExitCodes(t *testing.T) {
	lies := []string{"--only", "http/download/body/cut/1000", "--", "echo", "{url}"}
	for _, tc := range []struct {
		args []string
		code int
		has  []string
	}{
		{lies, 1, []string{"lied     http/download/body/cut/1000\n", "Again: fetch1738 judge --only http/download/body/cut/1000 -- echo {url}\n", "http download: 1 cases: 1 lied, 0 crashed, 0 hung, 0 gave up, 0 right"}},
		{append([]string{"--limit", "9s"}, lies...), 1, []string{"Again: fetch1738 judge --limit 9s --only"}},
		{[]string{"--only", "http/download/body/cut/1000", "--", "false", "{url}"}, 0, []string{"http download: 1 cases: 0 lied, 0 crashed, 0 hung, 0 gave up, 1 right (1 did not come up)"}},
		{[]string{"--only", "http/download/body/cut/1000", "echo", "--json", "{url}"}, 1, []string{"lied     http/download/body/cut/1000\n"}},
		{[]string{"-v", "--only", "http/download/body/cut/1000", "--", "false", "{url}"}, 0, []string{"right    http/download/body/cut/1000: exit 1; the fault did not come up"}},
		{[]string{"--only", "http/download/REQUEST/late", "--", "false", "{url}"}, 0, []string{"gave up  http/download/REQUEST/late: exit 1\n"}},
		{[]string{"--scheme", "https", "--", "false", "{url}"}, 2, []string{"https download: not judged; the client cannot do it with an ordinary server: exit 1\n"}},
	} {
		code, out, errs := ran(t, tc.args...)
		lacks := slices.ContainsFunc(tc.has, func(text string) bool { return !strings.Contains(out, text) })
		if code != tc.code || lacks || errs != "" {
			t.Errorf("%q: %d\n%s%s", tc.args, code, out, errs)
		}
	}
}

// TestFormats reads the reports for programs.
func TestFormats(t *testing.T) {
	args := []string{"--only", "http/download/body/cut/1000", "--only", "http/download/REQUEST/late", "--", "echo", "it's", "{url}"}
	_, out, _ := ran(t, append([]string{"--json"}, args...)...)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	var r struct{ Name, Verdict, Why, Again string }
	if err := json.Unmarshal([]byte(lines[1]), &r); err != nil || len(lines) != 2 || r.Verdict != "lied" || !strings.HasSuffix(r.Again, ` -- echo 'it'\''s' {url}`) {
		t.Errorf("%v: %s", err, out)
	}
	_, out, _ = ran(t, append([]string{"--tap"}, args...)...)
	if !strings.HasPrefix(out, "TAP version 14\nnot ok 1 - http/download/REQUEST/late\n  ---\n") || !strings.HasSuffix(out, "\n1..2\n") {
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
	if s := read.Suites; err != nil || len(s) != 1 || s[0].Tests != 2 || s[0].Failures != 2 || len(s[0].Cases) != 2 ||
		s[0].Cases[1].Failure.Type != "lied" || !strings.Contains(s[0].Cases[1].Failure.Text, `'it'\''s'`) {
		t.Errorf("%v: %s", err, out)
	}
	if got := xmlText("a\x00<\x1b\xff\n&\"'"); got != "a\uFFFD&lt;\uFFFD\uFFFD\n&amp;&#34;&#39;" {
		t.Errorf("%q", got)
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
