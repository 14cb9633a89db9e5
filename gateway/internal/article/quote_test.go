package article

import (
	"strings"
	"testing"
)

// outlined are blocks as text: a quote in brackets, the signature after a tilde.
func outlined(blocks []*Block) string {
	var parts []string
	for _, b := range blocks {
		switch {
		case b.Signature:
			parts = append(parts, "~"+b.Text)
		case b.Quote != nil:
			parts = append(parts, "["+outlined(b.Quote)+"]")
		default:
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "|")
}

func TestQuotes(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"", ""},
		{"one\ntwo\n", "one\ntwo"},
		{"\n\n  indented\n\n\nend\n\n", "  indented\n\n\nend"},
		{"A wrote:\n> one\n> two\n\nreply\n", "A wrote:|[one\ntwo]|reply"},
		{">one\n>two", "[one\ntwo]"},
		{"> > deep\n> less\nnone", "[[deep]|less]|none"},
		{">> deep\n>less\n", "[[deep]|less]"},
		{">>> straight down\n", "[[[straight down]]]"},
		{">\n> one\n>\n> two\n>\n", "[one\n\ntwo]"},
		{">   indented\n", "[  indented]"},
		{"a > b\n", "a > b"},
		{" > not a quote\n", " > not a quote"},
		{strings.Repeat(">", 12) + " x\n", strings.Repeat("[", 8) + ">>>> x" + strings.Repeat("]", 8)},
		{"text\n-- \nName\nPlace\n", "text|~--\nName\nPlace"},
		{"text\r\n-- \r\nName\r\n", "text|~--\nName"},
		{"text\n-- \nold\n-- \n> Name\n", "text\n-- \nold|~--\n>Name"},
		{"--\nno signature\n", "--\nno signature"},
		{"> -- \n> quoted signature\n", "[-- \nquoted signature]"},
		{"-- \n", "~--"},
	} {
		if got := outlined(Blocks(Quoted(tc.text))); got != tc.want {
			t.Errorf("%q: got %q, want %q", tc.text, got, tc.want)
		}
	}
}

func TestFlowed(t *testing.T) {
	for _, tc := range []struct {
		text  string
		delsp bool
		want  string
	}{
		{"one \ntwo \nthree\nfour\n", false, "one two three\nfour"},
		{"one \ntwo\n", true, "onetwo"},
		{"> one \n> two\n> three\nreply\n", false, "[one two\nthree]|reply"},
		{">> deep \n> other\n", false, "[[deep ]|other]"},
		{" >no quote \n  two\n", false, ">no quote  two"},
		{" From here \nto there\n", false, "From here to there"},
		{"text \n-- \nName \nPlace\n", false, "text |~--\nName Place"},
		{"open end ", false, "open end "},
		{strings.Repeat(">", 12) + "x\n", false, strings.Repeat("[", 8) + ">>>>x" + strings.Repeat("]", 8)},
	} {
		if got := outlined(Blocks(Flowed(tc.text, tc.delsp))); got != tc.want {
			t.Errorf("%q: got %q, want %q", tc.text, got, tc.want)
		}
	}
}
