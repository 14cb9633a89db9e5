package gateway

import (
	"bufio"
	"bytes"
	"io"
	"iter"
	"strings"

	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/gateway/internal/textview"
	"github.com/fetch1738/fetch1738/internal/text/charset"
)

// A piece is a part of a text: plain, or a link.
type piece = textview.Piece

// linked splits a text, which should be UTF-8, into pieces: the URLs in it that the gateway or the
// browser can follow are links. Line ends and tabs stay, other control characters are made visible.
// Its time is linear in the length of the text.
func (v *visit) linked(text string) []piece {
	var pieces []piece
	plain := 0 // the beginning of what is not in pieces yet
	for ref := range place.Parser.Extract(text) {
		to := v.linkTo(ref.Locator)
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
			pieces = append(pieces, piece{Text: visibleText(text[plain:from])})
		}
		pieces = append(pieces, piece{Text: visibleText(text[from:until]), Link: to})
		plain = until
	}
	if plain < len(text) {
		pieces = append(pieces, piece{Text: visibleText(text[plain:])})
	}
	return pieces
}

// pieceLines splits pieces into lines, without their ends.
func pieceLines(pieces []piece) [][]piece {
	lines := make([][]piece, 1)
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

// partSize is how much of a document partsFrom holds at a time.
const partSize = 32 << 10

// linkedFrom is linked for a document of any length, in a charset. It reads r as far as the sequence
// is used, and holds only a part of it. An error of r ends the sequence and is passed to failed;
// io.EOF is no error.
func (v *visit) linkedFrom(r io.Reader, c charset.Charset, failed func(error)) iter.Seq[piece] {
	return func(yield func(piece) bool) {
		for part := range partsFrom(r, c, failed) {
			for _, p := range v.linked(part) {
				if !yield(p) {
					return
				}
			}
		}
	}
}

// partsFrom are the parts of a document that linkedFrom holds at a time. They end with a line if they
// can.
func partsFrom(r io.Reader, c charset.Charset, failed func(error)) iter.Seq[string] {
	return func(yield func(string) bool) {
		text := c.Reader(r)
		part := make([]byte, 0, partSize)
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

// linesFrom are the lines of a text in a charset. It holds only a part of the text, and splits longer
// lines. An error of r ends the sequence and is passed to failed.
func linesFrom(r io.Reader, c charset.Charset, failed func(error)) iter.Seq[string] {
	return func(yield func(string) bool) {
		lines := bufio.NewScanner(c.Reader(r))
		lines.Buffer(nil, 2*partSize)
		lines.Split(func(data []byte, atEOF bool) (advance int, token []byte, err error) {
			if bytes.IndexByte(data, '\n') < 0 && len(data) >= partSize {
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
