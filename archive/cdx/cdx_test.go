package cdx

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestKey compares with what getSurt of warcio.js 2.4.11 returns for URLs: lines of
// ["URL","KEY"].
func TestKey(t *testing.T) {
	file, err := os.Open("testdata/surt.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	n := 0
	for s := bufio.NewScanner(file); s.Scan(); n++ {
		var pair [2]string
		if err := json.Unmarshal(s.Bytes(), &pair); err != nil {
			t.Fatal(err)
		}
		if got := Key(pair[0]); got != pair[1] {
			t.Errorf("%q: %q, want %q", pair[0], got, pair[1])
		}
	}
	if n < 300 {
		t.Errorf("%d URLs", n)
	}
	for url, want := range map[string]string{
		"gopher://H:70/0a b\tc\x7f\n": "gopher://H:70/0a%20b%09c%7F%0A", // else it would not be one word
		"ftp://h/\xfc":                "ftp://h/\xfc",
		// Both forms of a host, as the URL parser of JavaScript writes them.
		"http://münchen.example/":                    "example,xn--mnchen-3ya)/",
		"http://xn--mnchen-3ya.example/":             "example,xn--mnchen-3ya)/",
		"https://www.M%C3%9CNCHEN.Example:443/Ü?b&a": "example,xn--mnchen-3ya)/%C3%BC?a&b",
		"http://u:p@日本。jp:81/":                       "jp,xn--wgv71a:81)/",
		"gopher://münchen.example:70/1ü":             "gopher://xn--mnchen-3ya.example:70/1ü",
		"ftp://u@m%C3%BCnchen.example/x":             "ftp://u@xn--mnchen-3ya.example/x",
		"http://℀.example/":                          "example,℀)/", // IDNA does not permit it
		"":                                           "",
	} {
		if got := Key(url); got != want {
			t.Errorf("%q: %q", url, got)
		}
	}
}

func number(n Number) *Number { return &n }

func TestText(t *testing.T) {
	modified := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	for want, line := range map[string]Line{
		`ftp://h/<&> 20261124120000 {"url":"ftp://h/<&>","filename":"x.warc.gz","offset":"0","length":"0"}`: {
			Key: "ftp://h/<&>", Time: time.Date(2026, 11, 24, 12, 0, 0, 999, time.UTC), URL: "ftp://h/<&>", Filename: "x.warc.gz",
		},
		`h)/ 20261124110000007 {"url":"http://h/","mime":"text/html","status":"200","digest":"sha1:A","filename":"f","offset":"12","length":"34",` +
			`"type":"response","params":"charset=utf-8","size":"0","modified":"2020-01-02T03:04:05Z","truncated":"time"}`: {
			Key: "h)/", Time: time.Date(2026, 11, 24, 12, 0, 0, 7e6, time.FixedZone("", 3600)), URL: "http://h/", MIME: "text/html", Status: "200", Digest: "sha1:A",
			Filename: "f", Offset: 12, Length: 34, Type: "response", Params: "charset=utf-8", Size: number(0), Modified: &modified, Truncated: "time",
		},
	} {
		got, err := line.Text()
		if err != nil || string(got) != want {
			t.Errorf("%s, %v\nwant %s", got, err, want)
		}
		back, err := Parse(got)
		line.Time = line.Time.UTC().Truncate(time.Millisecond)
		if diff := cmp.Diff(&line, back); diff != "" || err != nil {
			t.Error(diff, err)
		}
	}
	if _, err := (&Line{URL: strings.Repeat("x", MaxLine)}).Text(); err == nil {
		t.Error("no limit")
	}
}

// TestParse reads lines of other programs, and refuses what is not a line.
func TestParse(t *testing.T) {
	l, err := Parse([]byte(`org,example)/?a={ 20200101000000 {"url": "http://example.org/", "offset": 5, "length": "", "status": "200", "other": [1]}`))
	if err != nil || l.Key != "org,example)/?a={" || l.Offset != 5 || l.Length != 0 || l.Size != nil {
		t.Errorf("%+v, %v", l, err)
	}
	l, err = Parse([]byte("ftp://h/\xfc 20200101000000 {\"url\":\"ftp://h/\xfc\"}"))
	if err != nil || l.URL != "ftp://h/\xfc" {
		t.Errorf("%+v, %v", l, err)
	}
	for _, text := range []string{
		"", " ", "k", "k 20200101000000", "k 20200101000000 x", " 20200101000000 {}", "k 2020 {}", "k 20201301000000 {}", "k 202001010000001 {}",
		"k 20200101000000.5 {}", `k 20200101000000 {"offset":"-1"}`, `k 20200101000000 {"offset":"99999999999999999999"}`, `k 20200101000000 {"offset":1.5}`, `k 20200101000000 {} {}`,
	} {
		if l, err := Parse([]byte(text)); err == nil {
			t.Errorf("%q: %+v", text, l)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`org,example)/ 20200101000000 {"url":"http://example.org/","offset":"5","size":3}`))
	f.Add([]byte(`ftp://h/x 20200101000000123 {"url":"ftp://h/x","modified":"2020-01-02T03:04:05Z"}`))
	f.Add([]byte("ftp://h/\xfc 20200101000000 {\"url\":\"ftp://h/\xfc\"}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		l, err := Parse(text)
		if err != nil {
			return
		}
		again, err := l.Text()
		if err != nil {
			t.Skip() // a year beyond 9999
		}
		back, err := Parse(again)
		if diff := cmp.Diff(l, back); diff != "" || err != nil {
			t.Errorf("%q %q: %v %s", text, again, err, diff)
		}
	})
}

// sorted returns what a Sorter makes of lines.
func sorted(t testing.TB, s *Sorter, lines iter.Seq[string]) string {
	t.Helper()
	for l := range lines {
		if err := s.Add([]byte(l)); err != nil {
			t.Fatal(err)
		}
	}
	var b strings.Builder
	n, err := s.WriteTo(&b)
	if err != nil || n != int64(b.Len()) {
		t.Fatal(n, b.Len(), err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestSorter sorts 100,000 lines in a memory for 100 of them, which makes runs that are merged twice.
func TestSorter(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var lines []string
	for range 100_000 {
		lines = append(lines, fmt.Sprintf("h)/%x\xff %d", random.IntN(60_000), random.IntN(3)))
	}
	s := &Sorter{limit: 2000}
	got := sorted(t, s, slices.Values(lines))
	slices.Sort(lines)
	want := strings.Join(slices.Compact(lines), "\n") + "\n"
	if got != want {
		t.Errorf("%d bytes, want %d", len(got), len(want))
	}
	if got := sorted(t, s, slices.Values([]string{"b", "", "a", "b"})); got != "\na\nb\n" { // used again
		t.Errorf("%q", got)
	}
	if got := sorted(t, &Sorter{limit: 1}, slices.Values([]string{"b", "ba", "a", "b"})); got != "a\nb\nba\n" {
		t.Errorf("%q", got)
	}
	if got := sorted(t, new(Sorter), slices.Values([]string(nil))); got != "" {
		t.Errorf("%q", got)
	}
}

func indexOf(text string) *Index { return NewIndex(strings.NewReader(text), int64(len(text))) }

func keys(seq iter.Seq2[*Line, error]) (string, error) {
	var found []string
	for l, err := range seq {
		if err != nil {
			return strings.Join(found, " "), err
		}
		found = append(found, fmt.Sprintf("%s@%d", l.Key, l.Offset))
	}
	return strings.Join(found, " "), nil
}

func TestIndex(t *testing.T) {
	var b strings.Builder
	for i := range 3000 {
		for j := range 1 + i%3 {
			fmt.Fprintf(&b, "k%04d 2020010100000%d {\"offset\":%d}\n", 2*i, j, j)
		}
	}
	text := b.String()
	for _, x := range []*Index{indexOf(text), indexOf(strings.TrimSuffix(text, "\n"))} {
		for i := range 6000 {
			key, want := fmt.Sprintf("k%04d", i), ""
			if i%2 == 0 {
				want = strings.Join([]string{key + "@0", key + "@1", key + "@2"}[:1+i/2%3], " ")
			}
			if got, err := keys(x.Lookup(key)); got != want || err != nil {
				t.Fatalf("%s: %q, %v, want %q", key, got, err, want)
			}
		}
		for prefix, want := range map[string]string{"k000": "k0000@0 k0002@0 k0002@1 k0004@0 k0004@1 k0004@2 k0006@0 k0008@0 k0008@1", "j": "", "l": "", "k5998 20200101000001 ": "k5998@1"} {
			if got, err := keys(x.Prefix(prefix)); got != want || err != nil {
				t.Errorf("%s: %q, %v", prefix, got, err)
			}
		}
		if got, _ := keys(x.Prefix("")); strings.Count(got, "@") != 6000 {
			t.Error(strings.Count(got, "@"))
		}
	}
	if got, err := keys(indexOf("").Lookup("k")); got != "" || err != nil {
		t.Error(got, err)
	}
}

// TestHostileIndex has files that are not an index.
func TestHostileIndex(t *testing.T) {
	var down strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&down, "k%04d 20200101000000 {}\n", 4999-i)
	}
	for _, key := range []string{"k0000", "k1234", "k4999", "z", "a"} {
		if got, err := keys(indexOf(down.String()).Lookup(key)); err != errUnsorted && !(got == "" && err == nil && key > "k4999") {
			t.Errorf("%s: %s, %v", key, got, err)
		}
	}
	if _, err := keys(indexOf("b 20200101000000 {}\na 20200101000000 {}\n").Prefix("")); err != errUnsorted {
		t.Error(err)
	}
	for _, text := range []string{strings.Repeat("x", 3*MaxLine), strings.Repeat("x", 3*MaxLine) + "\n", "a\n" + strings.Repeat("b", MaxLine+1) + "\n"} {
		if _, err := keys(indexOf(text).Prefix("x")); err == nil || !strings.Contains(err.Error(), "longer") {
			t.Error(err)
		}
	}
	if _, err := keys(indexOf("x\n").Prefix("")); !errors.Is(err, errLine) {
		t.Error(err)
	}
}

// FuzzIndex compares a search with reading all lines.
func FuzzIndex(f *testing.F) {
	f.Add([]byte("a 1\nb 2\nb 3\nc 4\n"), "b")
	f.Add(bytes.Repeat([]byte("a\n"), 5000), "a")
	f.Add([]byte(strings.Repeat("a", 9000)+"\nb\n\n"), "aa")
	f.Fuzz(func(t *testing.T, text []byte, from string) {
		lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
		slices.Sort(lines)
		text = []byte(strings.Join(lines, "\n") + "\n")
		first, _ := slices.BinarySearch(lines, from)
		var got []string
		for line, err := range NewIndex(bytes.NewReader(text), int64(len(text))).From(from) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(line))
		}
		if !slices.Equal(got, lines[first:]) {
			t.Errorf("%q, want %q", got, lines[first:])
		}
	})
}

func TestSite(t *testing.T) {
	for key, want := range map[string]string{
		"gopher://h/0/x": "gopher://h/", "ftp://u@h:2121/": "ftp://u@h:2121/", "gopher://h": "gopher://h ", "news:a@b/c": "news:", "x": "x:",
	} {
		if got := Site(&Line{Key: key, URL: key}); got != want {
			t.Errorf("%s: %q", key, got)
		}
	}
	if got := Site(&Line{Key: "org,example:81)/x)", URL: "http://example.org:81/x)"}); got != "org,example:81)" {
		t.Error(got)
	}
	for prefix, want := range map[string]string{"a/": "a0", "a\xff\xff": "b", "\xff": "", "": "", "a\x7f": "a\x80"} {
		if got := After(prefix); got != want {
			t.Errorf("%q: %q", prefix, got)
		}
	}
}
