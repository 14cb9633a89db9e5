package nntptest

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Groups (RFC 3977 §6.1, §7.3, §7.6).

// selectGroup is GROUP.
func selectGroup(n *session, name string) error {
	g, refusal := n.lookup(name)
	if refusal != "" {
		return n.reply(refusal)
	}
	n.setGroup(g)
	return n.reply(n.groupReply(g))
}

// listGroup is LISTGROUP [group [range]].
func listGroup(n *session, arg string) error {
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
	for _, number := range within(numbers, from, to) {
		fmt.Fprintf(&lines, "%d\r\n", number)
	}
	return n.block(n.groupReply(g)+" list follows", strings.NewReader(lines.String()), true)
}

// listActive is LIST and LIST ACTIVE [wildmat].
func listActive(n *session, pattern string) error {
	return n.listGroups("215 list of newsgroups follows", pattern)
}

// listNewsgroups is LIST NEWSGROUPS [wildmat].
func listNewsgroups(n *session, pattern string) error {
	return n.listNames("215 descriptions follow", pattern, func(name string) string {
		if d := n.srv.Descriptions[name]; d != "" {
			return name + "\t" + d + "\r\n"
		}
		return ""
	})
}

// newGroups is NEWGROUPS date time [GMT]. All groups were created when the server started.
func newGroups(n *session, arg string) error {
	since, ok := parseSince(arg)
	if !ok {
		return n.reply("501 Bad date.")
	}
	pattern := "*"
	if n.srv.news.opened.Before(since) {
		pattern = "!*"
	}
	return n.listGroups("231 New groups follow", pattern)
}

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

// wildmat reports whether a name matches a list of patterns (RFC 3977 §4.1). The last pattern that
// matches decides.
func wildmat(patterns, name string) (fits bool) {
	for pattern := range strings.SplitSeq(patterns, ",") {
		pattern, not := strings.CutPrefix(pattern, "!")
		if is, err := path.Match(pattern, name); err == nil && is {
			fits = !not
		}
	}
	return fits
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

// within returns the numbers from from to to.
func within(numbers []int, from, to int) []int {
	return slices.DeleteFunc(slices.Clone(numbers), func(n int) bool { return n < from || n > to })
}

// parseSince reads "[yy]yymmdd hhmmss [GMT]". A two-digit year is one of this century unless that
// year is in the future (RFC 3977 §7.3.2).
func parseSince(s string) (since time.Time, ok bool) {
	fields := strings.Fields(s)
	zone := time.Local
	if len(fields) == 3 && strings.EqualFold(fields[2], "GMT") {
		zone, fields = time.UTC, fields[:2]
	}
	if len(fields) != 2 {
		return since, false
	}
	short := len(fields[0]) == len("yymmdd")
	if short {
		fields[0] = fmt.Sprintf("%02d%s", time.Now().Year()/100, fields[0])
	}
	since, err := time.ParseInLocation("20060102 150405", fields[0]+" "+fields[1], zone)
	if short && since.Year() > time.Now().Year() {
		since = since.AddDate(-100, 0, 0)
	}
	return since, err == nil
}
