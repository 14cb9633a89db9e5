package replay

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/fetch1738/fetch1738/archive"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/nntptest"
)

func startNews(ctx context.Context, s *site, addr string, set func(*testserver.Server)) (*testserver.Server, error) {
	server, err := nntptest.Start(ctx, addr, func(srv *nntptest.Server) {
		set(&srv.Server)
		srv.Spool = &spool{site: s, groups: make(map[string]*newsgroup), seed: maphash.MakeSeed()}
		srv.Greeting = "201 an archive, no posting"
	})
	if err != nil {
		return nil, err
	}
	return &server.Server, nil
}

// A spool answers for a news server. The listing of a group is what was recorded of it. Without one
// the group is the articles that were recorded by their numbers.
type spool struct {
	site *site
	seed maphash.Seed

	mu     sync.Mutex
	groups map[string]*newsgroup
	kept   int // articles of groups

	byID func() ([]numbered, error) // set by the first search for a message-id
	list func() ([]byte, error)     // set by the first LIST
}

// maxKept is how many articles the groups in memory may have. With more, they are read anew.
const maxKept = 500_000

// A newsgroup is the articles of a group, sorted by number.
type newsgroup struct {
	listing *archive.Capture // nil means that the listing was not recorded
	numbers []int
	ids     []string // for news URLs: the message-ids, without brackets, of the numbers
}

// group returns a group, or fs.ErrNotExist.
func (s *spool) group(name string) (*newsgroup, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if g := s.groups[name]; g != nil {
		return g, nil
	}
	g, err := s.readGroup(name)
	if err != nil {
		return nil, err
	}
	if s.kept += len(g.numbers); s.kept > maxKept {
		clear(s.groups)
		s.kept = len(g.numbers)
	}
	s.groups[name] = g
	return g, nil
}

func (s *spool) readGroup(name string) (g *newsgroup, err error) {
	g = new(newsgroup)
	switch g.listing, err = s.site.find(s.groupURL(name)); {
	case err == nil:
		return g, s.readListing(g)
	case !errors.Is(err, fs.ErrNotExist), s.isNews():
		return nil, err
	}
	for c, err := range s.site.captures(s.groupURL(name), "/") {
		if err != nil {
			return nil, err
		}
		if number, err := strconv.Atoi(c.URL[strings.LastIndexByte(c.URL, '/')+1:]); err == nil && number > 0 {
			g.numbers = append(g.numbers, number)
		}
	}
	if len(g.numbers) == 0 {
		return nil, errNoCapture
	}
	slices.Sort(g.numbers)
	g.numbers = slices.Compact(g.numbers)
	return g, nil
}

// readListing reads the numbers of a recorded listing. That of a group without articles is empty.
func (s *spool) readListing(g *newsgroup) error {
	type article struct {
		number int
		id     string
	}
	var all []article
	empty := true
	err := s.eachLine(g.listing, func(line []byte) {
		empty = false
		if fields := bytes.SplitN(line, []byte("\t"), 6); numberOf(line) > 0 {
			a := article{number: numberOf(line)}
			if s.isNews() && len(fields) > 4 {
				a.id = strings.Trim(string(fields[4]), "<>")
			}
			all = append(all, a)
		}
	})
	if len(all) == 0 && (!empty || err != nil) { // so that a client asks for the listing, and gets the error
		all = []article{{number: 1}}
	}
	slices.SortStableFunc(all, func(a, b article) int { return cmp.Compare(a.number, b.number) })
	for _, a := range slices.CompactFunc(all, func(a, b article) bool { return a.number == b.number }) {
		g.numbers = append(g.numbers, a.number)
		if s.isNews() {
			g.ids = append(g.ids, a.id)
		}
	}
	return nil
}

// eachLine calls do with the lines of a capture. The error says why there are not all of them.
func (s *spool) eachLine(c *archive.Capture, do func(line []byte)) error {
	doc, err := s.site.open(c)
	if err != nil {
		return err
	}
	defer doc.Body.Close()
	lines := bufio.NewReaderSize(doc.Body, 64<<10)
	for inside := false; ; { // inside a very long line
		line, err := lines.ReadSlice('\n')
		if len(line) > 0 && !inside {
			do(line)
		}
		inside = errors.Is(err, bufio.ErrBufferFull)
		switch {
		case err == io.EOF:
			return nil
		case err != nil && !inside:
			return err
		}
	}
}

// numberOf returns the number that an overview line begins with, or 0.
func numberOf(line []byte) int {
	digits, _, _ := bytes.Cut(line, []byte("\t"))
	n, _ := strconv.Atoi(string(digits))
	return n
}

// isNews reports whether the URLs are news URLs, which name articles by their message-ids.
func (s *spool) isNews() bool { return s.site.Scheme == "news" || s.site.Scheme == "snews" }

// groupURL returns the URL of a group.
func (s *spool) groupURL(name string) func(locator.HostPort) locator.Locator {
	return func(at locator.HostPort) locator.Locator {
		if s.isNews() {
			return &locator.News{HostPort: at, Group: name, Secure: s.site.Scheme == "snews"}
		}
		return &locator.NNTP{HostPort: at, Group: name, Secure: s.site.Scheme == "nntps"}
	}
}

// read returns the content of the first URL that has a capture.
func (s *spool) read(url func(locator.HostPort) locator.Locator) (io.ReadCloser, error) {
	c, err := s.site.find(url)
	if err != nil {
		return nil, err
	}
	doc, err := s.site.open(c)
	if err != nil {
		return nil, err
	}
	return doc.Body, nil
}

// Numbers implements nntptest.Spool.
func (s *spool) Numbers(group string) ([]int, error) {
	g, err := s.group(group)
	if err != nil {
		return nil, err
	}
	return g.numbers, nil
}

// Overview implements nntptest.Spool.
func (s *spool) Overview(group string, from, to int) (io.ReadCloser, error) {
	g, err := s.group(group)
	if err != nil || g.listing == nil {
		return nil, err
	}
	doc, err := s.site.open(g.listing)
	if err != nil {
		return nil, err
	}
	if from <= g.numbers[0] && to >= g.numbers[len(g.numbers)-1] {
		return doc.Body, nil
	}
	return &lineFilter{Closer: doc.Body, lines: bufio.NewReader(doc.Body), keep: func(line []byte) bool {
		n := numberOf(line)
		return from <= n && n <= to && n > 0
	}}, nil
}

// A lineFilter reads the lines that are kept.
type lineFilter struct {
	io.Closer
	lines *bufio.Reader
	keep  func(line []byte) bool
	left  []byte
}

func (f *lineFilter) Read(p []byte) (int, error) {
	for len(f.left) == 0 {
		line, err := f.lines.ReadBytes('\n')
		if err != nil {
			return 0, err
		}
		if f.keep(line) {
			f.left = line
		}
	}
	n := copy(p, f.left)
	f.left = f.left[n:]
	return n, nil
}

// Article implements nntptest.Spool.
func (s *spool) Article(group string, number int) (io.ReadCloser, error) {
	if !s.isNews() {
		return s.read(func(at locator.HostPort) locator.Locator {
			return &locator.NNTP{HostPort: at, Group: group, Article: strconv.Itoa(number), Secure: s.site.Scheme == "nntps"}
		})
	}
	g, err := s.group(group)
	if err != nil {
		return nil, err
	}
	i, found := slices.BinarySearch(g.numbers, number)
	if !found || g.ids[i] == "" {
		return nil, errNoCapture
	}
	return s.ArticleByID(g.ids[i])
}

// ArticleByID implements nntptest.Spool.
func (s *spool) ArticleByID(id string) (io.ReadCloser, error) {
	id = strings.TrimSuffix(strings.TrimPrefix(id, "<"), ">")
	if s.isNews() {
		return s.read(func(at locator.HostPort) locator.Locator {
			return &locator.News{HostPort: at, MessageID: id, Secure: s.site.Scheme == "snews"}
		})
	}
	s.mu.Lock()
	if s.byID == nil {
		s.byID = sync.OnceValues(s.indexIDs)
	}
	byID := s.byID
	s.mu.Unlock()
	index, err := byID()
	if err != nil {
		return nil, err
	}
	hash := maphash.String(s.seed, id)
	for i, _ := slices.BinarySearchFunc(index, hash, func(n numbered, h uint64) int { return cmp.Compare(n.hash, h) }); i < len(index) && index[i].hash == hash; i++ {
		if text, err := s.Article(*index[i].group, index[i].number); !errors.Is(err, fs.ErrNotExist) {
			return text, err
		}
	}
	return nil, errNoCapture
}

// numbered is an article by the hash of its message-id.
type numbered struct {
	hash   uint64
	group  *string
	number int
}

// maxIDs is how many articles can be found by their message-ids, so that the index takes 96 MB at
// most.
const maxIDs = 4_000_000

// indexIDs returns the articles of all groups, sorted by hash.
func (s *spool) indexIDs() ([]numbered, error) {
	names, err := s.groupNames()
	if err != nil {
		return nil, err
	}
	var all []numbered
	for _, name := range names {
		g, err := s.group(name)
		if err != nil {
			return nil, err
		}
		add := func(number int, id string) {
			if id = strings.Trim(id, "<> \t\r\n"); id != "" && len(all) < maxIDs {
				all = append(all, numbered{maphash.String(s.seed, id), &name, number})
			}
		}
		if g.listing != nil {
			// What an incomplete listing lacks is not found.
			_ = s.eachLine(g.listing, func(line []byte) {
				if fields := bytes.SplitN(line, []byte("\t"), 6); len(fields) > 4 {
					add(numberOf(line), string(fields[4]))
				}
			})
		} else {
			for _, number := range g.numbers {
				add(number, s.messageID(name, number))
			}
		}
	}
	slices.SortFunc(all, func(a, b numbered) int { return cmp.Compare(a.hash, b.hash) })
	return all, nil
}

// messageID returns the message-id in the header of an article, or "".
func (s *spool) messageID(group string, number int) string {
	in, err := s.Article(group, number)
	if err != nil {
		return ""
	}
	defer in.Close()
	const name = "message-id:"
	for lines := bufio.NewReader(in); ; {
		line, err := lines.ReadString('\n')
		switch {
		case err != nil, strings.Trim(line, "\r\n") == "":
			return ""
		case len(line) <= len(name) || !strings.EqualFold(line[:len(name)], name):
			continue
		}
		if line = strings.TrimSpace(line[len(name):]); line == "" { // it is on the next line
			line, _ = lines.ReadString('\n')
		}
		return line
	}
}

// Active implements nntptest.Spool. Without a recorded list of groups, it is made from the groups.
func (s *spool) Active() (io.ReadCloser, error) {
	recorded, err := s.read(func(at locator.HostPort) locator.Locator {
		if s.isNews() {
			return &locator.News{HostPort: at, All: true, Secure: s.site.Scheme == "snews"}
		}
		return &locator.NNTP{HostPort: at, Secure: s.site.Scheme == "nntps"}
	})
	if !errors.Is(err, fs.ErrNotExist) {
		return recorded, err
	}
	s.mu.Lock()
	if s.list == nil {
		s.list = sync.OnceValues(s.listGroups)
	}
	list := s.list
	s.mu.Unlock()
	text, err := list()
	return io.NopCloser(bytes.NewReader(text)), err
}

// listGroups returns lines as in the reply to LIST ACTIVE.
func (s *spool) listGroups() ([]byte, error) {
	names, err := s.groupNames()
	var list []byte
	for _, name := range names {
		g, err := s.group(name)
		if err != nil {
			return nil, err
		}
		low, high := 1, 0
		if last := len(g.numbers) - 1; last >= 0 {
			low, high = g.numbers[0], g.numbers[last]
		}
		list = fmt.Appendf(list, "%s %010d %010d n\r\n", name, high, low)
	}
	return list, err
}

// groupNames returns the names of the groups that have captures, sorted.
func (s *spool) groupNames() ([]string, error) {
	var names []string
	for c, err := range s.site.captures(s.groupURL(""), "") {
		if err != nil {
			return nil, err
		}
		ref, err := locator.Parser{}.Parse(c.URL)
		if err != nil {
			continue
		}
		name := ""
		switch l := ref.Locator.(type) {
		case *locator.NNTP:
			name = l.Group
		case *locator.News:
			name = l.Group
		}
		if name != "" && (len(names) == 0 || names[len(names)-1] != name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}
