package article

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// A Setting is what stands around an article in its group.
type Setting struct {
	Previous, Next *Post // by number; nil if it is not known
	Thread         []*Thread
	Count, Shown   int   // of the articles in the thread; of those that are in Thread, and those above them
	Before, After  *Post // in Thread, as it is shown
	Replies        int   // to the article itself

	byID map[string]*Post
}

// Around returns the setting of an article among the posts of its group. here is the article by its own
// header; its Number is empty if it is not known. If the article is in no thread with others, Thread is
// nil.
func Around(posts []*Post, here *Post) *Setting {
	s := &Setting{byID: make(map[string]*Post)}
	found := here.among(posts)
	if found == nil {
		found = here
		posts = append(posts, here)
	} else {
		s.neighbours(posts, found)
	}
	found.Here = true
	for _, p := range posts {
		if p.ID != "" && s.byID[p.ID] == nil {
			s.byID[p.ID] = p
		}
		if n := len(p.References); n > 0 && here.ID != "" && p.References[n-1] == here.ID && p != found {
			s.Replies++
		}
	}
	for _, t := range Threads(posts) {
		order := t.posts(nil)
		at := slices.Index(order, found)
		if at < 0 || len(order) == 1 {
			continue
		}
		if at > 0 {
			s.Before = order[at-1]
		}
		if at+1 < len(order) {
			s.After = order[at+1]
		}
		s.Count = len(order)
		near := make(map[*Post]bool)
		for _, p := range order[max(0, at-maxShown/2):min(len(order), at+maxShown/2)] {
			near[p] = true
		}
		s.Thread, s.Shown = []*Thread{t}, len(near)
		t.keep(near)
	}
	return s
}

// maxShown is the number of articles of a thread that are shown with one of them.
const maxShown = 100

// keep leaves out the articles that are not near, except those above one that is. It reports whether
// anything is left.
func (t *Thread) keep(near map[*Post]bool) bool {
	t.Replies = slices.DeleteFunc(t.Replies, func(r *Thread) bool { return !r.keep(near) })
	return len(t.Replies) > 0 || near[t.Post]
}

// Of returns the post with a message-id, or nil.
func (s *Setting) Of(id string) *Post {
	if s == nil {
		return nil
	}
	return s.byID[id]
}

// among returns the article among posts: the one with its message-id, or else the one of its number,
// unless that has another message-id. If the article is not among them, the result is nil.
func (p *Post) among(posts []*Post) *Post {
	var numbered *Post
	for _, other := range posts {
		switch {
		case p.ID != "" && other.ID == p.ID:
			return other
		case p.Number != "" && other.Number == p.Number && (p.ID == "" || other.ID == ""):
			numbered = other
		}
	}
	return numbered
}

// neighbours finds the articles with the next lower and the next higher number.
func (s *Setting) neighbours(posts []*Post, here *Post) {
	at, ok := here.number()
	if !ok {
		return
	}
	previous, next := int64(-1), int64(-1)
	for _, p := range posts {
		n, ok := p.number()
		switch {
		case !ok || n == at:
		case n < at && n > previous:
			previous, s.Previous = n, p
		case n > at && (next < 0 || n < next):
			next, s.Next = n, p
		}
	}
}

func (p *Post) number() (int64, bool) {
	n, err := strconv.ParseInt(p.Number, 10, 64)
	return n, err == nil && n >= 0
}

// posts appends the articles of a thread, in the order in which it is shown.
func (t *Thread) posts(list []*Post) []*Post {
	if t.Post != nil {
		list = append(list, t.Post)
	}
	for _, r := range t.Replies {
		list = r.posts(list)
	}
	return list
}

// Stands returns the group of an article and its number there, by the fields Xref and Newsgroups of its
// header. The number is 0 if it is not known; then the group may be empty, too.
func (h Fields) Stands() (group string, number int64) {
	newsgroups := strings.FieldsFunc(h.Get("Newsgroups"), func(r rune) bool { return r == ',' || r == ' ' || r == '\t' })
	if len(newsgroups) > 0 {
		group = newsgroups[0]
	}
	fields := strings.Fields(h.Get("Xref")) // the first one is the name of the server
	for _, field := range fields[min(1, len(fields)):] {
		name, digits, _ := strings.Cut(field, ":")
		if n, err := strconv.ParseInt(digits, 10, 64); err == nil && n > 0 && n < 1e15 && name == cmp.Or(group, name) {
			return name, n
		}
	}
	return group, 0
}

// MarkRepeatedPosts sets Repeated of the posts whose links have the text of another one.
func MarkRepeatedPosts(posts []*Post) {
	texts := make(map[string]bool)
	for _, p := range posts {
		p.Repeated, texts[p.Text] = texts[p.Text], true
	}
}

// MarkRepeated is MarkRepeatedPosts for the articles of threads.
func MarkRepeated(threads []*Thread) {
	var posts []*Post
	for _, t := range threads {
		posts = t.posts(posts)
	}
	MarkRepeatedPosts(posts)
}

// Shorten shortens the texts of long subjects and names in threads.
func Shorten(threads []*Thread) {
	for _, t := range threads {
		if t.Post != nil {
			t.Post.Text, t.Post.From = Shortened(t.Post.Text), Shortened(t.Post.From)
		}
		Shorten(t.Replies)
	}
}

// maxText is the length of a text in a thread, in characters.
const maxText = 150

// Shortened is a text without what is behind the first maxText characters.
func Shortened(text string) string {
	n := 0
	for i := range text {
		if n++; n > maxText {
			return text[:i] + "…"
		}
	}
	return text
}

// Address is the address in a field From, or "".
func Address(from string) string {
	if i := strings.LastIndexByte(from, '<'); i >= 0 {
		from, _, _ = strings.Cut(from[i+1:], ">")
	}
	for word := range strings.FieldsSeq(from) {
		if strings.Contains(word, "@") {
			return word
		}
	}
	return ""
}
