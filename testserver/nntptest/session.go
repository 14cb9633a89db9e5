package nntptest

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/internal/build"
	"github.com/fetch1738/fetch1738/testserver/internal/core"
)

// Session administration (RFC 3977 §5, RFC 4642, RFC 4643).

func (n *session) capabilities(string) error {
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

func (n *session) modeReader(string) error {
	n.reader = true
	return n.reply(n.greeting())
}

func (n *session) authUser(name string) error {
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

func (n *session) authPass(password string) error {
	switch {
	case n.user == "":
		return n.reply("482 USER first.")
	case !build.Allowed(n.srv.Users, n.user, password):
		return n.reply("481 Wrong.")
	}
	n.loggedIn = true
	return n.reply("281 Welcome.")
}

func (n *session) startTLS(string) error {
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

func (n *session) leave(string) error {
	n.quit = true
	return n.reply("205 Bye.")
}

func (n *session) help(string) error {
	return n.block("100 Help:", strings.NewReader("A test server: RFC 3977, 4642, 4643, 2980, 977.\r\n"), true)
}

func (n *session) date(string) error {
	return n.reply("111 " + time.Now().UTC().Format("20060102150405"))
}

func (n *session) slave(string) error { return n.reply("202 Slave status noted.") }

// Posting (RFC 3977 §6.3.1).

func (n *session) post(string) error {
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

// block sends a reply of several lines. If record is true, the transcript has all of them.
func (n *session) block(first string, lines io.Reader, record bool) error {
	text, err := n.replyText(first)
	if err != nil {
		return err
	}
	first, own, replaced := strings.Cut(text, "\n")
	if replaced {
		lines = strings.NewReader(n.allowed(strings.Split(own, "\n")))
	}
	first = n.faults.Text(core.Reply, first)
	out := n.faults.Shape(n.srv.m.Ctx(), n.Client, n.Conn)
	if all, ok := n.faults.Take(core.Octets); ok {
		_, err = io.WriteString(out, all.Text)
		return err
	}
	if _, err := io.WriteString(out, core.ReplyOctets(first)); err != nil {
		return err
	}
	return n.sendBlock(out, lines, record)
}
