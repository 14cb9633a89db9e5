package glob

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"ftp://h/plain":            "ftp://h/plain",
		"ftp://h/{a,b}":            "ftp://h/a|ftp://h/b",
		"{a,b}[1-2]":               "a1|a2|b1|b2",
		"[01-10:3]":                "01|04|07|10",
		"[08-11]x":                 "08x|09x|10x|11x",
		"[1-10:4]":                 "1|5|9",
		"[a-e:2]":                  "a|c|e",
		"[3-3]":                    "3",
		"{one}":                    "one",
		"{,a}":                     "|a",
		`\{a\}[1-2]\[x\]`:          "{a}1[x]|{a}2[x]",
		`{a\,b}`:                   "a,b",
		`{a\}b,c}`:                 "a}b|c",
		"http://[::1]/{a,b}":       "http://[::1]/a|http://[::1]/b",
		"http://[fe80::1%25eth0]/": "http://[fe80::1%25eth0]/",
		"x":                        "x",
		"":                         "",
		`back\slash`:               `back\slash`,
		"[9223372036854775806-9223372036854775807]": "9223372036854775806|9223372036854775807",
	} {
		g, err := Parse(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		var got []string
		for url := range g.All() {
			got = append(got, url)
		}
		if diff := cmp.Diff(strings.Split(want, "|"), got); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"http://a/{b":                     "unmatched brace in URL position 10",
		"http://[":                        "bad range specification in URL position 9",
		"http://a/[1-]":                   "bad range in URL position 11",
		"http://a/[b-a]":                  "bad range in URL position 11",
		"http://a/[1-3:0]":                "bad range in URL position 11",
		"http://a/[1-3:5]":                "bad range in URL position 11",
		"http://a/[1-z]":                  "bad range in URL position 11",
		"http://a/[A-c]":                  "bad range in URL position 11",
		"http://a/{}":                     "empty string within braces in URL position 11",
		"http://a/{b{c}}":                 "nested brace in URL position 12",
		"http://a/{b]}":                   "unexpected close bracket in URL position 12",
		"http://a/b}":                     "unmatched close brace/bracket in URL position 11",
		"[1-99999999999999999999]":        "bad range in URL position 2",
		strings.Repeat("{a}", 101):        "too many globs in URL position 304",
		"[0-9223372036854775807]":         "range overflow (the globs make too many URLs) in URL position 1",
		"a[1-99999999999][1-99999999999]": "range overflow (the globs make too many URLs) in URL position 17",
		strings.Repeat("{a,b}", 64):       "range overflow (the globs make too many URLs) in URL position 311",
	} {
		if _, err := Parse(text); err == nil || err.Error() != want {
			t.Errorf("%.30q: %v, want %s", text, err, want)
		}
	}
}

// A glob must not be expanded before it is used.
func TestLazy(t *testing.T) {
	g, err := Parse("[1-9223372036854775]" + strings.Repeat("[0-9]", 3) + strings.Repeat("{x}", 47))
	if err != nil {
		t.Fatal(err)
	}
	for url, values := range g.All() {
		if url != "1000"+strings.Repeat("x", 47) || len(values) != 51 {
			t.Errorf("the first is %q, %q", url, values)
		}
		break
	}
}

func TestFixed(t *testing.T) {
	for url, values := range Fixed("a{b,c}[1-").All() {
		if url != "a{b,c}[1-" || values != nil {
			t.Errorf("%q, %q", url, values)
		}
	}
}

func TestFillIn(t *testing.T) {
	g, err := Parse("{a,b}-[1-2]")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, values := range g.All() {
		name, err := FillIn("#2/#1_#3#x##1", values, nil)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, name)
	}
	want := []string{"1/a_#3#x#a", "2/a_#3#x#a", "1/b_#3#x#b", "2/b_#3#x#b"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// FuzzGlob checks that a text without sets and ranges expands to itself, that an escaped text does
// too, and that the first few texts of any glob can be expanded.
func FuzzGlob(f *testing.F) {
	for _, seed := range []string{"{a,b}[1-3]", "[::1]", `\{`, "[a-z:5]", "{", "[", "]", "}", "[0001-2]"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if g, err := Parse(text); err == nil {
			n := 0
			for range g.All() {
				if n++; n == 5 {
					break
				}
			}
			if n == 0 {
				t.Errorf("%q expands to nothing", text)
			}
		}
		if strings.Contains(text, `\`) {
			return
		}
		escaped := strings.NewReplacer("{", `\{`, "}", `\}`, "[", `\[`, "]", `\]`).Replace(text)
		g, err := Parse(escaped)
		if err != nil {
			t.Fatalf("%q: %v", escaped, err)
		}
		for url := range g.All() {
			if url != text {
				t.Errorf("%q expands to %q", escaped, url)
			}
		}
	})
}

// Count returns the number of texts that All yields.
func TestCount(t *testing.T) {
	for _, text := range []string{"", "x", "{a,b}", "[1-10]", "[1-10:3]", "[001-100]x{a,b,c}", "[a-z:5]", "{,}"} {
		g, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		n := int64(0)
		for range g.All() {
			n++
		}
		if got := g.Count(); got != n {
			t.Errorf("%s: counted %d, expanded to %d", text, got, n)
		}
	}
	if g, err := Parse("[0-999999999][0-999999999]"); err != nil || g.Count() != MaxCount {
		t.Errorf("%v, %d", err, g.Count())
	}
}

func TestNames(t *testing.T) {
	g, err := Parse("h/{<set>a,b}/[<n>1-2]/{c,d}")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for url, values := range g.All() {
		name, err := FillIn("#<n>-#<set>-#3", values, g.Names())
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, url+" "+name)
	}
	if len(got) != 8 || got[0] != "h/a/1/c 1-a-c" || got[7] != "h/b/2/d 2-b-d" {
		t.Errorf("%q", got)
	}
	if name, err := FillIn("#<other>", []string{"a"}, []string{"set"}); err == nil {
		t.Errorf("an unknown name: %q", name)
	}
	if _, err := Parse("{<a>x,y}{<a>z,w}"); err == nil || !strings.Contains(err.Error(), "duplicate") {
		t.Errorf("a name twice: %v", err)
	}
	if g, err := Parse("{<a,b}"); err != nil || g.Names()[0] != "" {
		t.Errorf("no name: %v %v", g, err)
	}
}
