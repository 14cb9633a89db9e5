package article

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// drawn are threads as text: "1(2 3(4))"; an article that is not listed is its message-id.
func drawn(threads []*Thread) string {
	var parts []string
	for _, t := range threads {
		name := t.ID
		if t.Post != nil {
			name = t.Post.Number
		}
		if len(t.Replies) > 0 {
			name += "(" + drawn(t.Replies) + ")"
		}
		parts = append(parts, name)
	}
	return strings.Join(parts, " ")
}

// posted are articles with the numbers 1, 2, …, from "id: references".
func posted(lines ...string) []*Post {
	var posts []*Post
	for i, line := range lines {
		id, references, _ := strings.Cut(line, ":")
		p := &Post{Number: fmt.Sprint(i + 1), ID: "<" + id + ">"}
		for name := range strings.FieldsSeq(references) {
			p.References = append(p.References, "<"+name+">")
		}
		posts = append(posts, p)
	}
	return posts
}

func TestThreads(t *testing.T) {
	for _, tc := range []struct {
		about string
		posts []string
		want  string
	}{
		{"no replies, the newest first", []string{"a:", "b:", "c:"}, "3 2 1"},
		{"replies in the order of arrival", []string{"a:", "b: a", "c: a", "d: a b"}, "1(2(4) 3)"},
		{"the thread with the newest article first", []string{"a:", "b:", "c: a"}, "1(3) 2"},
		{"a reply before the article", []string{"b: a", "c: a b", "a:"}, "3(1(2))"},
		{"an article that is not listed", []string{"a:", "c: a b"}, "1(2)"},
		{"one reply to what is not listed", []string{"b: a"}, "1"},
		{"two replies to what is not listed", []string{"b: a", "c: a", "d:"}, "3 <a>(1 2)"},
		{"a chain of articles that are not listed", []string{"d: a b c", "e: a b"}, "<a>(1 2)"},
		{"itself", []string{"a: a", "b: b a"}, "1(2)"},
		{"a loop", []string{"a: b", "b: a"}, "2(1)"},
		{"a loop of three", []string{"a: c", "b: a", "c: b"}, "3(1(2))"},
		{"the same message-id twice", []string{"a:", "a:", "b: a"}, "1(3) 2"},
		{"no message-id", []string{":", ":", "b: a"}, "3 2 1"},
		{"an article knows its parent best", []string{"c: a b", "b: x", "x:", "a:"}, "4 3(2(1))"},
	} {
		if got := drawn(Threads(posted(tc.posts...))); got != tc.want {
			t.Errorf("%s: got %s, want %s", tc.about, got, tc.want)
		}
	}
}

// depth is how many lists of a page are within each other.
func depth(threads []*Thread) int {
	most := 0
	for _, t := range threads {
		most = max(most, depth(t.Replies))
	}
	if len(threads) == 0 {
		return 0
	}
	return most + 1
}

// Whatever the References are, each article is shown once, and the lists are not deep.
func TestHostileThreads(t *testing.T) {
	random := rand.New(rand.NewPCG(17, 38))
	kinds := map[string]func(i int) string{
		"a chain":   func(i int) string { return fmt.Sprintf("%d: %d", i, i-1) },
		"backwards": func(i int) string { return fmt.Sprintf("%d: %d", i, i+1) },
		"long chains": func(i int) string {
			var b strings.Builder
			for j := range maxReferences {
				fmt.Fprintf(&b, " %d-%d", i-1, maxReferences-j)
			}
			return fmt.Sprintf("%d-0:%s", i, b.String())
		},
		"random": func(i int) string {
			var b strings.Builder
			for range random.IntN(maxReferences) {
				fmt.Fprintf(&b, " %d", random.IntN(3000))
			}
			return fmt.Sprintf("%d:%s", random.IntN(1000), b.String())
		},
	}
	for name, kind := range kinds {
		var lines []string
		for i := range 1000 {
			lines = append(lines, kind(i))
		}
		threads := Threads(posted(lines...))
		var got []string
		var walk func([]*Thread)
		walk = func(threads []*Thread) {
			for _, t := range threads {
				if t.Post != nil {
					got = append(got, t.Post.Number)
				}
				walk(t.Replies)
			}
		}
		walk(threads)
		slices.Sort(got)
		if n := len(slices.Compact(got)); n != 1000 || len(got) != 1000 {
			t.Errorf("%s: %d articles, %d different ones, want 1000", name, len(got), n)
		}
		if n := depth(threads); n > maxIndent {
			t.Errorf("%s: %d lists within each other, want at most %d", name, n, maxIndent)
		}
	}
}

func TestMessageIDs(t *testing.T) {
	many := strings.Repeat("<x@y>", 100) + "<last@y>"
	for field, want := range map[string]string{
		"<a@b> <c@d>":                     "<a@b> <c@d>",
		"<a@b><c@d>":                      "<a@b> <c@d>",
		"":                                "",
		"no ids > here <":                 "",
		"<a@b> (from X <x y@z>) <c@d>, <": "<a@b> <c@d>",
		"<><a@b>":                         "<a@b>",
		"<a<b@c>":                         "",
	} {
		if got := strings.Join(MessageIDs(field), " "); got != want {
			t.Errorf("%q: got %q, want %q", field, got, want)
		}
	}
	if ids := MessageIDs(many); len(ids) != maxReferences || ids[len(ids)-1] != "<last@y>" {
		t.Errorf("%d message-ids, the last is %s", len(ids), ids[len(ids)-1])
	}
}
