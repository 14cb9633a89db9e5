package form

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/fetch/gopher"
)

// poll is a form with a question of each kind.
func poll() *gopher.Form {
	return &gopher.Form{Questions: []gopher.Question{
		{Kind: gopher.Note, Prompt: "All of it is read"},
		{Kind: gopher.Ask, Prompt: "Name:", Default: "nobody"},
		{Kind: gopher.AskL, Prompt: "Remarks"},
		{Kind: gopher.Select, Prompt: "Member?", Default: "0"},
		{Kind: gopher.Choose, Prompt: "Color", Choices: []string{"red", "3", "blue"}, Default: "red"},
		{Kind: gopher.ChooseF, Prompt: "Picture", Default: "theirs"},
	}}
}

// TestMatch tests which question an answer is for, and what is sent.
func TestMatch(t *testing.T) {
	file := filepath.Join(t.TempDir(), "picture")
	if err := os.WriteFile(file, []byte("GIF"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		given []plan.Answer
		want  []string
	}{
		"none: the defaults, but no file": {nil, []string{"", "nobody", "", "0", "red", ""}},
		"by prompt and by number": {
			[]plan.Answer{{Name: "name", Value: "lab"}, {Name: "2", Value: "one"}, {Name: "Remarks", Value: "two"}, {Name: "3", Value: "Yes"}, {Name: "color", Value: "3"}, {Name: "5", Value: file}},
			[]string{"", "lab", "one\ntwo\n", "1", "3", "GIF"}, // "3" is a choice, not the number of one
		},
		"a choice by its number": {[]plan.Answer{{Name: "Color", Value: "1"}}, []string{"", "nobody", "", "0", "red", ""}},
	} {
		if got, err := Match(poll(), tc.given); err != nil || !slices.Equal(got, tc.want) {
			t.Errorf("%s: %q, %v, want %q", name, got, err, tc.want)
		}
	}
}

// TestMatchRefused tests that an answer to no question, or a second one, is a mistake of the user.
func TestMatchRefused(t *testing.T) {
	for want, tc := range map[string]struct {
		kind  localerr.Kind
		given []plan.Answer
	}{
		`no question "Age"; its questions are "Name", "Remarks", "Member", "Color", "Picture"`: {localerr.Usage, []plan.Answer{{Name: "Age", Value: "7"}}},
		`"1" is answered twice`: {localerr.Usage, []plan.Answer{{Name: "Name", Value: "a"}, {Name: "1", Value: "b"}}},
		`must be yes or no`:     {localerr.Usage, []plan.Answer{{Name: "Member", Value: "perhaps"}}},
		`no-such-file`:          {localerr.Read, []plan.Answer{{Name: "Picture", Value: filepath.Join(t.TempDir(), "no-such-file")}}},
	} {
		if _, err := Match(poll(), tc.given); err == nil || localerr.KindOf(err) != tc.kind || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestAsk tests a conversation at a terminal: a wrong answer is asked again, an empty one is the default.
func TestAsk(t *testing.T) {
	var shown strings.Builder
	p := Person{In: strings.NewReader("lab\r\none\ntwo\n\nperhaps\nyes\n2\n\n"), Err: &shown}
	got, err := p.Ask(t.Context(), poll())
	if want := []string{"", "lab", "one\ntwo\n", "1", "3", ""}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	for _, want := range []string{"All of it is read\n", "Name: [nobody]: ", "must be yes or no\n", "   1 red\n   2 3\n   3 blue\n", "(a file to send, or empty)"} {
		if !strings.Contains(shown.String(), want) {
			t.Errorf("%q is missing in:\n%s", want, shown.String())
		}
	}
	if _, err := (Person{In: strings.NewReader("lab\n"), Err: &shown}).Ask(t.Context(), poll()); err == nil {
		t.Error("a form whose user has gone was answered")
	}
}
