package ftp

import (
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/internal/ftplist"
)

// If lines of LIST are not understood, NLST shows the names. It counts as a listing of the same
// entries if it has all names that were understood, and one for each line that was not. SIZE, MDTM
// and CWD show what a name is.

// readsNames reports whether NLST may take the place of a listing that is not understood.
func readsNames(a *access) bool {
	raw := len(a.opt.Quote) + len(a.opt.PreTransfer) + len(a.opt.PostQuote)
	return a.reuses() && raw == 0 && a.opt.ListCommand == "" && !a.opt.ListOnly && a.typecode() != 'd'
}

// lacksFacts reports whether LIST may take the place of a listing by MLSD: no line has been understood.
func (l *lister) lacksFacts() bool { return l.verb == "MLSD" && l.n == 0 && readsNames(l.access) }

// withoutFacts yields the entries of a listing by LIST in place of one by MLSD of which no line has
// facts. It reports false if LIST is refused.
func (l *lister) withoutFacts() bool {
	l.pool.noFacts.add(l.server())
	a := *l.access
	a.opt.Facts, a.fellBack = false, false
	a.list()
	a.hidden = a.asksHidden()
	res, err := a.fetch(l.ctx)
	if err != nil {
		return false
	}
	if res.Body != nil {
		defer res.Body.Close()
	}
	l.trace.Note("the lines of MLSD have no facts; LIST replaces it")
	for item, err := range res.Items {
		if !l.yield(item, err) {
			break
		}
	}
	info := res.Info.(*Info)
	l.info.Unread, l.info.unread, l.info.Names, l.info.Asked, l.info.Facts, l.info.Hides = info.Unread, info.unread, info.Names, info.Asked, false, info.Hides
	return true
}

// merged returns the names that the lines of a listing stand for that were not understood. ok is
// false if NLST is refused, or does not show them.
func (l *lister) merged() (rest []string, ok bool) {
	for _, hidden := range slices.Compact([]bool{l.hidden, false}) { // -a first, if LIST had it
		names, err := l.listNames(hidden)
		if err != nil {
			continue
		}
		if rest, ok = l.merge.Rest(names); ok {
			l.withAll = hidden
			l.trace.Note("the listing has lines that are not understood; NLST, SIZE, MDTM and CWD replace them")
			return rest, true
		}
	}
	return nil, false
}

var errOtherNames = errors.New("NLST lists names of other directories, or too many")

// listNames returns the names that NLST lists, each once.
func (l *lister) listNames(hidden bool) ([]string, error) {
	a := *l.access
	a.verb, a.typ, a.hidden, a.fellBack = "NLST", 'A', hidden, false
	restart := restarter(l.ctx)
	s, d, err := restart(&a)
	if err != nil {
		return nil, err
	}
	if d.nothing {
		l.pool.release(s)
		return nil, nil
	}
	body := newBody(s, &a, d, restart)
	defer body.Close()
	body.silent = true
	text := &io.LimitedReader{R: body, N: maxListing}
	lines := newListing(text, a.limits.Line, ftplist.Parser{Dirs: l.paths, Names: true})
	var names []string
	seen := make(map[string]struct{})
	for {
		parsed, err := lines.next()
		switch {
		case err == io.EOF && text.N > 0:
			return names, nil
		case err != nil:
			return nil, err
		case lines.isCut:
			return nil, errOtherNames // the name may be cut
		}
		for _, p := range parsed {
			_, again := seen[p.Entry.Name]
			l.info.Hides = l.info.Hides && !strings.HasPrefix(p.Entry.Name, ".")
			switch {
			case p.Class == ftplist.Unread:
				return nil, errOtherNames
			case p.Class == ftplist.Entries && !again:
				seen[p.Entry.Name] = struct{}{}
				names = append(names, p.Entry.Name)
			}
		}
	}
}

// askedAtOnce is the number of names that are asked about with one session. Between them another
// access may use it.
const askedAtOnce = maxAhead / 2

// ask yields the entries of names, with what SIZE, MDTM and CWD say about them.
func (l *lister) ask(names []string) bool {
	q := &inquiry{lister: l}
	l.info.Asked = l.info.Asked || len(names) > 0
	for group := range slices.Chunk(names, askedAtOnce) {
		var entries []ftplist.Entry
		a := *l.access
		a.verb, a.typ, a.hidden, a.fellBack, a.opt.CreateDirs = "", 'I', false, false, false
		s, err := l.pool.do(l.ctx, &a, func(s *session) (err error) {
			if err = s.run(commands{s}.enter()); err == nil {
				entries, err = q.ask(s, group)
			}
			return err
		})
		if err != nil {
			l.yield(fetch.Item{}, err)
			return false
		}
		l.pool.release(s)
		for _, e := range entries {
			if !l.emit(e, e.Name) {
				return false
			}
		}
	}
	if l.verb == "LIST" && l.n == len(names) && q.found > 0 && !q.uncertain { // NLST has directories, too
		l.pool.namesOnly(l.withAll).add(l.server())
	}
	leavesOut := l.merge != nil && l.merge.Headings > 0 && q.found == 0 // a heading may be a directory
	l.info.Names = l.info.Names || q.uncertain || leavesOut
	return true
}

// An inquiry asks about the names of one directory.
type inquiry struct {
	*lister
	begun     bool
	sizes     question
	times     question
	sizesDirs bool // SIZE has the size of a directory, too, and does not show what a name is
	found     int  // directories
	uncertain bool // there are names that are neither those of files nor of directories
}

// path returns a name in the listed directory as it is sent.
func (q *inquiry) path(name string) string {
	if dir := q.access.name; dir != "" && dir != "." { // with the Method NoCWD
		return strings.TrimSuffix(dir, "/") + "/" + name
	}
	return name
}

// ask asks about names.
func (q *inquiry) ask(s *session, names []string) ([]ftplist.Entry, error) {
	var lines []string
	if s.typ != 'I' { // some servers refuse SIZE in type A
		lines = append(lines, "TYPE I")
	}
	if !q.begun {
		lines = append(lines, lineOf("SIZE", s.entry))
	}
	for _, name := range names {
		if name = s.spelled(q.path(name)); !q.sizes.unsupported {
			lines = append(lines, "SIZE "+name)
		}
		if !q.times.unsupported {
			lines = append(lines, "MDTM "+name)
		}
	}
	if err := s.sendAhead(lines); err != nil {
		return nil, err
	}
	if err := s.setType('I'); err != nil {
		return nil, err
	}
	if !q.begun {
		_, err := s.size(s.entry)
		if err != nil && !refusal(err) {
			return nil, err
		}
		q.begun, q.sizesDirs = true, err == nil
	}
	entries := make([]ftplist.Entry, len(names))
	for i, name := range names {
		e := ftplist.Entry{Name: name, Size: -1}
		err := q.sizes.ask(func() error {
			size, err := s.size(q.path(name))
			if err == nil {
				e.Size = size
			}
			return err
		})
		if err == nil {
			err = q.times.ask(func() error {
				when, err := s.modTime(q.path(name))
				if err == nil {
					e.ModTime = when
				}
				return err
			})
		}
		if err != nil {
			return nil, err
		}
		entries[i] = e
	}
	q.sizes.end()
	q.times.end()
	return entries, q.enter(s, entries)
}

// A question is a command that is sent with each name.
type question struct {
	unsupported bool // by the server: it is not sent any more
	unknown     bool // a reply says so
	answered    bool // another one has a result
}

// ask calls do, which sends the command. Its error is that of the session.
func (q *question) ask(do func() error) error {
	if q.unsupported {
		return nil
	}
	err := do()
	q.answered, q.unknown = q.answered || err == nil, q.unknown || errors.Is(err, fetch.ErrUnsupported)
	return unlessRefused(err)
}

// end is called when a group of names has been asked about.
func (q *question) end() { *q = question{unsupported: q.unsupported || q.unknown && !q.answered} }

// enter tries to change to each name that may be that of a directory.
func (q *inquiry) enter(s *session, entries []ftplist.Entry) error {
	back := []string{"CWD " + s.entry}
	for _, dir := range q.dirs {
		back = append(back, "CWD "+s.spelled(dir))
	}
	returns := strings.Join(back, "\n")
	var ahead, alone []*ftplist.Entry
	for i := range entries {
		switch e := &entries[i]; {
		case e.Size >= 0 && !q.sizesDirs:
		case strings.HasPrefix(q.path(e.Name), "~"), strings.Contains(returns, " ~"): // may be sent twice
			alone = append(alone, e)
		default:
			ahead = append(ahead, e)
		}
	}
	for group := range slices.Chunk(ahead, max(1, maxAhead/(1+len(back)))) {
		var lines []string
		for _, e := range group {
			lines = append(append(lines, "CWD "+q.path(e.Name)), back...)
		}
		if err := s.sendAhead(lines); err != nil {
			return err
		}
		for _, e := range group {
			if err := q.enterOne(s, e); err != nil {
				return err
			}
		}
	}
	for _, e := range alone {
		if err := q.enterOne(s, e); err != nil {
			return err
		}
	}
	return nil
}

// enterOne sends CWD with a name, and returns to the listed directory.
func (q *inquiry) enterOne(s *session, e *ftplist.Entry) error {
	returns := s.ctl.isNext("CWD " + q.path(e.Name)) // the CWDs back have been sent, whatever the reply
	switch err := s.cwd(q.path(e.Name)); {
	case err == nil:
		e.Type, e.Size, returns = ftplist.Dir, -1, true
		q.found++
	case !refusal(err):
		return err
	case e.Size < 0:
		q.uncertain = true
	}
	if !returns {
		return nil
	}
	s.dirUnknown = true
	return s.run(commands{s}.changeTo(nil))
}
