package main

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
)

// Every octet that a URL can hold comes out as the character of its number.
func TestParseEveryOctet(t *testing.T) {
	var escaped strings.Builder
	var want []rune
	for octet := range 256 {
		fmt.Fprintf(&escaped, "%%%02x", octet)
		want = append(want, rune(octet))
	}
	for _, tc := range []struct {
		url string
		get func(map[string]any) any
	}{
		{"ftp://h/" + escaped.String() + "/x", func(p map[string]any) any { return p["cwd"].([]any)[0] }},
		{"ftp://h/" + escaped.String(), func(p map[string]any) any { return p["name"] }},
		{"http://h/" + escaped.String(), func(p map[string]any) any { return p["path"] }},
		{"http://h/?" + escaped.String(), func(p map[string]any) any { return p["search"] }},
		{"mailto:" + escaped.String(), func(p map[string]any) any { return p["addr"] }},
		{"wais://h/d/t/" + escaped.String(), func(p map[string]any) any { return p["wpath"] }},
		{"file:///" + escaped.String(), func(p map[string]any) any { return p["path_segments"].([]any)[0] }},
		{"prospero://h/n;k=" + escaped.String(), func(p map[string]any) any { return p["fields"].([]any)[0].([]any)[1] }},
	} {
		got := runVerb(t, "parse", "", "--json", tc.url)
		var line struct {
			OK    bool
			Parts map[string]any
		}
		if err := json.Unmarshal([]byte(got.out), &line); err != nil || !line.OK {
			t.Errorf("%.20s: %v, %s", tc.url, err, got.out)
			continue
		}
		if v := tc.get(line.Parts); v != string(want) {
			t.Errorf("%.20s: %q", tc.url, v)
		}
		oneJSONLine(t, got.out)
		lines := runVerb(t, "parse", "", tc.url)
		if !printable(strings.TrimSuffix(lines.out, "\n")) {
			t.Errorf("%.20s: %q", tc.url, lines.out)
		}
	}
}

// oneJSONLine checks that text is valid JSON on one line of ASCII that a
// terminal shows rather than obeys.
func oneJSONLine(t *testing.T, text string) {
	t.Helper()
	line, rest, ended := strings.Cut(text, "\n")
	if !ended || rest != "" || !printable(line) || !json.Valid([]byte(line)) {
		t.Errorf("not one line of JSON: %.500q", text)
	}
}

// "<", ">" and "&" stay readable.
func TestParseNoHTMLEscapes(t *testing.T) {
	got := runVerb(t, "parse", "", "--json", "http://h/%3C%3E&x")
	if !strings.Contains(got.out, `"path":"<>&x"`) {
		t.Error(got.out)
	}
}

func TestParseURLAsGiven(t *testing.T) {
	for given, want := range map[string]string{
		"http://h/\u00e9\U0001F600": "http://h/\u00e9\U0001F600", // UTF-8 stays
		"http://h/\xe9":             "http://h/\u00e9",           // what is no UTF-8 is shown by octets
		"\"\\\x00\x7f\u009b":        "\"\\\x00\x7f\u009b",
	} {
		got := runVerb(t, "parse", "", "--json", given)
		oneJSONLine(t, got.out)
		var line struct{ URL string }
		if err := json.Unmarshal([]byte(got.out), &line); err != nil || line.URL != want {
			t.Errorf("%q: %v, %q", given, err, line.URL)
		}
	}
}

// The bad input that issue after issue is made of: one clear line, the right
// exit code, no password, whichever verb is asked.
func TestParseBadInput(t *testing.T) {
	const secret = "s3cretword"
	long := "http://h/" + strings.Repeat("a", 1<<20)
	for _, url := range []string{
		"http://u:" + secret + "@127.1/", "http://h:0/", "http://h:99999/", "gopher://h:0/0x", "ftp://u:" + secret + "@h:99999/x",
		"ftp://u:" + secret + "@h/a b;type=x", "ftp://u:" + secret + "#@h/", "ftp://u:" + secret + "@@h/", long, long + long,
		"ftp://u:" + secret + "@h/" + strings.Repeat("a", 1<<20), "", "\x00", "http://h/\r\nHost: evil", "\xff\xfe",
	} {
		got := runVerb(t, "parse", "", "--", url)
		if got.code != 3 || got.err != "" || !strings.HasPrefix(got.out, "refused:  byte ") {
			t.Errorf("%.40q: %+v", url, got)
		}
		oneLine(t, got.out)
		if strings.Contains(got.out, secret) {
			t.Errorf("%.40q shows the password: %s", url, got.out)
		}

		asJSON := runVerb(t, "parse", "", "--json", "--", url)
		oneJSONLine(t, asJSON.out)
		var line struct {
			OK         bool
			URL, Error string
			Offset     *int
			Section    *string
			Scheme     any
		}
		if err := json.Unmarshal([]byte(asJSON.out), &line); err != nil || line.OK || line.Error == "" || line.Offset == nil || line.Section == nil || line.Scheme != nil {
			t.Errorf("%.40q: %v, %.300s", url, err, asJSON.out)
		}
		if strings.Contains(line.Error, secret) || asJSON.code != 3 {
			t.Errorf("%.40q: %d %q", url, asJSON.code, line.Error)
		}
		if len(url) < 1000 && utf8.ValidString(url) && line.URL != url {
			t.Errorf("%q is told to be %q", url, line.URL)
		}
		if len(asJSON.out) > 1000 {
			t.Errorf("%.40q: a line of %d octets", url, len(asJSON.out))
		}
	}
}

// A line without an end does not fill the memory.
func TestParseEndlessLine(t *testing.T) {
	var out countingWriter
	code := 0
	if got := heapGrowth(func() {
		code = run(t.Context(), []string{"parse"}, stdio.Streams{In: io.LimitReader(zeros{}, 64<<20), Out: &out, Err: io.Discard})
	}); got > 16<<20 {
		t.Errorf("64 MiB without a line end took %d octets of memory", got)
	}
	if code != 3 || out.n > 1000 {
		t.Errorf("code %d and %d octets about one line", code, out.n)
	}
}

// heapGrowth is how much memory f made the program take from the system.
func heapGrowth(f func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.HeapSys) - int64(before.HeapSys)
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

type countingWriter struct{ n int }

func (w *countingWriter) Write(p []byte) (int, error) {
	w.n += len(p)
	return len(p), nil
}

// A program may write one URL, read its line, and go on.
func TestParseAnswersAtOnce(t *testing.T) {
	in, ask := io.Pipe()
	answers, out := io.Pipe()
	code := make(chan int)
	go func() {
		code <- run(t.Context(), []string{"parse", "--json"}, stdio.Streams{In: in, Out: out, Err: io.Discard})
	}()
	dec := json.NewDecoder(answers)
	for _, url := range []string{"http://h/1", "nothing", "http://h/2"} {
		if _, err := io.WriteString(ask, url+"\n"); err != nil {
			t.Fatal(err)
		}
		var line struct{ URL string }
		if err := dec.Decode(&line); err != nil || line.URL != url {
			t.Fatalf("%v, %q", err, line.URL)
		}
	}
	ask.Close()
	if got := <-code; got != 3 {
		t.Errorf("code %d", got)
	}
}

// Whatever the text, there is one line for it, and the line is JSON.
func FuzzParseLine(f *testing.F) {
	for _, seed := range []string{"", "http://h/", "ftp://u:p@h/a%00%ff;type=d", "gopher://h/1%09%09", "prospero://h/n;k=v", "http://h/\u2028<&>", "\xff", "x:\x7f"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, mode := range []string{"--strict", "--strict=false"} {
			if got := runVerb(t, "parse", "", "--json", mode, "--", text); text != "-" {
				oneJSONLine(t, got.out)
			}
			if got := runVerb(t, "parse", "", mode, "--", text); text != "-" && (strings.Count(got.out, "\n") != 1 || !printable(strings.TrimSuffix(got.out, "\n"))) {
				t.Errorf("%q", got.out)
			}
		}
	})
}
