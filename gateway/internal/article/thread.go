package article

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/gateway/internal/place"
)

// A Post is an article of a group, for the table, threads and the feed.
type Post struct {
	Number        string
	Subject, From string // decoded and safe to show; From is a name, or else an address
	Date          time.Time
	Lines         string
	Link          place.Link
	Text          string   // of Link: Subject, or From
	Repeated      bool     // the page has other links with this text
	Here          bool     // it is the article of the page
	ID            string   // with its angle brackets; may be empty
	References    []string // message-ids, likewise
}

// A Thread is an article with the replies to it.
type Thread struct {
	Post    *Post      // nil for an article that is not listed, but has several replies that are
	ID      string     // of that article, with its angle brackets
	Missing place.Link // to that article, which the page sets
	Replies []*Thread
	Count   int       // of the articles that are listed
	Newest  time.Time // the date of the article that arrived last

	first, newest int // positions of articles in the thread, by their arrival
}

// Limits of threads, because anyone can post anything as References.
const (
	// maxReferences is the number of References of an article that count, from the last one.
	maxReferences = 20
	// maxAncestors is how many articles may be above another one.
	maxAncestors = 500
	// maxIndent is the number of lists within each other in a page. Deeper replies are all shown at
	// the last level.
	maxIndent = 10
)

// node is an article while the threads are being built. It need not be listed.
type node struct {
	id       string
	post     *Post
	position int // of the post, from 1
	parent   *node
	replies  []*node
}

// Threads sorts posts into threads by their References. The posts must be in the order of their
// arrival; the replies to an article keep that order. The thread with the newest article comes
// first. References that would make a loop are ignored.
func Threads(posts []*Post) []*Thread {
	byID := make(map[string]*node)
	var all []*node
	add := func(id string) *node {
		n := &node{id: id}
		if byID[id] == nil {
			byID[id] = n
		}
		all = append(all, n)
		return n
	}
	for i, p := range posts {
		n := byID[p.ID]
		if n == nil || n.post != nil { // unknown, or another article with the same message-id
			n = add(p.ID)
		}
		n.post, n.position = p, i+1
		var above *node
		for _, id := range p.References {
			r := byID[id]
			switch {
			case r == n:
				continue
			case r == nil:
				r = add(id)
			}
			if above != nil && r.parent == nil && !above.reaches(r) {
				r.parent = above
			}
			above = r
		}
		// What an article says about itself counts more than what others say about it.
		if above != nil && !above.reaches(n) {
			n.parent = above
		}
	}
	root := new(node)
	for _, n := range all {
		if n.parent == nil {
			n.parent = root
		}
		n.parent.replies = append(n.parent.replies, n)
	}
	var threads []*Thread
	for _, n := range root.replies {
		threads = append(threads, n.threads(true)...)
	}
	slices.SortStableFunc(threads, func(a, b *Thread) int { return cmp.Compare(b.newest, a.newest) })
	return indent(threads, 1)
}

// reaches reports whether n is target or a reply below it, or has no room for replies.
func (n *node) reaches(target *node) bool {
	for steps := 0; n != nil; n, steps = n.parent, steps+1 {
		if n == target || steps == maxAncestors {
			return true
		}
	}
	return false
}

// threads is the thread that begins with n. Without n, if that is not listed, it is the threads of
// the replies. Only where that would separate several replies the article stays, as a gap.
func (n *node) threads(isRoot bool) []*Thread {
	t := &Thread{Post: n.post, ID: n.id, first: n.position, newest: n.position}
	if n.post != nil {
		t.Count, t.Newest = 1, n.post.Date
	}
	for _, r := range n.replies {
		t.Replies = append(t.Replies, r.threads(false)...)
	}
	if n.post == nil && !(isRoot && len(t.Replies) > 1) {
		return t.Replies
	}
	slices.SortStableFunc(t.Replies, func(a, b *Thread) int { return cmp.Compare(a.first, b.first) })
	for _, r := range t.Replies {
		if t.Count += r.Count; r.newest > t.newest {
			t.newest, t.Newest = r.newest, r.Newest
		}
		if t.first == 0 {
			t.first = r.first
		}
	}
	return []*Thread{t}
}

// indent limits how deep threads are nested.
func indent(threads []*Thread, level int) []*Thread {
	if level < maxIndent {
		for _, t := range threads {
			t.Replies = indent(t.Replies, level+1)
		}
		return threads
	}
	var flat []*Thread
	var flatten func([]*Thread)
	flatten = func(threads []*Thread) {
		for _, t := range threads {
			flat = append(flat, t)
			flatten(t.Replies)
			t.Replies = nil
		}
	}
	flatten(threads)
	return flat
}

// MessageIDs are the message-ids in a field such as References, with their angle brackets: the last
// ones, at most maxReferences.
func MessageIDs(field string) []string {
	var ids []string
	for {
		start := strings.IndexByte(field, '<')
		if start < 0 {
			break
		}
		field = field[start:]
		end := strings.IndexByte(field, '>')
		if end < 0 {
			break
		}
		if id := field[:end+1]; !strings.ContainsAny(id[1:], "< \t") && len(id) > 2 {
			ids = append(ids, id)
		}
		field = field[end+1:]
	}
	return ids[max(0, len(ids)-maxReferences):]
}
