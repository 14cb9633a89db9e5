package core

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Limits of a transcript.
const (
	maxLines      = 1 << 16 // when there are more, the oldest half is deleted
	MaxLineOctets = 4 << 10 // the rest of a longer line is not recorded
)

// Side is the side that sent a line.
type Side byte

// The two sides of a connection.
const (
	FromClient Side = 'C'
	FromServer Side = 'S'
)

// Line is one line of a control connection.
type Line struct {
	Conn   int    // number of the connection, counted from 1
	From   Side   // the side that sent it
	Octets string // exactly as sent, with the line end (missing only at the end of a connection)
	Text   string // for reading: Octets without CR LF; quoted if it has other bytes than printable ASCII
}

// String returns the line in the form "C: USER anonymous".
func (l Line) String() string { return string(l.From) + ": " + l.Text }

// Log collects a transcript.
type Log struct {
	Each func(Line) // if not nil, it is called with each line, one call at a time

	mu    sync.Mutex
	all   []Line
	first int                          // number of the first line in all, counted from 0 over the life of the server
	shows []func(octets string) string // of the lines at the same index
}

// Append adds a line. If show is not nil, its Text is show(Octets). That can cost more than sending
// the line did, so it is computed when the transcript is read.
func (g *Log) Append(l Line, show func(octets string) string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.all) >= maxLines {
		g.first += maxLines / 2
		g.all = slices.Delete(g.all, 0, maxLines/2)
		g.shows = slices.Delete(g.shows, 0, maxLines/2)
	}
	if g.Each != nil && show != nil {
		l.Text, show = show(l.Octets), nil
	}
	g.all, g.shows = append(g.all, l), append(g.shows, show)
	if g.Each != nil {
		g.Each(l)
	}
}

// From returns the transcript from line n on, and the number of the first of these lines. Lines are
// counted from 0 over the life of the server.
func (g *Log) From(n int) (lines []Line, first int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	from := min(max(0, n-g.first), len(g.all))
	for i := from; i < len(g.all); i++ {
		if show := g.shows[i]; show != nil {
			g.all[i].Text, g.shows[i] = show(g.all[i].Octets), nil
		}
	}
	return slices.Clone(g.all[from:]), g.first + from
}

// Reset deletes the lines collected so far.
func (g *Log) Reset() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.first += len(g.all)
	g.all, g.shows = nil, nil
}

// LineText returns a line as [Line.Text] shows it.
func LineText(octets string) string {
	text, complete := strings.CutSuffix(octets, "\r\n")
	if complete && Printable(text) {
		return text
	}
	return strconv.Quote(octets)
}

// Printable reports whether s consists of printable ASCII.
func Printable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// LineWriter splits one side of one connection into lines and adds them to a log.
type LineWriter struct {
	log     *Log
	conn    int
	from    Side
	partial []byte
	skip    bool // discard the rest of a line that is too long
}

// Write records p; it never fails.
func (r *LineWriter) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		line, after, whole := bytes.Cut(rest, []byte{'\n'})
		if whole {
			line = rest[:len(line)+1]
		}
		r.append(line)
		if whole {
			r.End()
			r.skip = false
		}
		rest = after
	}
	return len(p), nil
}

// append adds to the current line, which has a limit.
func (r *LineWriter) append(part []byte) {
	if r.skip {
		return
	}
	room := MaxLineOctets - len(r.partial)
	r.partial = append(r.partial, part[:min(room, len(part))]...)
	if len(part) >= room && !bytes.HasSuffix(part, []byte{'\n'}) {
		r.End()
		r.skip = true
	}
}

// End records an unfinished line, if there is one.
func (r *LineWriter) End() {
	if len(r.partial) == 0 {
		return
	}
	octets := string(r.partial)
	r.partial = r.partial[:0]
	r.log.Append(Line{Conn: r.conn, From: r.from, Octets: octets}, LineText)
}
