package newssearch

import (
	"path"
	"strings"
	"testing"
)

// TestPatterns: a pattern finds all articles that fit, also where it cannot have all of a word.
func TestPatterns(t *testing.T) {
	for _, tc := range []struct{ word, pattern string }{
		{"word", "*[wW][oO][rR][dD]*"},
		{"two words", "*[tT][wW][oO]*[wW][oO][rR][dD][sS]*"},
		{"Wörter", "*[wW]*[rR][tT][eE][rR]*"},
		{"a,b[c]*?\\!", "*[aA]*[bB]*[cC]*"},
		{"1738", "*1738*"},
		{"日本", "*"},
		{"", "*"},
		{strings.Repeat("x", 200), "*" + strings.Repeat("[xX]", maxPattern) + "*"},
	} {
		got, _ := wildmat(tc.word)
		if got != tc.pattern {
			t.Errorf("%q: %s, want %s", tc.word, got, tc.pattern)
		}
		for _, value := range []string{tc.word, strings.ToUpper(tc.word), "Re: " + strings.ToLower(tc.word) + " again"} {
			if is, err := path.Match(got, value); err != nil || !is {
				t.Errorf("%s does not match %q: %v", got, value, err)
			}
		}
	}
	for _, words := range [][]string{{"x"}, {"日本", "a"}, nil} {
		if got := Pattern(words); got != "" {
			t.Errorf("%q: %v, want all articles", words, got)
		}
	}
	if got := Pattern([]string{"ab", "日本", "longer"}); got != "*[lL][oO][nN][gG][eE][rR]*" {
		t.Errorf("%v", got)
	}
}

// FuzzPattern: a pattern can be sent, and matches what contains the word.
func FuzzPattern(f *testing.F) {
	for _, seed := range []string{"word", "two words", "[a-z]", "\\*?", "K\u212a", "\xff", "x\x00\r\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, word string) {
		pattern, _ := wildmat(word)
		if strings.ContainsFunc(pattern, func(r rune) bool { return r <= ' ' || r > '~' || r == ',' }) || len(pattern) > 300 {
			t.Errorf("%q: %q cannot be sent", word, pattern)
		}
		if value := "a " + word + " b"; !strings.Contains(value, "/") {
			if is, err := path.Match(pattern, value); err != nil || !is {
				t.Errorf("%q does not match %q: %v", pattern, value, err)
			}
		}
	})
}

// TestHasAll compares words without regard to case and to white space.
func TestHasAll(t *testing.T) {
	for _, tc := range []struct {
		words []string
		want  bool
	}{
		{nil, true}, {[]string{"gopher", "ann"}, true}, {[]string{"GRÜSSE"}, false}, {[]string{"grüße"}, true}, {[]string{"ann  example"}, true},
		{[]string{"other"}, false}, {[]string{"gopher", "other"}, false}, {[]string{"grüße ann"}, false},
	} {
		if got := HasAll(tc.words, "Gopher: Grüße", "Ann\tExample"); got != tc.want {
			t.Errorf("%q: %v", tc.words, got)
		}
	}
}
