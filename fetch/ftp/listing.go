package ftp

import (
	"io"

	"github.com/fetch1738/fetch1738/fetch/internal/ftplist"
	"github.com/fetch1738/fetch1738/internal/wire"
)

// A listing is what a server sends as one, as it is read.
type listing struct {
	lines  *wire.LineReader
	parser ftplist.Parser
	begun  bool   // there was a line
	last   string // the last line
	isCut  bool   // it has no line end
}

// newListing returns a listing with lines of at most limit bytes.
func newListing(text io.Reader, limit int, parser ftplist.Parser) *listing {
	return &listing{lines: wire.NewLineReader(text, limit), parser: parser}
}

// next returns what the next line says, together with lines before it that it completes. At the end of
// the listing the error is io.EOF, and there may be lines, too.
func (l *listing) next() ([]ftplist.Line, error) {
	line, err := l.lines.ReadLine()
	switch {
	case err == io.EOF:
		return l.parser.End(), err
	case err != nil:
		return nil, err
	}
	l.begun, l.isCut, l.last = true, line[len(line)-1] != '\n', string(wire.TrimEOL(line))
	return l.parser.Add(l.last), nil
}
