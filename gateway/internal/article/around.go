package article

import (
	"cmp"
	"strconv"
	"strings"
)

// A Setting is what stands around an article in its group.
type Setting struct {
	Previous, Next *Post // by number; nil if it is not known
	Thread         []*Thread
	Count          int   // of the articles in Thread
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
		if order := t.posts(nil); s.place(order, found) && len(order) > 1 {
			s.Thread, s.Count = []*Thread{t}, len(order)
		}
	}
	return s
}

// Of returns the post with a message-id, or nil.
func (s *Setting) Of(id string) *Post {
	if s == nil {
		return nil
	}
	return s.byID[id]
}

// among returns the article among posts: the one with its message-id, or else the one of its number,
// unless that has another message-id. It returns nil if there is none.
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

// place finds what is before and after an article in the order of its thread. It reports whether the
// article is there.
func (s *Setting) place(order []*Post, here *Post) bool {
	for i, p := range order {
		if p != here {
			continue
		}
		if i > 0 {
			s.Before = order[i-1]
		}
		if i+1 < len(order) {
			s.After = order[i+1]
		}
		return true
	}
	return false
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
