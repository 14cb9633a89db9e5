package nntp

import (
	"fmt"
	"io"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/internal/talk"
)

// window is the maximum number of commands without a reply. Together they fit into the buffers of
// any connection. So the client never blocks in a write while the server blocks in a write too.
const window = 200

// pipeline requests articles of the selected group, or their headers or overviews, and sends commands
// ahead of the replies (RFC 3977 §3.5). The first command is sent alone, because the server may reply
// that it requires a login.
type pipeline struct {
	s     *session
	verb  fetch.Op
	want  int // code of the reply
	left  []span
	asked []int64 // requested but without a reply yet, oldest first
	begun bool
	// single is set when each reply must end before the next command: the server ends its lines in LF.
	single bool
	block  *block // of the current article
	number int64  // of the current article
	id     string // its message-id, as in the reply
}

// next reads to the end of the current article and advances to the next one that exists. It returns
// io.EOF if there are no more.
func (p *pipeline) next() error {
	if p.block != nil {
		if _, err := io.Copy(io.Discard, p.block); err != nil {
			return err
		}
		p.block = nil
	}
	for {
		if err := p.s.canceled(p.verb); err != nil {
			return err
		}
		r, n, err := p.exchange()
		switch {
		case err != nil:
			return err
		case n == 0:
			p.s.state = ready // also if the last articles are missing
			return io.EOF
		case r.Code == p.want:
			return p.open(r, n)
		case !isMissing(r.Code): // it may have expired
			return p.s.replyError(p.verb, r)
		}
	}
}

// nextListing is next for blocks that are listings. While other replies are on their way, such a block
// must end in CR LF: what shows the end of one whose lines end in LF is that nothing comes behind it.
func (p *pipeline) nextListing() error {
	if p.block != nil {
		p.single = p.single || p.block.dots.Bare()
	}
	err := p.next()
	if err == nil && len(p.asked) == 0 {
		p.block.listing()
	}
	return err
}

// open opens the block after a reply about the article n.
func (p *pipeline) open(r talk.Reply, n int64) error {
	told, id := int64(0), ""
	if p.want != 224 { // the text after the code of an overview has no meaning
		told, id = parseArticle(r.Text)
	}
	if told != 0 && told != n {
		return p.s.unexpected(p.verb, r)
	}
	p.number, p.id, p.block = n, id, openBlock(p.s, p.verb)
	return nil
}

// exchange sends as many commands as the window allows and reads one reply. It returns the number
// 0 if there are no more replies.
func (p *pipeline) exchange() (r talk.Reply, n int64, err error) {
	if !p.begun {
		first := p.take(1)
		if len(first) == 0 {
			return r, 0, nil
		}
		p.begun = true
		r, err = p.s.command(p.line(first[0]))
		return r, first[0], err
	}
	ahead := window
	if p.single {
		ahead = 1
	}
	if len(p.asked) <= ahead/2 && len(p.left) > 0 {
		more := p.take(ahead - len(p.asked))
		lines := make([]string, len(more))
		for i, n := range more {
			lines[i] = p.line(n)
		}
		if err := p.s.send(lines...); err != nil {
			return r, 0, p.s.wrapError(p.verb, err)
		}
		p.asked = append(p.asked, more...)
	}
	if len(p.asked) == 0 {
		return r, 0, nil
	}
	p.s.state = receiving
	n, p.asked = p.asked[0], p.asked[1:]
	r, err = p.s.receive()
	if err != nil {
		if fetch.KindOf(err) == fetch.ErrConnectionFailed {
			err = &fetch.Error{Kind: fetch.ErrTruncated, Err: err}
		}
		err = p.s.wrapError(p.verb, err)
	}
	return r, n, err
}

// line returns the command for the article n.
func (p *pipeline) line(n int64) string { return fmt.Sprintf("%s %d", p.verb, n) }

// take removes up to n numbers from p.left and returns them. The first number of a group may be 0,
// which no article has.
func (p *pipeline) take(n int) (numbers []int64) {
	for len(numbers) < n && len(p.left) > 0 {
		s := &p.left[0]
		if s.from = max(s.from, 1); s.from <= s.to {
			numbers = append(numbers, s.from)
		}
		if s.from++; s.from > s.to {
			p.left = p.left[1:]
		}
	}
	return numbers
}
