package nntp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/wire"
)

// post posts an article.
func (f *Fetcher) post(ctx context.Context, a *access, body io.Reader) (*fetch.Attributes, error) {
	switch {
	case ctx.Err() != nil:
		return nil, a.fail(fetch.OpConnect, ctx.Err())
	case !a.isGroup() || a.articles != nil:
		return nil, a.fail("POST", &fetch.Error{Kind: fetch.ErrBadURL, Err: errors.New("cannot post: the URL does not name a newsgroup")})
	}
	src := &articleReader{lines: wire.NewLineReader(bufio.NewReaderSize(body, readBuffer), maxPosted)}
	if err := src.checkHeader(a.group, a.env.Limits.Header); err != nil {
		return nil, a.fail("POST", &fetch.Error{Kind: fetch.ErrLocalIO, Err: err})
	}
	s, err := f.begin(ctx, a, func(s *session) error {
		_, err := s.expect("POST", 340)
		return err
	})
	if err != nil {
		return nil, err
	}
	defer f.release(s)
	s.state = receiving
	if err := a.sendArticle(s, src); err != nil {
		return nil, err
	}
	r, err := s.receive()
	if err != nil {
		return nil, a.fail("POST", err)
	}
	s.state = ready
	if r.Code != 240 {
		return nil, s.replyError("POST", r)
	}
	attr := &fetch.Attributes{Size: -1}
	if id := idIn(r.Text); id != "" {
		attr.Header = []fetch.Field{{Name: "Message-ID", Value: id}}
	}
	return attr, nil
}

// sendArticle sends an article after the reply 340. If the article cannot be read to its end,
// sendArticle does not send the final dot, so that the server discards the article.
func (a *access) sendArticle(s *session, src *articleReader) error {
	out := bufio.NewWriterSize(writerFunc(s.WriteBody), readBuffer)
	block := wire.NewDotWriter(out)
	for {
		line, err := src.ReadLine()
		if err == io.EOF {
			break
		}
		if err != nil {
			return a.fail("POST", &fetch.Error{Kind: fetch.ErrLocalIO, Err: s.Fail(err)})
		}
		if err := s.canceled("POST"); err != nil {
			return err
		}
		if _, err := block.Write(line); err != nil {
			return s.wrapError("POST", s.Fail(err))
		}
		a.trace.Body(int64(len(line)))
	}
	if err := errors.Join(block.Close(), out.Flush()); err != nil {
		return s.wrapError("POST", s.Fail(err))
	}
	return nil
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// idIn returns the message-id in the text of a reply, or "" if it has no message-id.
func idIn(text string) string {
	_, rest, ok := strings.Cut(text, "<")
	id, _, closed := strings.Cut(rest, ">")
	if !ok || !closed || !strings.Contains(id, "@") || strings.ContainsAny(id, " \t<") {
		return ""
	}
	return "<" + id + ">"
}

// articleReader reads an article to be posted line by line. Each line that it returns ends in CR
// LF. It rejects bytes that an article cannot have (RFC 3977 §3.6): NUL, and CR or LF other than as
// line endings.
type articleReader struct {
	lines  *wire.LineReader
	queue  [][]byte // lines of the header, already read
	line   []byte
	number int
}

// maxPosted limits the length of a line of a posted article. By RFC 5536 §2.2 a line should have at
// most 998 octets.
const maxPosted = 1 << 20

// ReadLine returns the next line, or io.EOF.
func (r *articleReader) ReadLine() ([]byte, error) {
	if len(r.queue) > 0 {
		line := r.queue[0]
		r.queue = r.queue[1:]
		return line, nil
	}
	line, err := r.lines.ReadLine()
	if err != nil {
		return nil, err
	}
	r.number++
	if i := bytes.IndexAny(wire.TrimEOL(line), "\x00\r"); i >= 0 {
		return nil, fmt.Errorf("line %d of the article contains the byte %02X, which is not allowed", r.number, line[i])
	}
	r.line = append(append(r.line[:0], bytes.TrimRight(line, "\r\n")...), "\r\n"...)
	return r.line, nil
}

// mandatory are the fields that the poster of an article must provide (RFC 5537 §3.4.1). The server
// adds the other required fields.
var mandatory = []string{"From", "Subject", "Newsgroups"}

// checkHeader reads a header of at most max bytes and checks that it is valid and includes group.
func (r *articleReader) checkHeader(group string, max int) error {
	var queue [][]byte
	h, err := readHeader(func() ([]byte, error) {
		line, err := r.ReadLine()
		if err != nil {
			return nil, err
		}
		line = bytes.Clone(line)
		queue = append(queue, line)
		return line, checkHeaderLine(line, len(queue))
	}, max)
	switch {
	case err == io.EOF:
		return errors.New("the article ends inside its header; put an empty line after the header")
	case err != nil:
		return err
	}
	r.queue = queue
	for _, name := range mandatory {
		if strings.TrimSpace(h.get(name)) == "" {
			return fmt.Errorf("the article has no %s field", name)
		}
	}
	times := make(map[string]int)
	for _, f := range h.fields {
		times[strings.ToLower(f.Name)]++
	}
	for _, f := range h.fields {
		is := func(name string) bool { return strings.EqualFold(name, f.Name) }
		if n := times[strings.ToLower(f.Name)]; n > 1 && slices.ContainsFunc(mandatory, is) {
			return fmt.Errorf("the article has %d %s fields; only one is allowed", n, f.Name)
		}
	}
	for name := range strings.SplitSeq(h.get("Newsgroups"), ",") {
		if strings.TrimSpace(name) == group {
			return nil
		}
	}
	return fmt.Errorf("the Newsgroups field (%s) does not include %s", fetch.Printable(h.get("Newsgroups")), group)
}

// checkHeaderLine returns an error for a line that is not a field, a continuation of one, or the
// empty line at the end of the header.
func checkHeaderLine(line []byte, number int) error {
	name, _, ok := bytes.Cut(line, []byte(":"))
	continuation := number > 1 && (line[0] == ' ' || line[0] == '\t')
	if len(line) == len("\r\n") || continuation || ok && isFieldName(name) {
		return nil
	}
	return fmt.Errorf("line %d of the article is not a header field; put an empty line after the header", number)
}
