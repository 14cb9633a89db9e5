package testserver

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync/atomic"
)

// FTP is a File Transfer Protocol server: RFC 959 as RFC 1123 amends it, with
// the extensions of RFC 2389 (FEAT, OPTS), RFC 2428 (EPSV, EPRT), RFC 3659
// (SIZE, MDTM, MLST, MLSD, REST) and RFC 4217 (AUTH TLS, PBSZ, PROT, CCC). What
// goes over TLS is in the transcript as if it did not. Uploads are kept in memory,
// over Content.
type FTP struct {
	Server

	// Anonymous lets "anonymous" and "ftp" in with any password. It is true
	// unless a configure function says otherwise.
	Anonymous bool
	// Users are the other accounts; one named "anonymous" takes Anonymous' place.
	Users map[string]User
	// Greeting is the first reply, code included, lines separated by "\n";
	// "" means "220 testserver ready".
	Greeting string
	// LoginDir is the working directory after login, such as "/home/lab"; "" means "/".
	LoginDir string
	// ReadOnly refuses uploads and changes with 550.
	ReadOnly bool
	// Hide are commands answered with 502 and left out of FEAT.
	Hide []string
	// NullCWD is what CWD without an argument does: "" goes to the login directory,
	// a path such as "/" goes there, anything else is the reply ("550 No.").
	NullCWD string
	// SizeInASCII is how SIZE answers while the type is A.
	SizeInASCII SizeInASCII
	// BareNLST makes NLST of a directory list names alone, not "directory/name".
	BareNLST bool
	// PassiveHost is shown in the reply to PASV in place of the server's own
	// address, as "10.0.0.5" by a server behind NAT. The port is true.
	PassiveHost string
	// PassivePorts are the first and the last port for passive connections; zeros mean any.
	PassivePorts [2]uint16
	// TLS is for AUTH TLS, or with ImplicitTLS for every connection from its start.
	TLS         *tls.Config
	ImplicitTLS bool
	// RequireTLS refuses a login, and data connections, without TLS.
	RequireTLS bool
	// ReuseTLS refuses private data connections (522) whose TLS session does not go
	// on with an earlier one, as vsftpd does.
	ReuseTLS bool
	// HandshakeFirst shakes hands on private data connections before the first reply
	// to a transfer, as some servers do; others do so after it.
	HandshakeFirst bool
	// BareIAC takes an IAC octet (FF) in a command for itself, as most servers do, and
	// a doubled one for two.
	BareIAC bool
	// RequirePRET refuses PASV and EPSV unless PRET has told what for, as drftpd does.
	RequirePRET bool
}

// SizeInASCII is a choice servers make (RFC 3659 §4.2).
type SizeInASCII uint8

const (
	// SizeConverted counts the octets that a transfer in type A has.
	SizeConverted SizeInASCII = iota
	// SizeRaw gives the size of the file on disk all the same.
	SizeRaw
	// SizeRefused answers 550.
	SizeRefused
)

// NewFTP starts an FTP server that ends with the test.
func NewFTP(tb TB, configure ...func(*FTP)) *FTP {
	tb.Helper()
	s, err := StartFTP(context.Background(), "", configure...)
	if err != nil {
		tb.Fatalf("%v", err)
	}
	s.endWith(tb)
	return s
}

// StartFTP starts an FTP server on addr, such as "127.0.0.1:2121"; "" is a free
// loopback port. It ends with ctx or by Close.
func StartFTP(ctx context.Context, addr string, configure ...func(*FTP)) (*FTP, error) {
	s := &FTP{Anonymous: true}
	s.faults.server, s.faults.known = "FTP", streaming(fExtraReply, fNoFinalReply, fData)
	s.faults.known["DATA"] = []faultKind{fDelay, fSilence, fClose, fEndlessLine, fData, fTruncate, fReset, fDrip, fSplit, fGarble}
	for _, f := range configure {
		f(s)
	}
	if s.Greeting == "" {
		s.Greeting = "220 testserver ready"
	}
	scheme, port := "ftp", 21
	if s.ImplicitTLS {
		scheme, port = "ftps", 990
	}
	if err := s.start(ctx, scheme, port, addr, s.serve); err != nil {
		return nil, err
	}
	return s, nil
}

// ftpSession is one control connection.
type ftpSession struct {
	*conn
	srv   *FTP
	lines chan string   // commands from the client; closed at its end
	done  chan struct{} // closed when the session is over
	busy  atomic.Bool   // with a command: the client need not say anything
	idle  bool          // why lines was closed
	quit  bool
	plan  *plan // armed against the command at hand

	user     string
	loggedIn bool
	asked    byte // what USER and PASS still want: 'P'assword, 'A'ccount
	failures int

	dir      string // working directory, a name in the tree
	ascii    bool
	rest     int64
	renaming string // given by RNFR
	epsvAll  bool
	passive  net.Listener // after PASV and EPSV
	active   string       // address to connect to, after PORT and EPRT
	queue    []string     // commands that came during a transfer
	ahead    atomic.Bool  // something has come during the transfer

	turned    chan struct{} // lets the reader go on after a command that may turn TLS on or off
	clear     net.Conn      // below TLS
	secured   bool
	sized     bool // PBSZ was given
	private   bool // data connections are under TLS
	announced bool // by PRET
}

// maxFTPLine bounds a command, maxLogins the wrong passwords on one connection.
const (
	maxFTPLine = 8 << 10
	maxLogins  = 10
)

func (s *FTP) serve(c *conn) {
	f := &ftpSession{conn: c, srv: s, ascii: true, dir: clean(s.LoginDir),
		lines: make(chan string), done: make(chan struct{}), turned: make(chan struct{}, 1)}
	if s.ImplicitTLS {
		if f.secure() != nil {
			return
		}
		f.private = true
	}
	defer f.closePassive()
	defer close(f.done)
	s.wg.Go(f.read)

	f.busy.Store(true)
	f.plan = s.faults.at("GREETING")
	err := f.preempt(f.plan)
	if err == nil {
		err = f.reply(s.Greeting)
		f.busy.Store(false)
	}
	for err == nil && !f.quit {
		line, more := f.next()
		if !more {
			break
		}
		f.busy.Store(true)
		if err = f.command(line); err == nil {
			f.busy.Store(false)
		}
	}
	switch {
	case errors.Is(err, errSilent): // stay, without an answer, until the client leaves
		for range f.lines {
		}
	case f.idle:
		_ = f.answer(new(plan), "421 Timeout.")
	}
}

// next waits for a command; false means that the client has left.
func (f *ftpSession) next() (line string, more bool) {
	if len(f.queue) > 0 {
		line, f.queue = f.queue[0], f.queue[1:]
		return line, true
	}
	line, more = <-f.lines
	return line, more
}

// read feeds the client's lines to the session, also while a transfer runs.
func (f *ftpSession) read() {
	defer close(f.lines)
	r := bufio.NewReaderSize(f.conn, maxFTPLine)
	for {
		line, err := r.ReadSlice('\n')
		_, _ = f.received.Write(line)
		if errors.Is(err, bufio.ErrBufferFull) {
			line, err = []byte{0}, skipLine(r) // no command, so 500
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			if f.busy.Load() && len(line) == 0 {
				continue
			}
			f.idle = true
		}
		if err != nil {
			f.received.end()
			return
		}
		select {
		case f.lines <- f.text(line):
		case <-f.done:
			return
		}
		if turnsTLS(f.text(line)) {
			select {
			case <-f.turned:
				r.Reset(f.conn) // what was sent ahead does not count
			case <-f.done:
				return
			}
		}
	}
}

// skipLine reads what is left of a line that was too long, but not for ever.
func skipLine(r *bufio.Reader) error {
	for range 1024 {
		if _, err := r.ReadSlice('\n'); !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
	return io.ErrShortBuffer
}

// text is a line without its end, read as the server reads lines.
func (f *ftpSession) text(line []byte) string {
	if f.srv.BareIAC {
		return strings.TrimSuffix(strings.TrimSuffix(string(line), "\n"), "\r")
	}
	return telnetText(line)
}

// telnetText is a line of the Telnet stream that a control connection is
// (RFC 959 §3.3): without its end and without the Telnet commands before an
// ABOR; a doubled IAC stands for the octet itself.
func telnetText(line []byte) string {
	const iac, dm, ip = 255, 242, 244
	s := strings.TrimSuffix(strings.TrimSuffix(string(line), "\n"), "\r")
	s = strings.ReplaceAll(s, string([]byte{iac, ip}), "")
	s = strings.ReplaceAll(s, string([]byte{iac, dm}), "")
	return strings.ReplaceAll(s, string([]byte{iac, iac}), string([]byte{iac}))
}

// command carries out one line.
func (f *ftpSession) command(line string) error {
	if turnsTLS(line) {
		defer func() { f.turned <- struct{}{} }()
	}
	verb, arg, _ := strings.Cut(line, " ")
	verb = strings.ToUpper(verb)
	f.plan = f.srv.faults.at(verb, verb+" "+arg)
	if err := f.preempt(f.plan); err != nil {
		return err
	}
	if f.plan.reply != nil && refuses(*f.plan.reply) && !(f.plan.any() && isTransfer(verb)) {
		return f.reply("")
	}
	do, known := ftpCommands[verb]
	switch {
	case !known:
		return f.reply("500 Unknown command.")
	case hidden(f.srv.Hide, verb):
		return f.reply("502 Command not implemented.")
	case !f.secured && f.srv.RequireTLS && (verb == "USER" || verb == "PASS"):
		return f.reply("530 AUTH TLS first.")
	case !f.loggedIn && !slices.Contains(beforeLogin, verb):
		return f.reply("530 Please login with USER and PASS.")
	}
	return do(f, arg)
}

// refuses tells whether a reply armed by a test stops the command itself.
func refuses(reply string) bool { return reply == "" || reply[0] < '1' || reply[0] > '3' }

// reply sends the reply to a command: the armed one, if there is one.
func (f *ftpSession) reply(text string) error {
	if f.plan.reply != nil {
		text = *f.plan.reply
	}
	return f.answer(f.plan, text)
}

func (f *ftpSession) replyf(format string, args ...any) error {
	return f.reply(fmt.Sprintf(format, args...))
}

// beforeLogin are the commands that need no login.
var beforeLogin = []string{"USER", "PASS", "ACCT", "QUIT", "REIN", "NOOP", "HELP", "SYST", "FEAT", "OPTS", "AUTH", "PBSZ", "PROT"}

// ftpCommands are all commands known. The X-names are those of RFC 1123 §4.1.3.1.
var ftpCommands = map[string]func(*ftpSession, string) error{
	"USER": (*ftpSession).userName,
	"PASS": (*ftpSession).password,
	"ACCT": (*ftpSession).account,
	"REIN": (*ftpSession).reinitialize,
	"QUIT": (*ftpSession).logout,

	"AUTH": (*ftpSession).auth,
	"PBSZ": (*ftpSession).bufferSize,
	"PROT": (*ftpSession).protection,
	"CCC":  (*ftpSession).clearCommands,

	"NOOP": (*ftpSession).noop,
	"HELP": (*ftpSession).help,
	"SYST": (*ftpSession).system,
	"FEAT": (*ftpSession).features,
	"OPTS": (*ftpSession).options,
	"ALLO": (*ftpSession).allocate,

	"PWD":  (*ftpSession).printDir,
	"XPWD": (*ftpSession).printDir,
	"CWD":  (*ftpSession).changeDir,
	"XCWD": (*ftpSession).changeDir,
	"CDUP": (*ftpSession).changeUp,
	"XCUP": (*ftpSession).changeUp,

	"TYPE": (*ftpSession).setType,
	"MODE": (*ftpSession).setMode,
	"STRU": (*ftpSession).setStructure,
	"PASV": (*ftpSession).pasv,
	"EPSV": (*ftpSession).epsv,
	"PORT": (*ftpSession).port,
	"EPRT": (*ftpSession).eprt,
	"PRET": (*ftpSession).preTransfer,

	"REST": (*ftpSession).restart,
	"RETR": (*ftpSession).retrieve,
	"STOR": (*ftpSession).store,
	"STOU": (*ftpSession).storeUnique,
	"APPE": (*ftpSession).appendTo,
	"NLST": (*ftpSession).nlst,
	"LIST": (*ftpSession).list,
	"MLSD": (*ftpSession).mlsd,
	"ABOR": (*ftpSession).abort,

	"MLST": (*ftpSession).mlst,
	"STAT": (*ftpSession).status,
	"SIZE": (*ftpSession).size,
	"MDTM": (*ftpSession).modTime,
	"MFMT": (*ftpSession).setModTime,
	"DELE": (*ftpSession).deleteFile,
	"MKD":  (*ftpSession).makeDir,
	"XMKD": (*ftpSession).makeDir,
	"RMD":  (*ftpSession).removeDir,
	"XRMD": (*ftpSession).removeDir,
	"RNFR": (*ftpSession).renameFrom,
	"RNTO": (*ftpSession).renameTo,
}

// isTransfer tells whether a command uses a data connection.
func isTransfer(verb string) bool {
	switch verb {
	case "RETR", "STOR", "STOU", "APPE", "NLST", "LIST", "MLSD":
		return true
	}
	return false
}
