package nntptest

import (
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/testserver/internal/build"
	"github.com/fetch1738/fetch1738/testserver/internal/core"
)

// command is what the server does at a command.
type command struct {
	do   func(n *session, arg string) error
	open bool // requires neither a login nor MODE READER
	old  bool // is in RFC 977
}

// commands has all commands of this server.
var commands = map[string]command{
	"CAPABILITIES":  {do: capabilities, open: true},
	"MODE READER":   {do: modeReader, open: true},
	"AUTHINFO USER": {do: authUser, open: true},
	"AUTHINFO PASS": {do: authPass, open: true},
	"STARTTLS":      {do: startTLS, open: true},
	"QUIT":          {do: quit, open: true, old: true},
	"HELP":          {do: fixed("100 Help:", "A test server: RFC 3977, 4642, 4643, 2980, 977.\r\n"), open: true, old: true},
	"DATE":          {do: func(n *session, _ string) error { return n.reply("111 " + time.Now().UTC().Format("20060102150405")) }, open: true},
	"SLAVE":         {do: func(n *session, _ string) error { return n.reply("202 Slave status noted.") }, old: true},

	"GROUP":           {do: selectGroup, old: true},
	"LISTGROUP":       {do: listGroup},
	"LIST":            {do: listActive, old: true},
	"LIST ACTIVE":     {do: listActive},
	"LIST NEWSGROUPS": {do: listNewsgroups},
	// The last two fields have the form of RFC 2980, which old newsreaders require (RFC 3977 §8.4).
	"LIST OVERVIEW.FMT": {do: fixed("215 order of fields:", "Subject:\r\nFrom:\r\nDate:\r\nMessage-ID:\r\nReferences:\r\nBytes:\r\nLines:\r\n")},
	// Any field, and the metadata that are not in the header.
	"LIST HEADERS": {do: fixed("215 fields that HDR knows:", ":\r\n:bytes\r\n:lines\r\n")},
	"NEWGROUPS":    {do: newGroups, old: true},
	"NEXT":         {do: func(n *session, _ string) error { return n.step(1) }, old: true},
	"LAST":         {do: func(n *session, _ string) error { return n.step(-1) }, old: true},

	"ARTICLE": {do: func(n *session, arg string) error { return n.article(220, arg) }, old: true},
	"HEAD":    {do: func(n *session, arg string) error { return n.article(221, arg) }, old: true},
	"BODY":    {do: func(n *session, arg string) error { return n.article(222, arg) }, old: true},
	"STAT":    {do: func(n *session, arg string) error { return n.article(223, arg) }, old: true},
	"OVER":    {do: over},
	"XOVER":   {do: over},
	"HDR":     {do: hdr},
	"XHDR":    {do: xhdr},
	"XPAT":    {do: xpat},
	"NEWNEWS": {do: newNews, old: true},
	"POST":    {do: post, old: true},
}

// fixed returns a command whose reply is always the same block.
func fixed(first, lines string) func(*session, string) error {
	return func(n *session, _ string) error { return n.block(first, strings.NewReader(lines), true) }
}

// Session administration (RFC 3977 §5, RFC 4642, RFC 4643).

func capabilities(n *session, _ string) error {
	list := []string{"VERSION 2", "IMPLEMENTATION testserver"}
	if n.reader {
		list = append(list, "READER", "LIST ACTIVE HEADERS NEWSGROUPS OVERVIEW.FMT", "OVER", "HDR", "NEWNEWS", "XHDR", "XPAT")
		if !n.srv.ReadOnly {
			list = append(list, "POST")
		}
	} else {
		list = append(list, "MODE-READER")
	}
	list = append(list, "AUTHINFO USER", "STARTTLS")
	return n.block("101 Capability list:", strings.NewReader(n.allowed(list)), true)
}

// allowed returns the lines of a block, without capabilities that do not work.
func (n *session) allowed(list []string) string {
	var text strings.Builder
	for _, line := range list {
		verb, _, _ := strings.Cut(line, " ")
		switch {
		case core.ContainsFold(n.srv.Hide, verb):
		case verb == "STARTTLS" && (n.srv.TLS == nil || n.secured):
		case verb == "AUTHINFO" && (len(n.srv.Users) == 0 || n.loggedIn):
		default:
			text.WriteString(line + "\r\n")
		}
	}
	return text.String()
}

func modeReader(n *session, _ string) error {
	n.reader = true
	return n.reply(n.srv.greeting())
}

func authUser(n *session, name string) error {
	if n.loggedIn {
		return n.reply("502 Already logged in.")
	}
	n.user = name
	if u, known := n.srv.Users[name]; known && u.Password == "" {
		n.loggedIn = true
		return n.reply("281 Welcome.")
	}
	return n.reply("381 Password, please.")
}

func authPass(n *session, password string) error {
	switch {
	case n.user == "":
		return n.reply("482 USER first.")
	case !build.Allowed(n.srv.Users, n.user, password):
		return n.reply("481 Wrong.")
	}
	n.loggedIn = true
	return n.reply("281 Welcome.")
}

func startTLS(n *session, _ string) error {
	switch {
	case n.srv.TLS == nil:
		return n.reply("580 No TLS here.")
	case n.secured:
		return n.reply("502 TLS is on.")
	}
	err := n.reply("382 Begin.")
	if reply, armed := n.faults.Peek(core.Reply); err != nil || armed && !strings.HasPrefix(reply.Text, "382") {
		return err
	}
	if err := n.Secure(); err != nil {
		return err
	}
	n.secured = true
	n.r.Reset(n.Client) // discard what was sent before TLS (RFC 4642 §2.2.2)
	n.loggedIn, n.group, n.reader = false, nil, !n.srv.Reader
	return nil
}

func quit(n *session, _ string) error {
	n.quit = true
	return n.reply("205 Bye.")
}
