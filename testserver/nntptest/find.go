package nntptest

import (
	"bytes"
	"cmp"
	"net/mail"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Articles by their headers and by their age (RFC 3977 §7.4, §8.5; RFC 2980 §2.6, §2.9).

// fieldList is a reply that lists one header field of several articles.
type fieldList struct {
	first   string
	missing string                  // the value if an article lacks the field
	zero    bool                    // an article requested by its message-id has the number 0, not that id
	fits    func(value string) bool // selects values; nil means all
}

// hdr is HDR.
func hdr(n *session, arg string) error {
	return fieldList{first: "225 Headers follow", zero: true}.send(n, arg)
}

// xhdr is XHDR.
func xhdr(n *session, arg string) error {
	return fieldList{first: "221 Header follows", missing: "(none)"}.send(n, arg)
}

// xpat is XPAT: XHDR with a pattern, which may contain spaces and, as in INN, no commas.
func xpat(n *session, arg string) error {
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
	return fieldList{first: "221 Header follows", fits: fits}.send(n, name+" "+which)
}

// send sends the field that arg names, of each article of a range, or of one article.
func (l fieldList) send(n *session, arg string) error {
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
		if l.fits != nil && !l.fits(value) {
			return
		}
		lines.WriteString(label + " " + cmp.Or(value, l.missing) + "\r\n")
	}
	if strings.HasPrefix(which, "<") {
		a, _, refusal := n.locate(which)
		if refusal != "" {
			return n.reply(refusal)
		}
		if l.zero {
			which = "0"
		}
		add(which, a)
		return n.block(l.first, strings.NewReader(lines.String()), true)
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
	return n.block(l.first, strings.NewReader(lines.String()), true)
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

// newNews is NEWNEWS wildmat date time [GMT].
func newNews(n *session, arg string) error {
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
