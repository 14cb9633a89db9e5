package nntptest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fetch1738/fetch1738/testserver/internal/core"
	"github.com/fetch1738/fetch1738/testserver/internal/tree"
)

// store has the groups of a news server and their articles.
type store struct {
	srv    *Server
	opened time.Time

	mu     sync.Mutex
	groups map[string]*group
	byID   map[string]*article // by message-id with its brackets; nil until it is first needed
	posts  []string
}

// group is one group. Numbers are assigned in order and never reused.
type group struct {
	name     string
	articles map[int]*article
	low      int
	high     int
	spool    []int // the numbers, in place of articles
}

// article is a text, or a file of Content.
type article struct {
	group  string
	number int
	text   string
	file   string
	posted time.Time // zero if it was there from the start

	spooled bool   // text is sent as it is
	asked   string // the message-id that has led to a spooled one
	err     error  // why text is not complete
}

// open reads the content. It forgets what clients have posted.
func (r *store) open() error {
	s := r.srv
	r.mu.Lock()
	defer r.mu.Unlock()
	r.opened = time.Now()
	r.groups, r.byID, r.posts = make(map[string]*group), nil, nil
	for name, texts := range s.Groups {
		g := r.group(name)
		for _, text := range texts {
			g.high++
			if text != "" {
				g.articles[g.high] = &article{group: name, number: g.high, text: text}
			}
		}
	}
	files := make(map[string][]string)
	err := fs.WalkDir(s.Files(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() { // what cannot be read is not served
			return nil
		}
		if dir := path.Dir(name); groupName(dir) != "" {
			files[dir] = append(files[dir], name)
		}
		return nil
	})
	for dir, names := range files {
		r.group(groupName(dir)).add(names)
	}
	return err
}

// groupName returns the group of a directory, or "".
func groupName(dir string) string {
	name := strings.ReplaceAll(dir, "/", ".")
	for i := range len(name) {
		c := name[i] | 0x20
		letter := 'a' <= c && c <= 'z'
		if !letter && (i == 0 || strings.IndexByte("0123456789+-._", name[i]) < 0) {
			return ""
		}
	}
	return name
}

// group returns the group of a name, and creates it if it does not exist.
func (r *store) group(name string) *group {
	g := r.groups[name]
	if g == nil {
		g = &group{name: name, articles: make(map[int]*article), low: 1}
		r.groups[name] = g
	}
	return g
}

// add numbers files. A file whose name is a number has that number.
func (g *group) add(files []string) {
	slices.Sort(files)
	var others []string
	for _, file := range files {
		n, err := strconv.Atoi(path.Base(file))
		if err != nil || n <= 0 || g.articles[n] != nil {
			others = append(others, file)
			continue
		}
		g.articles[n] = &article{group: g.name, number: n, file: file}
		g.high = max(g.high, n)
	}
	for _, file := range others {
		g.high++
		g.articles[g.high] = &article{group: g.name, number: g.high, file: file}
	}
	if numbers := slices.Sorted(maps.Keys(g.articles)); len(numbers) > 0 {
		g.low = numbers[0]
	}
}

// put adds the file of that name to its group, or replaces the article that it was.
func (r *store) put(name string) error {
	dir, base := path.Split(name)
	in := groupName(strings.TrimSuffix(dir, "/"))
	if in == "" {
		return fmt.Errorf("testserver: %q is not in the directory of a newsgroup", name)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	g := r.group(in)
	a := g.fileArticle(name)
	if a == nil {
		number, err := strconv.Atoi(base)
		if err != nil || number <= 0 || g.articles[number] != nil {
			number = g.high + 1
		}
		a = &article{group: in, number: number, file: name}
		g.articles[number] = a
		g.high = max(g.high, number)
	}
	if r.byID == nil {
		return nil
	}
	text, err := r.read(a)
	if err == nil {
		r.byID[a.id(text)] = a
	}
	return err
}

// remove removes the articles that are files of that name or below it, or the article of that
// number in a group, as in "local.test/5". It reports whether there was one.
func (r *store) remove(name string) (found bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	dir, base := path.Split(name)
	number, _ := strconv.Atoi(base)
	for _, g := range r.groups {
		maps.DeleteFunc(g.articles, func(n int, a *article) bool {
			gone := a.file == name || strings.HasPrefix(a.file, name+"/") || a.file == "" && g.name+"/" == dir && n == number
			found = found || gone
			return gone
		})
	}
	maps.DeleteFunc(r.byID, func(_ string, a *article) bool { return r.groups[a.group].articles[a.number] != a })
	return found
}

// fileArticle returns the article that is a file, or nil.
func (g *group) fileArticle(file string) *article {
	for _, a := range g.articles {
		if a.file == file {
			return a
		}
	}
	return nil
}

// find returns a group, or nil.
func (r *store) find(name string) (*group, error) {
	if s := r.srv.Spool; s != nil {
		numbers, err := s.Numbers(name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		g := &group{name: name, spool: numbers, low: 1}
		if len(numbers) > 0 {
			g.low, g.high = numbers[0], numbers[len(numbers)-1]
		}
		return g, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.groups[name], nil
}

// names returns the names of all groups, sorted.
func (r *store) names() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(maps.Keys(r.groups))
}

// numbers returns the numbers of a group's articles, sorted, with the group's low and high water
// marks.
func (r *store) numbers(g *group) (numbers []int, low, high int) {
	if r.srv.Spool != nil {
		return g.spool, g.low, g.high
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(maps.Keys(g.articles)), g.low, g.high
}

// articleByNumber returns the article of a number, or nil.
func (r *store) articleByNumber(g *group, number int) *article {
	if s := r.srv.Spool; s != nil {
		return r.spooled(article{group: g.name, number: number}, func() (io.ReadCloser, error) { return s.Article(g.name, number) })
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return g.articles[number]
}

// articleByID returns an article by its message-id, brackets included, or nil.
func (r *store) articleByID(id string) *article {
	if s := r.srv.Spool; s != nil {
		return r.spooled(article{asked: id}, func() (io.ReadCloser, error) { return s.ArticleByID(id) })
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byID == nil {
		r.byID = make(map[string]*article)
		for _, g := range r.groups {
			for _, a := range g.articles {
				if text, err := r.read(a); err == nil {
					r.byID[a.id(text)] = a
				}
			}
		}
	}
	return r.byID[id]
}

func (r *store) posted() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.posts)
}

// read returns an article as it is sent, before dot-stuffing.
func (r *store) read(a *article) ([]byte, error) {
	switch {
	case a.spooled:
		return []byte(a.text), a.err
	case a.file == "":
		return netLines(strings.NewReader(a.text))
	}
	f, e, err := r.srv.m.Tree.Open(a.file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := netLines(io.LimitReader(f, r.srv.MaxUpload))
	if err != nil || beginsWithHeader(text) {
		return text, err
	}
	return append(a.header(e), text...), nil
}

// header returns a header for a file that has none.
func (a *article) header(e tree.Entry) []byte {
	return fmt.Appendf(nil, "Path: testserver!not-for-mail\r\nFrom: testserver <news@testserver.test>\r\nNewsgroups: %s\r\nSubject: %s\r\nDate: %s\r\nMessage-ID: %s\r\n\r\n",
		a.group, core.OneLine.Replace(e.Name), e.ModTime.UTC().Format(time.RFC1123Z), a.ownID())
}

// ownID returns the message-id of an article whose text has none (RFC 3977 §6.2.1.2).
func (a *article) ownID() string {
	if a.spooled {
		return "<0>"
	}
	return fmt.Sprintf("<%d.%s@testserver.test>", a.number, a.group)
}

// id returns an article's message-id, as in its header.
func (a *article) id(text []byte) string {
	if a.asked != "" {
		return a.asked
	}
	if id := field(text, "Message-ID"); id != "" {
		return id
	}
	return a.ownID()
}

// netLines reads lines and ends them in CR LF.
func netLines(r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(core.ToNetASCII(core.FromNetASCII(r)))
	if len(text) > 0 && !bytes.HasSuffix(text, []byte("\r\n")) {
		text = append(text, "\r\n"...)
	}
	return text, err
}

// beginsWithHeader reports whether a text begins like an article.
func beginsWithHeader(text []byte) bool {
	line, _, _ := bytes.Cut(text, []byte("\r\n"))
	name, _, ok := bytes.Cut(line, []byte(":"))
	for _, c := range name {
		if c <= ' ' || c > '~' {
			return false
		}
	}
	return ok && len(name) > 0
}

// splitArticle returns the header and what follows the empty line.
func splitArticle(text []byte) (header, body []byte) {
	if body, ok := bytes.CutPrefix(text, []byte("\r\n")); ok {
		return nil, body
	}
	header, body, ok := bytes.Cut(text, []byte("\r\n\r\n"))
	if !ok {
		return text, nil
	}
	return text[:len(header)+2], body
}

// field returns the value of a header field, with its lines joined, or "".
func field(text []byte, name string) string {
	header, _ := splitArticle(text)
	var value strings.Builder
	found := false
	for line := range bytes.SplitSeq(header, []byte("\r\n")) {
		if found && len(line) > 0 && (line[0] == ' ' || line[0] == '\t') {
			value.Write(line)
			continue
		}
		if found {
			break
		}
		head, rest, ok := bytes.Cut(line, []byte(":"))
		if found = ok && strings.EqualFold(string(head), name); found {
			value.Write(rest)
		}
	}
	return strings.TrimSpace(value.String())
}

// accept stores a posted article and returns the reply.
func (r *store) accept(text string) string {
	for _, name := range []string{"From", "Newsgroups", "Subject"} {
		if field([]byte(text), name) == "" {
			return "441 No " + name + "."
		}
	}
	r.articleByID("") // index all articles by their ids
	r.mu.Lock()
	defer r.mu.Unlock()
	var groups []*group
	for name := range strings.SplitSeq(field([]byte(text), "Newsgroups"), ",") {
		if g := r.groups[strings.TrimSpace(name)]; g != nil {
			groups = append(groups, g)
		}
	}
	if len(groups) == 0 {
		return "441 No such newsgroup."
	}
	given := field([]byte(text), "Message-ID")
	id := given
	if id == "" {
		id = fmt.Sprintf("<posted.%d@testserver.test>", len(r.posts)+1)
	}
	if r.byID[id] != nil {
		return "441 435 Duplicate"
	}
	now := time.Now()
	r.posts = append(r.posts, text)
	stored := "Path: testserver!not-for-mail\r\n"
	if given == "" {
		stored += "Message-ID: " + id + "\r\n"
	}
	if field([]byte(text), "Date") == "" {
		stored += "Date: " + now.UTC().Format(time.RFC1123Z) + "\r\n"
	}
	for _, g := range groups {
		g.high++
		a := &article{group: g.name, number: g.high, text: stored + text, posted: now}
		g.articles[g.high] = a
		r.byID[id] = a
	}
	return "240 Article received " + id
}

// overview returns an article's line in an overview (RFC 3977 §8.3.2). That of an article which
// cannot be read to its end is made from what can be read.
func (r *store) overview(a *article) (string, error) {
	text, err := r.read(a)
	if len(text) == 0 && err != nil {
		return "", err
	}
	_, body := splitArticle(text)
	fields := []string{strconv.Itoa(a.number)}
	for _, name := range []string{"Subject", "From", "Date"} {
		fields = append(fields, field(text, name))
	}
	fields = append(fields, a.id(text), field(text, "References"), strconv.Itoa(len(text)), strconv.Itoa(bytes.Count(body, []byte("\n"))))
	for i, f := range fields {
		fields[i] = overviewField.Replace(f)
	}
	return strings.Join(fields, "\t") + "\r\n", nil
}

var overviewField = strings.NewReplacer("\t", " ", "\r", " ", "\n", " ", "\x00", " ")

var errForbiddenArticle = errors.New("forbidden")

// permitted reads an article unless it is forbidden.
func (r *store) permitted(a *article) ([]byte, error) {
	if slices.Contains(r.srv.Forbidden, fmt.Sprintf("%s/%d", a.group, a.number)) {
		return nil, errForbiddenArticle
	}
	return r.read(a)
}
