package article

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
)

// numbers are the numbers of posts, "-" for nil.
func numbers(posts ...*Post) string {
	var list []string
	for _, p := range posts {
		if p == nil {
			list = append(list, "-")
		} else {
			list = append(list, p.Number)
		}
	}
	return strings.Join(list, " ")
}

func TestAround(t *testing.T) {
	lines := []string{"a:", "b: a", "x:", "c: a b", "d: a", "e: gone"}
	for _, tc := range []struct {
		here                 *Post
		neighbours, inThread string
		thread               string
		replies              int
	}{
		{&Post{Number: "1", ID: "<a>"}, "- 2", "- 2", "1(2(4) 5)", 2},
		{&Post{Number: "4", ID: "<c>"}, "3 5", "2 5", "1(2(4) 5)", 0},
		{&Post{Number: "3", ID: "<x>"}, "2 4", "- -", "", 0},
		{&Post{ID: "<b>"}, "1 3", "1 4", "1(2(4) 5)", 1},
		{&Post{Number: "2"}, "1 3", "1 4", "1(2(4) 5)", 0},
		{&Post{Number: "1", ID: "<d>"}, "4 6", "4 -", "1(2(4) 5)", 0},                                          // the number of another server
		{&Post{Number: "9", ID: "<new>", References: []string{"<a>", "<d>"}}, "- -", "5 -", "1(2(4) 5(9))", 0}, // not listed
		{&Post{Number: "1", ID: "<other>"}, "- -", "- -", "", 0},
		{&Post{ID: "<gone>"}, "- -", "- 6", "(6)", 1},
	} {
		s := Around(posted(lines...), tc.here)
		if got := numbers(s.Previous, s.Next); got != tc.neighbours {
			t.Errorf("%+v: neighbours %s, want %s", tc.here, got, tc.neighbours)
		}
		if got := numbers(s.Before, s.After); got != tc.inThread {
			t.Errorf("%+v: in the thread %s, want %s", tc.here, got, tc.inThread)
		}
		if got := drawn(s.Thread); got != tc.thread || s.Replies != tc.replies {
			t.Errorf("%+v: the thread %s, %d replies; want %s, %d", tc.here, got, s.Replies, tc.thread, tc.replies)
		}
	}
}

// TestHostileAround tests that the place in a thread is marked once, whatever the references are.
func TestHostileAround(t *testing.T) {
	var chain, loops, same []string
	for i := range 1000 {
		chain = append(chain, fmt.Sprintf("%d: %d", i, i-1))
		loops = append(loops, fmt.Sprintf("%d: %d %d", i, (i+1)%1000, (i+7)%1000))
		same = append(same, "1: 1 2 1")
	}
	for name, lines := range map[string][]string{"a chain": chain, "loops": loops, "the same message-id": same} {
		posts := posted(lines...)
		s := Around(posts, &Post{ID: "<1>", Number: "2"})
		marked := 0
		for _, thread := range s.Thread {
			for _, p := range thread.posts(nil) {
				if p.Here {
					marked++
				}
			}
		}
		if s.Shown > maxShown {
			t.Errorf("%s: %d articles are shown", name, s.Shown)
		}
		if len(s.Thread) > 0 && marked != 1 || depth(s.Thread) > maxIndent {
			t.Errorf("%s: %d places marked, %d lists within each other", name, marked, depth(s.Thread))
		}
	}
}

func TestStands(t *testing.T) {
	for _, tc := range []struct{ newsgroups, xref, want string }{
		{"a.b", "host a.b:12", "a.b 12"},
		{"a.b,c.d", "host c.d:7 a.b:12", "a.b 12"},
		{"a.b", "", "a.b 0"},
		{"a.b", "host c.d:7", "a.b 0"},
		{"", "host c.d:7", "c.d 7"},
		{"", "", " 0"},
		{"a.b", "a.b:12", "a.b 0"}, // the name of the server
		{"a.b", "host a.b:-1", "a.b 0"},
		{"a.b", "host a.b:99999999999999999999", "a.b 0"},
		{"a.b", "host a.b:" + strings.Repeat("9", 16), "a.b 0"},
		{" , ,", "host", " 0"},
	} {
		group, number := Fields{{Name: "newsgroups", Value: tc.newsgroups}, fetch.Field{Name: "XREF", Value: tc.xref}}.Stands()
		if got := fmt.Sprint(group, " ", number); got != tc.want {
			t.Errorf("%q %q: %s, want %s", tc.newsgroups, tc.xref, got, tc.want)
		}
	}
}

// TestThreadFacts counts the articles of a thread; its date is that of the article that arrived last.
func TestThreadFacts(t *testing.T) {
	posts := posted("a:", "b: a", "c: gone", "d: gone", "x: b")
	for i, p := range posts {
		p.Date = time.Unix(int64(1000-i), 0)
	}
	posts[0].Date = time.Unix(9e9, 0) // an author can write anything
	threads := Threads(posts)
	if len(threads) != 2 || threads[0].Count != 3 || threads[0].Newest.Unix() != 996 || threads[1].Count != 2 || threads[1].Newest.Unix() != 997 {
		t.Errorf("%+v %+v", threads[0], threads[1])
	}
}

// TestLongThread shows the part of a long thread that is around the article.
func TestLongThread(t *testing.T) {
	lines := []string{"0:"}
	for i := range 499 {
		lines = append(lines, fmt.Sprintf("%d: 0", i+1))
	}
	s := Around(posted(lines...), &Post{Number: "301", ID: "<300>"})
	order := s.Thread[0].posts(nil)
	if s.Count != 500 || s.Shown != maxShown || len(order) != maxShown+1 || order[0].Number != "1" || order[1].Number != "251" || numbers(s.Before, s.After) != "300 302" {
		t.Errorf("%d of %d articles, %s", len(order), s.Count, numbers(order[:2]...))
	}
}

func TestAddress(t *testing.T) {
	for from, want := range map[string]string{
		"Ann <a@b>": "a@b", "a@b (Ann)": "a@b", "a@b": "a@b", "Ann": "", "": "", "<a@b": "a@b", "<<a@b>>": "a@b", "Ann <>": "",
	} {
		if got := Address(from); got != want {
			t.Errorf("%q: %q, want %q", from, got, want)
		}
	}
}
