package gateway

import (
	"bufio"
	"bytes"
	"io"
	"iter"
	"net/url"
	"strings"

	"github.com/fetch1738/fetch1738/gateway/internal/markdown"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/internal/charset"
	"github.com/fetch1738/fetch1738/locator"
)

// A proseBlock is a part of a text in Markdown, ready to be shown.
type proseBlock struct {
	Kind  markdown.Kind
	Depth int // in lists
	Text  []piece
}

// prose are the blocks of a text in Markdown, whose lines should be UTF-8. It reads lines as far as
// the sequence is used.
func (v documentPages) prose(lines iter.Seq[string]) iter.Seq[proseBlock] {
	return func(yield func(proseBlock) bool) {
		for b := range markdown.Blocks(lines) {
			shown := proseBlock{Kind: b.Kind, Depth: b.Depth}
			switch b.Kind {
			case markdown.Code:
				shown.Text = v.linked(b.Text)
			case markdown.Item:
				mark := b.Mark
				if len(mark) == 1 {
					mark = "•"
				}
				shown.Text = append([]piece{{Text: visible(mark) + " "}}, v.spans(b.Text)...)
			default:
				shown.Text = v.spans(b.Text)
			}
			if !yield(shown) {
				return
			}
		}
	}
}

// spans are the pieces of a text in Markdown, with its links and the URLs in it.
func (v documentPages) spans(text string) []piece {
	var pieces []piece
	for _, s := range markdown.Spans(text) {
		if s.Target == "" {
			pieces = append(pieces, v.linked(s.Text)...)
			continue
		}
		if to := v.linkTo(v.target(s.Target)); !to.Empty() {
			pieces = append(pieces, piece{visibleText(s.Text), to})
			continue
		}
		pieces = append(pieces, piece{Text: visibleText(s.Source)})
	}
	return pieces
}

// target is what a link of a document leads to: a URL, or a path from the document's folder. It is
// nil if that has no page.
func (v documentPages) target(text string) locator.Locator {
	if ref, err := place.Parser.Parse(text); err == nil {
		return ref.Locator
	}
	l, ok := v.loc.(*locator.FTP)
	text, _, _ = strings.Cut(text, "#")
	if !ok || text == "" || strings.Contains(text, ":") {
		return nil
	}
	at := *l
	at.Type, at.HasPath = 0, true
	at.CWD = l.CWD[:len(l.CWD):len(l.CWD)]
	if strings.HasPrefix(text, "/") {
		at.CWD = nil
	}
	parts := strings.Split(text, "/")
	for i, part := range parts {
		name, err := url.PathUnescape(part)
		at.Name = ""
		switch {
		case err != nil, part == ".." && len(at.CWD) == 0:
			return nil
		case part == "..":
			at.CWD = at.CWD[: len(at.CWD)-1 : len(at.CWD)-1]
		case part == "", part == ".":
		case i == len(parts)-1:
			at.Name = name
		default:
			at.CWD = append(at.CWD, name)
		}
	}
	return &at
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
