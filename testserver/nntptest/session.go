package nntptest

import (
	"bufio"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/fetch1738/fetch1738/testserver/internal/core"
)

// session is one connection.
type session struct {
	*core.Client
	srv *Server
	r   *bufio.Reader
	request

	quit    bool
	secured bool
	reader  bool

	user     string // argument of AUTHINFO USER, until PASS
	loggedIn bool
	group    *group
	current  int // article number; 0 means no current article
}

// request is the current command, and the faults armed for it.
type request struct {
	verb   string // one or two words
	arg    string
	faults *core.Faults
}

// maxLine is the maximum length of a command.
const maxLine = 4 << 10

// serve serves one connection.
func (s *Server) serve(c *core.Client) {
	n := &session{Client: c, srv: s, reader: !s.Reader, secured: s.ImplicitTLS}
	n.r = bufio.NewReaderSize(c, maxLine)
	n.faults = n.At("GREETING")
	err := n.Preempt(n.faults)
	if err == nil {
		err = n.reply(s.greeting())
	}
	for err == nil && !n.quit {
		var line string
		if line, err = n.readLine(); err == nil {
			err = n.carryOut(line)
		}
	}
	switch {
	case errors.Is(err, core.ErrSilent):
		c.Wait()
	case errors.Is(err, os.ErrDeadlineExceeded):
		_ = n.Answer(new(core.Faults), "400 Timeout.")
	}
}

func (s *Server) greeting() string {
	switch {
	case s.Greeting != "":
		return s.Greeting
	case s.ReadOnly:
		return "201 testserver ready, no posting"
	}
	return "200 testserver ready, posting allowed"
}

// readLine reads and records a command.
func (n *session) readLine() (string, error) {
	line, err := n.r.ReadSlice('\n')
	_, _ = n.Received.Write(line)
	if errors.Is(err, bufio.ErrBufferFull) {
		return "\x00", core.SkipLine(n.r) // not a command, so 500
	}
	if err != nil {
		n.Received.End()
		return "", err
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(line), "\n"), "\r"), nil
}

// carryOut carries out one line.
func (n *session) carryOut(line string) error {
	verb, arg, _ := strings.Cut(line, " ")
	verb, arg = strings.ToUpper(verb), strings.Trim(arg, " \t")
	full := verb
	switch verb {
	case "LIST", "MODE", "AUTHINFO": // commands of two words
		word, rest, _ := strings.Cut(arg, " ")
		if word != "" {
			full, arg = verb+" "+strings.ToUpper(word), strings.TrimSpace(rest)
		}
	}
	n.request = request{full, arg, n.At(verb, line, full)}
	if err := n.Preempt(n.faults); err != nil {
		return err
	}
	if reply, armed := n.faults.Peek(core.Reply); armed && !strings.HasPrefix(reply.Text, "2") && verb != "POST" {
		return n.reply("")
	}
	c, known := commands[full]
	switch {
	case !known, core.ContainsFold(n.srv.Hide, verb), core.ContainsFold(n.srv.Hide, full), n.srv.RFC977 && !c.old:
		if verb == "LIST" || verb == "MODE" {
			return n.reply("501 Syntax error.")
		}
		return n.reply("500 What?")
	case n.srv.Protected == nil && len(n.srv.Users) > 0 && !n.loggedIn && !c.open:
		return n.reply("480 Authentication required.")
	case !n.reader && !c.open:
		return n.reply("401 MODE-READER")
	}
	if text, ok := n.srv.Replies[full]; ok {
		return n.Answer(n.faults, n.fill(text, ""))
	}
	return c.do(n, arg)
}

// reply sends a single line, or the armed reply if there is one.
func (n *session) reply(usual string) error {
	text, err := n.replyText(usual)
	if err != nil {
		return err
	}
	return n.Answer(n.faults, n.faults.Text(core.Reply, text))
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
