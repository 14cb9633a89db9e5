package picture

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"
)

// shown returns the texts of a picture, each with the percentages between which it is visible.
func shown(t *testing.T, picture []byte) (texts []string) {
	d := xml.NewDecoder(strings.NewReader(string(picture)))
	name := ""
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return texts
		}
		if err != nil {
			t.Fatalf("%v in %s", err, picture)
		}
		start, ok := token.(xml.StartElement)
		switch {
		case !ok:
		case start.Name.Local == "g":
			name = attribute(start, "style")
		case start.Name.Local == "text":
			inside, err := d.Token()
			if err != nil {
				t.Fatal(err)
			}
			times := "always"
			if _, number, found := strings.Cut(name, "animation-name:"); found {
				rule := regexp.MustCompile(`@keyframes ` + number + `\{(.*)\}`).FindSubmatch(picture)
				times = strings.Join(regexp.MustCompile(`[0-9.]+%`).FindAllString(string(rule[1]), -1), "-")
			}
			texts = append(texts, fmt.Sprintf("%s,%s %s: %s", attribute(start, "x"), attribute(start, "y"), times, inside))
		}
	}
}

func attribute(start xml.StartElement, name string) string {
	for _, a := range start.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// A write is what a program writes, and when, in seconds.
type write struct {
	at   time.Duration
	text string
}

func TestSVG(t *testing.T) {
	for _, tt := range []struct {
		name   string
		writes []write
		want   []string
		scroll string // the rule of the end
	}{
		{"text stays", []write{{0, "a <b>\n&c"}}, []string{"0,14 always: a <b>", "0,32 always: &c"}, ""},
		{"wide gaps are not text", []write{{0, "a  b c"}}, []string{"0,14 always: a", "24,14 always: b c"}, ""},
		{"a line in two parts", []write{{1, "ab"}, {2, "cd"}}, []string{"0,14 0%-10.00%: ab", "16,14 0%-20.00%: cd"}, ""},
		{
			"a line that is drawn again", []write{{1, "a 10%\n"}, {2, "\x1b[1A\x1b[J"}, {2, "a 20%\n"}, {3, "\x1b[1A\x1b[J"}},
			[]string{"16,14 0%-10.00%-20.00%: 1", "0,14 0%-10.00%-30.00%: a", "24,14 0%-10.00%-30.00%: 0%", "16,14 0%-20.00%-30.00%: 2"}, "",
		},
		{"a line that begins again", []write{{1, "abc"}, {2, "\rx\x1b[K"}}, []string{"0,14 0%-10.00%-20.00%: abc", "0,14 0%-20.00%: x"}, ""},
		{"what is gone at once is not seen", []write{{1, "abc"}, {1, "\r\x1b[Kx"}}, []string{"0,14 0%-10.00%: x"}, ""},
		{"a long line", []write{{0, "0123456789ab"}}, []string{"0,14 always: 0123456789", "0,32 always: ab"}, ""},
		{"a line as wide as the screen", []write{{0, "0123456789\nab"}}, []string{"0,14 always: 0123456789", "0,32 always: ab"}, ""},
		{"more lines than fit", []write{{0, "a\nb\nc\n"}, {5, "d\n"}}, []string{"0,14 always: a", "0,32 always: b", "0,50 always: c", "0,68 0%-50.00%: d"}, "translateY(-36px)"},
		{"colours", []write{{0, "\x1b[32ma\x1b[0mb"}}, []string{"0,14 always: a", "8,14 always: b"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := NewScreen(10, 3)
			for _, w := range tt.writes {
				if err := s.Write(w.at*time.Second, w.text); err != nil {
					t.Fatal(err)
				}
			}
			picture := s.SVG("a <title>", 10*time.Second)
			if got := shown(t, picture); strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
				t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
			still := regexp.MustCompile(`\.s\{transform:([^;]*)`).FindSubmatch(picture)
			if (still != nil) != (tt.scroll != "") || still != nil && string(still[1]) != tt.scroll {
				t.Errorf("scrolled by %q, want %q", still, tt.scroll)
			}
		})
	}
}

// Without animation, a picture shows the last state: what is gone by then is in a group that is
// not visible.
func TestStill(t *testing.T) {
	s := NewScreen(10, 3)
	for _, w := range []write{{1, "gone"}, {2, "\rlast"}} {
		if err := s.Write(w.at*time.Second, w.text); err != nil {
			t.Fatal(err)
		}
	}
	picture := string(s.SVG("", 4*time.Second))
	if !regexp.MustCompile(`<g class="t"[^>]*><text[^>]*>gone<`).MatchString(picture) || !regexp.MustCompile(`<g style="[^>]*><text[^>]*>last<`).MatchString(picture) {
		t.Error(picture)
	}
}

// What a Screen would show wrongly is an error.
func TestNotSupported(t *testing.T) {
	for _, text := range []string{"\x1b[5;5H", "\x1b[2J", "\x1b[0;1J", "\x1b[1K", "\x1b]0;title\a", "\x1b[38;5;1m", "\x1b[?25l", "\x1b", "\x1b[", "\x1b[1", "\a", "\t", "\x85", "\u0085", "漢"} {
		if err := NewScreen(10, 3).Write(0, text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}
