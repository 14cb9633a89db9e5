package nntptest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/testserver/internal/core"
)

// Groups and articles (RFC 3977 §6, §7.6, §8).

// selectGroup is GROUP.
func (n *session) selectGroup(name string) error {
	g, refusal := n.lookup(name)
	if refusal != "" {
		return n.reply(refusal)
	}
	n.setGroup(g)
	return n.reply(n.groupReply(g))
}

// lookup returns a group, or the reply that says why it is not available.
func (n *session) lookup(name string) (*group, string) {
	g, err := n.srv.news.find(name)
	switch {
	case err != nil:
		return nil, "403 The group cannot be read."
	case g == nil:
		return nil, "411 No such group."
	case slices.Contains(n.srv.Forbidden, name):
		return nil, "502 Not for you."
	case slices.Contains(n.srv.Protected, name) && !n.loggedIn:
		return nil, "480 Authentication required for this group."
	}
	return g, ""
}

// setGroup selects a group and its first article.
func (n *session) setGroup(g *group) {
	n.group, n.current = g, 0
	if numbers, _, _ := n.srv.news.numbers(g); len(numbers) > 0 {
		n.current = numbers[0]
	}
}

// groupReply returns the reply to GROUP.
func (n *session) groupReply(g *group) string {
	numbers, low, high := n.srv.news.numbers(g)
	return fmt.Sprintf("211 %d %d %d %s", len(numbers), low, high, g.name)
}

// listGroup is LISTGROUP [group [range]].
func (n *session) listGroup(arg string) error {
	name, span, _ := strings.Cut(arg, " ")
	g := n.group
	if name != "" {
		var refusal string
		if g, refusal = n.lookup(name); refusal != "" {
			return n.reply(refusal)
		}
	}
	if g == nil {
		return n.reply("412 No group selected.")
	}
	from, to, ok := parseSpan(span)
	if !ok {
		return n.reply("501 Bad range.")
	}
	n.setGroup(g)
	var lines strings.Builder
	numbers, _, _ := n.srv.news.numbers(g)
	for _, number := range numbers {
		if from <= number && number <= to {
			fmt.Fprintf(&lines, "%d\r\n", number)
		}
	}
	return n.block(n.groupReply(g)+" list follows", strings.NewReader(lines.String()), true)
}

// parseSpan reads "n", "n-" or "n-m"; an empty string means everything.
func parseSpan(s string) (from, to int, ok bool) {
	if s == "" {
		return 0, math.MaxInt, true
	}
	first, last, isSpan := strings.Cut(s, "-")
	from, err := strconv.Atoi(first)
	switch {
	case err != nil:
		return 0, 0, false
	case !isSpan:
		return from, from, true
	case last == "":
		return from, math.MaxInt, true
	}
	to, err = strconv.Atoi(last)
	return from, to, err == nil
}

// listActive is LIST and LIST ACTIVE [wildmat].
func (n *session) listActive(pattern string) error {
	return n.listGroups("215 list of newsgroups follows", pattern)
}

// listGroups lists the groups that match a pattern, with their article numbers.
func (n *session) listGroups(first, pattern string) error {
	if n.srv.Spool != nil {
		return n.listSpool(first, pattern)
	}
	return n.listNames(first, pattern, func(name string) string {
		g, _ := n.srv.news.find(name)
		_, low, high := n.srv.news.numbers(g)
		status := "y"
		if n.srv.ReadOnly {
			status = "n"
		}
		return fmt.Sprintf("%s %010d %010d %s\r\n", name, high, low, status)
	})
}

// listNewsgroups is LIST NEWSGROUPS [wildmat].
func (n *session) listNewsgroups(pattern string) error {
	return n.listNames("215 descriptions follow", pattern, func(name string) string {
		if d := n.srv.Descriptions[name]; d != "" {
			return name + "\t" + d + "\r\n"
		}
		return ""
	})
}

// listNames sends the lines of the groups that match a pattern; "" means all groups.
func (n *session) listNames(first, pattern string, line func(name string) string) error {
	var lines strings.Builder
	for _, name := range n.srv.news.names() {
		if pattern == "" || wildmat(pattern, name) {
			lines.WriteString(line(name))
		}
	}
	return n.block(first, strings.NewReader(lines.String()), false)
}

// listFormat is LIST OVERVIEW.FMT. The last two fields have the form of RFC 2980, which old
// newsreaders require (RFC 3977 §8.4).
func (n *session) listFormat(string) error {
	return n.block("215 order of fields:", strings.NewReader("Subject:\r\nFrom:\r\nDate:\r\nMessage-ID:\r\nReferences:\r\nBytes:\r\nLines:\r\n"), true)
}

// over is OVER and XOVER.
func (n *session) over(arg string) error {
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
	for _, number := range all {
		if from <= number && number <= to {
			numbers = append(numbers, number)
		}
	}
	if numbers == nil {
		return nil, "423 No articles in that range."
	}
	return numbers, ""
}

func (n *session) next(string) error { return n.step(1) }
func (n *session) last(string) error { return n.step(-1) }

// step is NEXT and LAST.
func (n *session) step(by int) error {
	if n.group == nil {
		return n.reply("412 No group selected.")
	}
	numbers, _, _ := n.srv.news.numbers(n.group)
	i := slices.Index(numbers, n.current)
	switch {
	case i < 0:
		return n.reply("420 No current article.")
	case i+by == len(numbers):
		return n.reply("421 No next article.")
	case i+by < 0:
		return n.reply("422 No previous article.")
	}
	n.current = numbers[i+by]
	return n.article(223, "")
}

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
	if err != nil {
		return n.block(first, io.MultiReader(bytes.NewReader(text), failing{err}), false)
	}
	return n.block(first, bytes.NewReader(text), false)
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

// sendBlock sends the lines of a block with the armed faults.
func (n *session) sendBlock(out io.Writer, lines io.Reader, record bool) error {
	n.Mute(!record)
	defer n.Mute(false)
	sent := &core.Counter{W: out}
	var err error
	if data, ok := n.faults.Take(core.Data); ok {
		_, err = io.WriteString(sent, data.Text)
	} else {
		err = n.faults.DotText(core.DotText{Exact: n.srv.Spool != nil}).Send(sent, lines)
	}
	if err != nil {
		return err
	}
	if !record {
		n.Count(core.FromServer, sent.N)
	}
	if n.faults.Has(core.NoDot) || n.faults.Acts(core.Hangup) {
		n.quit = true
	}
	if extra, ok := n.faults.Take(core.ExtraReply); ok {
		_, err = io.WriteString(out, core.ReplyOctets(extra.Text))
	}
	return err
}
