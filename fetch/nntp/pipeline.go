package nntp

import (
	"fmt"
	"io"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/internal/talk"
	"github.com/fetch1738/fetch1738/internal/wire"
)

// span is a range of article numbers, both ends included.
type span struct{ from, to int64 }

// maxAsked limits the number of ranges in Options.Articles.
const maxAsked = 1000

// last is larger than any article number (RFC 3977 §6).
const last = int64(1e16) - 1

// parseSpans parses Options.Articles: numbers, "n-m" and "n-", separated by commas.
func parseSpans(s string) ([]span, error) {
	var list []span
	for part := range strings.SplitSeq(s, ",") {
		first, end, isRange := strings.Cut(strings.TrimSpace(part), "-")
		from, err := number(first)
		to := from
		switch {
		case err == nil && isRange && end == "":
			to = last
		case err == nil && isRange:
			to, err = number(end)
		}
		if err != nil || from == 0 || to < from {
			return nil, fmt.Errorf("invalid range of article numbers %q; use a form such as 1-500", part)
		}
		if list = append(list, span{from, to}); len(list) > maxAsked {
			return nil, fmt.Errorf("more than %d ranges of article numbers", maxAsked)
		}
	}
	return list, nil
}

// clamp limits the spans to the range of a group.
func clamp(list []span, g groupInfo) []span {
	var in []span
	for _, s := range list {
		if s.from, s.to = max(s.from, g.low), min(s.to, g.high); s.from <= s.to && !g.empty() {
			in = append(in, s)
		}
	}
	return in
}

// window is the maximum number of commands without a reply. Together they fit into the buffers of
// any connection. So the client never blocks in a write while the server blocks in a write too.
const window = 200

// pipeline requests articles of the selected group, or their headers, and sends commands ahead of
// the replies (RFC 3977 §3.5). The first command is sent alone, because the server may reply that
// it requires a login.
type pipeline struct {
	a     *access
	s     *session
	verb  fetch.Op
	want  int // code of the reply
	left  []span
	asked []int64 // requested but without a reply yet, oldest first
	begun bool
	// single is set when each reply must end before the next command: the server ends its lines in LF.
	single bool
	block  *wire.DotReader // of the current article
	got    answer
}

// answer is the part of a reply that identifies the article.
type answer struct {
	number int64
	id     string
}

// next reads to the end of the current article and advances to the next one that exists. It reports
// false if there are no more.
func (p *pipeline) next() (bool, error) {
	if p.block != nil {
		if _, err := io.Copy(io.Discard, p.block); err != nil {
			return false, p.a.bodyFailure(p.verb, p.s.Fail(err))
		}
		p.block = nil
	}
	for {
		if err := p.s.ctx.Err(); err != nil {
			return false, p.s.wrapError(p.verb, p.s.Fail(err))
		}
		r, n, err := p.exchange()
		if err != nil {
			return false, err
		}
		switch {
		case n == 0:
			p.s.block = false
			return false, nil
		case r.Code == p.want:
			return true, p.begin(r, n)
		case r.Code == 420 || r.Code == 423 || r.Code == 430: // no such article, for example expired
		default:
			return false, p.s.replyError(p.verb, r)
		}
	}
}

// begin opens the block after a reply.
func (p *pipeline) begin(r talk.Reply, asked int64) error {
	told, id := int64(0), ""
	if p.want != 224 { // the text after the code of an overview has no meaning
		told, id = parseArticle(r.Text)
	}
	if told != 0 && told != asked {
		return p.s.unexpected(p.verb, r)
	}
	p.got = answer{asked, id}
	p.block = p.s.openBlock()
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
	if len(p.asked) <= ahead/2 {
		more := p.take(ahead - len(p.asked))
		lines := make([]string, len(more))
		for i, n := range more {
			lines[i] = p.line(n)
		}
		if len(more) > 0 {
			if err := p.s.send(lines...); err != nil {
				return r, 0, p.s.wrapError(p.verb, err)
			}
			p.asked = append(p.asked, more...)
		}
	}
	if len(p.asked) == 0 {
		return r, 0, nil
	}
	p.s.block = true
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
