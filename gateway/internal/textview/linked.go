package textview

import (
	"bufio"
	"bytes"
	"io"
	"iter"
	"strings"

	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/gateway/internal/visible"
	"github.com/fetch1738/fetch1738/internal/text/charset"
	"github.com/fetch1738/fetch1738/locator"
)

// PieceLines splits pieces into lines, without their ends.
func PieceLines(pieces []Piece) [][]Piece {
	lines := make([][]Piece, 1)
	for _, p := range pieces {
		for text, more := p.Text, true; more; {
			p.Text, text, more = strings.Cut(text, "\n")
			if p.Text != "" {
				last := len(lines) - 1
				lines[last] = append(lines[last], p)
			}
			if more {
				lines = append(lines, nil)
			}
		}
	}
	return lines
}

// PartSize is how much of a document Parts holds at a time.
const PartSize = 32 << 10

// Parts are the parts of a document in a charset, of at most PartSize bytes. They end with a line if
// they can. An error of r ends the sequence and is passed to failed; io.EOF is no error.
func Parts(r io.Reader, c charset.Charset, failed func(error)) iter.Seq[string] {
	return func(yield func(string) bool) {
		text := c.Reader(r)
		part := make([]byte, 0, PartSize)
		for {
			n, err := io.ReadFull(text, part[len(part):cap(part)])
			part = part[:len(part)+n]
			end := len(part)
			if err == nil {
				end = partEnd(part)
			}
			if end > 0 && !yield(string(part[:end])) {
				return
			}
			if err != nil {
				if err != io.EOF && err != io.ErrUnexpectedEOF { // these are ReadFull's own
					failed(err)
				}
				return
			}
			part = part[:copy(part, part[end:])]
		}
	}
}

// LinesFrom are the lines of a text in a charset. It holds only a part of the text, and splits longer
// lines. An error of r ends the sequence and is passed to failed.
func LinesFrom(r io.Reader, c charset.Charset, failed func(error)) iter.Seq[string] {
	return func(yield func(string) bool) {
		lines := bufio.NewScanner(c.Reader(r))
		lines.Buffer(nil, 2*PartSize)
		lines.Split(func(data []byte, atEOF bool) (advance int, token []byte, err error) {
			if bytes.IndexByte(data, '\n') < 0 && len(data) >= PartSize {
				end := partEnd(data)
				return end, data[:end], nil
			}
			return bufio.ScanLines(data, atEOF)
		})
		for lines.Scan() {
			if !yield(lines.Text()) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			failed(err)
		}
	}
}

// maxWrapped is the length of the longest URL in angle brackets that partEnd keeps in one part.
const maxWrapped = 4 << 10

// partEnd is where to cut a part of a text, which is full: not within a URL or a character if that
// can be avoided. It is more than 0.
func partEnd(part []byte) int {
	end := len(charset.Whole(part))
	if i := bytes.LastIndexByte(part, '\n'); i > 0 {
		end = i + 1
	} else if i := bytes.LastIndexAny(part, " \t"); i > 0 {
		end = i + 1
	} else if end > 1 && part[end-1] == '\r' {
		end--
	}
	if open := bytes.LastIndexByte(part[:end], '<'); open > max(0, end-maxWrapped) && bytes.IndexByte(part[open:end], '>') < 0 {
		end = open
	}
	return end
}

// Linked splits a text, which should be UTF-8, into pieces: the URLs in it to which there is a link are
// links. Line ends and tabs stay, other control characters are made visible. Its time is linear in the
// length of the text.
func Linked(text string, linkTo func(locator.Locator) place.Link) []Piece {
	var pieces []Piece
	plain := 0 // the beginning of what is not in pieces yet
	for ref := range place.Parser.Extract(text) {
		to := linkTo(ref.Locator)
		// References come in order. At worst an earlier occurrence of the same URL is the link.
		at := strings.Index(text[plain:], ref.Text)
		if to.Empty() || at < 0 {
			continue
		}
		from := plain + at
		until := from + len(ref.Text)
		if text[from] == '<' { // the wrapper of RFC 1738, Appendix, is not a part of the link
			from, until = from+1, until-1
			if until-from > 4 && strings.EqualFold(text[from:from+4], "URL:") {
				from += 4
			}
		}
		if plain < from {
			pieces = append(pieces, Piece{Text: visible.Text(text[plain:from])})
		}
		pieces = append(pieces, Piece{Text: visible.Text(text[from:until]), Link: to})
		plain = until
	}
	if plain < len(text) {
		pieces = append(pieces, Piece{Text: visible.Text(text[plain:])})
	}
	return pieces
}

// Pieces are the pieces of a document of any length. It holds only one of the parts at a time.
func Pieces(parts iter.Seq[string], linked func(string) []Piece) iter.Seq[Piece] {
	return func(yield func(Piece) bool) {
		for part := range parts {
			for _, p := range linked(part) {
				if !yield(p) {
					return
				}
			}
		}
	}
}
