package testserver

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"os"
	"slices"
	"strings"
)

// NNTP is a news server: RFC 3977 with OVER, HDR and NEWNEWS, AUTHINFO USER (RFC 4643), STARTTLS
// (RFC 4642) and the XOVER and XHDR of RFC 2980. Posted articles are kept in memory.
//
// Its groups are those of Groups, and one for each directory of Content that has files in it:
// "local/test" and "local.test" are both the group local.test. A file whose name is a number is the
// article of that number. Others follow in the order of their names. Content is read when the
// server starts.
//
// A file that does not begin with a header gets one. Lines end in CR LF on the wire, whatever their
// ends in the file.
type NNTP struct {
	Server

	// Groups are newsgroups by name, each with its articles in order from number 1: header, an
	// empty line, body. They are sent unchanged. An empty one means an article that has expired.
	Groups map[string][]string
	// Descriptions are the descriptions in LIST NEWSGROUPS, by group.
	Descriptions map[string]string
	// Users are the accounts. If there are any, only they can read the groups in Protected.
	Users map[string]User
	// Protected are the groups that require a login if there are Users. If nil, all do, and then no
	// command works without a login except those that a login requires.
	Protected []string
	// ReadOnly means that articles are refused: the greeting is 201, and POST is answered with 440.
	ReadOnly bool
	// RFC977 makes the server behave like one of 1986: no CAPABILITIES, MODE READER, OVER,
	// LISTGROUP or AUTHINFO, and LIST has no argument.
	RFC977 bool
	// Hide lists commands that are answered with 500 and left out of CAPABILITIES, such as "XOVER"
	// or "LIST NEWSGROUPS".
	Hide []string
	// Reader means that the server requires MODE READER before it serves readers.
	Reader bool
	// TLS enables STARTTLS. With ImplicitTLS every connection uses TLS from its start.
	TLS         *tls.Config
	ImplicitTLS bool
	// Greeting is the first reply; "" means one that says whether posting is allowed.
	Greeting string

	news newsStore
}

// NewNNTP starts a news server that ends with the test.
func NewNNTP(tb TB, configure ...func(*NNTP)) *NNTP {
	tb.Helper()
	s, err := StartNNTP(context.Background(), "", configure...)
	if err != nil {
		tb.Fatalf("%v", err)
	}
	s.endWith(tb)
	return s
}

// StartNNTP starts a news server on addr, such as "127.0.0.1:1119"; "" means a free loopback port.
// The server ends with ctx or by Close.
func StartNNTP(ctx context.Context, addr string, configure ...func(*NNTP)) (*NNTP, error) {
	s := new(NNTP)
	s.faults.server, s.faults.known = "NNTP", streaming(fExtraReply, fData, fNoDot, fLoneDot, fNoStuffing, fBareLF)
	for _, f := range configure {
		f(s)
	}
	scheme, port := "nntp", 119
	if s.ImplicitTLS {
		scheme, port = "nntps", 563
	}
	if s.MaxUpload <= 0 {
		s.MaxUpload = defaultMaxUpload
	}
	s.tree.base = s.Content
	if err := s.news.open(s); err != nil {
		return nil, err
	}
	if err := s.start(ctx, scheme, port, addr, s.serve); err != nil {
		return nil, err
	}
	return s, nil
}

// Posted returns the articles that clients have posted, in the order of their arrival, unchanged
// except that doubled dots are single again.
func (s *NNTP) Posted() []string { return s.news.posted() }

// nntpSession is one connection.
type nntpSession struct {
	*conn
	srv     *NNTP
	r       *bufio.Reader
	plan    *plan // faults armed for the current command
	quit    bool
	secured bool
	reader  bool

	user     string // argument of AUTHINFO USER, until PASS
	loggedIn bool
	group    *newsgroup
	current  int // article number; 0 means no current article
}

// maxNNTPLine is the maximum length of a command.
const maxNNTPLine = 4 << 10

func (s *NNTP) serve(c *conn) {
	n := &nntpSession{conn: c, srv: s, reader: !s.Reader}
	if s.ImplicitTLS {
		n.secure()
	}
	n.r = bufio.NewReaderSize(c, maxNNTPLine)
	n.plan = s.faults.at("GREETING")
	err := n.preempt(n.plan)
	if err == nil {
		err = n.reply(n.greeting())
	}
	for err == nil && !n.quit {
		var line string
		if line, err = n.readLine(); err == nil {
			err = n.command(line)
		}
	}
	switch {
	case errors.Is(err, errSilent):
		c.wait()
	case errors.Is(err, os.ErrDeadlineExceeded):
		_ = n.answer(new(plan), "400 Timeout.")
	}
}

// secure starts TLS on the connection.
func (n *nntpSession) secure() {
	t := tls.Server(n.Conn, n.srv.TLS)
	n.Conn, n.tap.to, n.secured = t, t, true
}

func (n *nntpSession) greeting() string {
	switch {
	case n.srv.Greeting != "":
		return n.srv.Greeting
	case n.srv.ReadOnly:
		return "201 testserver ready, no posting"
	}
	return "200 testserver ready, posting allowed"
}

// readLine reads and records a command.
func (n *nntpSession) readLine() (string, error) {
	line, err := n.r.ReadSlice('\n')
	_, _ = n.received.Write(line)
	if errors.Is(err, bufio.ErrBufferFull) {
		return "\x00", skipLine(n.r) // not a command, so 500
	}
	if err != nil {
		n.received.end()
		return "", err
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(line), "\n"), "\r"), nil
}

// command carries out one line.
func (n *nntpSession) command(line string) error {
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
	n.plan = n.srv.faults.at(verb, line, full)
	if err := n.preempt(n.plan); err != nil {
		return err
	}
	if n.plan.reply != nil && !strings.HasPrefix(*n.plan.reply, "2") && verb != "POST" {
		return n.reply("")
	}
	do := nntpCommands[full]
	switch {
	case do == nil, hidden(n.srv.Hide, verb), hidden(n.srv.Hide, full), n.srv.RFC977 && !slices.Contains(commands977, full):
		return n.reply(n.unknown(verb))
	case n.srv.Protected == nil && len(n.srv.Users) > 0 && !n.loggedIn && !slices.Contains(openCommands, full):
		return n.reply("480 Authentication required.")
	case !n.reader && !slices.Contains(openCommands, full):
		return n.reply("401 MODE-READER")
	}
	return do(n, arg)
}

// unknown replies to an unknown command or keyword of LIST.
func (n *nntpSession) unknown(verb string) string {
	if verb == "LIST" || verb == "MODE" {
		return "501 Syntax error."
	}
	return "500 What?"
}

// reply sends a single line, or the armed reply if there is one.
func (n *nntpSession) reply(text string) error {
	if n.plan.reply != nil {
		text = *n.plan.reply
	}
	return n.answer(n.plan, text)
}

// openCommands are those that require neither a login nor MODE READER.
var openCommands = []string{"CAPABILITIES", "MODE READER", "AUTHINFO USER", "AUTHINFO PASS", "STARTTLS", "QUIT", "HELP", "DATE"}

// commands977 are the commands of RFC 977 that this server has.
var commands977 = []string{"ARTICLE", "HEAD", "BODY", "STAT", "GROUP", "LIST", "NEXT", "LAST", "NEWGROUPS", "NEWNEWS", "POST", "HELP", "QUIT", "SLAVE"}

// nntpCommands has all commands of this server.
var nntpCommands = map[string]func(*nntpSession, string) error{
	"CAPABILITIES":  (*nntpSession).capabilities,
	"MODE READER":   (*nntpSession).modeReader,
	"AUTHINFO USER": (*nntpSession).authUser,
	"AUTHINFO PASS": (*nntpSession).authPass,
	"STARTTLS":      (*nntpSession).startTLS,
	"QUIT":          (*nntpSession).leave,
	"HELP":          (*nntpSession).help,
	"DATE":          (*nntpSession).date,
	"SLAVE":         (*nntpSession).slave,

	"GROUP":             (*nntpSession).selectGroup,
	"LISTGROUP":         (*nntpSession).listGroup,
	"LIST":              (*nntpSession).listActive,
	"LIST ACTIVE":       (*nntpSession).listActive,
	"LIST NEWSGROUPS":   (*nntpSession).listNewsgroups,
	"LIST OVERVIEW.FMT": (*nntpSession).listFormat,
	"OVER":              (*nntpSession).over,
	"XOVER":             (*nntpSession).over,
	"LIST HEADERS":      (*nntpSession).listHeaders,
	"HDR":               (*nntpSession).hdr,
	"XHDR":              (*nntpSession).xhdr,
	"NEWNEWS":           (*nntpSession).newNews,
	"NEWGROUPS":         (*nntpSession).newGroups,
	"NEXT":              (*nntpSession).next,
	"LAST":              (*nntpSession).last,

	"ARTICLE": func(n *nntpSession, arg string) error { return n.article(220, arg) },
	"HEAD":    func(n *nntpSession, arg string) error { return n.article(221, arg) },
	"BODY":    func(n *nntpSession, arg string) error { return n.article(222, arg) },
	"STAT":    func(n *nntpSession, arg string) error { return n.article(223, arg) },
	"POST":    (*nntpSession).post,
}
