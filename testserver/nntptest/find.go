package nntptest

import (
	"bytes"
	"fmt"
	"net/mail"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Articles by their headers and by their age (RFC 3977 §7.3, §7.4, §8.5, §8.6;
// RFC 2980 §2.6, §2.9).

// hdr is HDR. The value is empty if an article lacks the field. An article requested by its
// message-id has the number 0.
func (n *session) hdr(arg string) error {
	return n.headers("225 Headers follow", arg, "", func(string) string { return "0" }, nil)
}

// xhdr is XHDR. The value is "(none)" if an article lacks the field. An article requested by its
// message-id is shown by that message-id.
func (n *session) xhdr(arg string) error {
	return n.headers("221 Header follows", arg, "(none)", func(id string) string { return id }, nil)
}

// xpat is XPAT: XHDR with a pattern, which may contain spaces and, as in INN, no commas.
func (n *session) xpat(arg string) error {
	name, rest, _ := strings.Cut(arg, " ")
	which, pattern, _ := strings.Cut(strings.TrimSpace(rest), " ")
	if pattern = strings.TrimSpace(pattern); pattern == "" {
		return n.reply("501 Which pattern?")
	}
	// A "*" of package path does not match a slash.
	slashes := strings.NewReplacer("/", "\x01")
	fits := func(value string) bool {
		is, err := path.Match(slashes.Replace(pattern), slashes.Replace(value))
		return err == nil && is
	}
	return n.headers("221 Header follows", name+" "+which, "", func(id string) string { return id }, fits)
}

// headers lists one header field of each article of a range, or of one article. If fits is not nil, it
// omits values that do not fit.
func (n *session) headers(first, arg, missing string, called func(id string) string, fits func(value string) bool) error {
	name, which, _ := strings.Cut(arg, " ")
	which = strings.TrimSpace(which)
	if name == "" {
		return n.reply("501 Which field?")
	}
	var lines strings.Builder
	add := func(label string, a *article) {
		text, err := n.srv.news.permitted(a)
		if err != nil {
			return
		}
		value := overviewField.Replace(headerOf(a, text, name))
		if fits != nil && !fits(value) {
			return
		}
		if value == "" {
			value = missing
		}
		lines.WriteString(label + " " + value + "\r\n")
	}
	if strings.HasPrefix(which, "<") {
		a, _, refusal := n.locate(which)
		if refusal != "" {
			return n.reply(refusal)
		}
		add(called(which), a)
		return n.block(first, strings.NewReader(lines.String()), true)
	}
	numbers, refusal := n.inRange(which)
	if refusal != "" {
		return n.reply(refusal)
	}
	for _, number := range numbers {
		if a := n.srv.news.articleByNumber(n.group, number); a != nil {
			add(strconv.Itoa(number), a)
		}
	}
	return n.block(first, strings.NewReader(lines.String()), true)
}

// headerOf returns a field of an article's header, or metadata of the article.
func headerOf(a *article, text []byte, name string) string {
	switch strings.ToLower(name) {
	case ":bytes":
		return strconv.Itoa(len(text))
	case ":lines":
		_, body := splitArticle(text)
		return strconv.Itoa(bytes.Count(body, []byte("\n")))
	case "message-id":
		return a.id(text)
	}
	return field(text, name)
}

// listHeaders is LIST HEADERS: any field, and the metadata that are not in the header.
func (n *session) listHeaders(string) error {
	return n.block("215 fields that HDR knows:", strings.NewReader(":\r\n:bytes\r\n:lines\r\n"), true)
}

// newNews is NEWNEWS wildmat date time [GMT].
func (n *session) newNews(arg string) error {
	pattern, when, _ := strings.Cut(arg, " ")
	since, ok := parseSince(when)
	if !ok {
		return n.reply("501 Bad date.")
	}
	var ids []string
	for _, name := range n.srv.news.names() {
		g, refusal := n.lookup(name)
		if refusal != "" || !wildmat(pattern, name) {
			continue
		}
		numbers, _, _ := n.srv.news.numbers(g)
		for _, number := range numbers {
			a := n.srv.news.articleByNumber(g, number)
			if a == nil {
				continue
			}
			if text, err := n.srv.news.permitted(a); err == nil && !n.srv.news.arrival(a, text).Before(since) {
				ids = append(ids, a.id(text)+"\r\n")
			}
		}
	}
	slices.Sort(ids) // an article may be in several groups
	return n.block("230 New articles follow", strings.NewReader(strings.Join(slices.Compact(ids), "")), true)
}

// newGroups is NEWGROUPS date time [GMT]. All groups were created when the server started.
func (n *session) newGroups(arg string) error {
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

// arrival returns when an article arrived: a posted one when it was posted, others at the time of
// their Date.
func (r *store) arrival(a *article, text []byte) time.Time {
	if !a.posted.IsZero() {
		return a.posted
	}
	if date, err := mail.ParseDate(field(text, "Date")); err == nil {
		return date
	}
	return r.opened
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
