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

var errOtherNames = errors.New("NLST lists names of other directories, or too many")

// listNames returns the names that NLST lists, each once. dots reports whether one begins with a dot,
// or an entry "." is listed. paths are what the server may write before them.
func (r runner) listNames(of *access, hidden bool, paths []string) (names []string, dots bool, err error) {
	a := *of
	a.verb, a.typ, a.hidden, a.fellBack = "NLST", 'A', hidden, false
	s, d, err := r.startDownload(&a)
	if err != nil {
		return nil, false, err
	}
	if d.nothing {
		r.release(s)
		return nil, false, nil
	}
	body := newBody(r, s, &a, d)
	defer body.Close()
	body.silent = true
	text := &io.LimitedReader{R: body, N: maxListing}
	lines := newListing(text, a.limits.Line, ftplist.Parser{Dirs: paths, Names: true})
	seen := make(map[string]struct{})
	for {
		parsed, err := lines.next()
		switch {
		case err == io.EOF && text.N > 0:
			return names, dots, nil
		case err != nil:
			return nil, dots, err
		case lines.isCut:
			return nil, dots, errOtherNames // the name may be cut
		}
		for _, p := range parsed {
			_, again := seen[p.Entry.Name]
			dots = dots || strings.HasPrefix(p.Entry.Name, ".")
			switch {
			case p.Class == ftplist.Unread:
				return nil, dots, errOtherNames
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

// An inquiry asks about the names of one directory.
type inquiry struct {
	*access
	begun     bool
	sizes     question
	times     question
	sizesDirs bool // SIZE has the size of a directory, too, and does not show what a name is
	found     int  // directories
	uncertain bool // there are names that are neither those of files nor of directories
}

// sentName returns a name in the listed directory as it is sent.
func (q *inquiry) sentName(name string) string {
	if dir := q.access.name; dir != "" && dir != "." { // with the Method NoCWD
		return strings.TrimSuffix(dir, "/") + "/" + name
	}
	return name
}

// inquire asks about a group of names.
func (r runner) inquire(q *inquiry, names []string) (entries []ftplist.Entry, err error) {
	a := *q.access
	a.verb, a.typ, a.hidden, a.fellBack, a.opt.CreateDirs = "", 'I', false, false, false
	s, err := r.do(&a, commands.enter, func(s *session) error {
		entries, err = q.inquire(s, names)
		return err
	})
	if err == nil {
		r.release(s)
	}
	return entries, err
}

// inquire asks about names.
func (q *inquiry) inquire(s *session, names []string) ([]ftplist.Entry, error) {
	var lines []string
	if s.typ != 'I' { // some servers refuse SIZE in type A
		lines = append(lines, "TYPE I")
	}
	if !q.begun {
		lines = append(lines, lineOf("SIZE", s.entry))
	}
	for _, name := range names {
		if name = s.spelled(q.sentName(name)); !q.sizes.unsupported {
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
		err := q.sizes.put(func() error {
			size, err := s.size(q.sentName(name))
			if err == nil {
				e.Size = size
			}
			return err
		})
		if err == nil {
			err = q.times.put(func() error {
				when, err := s.modTime(q.sentName(name))
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
	q.sizes.settle()
	q.times.settle()
	return entries, q.tryEach(s, entries)
}

// A question is a command that is sent with each name.
type question struct {
	unsupported bool // by the server: it is not sent any more
	unknown     bool // a reply says so
	answered    bool // another one has a result
}

// put calls do, which sends the command. Its error is that of the session.
func (q *question) put(do func() error) error {
	if q.unsupported {
		return nil
	}
	err := do()
	q.answered, q.unknown = q.answered || err == nil, q.unknown || errors.Is(err, fetch.ErrUnsupported)
	return unlessRefused(err)
}

// settle is called when a group of names has been asked about.
func (q *question) settle() { *q = question{unsupported: q.unsupported || q.unknown && !q.answered} }

// tryEach tries to change to each name that may be that of a directory.
func (q *inquiry) tryEach(s *session, entries []ftplist.Entry) error {
	back := []string{"CWD " + s.entry}
	for _, dir := range q.dirs {
		back = append(back, "CWD "+s.spelled(dir))
	}
	returns := strings.Join(back, "\n")
	var ahead, alone []*ftplist.Entry
	for i := range entries {
		switch e := &entries[i]; {
		case e.Size >= 0 && !q.sizesDirs:
		case strings.HasPrefix(q.sentName(e.Name), "~"), strings.Contains(returns, " ~"): // may be sent twice
			alone = append(alone, e)
		default:
			ahead = append(ahead, e)
		}
	}
	for group := range slices.Chunk(ahead, max(1, maxAhead/(1+len(back)))) {
		var lines []string
		for _, e := range group {
			lines = append(append(lines, "CWD "+q.sentName(e.Name)), back...)
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
	returns := s.ctl.isNext("CWD " + q.sentName(e.Name)) // the CWDs back have been sent, whatever the reply
	switch err := s.cwd(q.sentName(e.Name)); {
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
