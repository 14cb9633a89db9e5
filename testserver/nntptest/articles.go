package nntptest

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/internal/core"
)

// Articles (RFC 3977 §6.2, §6.3.1, §8.3).

// article is ARTICLE, HEAD, BODY and STAT, which are distinguished by the codes of their replies.
func (n *session) article(code int, arg string) error {
	a, number, refusal := n.locate(arg)
	if refusal != "" {
		return n.reply(refusal)
	}
	text, err := n.srv.news.permitted(a)
	switch {
	case errors.Is(err, errForbiddenArticle):
		return n.reply("502 Not for you.")
	case err != nil && len(text) == 0:
		return n.reply("403 The article cannot be read.")
	}
	first := fmt.Sprintf("%d %d %s", code, number, a.id(text))
	header, body := splitArticle(text)
	switch code {
	case 221:
		text = header
	case 222:
		text = body
	case 223:
		return n.reply(first)
	}
	return n.block(first, io.MultiReader(bytes.NewReader(text), failing{cmp.Or(err, io.EOF)}), false)
}

// locate finds the article for an argument.
func (n *session) locate(arg string) (a *article, number int, refusal string) {
	if strings.HasPrefix(arg, "<") {
		if a = n.srv.news.articleByID(arg); a == nil {
			return nil, 0, "430 No such article."
		}
		if !a.spooled {
			_, refusal = n.lookup(a.group)
		}
		return a, 0, refusal
	}
	number, err := strconv.Atoi(arg)
	switch {
	case arg != "" && (err != nil || number < 0):
		return nil, 0, "501 Bad number."
	case n.group == nil:
		return nil, 0, "412 No group selected."
	case arg == "" && n.current == 0:
		return nil, 0, "420 No current article."
	case arg == "":
		number = n.current
	}
	if a = n.srv.news.articleByNumber(n.group, number); a == nil {
		return nil, 0, "423 No article of that number."
	}
	n.current = number
	return a, number, ""
}

// over is OVER and XOVER.
func over(n *session, arg string) error {
	numbers, refusal := n.inRange(arg)
	if refusal != "" {
		return n.reply(refusal)
	}
	const first = "224 Overview follows"
	if s := n.srv.Spool; s != nil {
		lines, err := s.Overview(n.group.name, numbers[0], numbers[len(numbers)-1])
		switch {
		case err != nil:
			return n.reply("403 The overview cannot be read.")
		case lines != nil:
			defer lines.Close()
			return n.block(first, lines, false)
		}
	}
	return n.block(first, &lineReader{next: func() (string, error) {
		for len(numbers) > 0 {
			a := n.srv.news.articleByNumber(n.group, numbers[0])
			numbers = numbers[1:]
			if a == nil {
				continue
			}
			if line, err := n.srv.news.overview(a); err == nil {
				return line, nil
			}
		}
		return "", io.EOF
	}}, false)
}

// inRange returns the numbers of the articles in a range of the selected group, or of the current
// article.
func (n *session) inRange(span string) (numbers []int, refusal string) {
	if n.group == nil {
		return nil, "412 No group selected."
	}
	from, to, ok := parseSpan(span)
	if span == "" {
		from, to = n.current, n.current
	}
	if !ok {
		return nil, "501 Bad range."
	}
	all, _, _ := n.srv.news.numbers(n.group)
	if numbers = within(all, from, to); len(numbers) == 0 {
		return nil, "423 No articles in that range."
	}
	return numbers, ""
}

// post is POST.
func post(n *session, _ string) error {
	reply, armed := n.faults.Peek(core.Reply)
	switch {
	case armed && !strings.HasPrefix(reply.Text, "3"):
		return n.reply("")
	case n.srv.ReadOnly, n.loggedIn && !n.srv.Users[n.user].May(testserver.Write):
		return n.reply("440 Posting not allowed.")
	}
	if err := n.reply("340 Send it."); err != nil {
		return err
	}
	text, whole, err := n.receiveArticle()
	if err != nil {
		return err
	}
	n.faults = n.At("END")
	if err := n.Preempt(n.faults); err != nil {
		return err
	}
	switch reply, armed := n.faults.Peek(core.Reply); {
	case armed && !strings.HasPrefix(reply.Text, "2"):
		return n.reply("")
	case !whole:
		return n.reply("441 Too large.")
	}
	return n.reply(n.srv.news.accept(text))
}

// receiveArticle reads a block and unstuffs its dots. Lines beyond MaxUpload are read and
// discarded.
func (n *session) receiveArticle() (text string, whole bool, err error) {
	var b strings.Builder
	whole = true
	for begins := true; ; {
		part, err := n.r.ReadSlice('\n')
		_, _ = n.Received.Write(part)
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return "", false, err
		}
		if begins && string(part) == ".\r\n" {
			return b.String(), whole, nil
		}
		if begins && part[0] == '.' {
			part = part[1:]
		}
		if whole = whole && int64(b.Len()+len(part)) <= n.srv.MaxUpload; whole {
			b.Write(part)
		}
		begins = strings.HasSuffix(string(part), "\n")
	}
}
