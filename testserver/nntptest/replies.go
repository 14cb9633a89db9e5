package nntptest

import (
	"strings"

	"github.com/fetch1738/fetch1738/testserver/internal/core"
)

// Replies are texts that replace those of the server. A text is a reply with its code. If it has
// more lines, separated by "\n", these are its block, without the last dot. The key says where it
// is sent:
//
//	"GROUP 411"     instead of the usual 411 to GROUP; "LIST 215" for all commands that begin with
//	                LIST, unless there is a text for "LIST ACTIVE 215"
//	"411"           instead of the usual 411 to any command
//	"CAPABILITIES 101 MODE-READER"
//	                the capabilities before MODE READER, if Reader is set
//	"NEWNEWS"       the reply to NEWNEWS, which has no effect
//
// CAPABILITIES lists nothing of Hide, and STARTTLS and AUTHINFO only where they work.
//
// In a text, these are replaced: {arg} by the argument, {field} by its first word, {range} by the
// rest, {usual} by the usual reply without its code, {name} by the name of the selected group, and
// {group} by its numbers and its name, as in the reply to GROUP.
type Replies map[string]string

// replyText returns the text of a reply, after the time that the server takes for it.
func (n *session) replyText(usual string) (string, error) {
	if err := core.Sleep(n.srv.m.Ctx(), n.srv.Delay); err != nil {
		return "", err
	}
	code, rest, _ := strings.Cut(usual, " ")
	first, _, _ := strings.Cut(n.verb, " ")
	text, ok := "", false
	if !n.reader {
		text, ok = n.srv.Replies[n.verb+" "+code+" MODE-READER"]
	}
	for _, key := range []string{n.verb + " " + code, first + " " + code, code} {
		if !ok {
			text, ok = n.srv.Replies[key]
		}
	}
	if !ok {
		return usual, nil
	}
	return n.fill(text, rest), nil
}

// fill replaces the names in braces.
func (n *session) fill(text, usual string) string {
	field, span, _ := strings.Cut(n.arg, " ")
	group, name := "", ""
	if n.group != nil && strings.Contains(text, "{") {
		group, name = strings.TrimPrefix(n.groupReply(n.group), "211 "), n.group.name
	}
	return strings.NewReplacer("{arg}", n.arg, "{field}", field, "{range}", span, "{name}", name, "{usual}", usual, "{group}", group).Replace(text)
}
