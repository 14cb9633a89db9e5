package curl

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
)

func TestParseScript(t *testing.T) {
	got, err := parseScript("# c\n\n  send a\\x41\\n\\\\\\c\nexpect  b \r\ntimeout 0.5\nsend\nsend \\\\c")
	want := []plan.ScriptLine{
		{Number: 3, Verb: "send", Text: "aA\n\\"},
		{Number: 4, Verb: "expect", Text: " b ", Enter: true},
		{Number: 5, Verb: "timeout", Timeout: time.Second / 2, Enter: true},
		{Number: 6, Verb: "send", Enter: true},
		{Number: 7, Verb: "send", Text: `\c`, Enter: true},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	if got, err := parseScript(""); got == nil || len(got) != 0 || err != nil {
		t.Errorf("empty script: %v, %v", got, err)
	}
	for _, bad := range []string{"x", "expect", "expect ", "timeout", "timeout 0", "timeout -1", "timeout NaN", "timeout 1e300", `send \`, `send \q`, `send \x1`, `send \xzz`, strings.Repeat("\n", maxScript+1)} {
		if got, err := parseScript(bad); err == nil {
			t.Errorf("%.20q: %+v", bad, got)
		}
	}
}

// FuzzTelnetScript checks that a parsed script, written and parsed again, is the same.
func FuzzTelnetScript(f *testing.F) {
	f.Add("# c\nexpect login:\nsend joe\\x00\\c\ntimeout 1.5\n")
	f.Add("send \\\\c\r\n\texpect \\t\\n\nsend\n")
	f.Fuzz(func(t *testing.T, text string) {
		script, err := parseScript(text)
		if err != nil {
			if script != nil || strings.ContainsAny(err.Error(), "\r\n\x00") {
				t.Errorf("%q: %v, %q", text, script, err)
			}
			return
		}
		var b strings.Builder
		for _, l := range script {
			switch l.Verb {
			case "timeout":
				fmt.Fprintf(&b, "timeout %.9f\n", l.Timeout.Seconds())
				continue
			}
			fmt.Fprintf(&b, "%s ", l.Verb)
			for i := range len(l.Text) {
				fmt.Fprintf(&b, `\x%02x`, l.Text[i])
			}
			if !l.Enter {
				b.WriteString(`\c`)
			}
			b.WriteByte('\n')
		}
		again, err := parseScript(b.String())
		if err != nil || len(again) != len(script) {
			t.Fatalf("%q is written as %q: %v", text, b.String(), err)
		}
		for i, l := range script {
			l.Number = again[i].Number
			if l.Timeout != again[i].Timeout && (l.Timeout-again[i].Timeout).Abs() > time.Microsecond {
				t.Errorf("%q: %v, and then %v", text, l.Timeout, again[i].Timeout)
			}
			if l.Timeout = again[i].Timeout; l != again[i] {
				t.Errorf("%q: %+v, and then %+v", text, l, again[i])
			}
		}
	})
}
