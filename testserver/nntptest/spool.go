package nntptest

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"strings"
)

// A Spool has the groups and articles of a [Server] in place of Groups and Content, such as those of
// an archive, and need not hold them in memory. It is read only: posting is refused, and so is
// NEWNEWS. What it returns is sent octet for octet; it should consist of lines that end in CR LF.
// An error in the middle of a text ends the connection, so that no client takes a part for the
// whole. fs.ErrNotExist means that there is no such group or article. Its methods are called
// concurrently.
type Spool interface {
	// Active returns the reply to LIST ACTIVE: lines such as "local.test 0000000012 0000000001 n".
	Active() (io.ReadCloser, error)
	// Numbers returns the numbers of the articles of a group, sorted. The server does not change
	// the slice. There may be articles of other numbers, which no command lists.
	Numbers(group string) ([]int, error)
	// Overview returns the lines of articles for OVER (RFC 3977 §8.3.2). from and to are numbers
	// that Numbers has. If the result is nil, the server makes the lines from the articles.
	Overview(group string, from, to int) (io.ReadCloser, error)
	// Article returns an article: header, an empty line, body.
	Article(group string, number int) (io.ReadCloser, error)
	// ArticleByID returns an article by its message-id, brackets included.
	ArticleByID(id string) (io.ReadCloser, error)
}

// errTooLong is the error of an article of a Spool that is longer than MaxUpload.
var errTooLong = errors.New("testserver: the article is longer than MaxUpload")

// spooled returns an article of the Spool, or nil without one. Its text is what can be read of
// it, and its err why that is not all.
func (r *store) spooled(a article, open func() (io.ReadCloser, error)) *article {
	in, err := open()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	a.spooled, a.err = true, err
	if err == nil {
		var text []byte
		text, a.err = io.ReadAll(io.LimitReader(in, r.srv.MaxUpload+1))
		in.Close()
		if a.text = string(text); a.err == nil && int64(len(text)) > r.srv.MaxUpload {
			a.err = errTooLong
		}
	}
	return &a
}

// listSpool sends the lines of LIST ACTIVE whose groups match a pattern; "" means all lines.
func (n *session) listSpool(first, pattern string) error {
	active, err := n.srv.Spool.Active()
	if err != nil {
		return n.reply("403 The list cannot be read.")
	}
	defer active.Close()
	if pattern == "" {
		return n.block(first, active, false)
	}
	lines := bufio.NewReader(active)
	return n.block(first, &lineReader{next: func() (string, error) {
		for {
			line, err := lines.ReadString('\n')
			name, _, _ := strings.Cut(line, " ")
			if err != nil || wildmat(pattern, name) {
				return line, err
			}
		}
	}}, false)
}

// lineReader reads lines that are made one after the other.
type lineReader struct {
	next func() (string, error) // its error is the end
	line string
}

func (r *lineReader) Read(p []byte) (int, error) {
	for r.line == "" {
		var err error
		if r.line, err = r.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.line)
	r.line = r.line[n:]
	return n, nil
}

// failing is the end of a text, such as one that cannot be read further.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
