package parse

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/verbtest"
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
		got := verbtest.Run(t, Command(), "", "--json", tc.url)
		var line struct {
			OK    bool
			Parts map[string]any
		}
		if err := json.Unmarshal([]byte(got.Out), &line); err != nil || !line.OK {
			t.Errorf("%.20s: %v, %s", tc.url, err, got.Out)
			continue
		}
		if v := tc.get(line.Parts); v != string(want) {
			t.Errorf("%.20s: %q", tc.url, v)
		}
		verbtest.OneJSONLine(t, got.Out)
		lines := verbtest.Run(t, Command(), "", tc.url)
		if !verbtest.Printable(strings.TrimSuffix(lines.Out, "\n")) {
			t.Errorf("%.20s: %q", tc.url, lines.Out)
		}
	}
}

// "<", ">" and "&" stay readable.
func TestParseNoHTMLEscapes(t *testing.T) {
	got := verbtest.Run(t, Command(), "", "--json", "http://h/%3C%3E&x")
	if !strings.Contains(got.Out, `"path":"<>&x"`) {
		t.Error(got.Out)
	}
}

func TestParseURLAsGiven(t *testing.T) {
	for given, want := range map[string]string{
		"http://h/\u00e9\U0001F600": "http://h/\u00e9\U0001F600", // UTF-8 stays
		"http://h/\xe9":             "http://h/\u00e9",           // what is no UTF-8 is shown by octets
		"\"\\\x00\x7f\u009b":        "\"\\\x00\x7f\u009b",
	} {
		got := verbtest.Run(t, Command(), "", "--json", given)
		verbtest.OneJSONLine(t, got.Out)
		var line struct{ URL string }
		if err := json.Unmarshal([]byte(got.Out), &line); err != nil || line.URL != want {
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
		got := verbtest.Run(t, Command(), "", "--", url)
		if got.Code != 3 || got.Err != "" || !strings.HasPrefix(got.Out, "refused:  byte ") {
			t.Errorf("%.40q: %+v", url, got)
		}
		verbtest.OneLine(t, got.Out)
		if strings.Contains(got.Out, secret) {
			t.Errorf("%.40q shows the password: %s", url, got.Out)
		}

		asJSON := verbtest.Run(t, Command(), "", "--json", "--", url)
		verbtest.OneJSONLine(t, asJSON.Out)
		var line struct {
			OK         bool
			URL, Error string
			Offset     *int
			Section    *string
			Scheme     any
		}
		if err := json.Unmarshal([]byte(asJSON.Out), &line); err != nil || line.OK || line.Error == "" || line.Offset == nil || line.Section == nil || line.Scheme != nil {
			t.Errorf("%.40q: %v, %.300s", url, err, asJSON.Out)
		}
		if strings.Contains(line.Error, secret) || asJSON.Code != 3 {
			t.Errorf("%.40q: %d %q", url, asJSON.Code, line.Error)
		}
		if len(url) < 1000 && utf8.ValidString(url) && line.URL != url {
			t.Errorf("%q is told to be %q", url, line.URL)
		}
		if len(asJSON.Out) > 1000 {
			t.Errorf("%.40q: a line of %d octets", url, len(asJSON.Out))
		}
	}
}

// A line without an end does not fill the memory.
func TestParseEndlessLine(t *testing.T) {
	var out verbtest.Counter
	code := 0
	if got := verbtest.HeapGrowth(func() {
		code = Command().Run(t.Context(), nil, stdio.Streams{In: io.LimitReader(zeros{}, 64<<20), Out: &out, Err: io.Discard})
	}); got > 16<<20 {
		t.Errorf("64 MiB without a line end took %d octets of memory", got)
	}
	if code != 3 || out.N > 1000 {
		t.Errorf("code %d and %d octets about one line", code, out.N)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

// A program may write one URL, read its line, and go on.
func TestParseAnswersAtOnce(t *testing.T) {
	in, ask := io.Pipe()
	answers, out := io.Pipe()
	code := make(chan int)
	go func() {
		code <- Command().Run(t.Context(), []string{"--json"}, stdio.Streams{In: in, Out: out, Err: io.Discard})
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
			if got := verbtest.Run(t, Command(), "", "--json", mode, "--", text); text != "-" {
				verbtest.OneJSONLine(t, got.Out)
			}
			if got := verbtest.Run(t, Command(), "", mode, "--", text); text != "-" && (strings.Count(got.Out, "\n") != 1 || !verbtest.Printable(strings.TrimSuffix(got.Out, "\n"))) {
				t.Errorf("%q", got.Out)
			}
		}
	})
}
