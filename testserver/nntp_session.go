package testserver

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// Session administration (RFC 3977 §5, RFC 4642, RFC 4643).

func (n *nntpSession) capabilities(string) error {
	list := []string{"VERSION 2", "IMPLEMENTATION testserver"}
	if n.reader {
		list = append(list, "READER", "LIST ACTIVE HEADERS NEWSGROUPS OVERVIEW.FMT", "OVER", "HDR", "NEWNEWS", "XHDR")
		if !n.srv.ReadOnly {
			list = append(list, "POST")
		}
	} else {
		list = append(list, "MODE-READER")
	}
	if len(n.srv.Users) > 0 && !n.loggedIn {
		list = append(list, "AUTHINFO USER")
	}
	if n.srv.TLS != nil && !n.secured {
		list = append(list, "STARTTLS")
	}
	var text strings.Builder
	for _, line := range list {
		verb, _, _ := strings.Cut(line, " ")
		if !hidden(n.srv.Hide, verb) {
			text.WriteString(line + "\r\n")
		}
	}
	return n.block("101 Capability list:", strings.NewReader(text.String()), true)
}

func (n *nntpSession) modeReader(string) error {
	n.reader = true
	return n.reply(n.greeting())
}

func (n *nntpSession) authUser(name string) error {
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

func (n *nntpSession) authPass(password string) error {
	switch {
	case n.user == "":
		return n.reply("482 USER first.")
	case !allowed(n.srv.Users, n.user, password):
		return n.reply("481 Wrong.")
	}
	n.loggedIn = true
	return n.reply("281 Welcome.")
}

func (n *nntpSession) startTLS(string) error {
	switch {
	case n.srv.TLS == nil:
		return n.reply("580 No TLS here.")
	case n.secured:
		return n.reply("502 TLS is on.")
	}
	if err := n.reply("382 Begin."); err != nil || n.plan.reply != nil && !strings.HasPrefix(*n.plan.reply, "382") {
		return err
	}
	n.secure()
	n.r.Reset(n.conn) // discard what was sent before TLS (RFC 4642 §2.2.2)
	n.loggedIn, n.group, n.reader = false, nil, !n.srv.Reader
	return nil
}

func (n *nntpSession) leave(string) error {
	n.quit = true
	return n.reply("205 Bye.")
}

func (n *nntpSession) help(string) error {
	return n.block("100 Help:", strings.NewReader("A test server: RFC 3977, 4642, 4643, 2980, 977.\r\n"), true)
}

func (n *nntpSession) date(string) error {
	return n.reply("111 " + time.Now().UTC().Format("20060102150405"))
}

func (n *nntpSession) slave(string) error { return n.reply("202 Slave status noted.") }

// Posting (RFC 3977 §6.3.1).

func (n *nntpSession) post(string) error {
	refused := n.plan.reply != nil && !strings.HasPrefix(*n.plan.reply, "3")
	switch {
	case refused:
		return n.reply("")
	case n.srv.ReadOnly:
		return n.reply("440 Posting not allowed.")
	}
	if err := n.reply("340 Send it."); err != nil {
		return err
	}
	text, whole, err := n.receiveArticle()
	if err != nil {
		return err
	}
	n.plan = n.srv.faults.at("END")
	if err := n.preempt(n.plan); err != nil {
		return err
	}
	switch {
	case n.plan.reply != nil && !strings.HasPrefix(*n.plan.reply, "2"):
		return n.reply("")
	case !whole:
		return n.reply("441 Too large.")
	}
	return n.reply(n.srv.news.accept(text))
}

// receiveArticle reads a block and unstuffs its dots. Lines beyond MaxUpload are read and
// discarded.
func (n *nntpSession) receiveArticle() (text string, whole bool, err error) {
	var b strings.Builder
	whole = true
	for begins := true; ; {
		part, err := n.r.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return "", false, err
		}
		if begins && string(part) == ".\r\n" {
			n.taken(b.Len())
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
func (n *nntpSession) block(first string, lines io.Reader, record bool) error {
	p := n.plan
	if p.reply != nil {
		first = *p.reply
	}
	out := io.Writer(n.conn)
	if p.any() {
		out = shape(n.conn.srv.ctx, n.conn, n.Conn, &p.octets)
	}
	if _, err := io.WriteString(out, replyOctets(first)); err != nil {
		return err
	}
	return n.sendBlock(out, lines, record)
}

// taken records the arrival of an article in the transcript.
func (n *nntpSession) taken(octets int) {
	n.conn.srv.script.add(Line{Conn: n.received.conn, From: FromClient, Text: fmt.Sprintf("(%d bytes)", octets)})
}
