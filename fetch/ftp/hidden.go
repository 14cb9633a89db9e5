package ftp

import (
	"bytes"
	"io"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch/internal/ftplist"
)

// Hidden files are those whose names begin with a dot. vsftpd and others leave them out of LIST,
// unless it has the option -a of ls. To other servers "-a" is a name: they refuse it, or list
// nothing, or something else. So the first listing of a server by "LIST -a" must prove that it is
// that of the directory: it has an entry ".", or all entries of a listing by LIST.

// maxProof is how many bytes of a listing are read at most before it counts as that of the directory.
const maxProof = 1 << 20

// proveHidden returns the listing of the directory, and its access: all, by "LIST -a", or if that
// is another one, a listing by LIST.
func proveHidden(a *access, all *body) (*access, io.ReadCloser, error) {
	listed := begin(all)
	refused := refusal(listed.err) && len(listed.text) == 0
	switch {
	case listed.dot:
		a.memory.listsHidden.add(a.server())
		return a, listed, nil
	case listed.err != io.EOF && !refused:
		return a, listed, nil // it is too long to be anything else, or it fails
	}
	_ = all.Close()
	plain := *a
	plain.hidden, plain.fellBack = false, false
	s, d, err := all.runner.startDownload(&plain)
	if err != nil {
		return nil, nil, err
	}
	visible := &beginning{body: all, err: io.EOF} // a body at its end
	if d.nothing {
		all.runner.release(s)
	} else {
		visible = begin(newBody(all.runner, s, &plain, d))
	}
	switch {
	case !refused && visible.err == io.EOF && visible.isPartOf(listed):
		_, option, _ := strings.Cut(listAll, " ")
		if _, isName := visible.names[option]; len(visible.names) > 0 && !isName {
			a.memory.listsHidden.add(a.server())
		}
		_ = visible.Close()
		return a, listed, nil
	case len(visible.names) > 0:
		plain.noteHides()
	}
	return &plain, visible, nil
}

// A beginning is a listing whose begin has been read.
type beginning struct {
	*body
	text  []byte // that has been read
	names map[string]struct{}
	dot   bool  // "." or ".." is listed
	err   error // after text; nil if there is more
}

// begin reads a listing until it has an entry "." or "..", or to its end or maxProof.
func begin(b *body) *beginning {
	l := &beginning{body: b, names: make(map[string]struct{})}
	_, paths := b.a.listed(b.s.entry)
	parser := ftplist.Parser{Dirs: paths, Now: time.Now()}
	b.silent = true
	defer func() { b.silent = false }()
	for parsed := 0; l.err == nil && !l.dot && len(l.text) < maxProof; {
		l.text = append(l.text, make([]byte, 4<<10)...)
		n, err := b.Read(l.text[len(l.text)-4<<10:])
		l.text, l.err = l.text[:len(l.text)-4<<10+n], err
		end := bytes.LastIndexByte(l.text, '\n') + 1
		if err == io.EOF {
			end = len(l.text)
		}
		for line := range bytes.Lines(l.text[parsed:end]) {
			l.note(parser.Add(string(line)))
		}
		parsed = end
	}
	if l.err == io.EOF {
		l.note(parser.End())
	}
	return l
}

// note notes the names in lines.
func (l *beginning) note(lines []ftplist.Line) {
	for _, line := range lines {
		switch {
		case line.Class == ftplist.Entries:
			l.names[line.Entry.Name] = struct{}{}
		case line.Entry.Name != "":
			l.dot = true
		}
	}
}

// isPartOf reports whether a listing has all entries of l.
func (l *beginning) isPartOf(all *beginning) bool {
	for name := range l.names {
		if _, ok := all.names[name]; !ok {
			return false
		}
	}
	return true
}

// Read implements io.Reader.
func (l *beginning) Read(p []byte) (int, error) {
	switch {
	case len(l.text) > 0:
		n := copy(p, l.text)
		l.a.trace.Octets(p[:n])
		l.a.trace.Body(int64(n))
		l.text = l.text[n:]
		return n, nil
	case l.err != nil:
		return 0, l.err
	}
	return l.body.Read(p)
}

// WriteTo implements io.WriterTo, in place of that of the body.
func (l *beginning) WriteTo(w io.Writer) (int64, error) { return io.Copy(w, struct{ io.Reader }{l}) }
