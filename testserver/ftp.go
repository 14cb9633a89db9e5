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

// FTP is a File Transfer Protocol server. It follows RFC 959 as amended by RFC 1123 and has the
// extensions of
//
//   - RFC 2389 (FEAT, OPTS),
//   - RFC 2428 (EPSV, EPRT),
//   - RFC 3659 (SIZE, MDTM, MLST, MLSD, REST),
//   - RFC 4217 (AUTH TLS, PBSZ, PROT, CCC).
//
// The transcript shows what goes over TLS decrypted. Uploads are kept in memory, over Content.
type FTP struct {
	Server

	// Anonymous means that "anonymous" and "ftp" may log in with any password. It is true unless a
	// configure function sets it to false.
	Anonymous bool
	// Users are the other accounts. One named "anonymous" replaces Anonymous.
	Users map[string]User
	// Greeting is the first reply, with its code, lines separated by "\n"; "" means "220 testserver
	// ready".
	Greeting string
	// LoginDir is the working directory after login, such as "/home/lab"; "" means "/".
	LoginDir string
	// ReadOnly means that uploads and changes are refused with 550.
	ReadOnly bool
	// Hide lists commands that are answered with 502 and left out of FEAT.
	Hide []string
	// NullCWD is what CWD without an argument does. "" means that it goes to the login directory,
	// and a path such as "/" that it goes there. Anything else is sent as the reply ("550 No.").
	NullCWD string
	// SizeInASCII is the reply to SIZE while the type is A.
	SizeInASCII SizeInASCII
	// BareNLST means that NLST of a directory lists names alone, not "directory/name".
	BareNLST bool
	// PassiveHost, if not empty, is the host in the reply to PASV, such as "10.0.0.5" for a server
	// behind NAT. The port is the real one.
	PassiveHost string
	// PassivePorts are the first and the last port for passive connections; zeros mean any port.
	PassivePorts [2]uint16
	// TLS enables AUTH TLS. With ImplicitTLS every connection uses TLS from its start.
	TLS         *tls.Config
	ImplicitTLS bool
	// RequireTLS means that logins and data connections without TLS are refused.
	RequireTLS bool
	// ReuseTLS means that a private data connection is refused (522) unless its TLS session resumes
	// an earlier one, as vsftpd requires.
	ReuseTLS bool
	// HandshakeFirst means that the TLS handshake on private data connections comes before the
	// first reply to a transfer, as with some servers. Others do it after that reply.
	HandshakeFirst bool
	// BareIAC means that an IAC byte (FF) in a command is taken literally, as by most servers, and
	// a doubled one as two.
	BareIAC bool
	// RequirePRET means that PASV and EPSV are refused unless PRET has announced the transfer, as
	// by drftpd.
	RequirePRET bool
	// Ahead is what the server does with commands that arrive before it has answered the previous
	// one. It does not apply to what follows AUTH and CCC.
	Ahead Ahead
	// AheadInTransfers limits Ahead to commands that arrive between the first reply to a transfer
	// and its last. The server handles other pipelined commands correctly.
	AheadInTransfers bool

	cameAhead atomic.Int64
}

// SizeInASCII is a choice of the server (RFC 3659 §4.2): the reply to SIZE in type A.
type SizeInASCII uint8

const (
	// SizeConverted means the number of bytes that a transfer in type A has.
	SizeConverted SizeInASCII = iota
	// SizeRaw means the size of the file on disk, although a transfer in type A may have another.
	SizeRaw
	// SizeRefused means the reply 550.
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

// StartFTP starts an FTP server on addr, such as "127.0.0.1:2121"; "" means a free loopback port.
// The server ends with ctx or by Close.
func StartFTP(ctx context.Context, addr string, configure ...func(*FTP)) (*FTP, error) {
	s := &FTP{Anonymous: true}
	s.faults.server, s.faults.known = "FTP", streaming(fExtraReply, fNoFinalReply, fData)
	s.faults.known["DATA"] = []faultKind{fDelay, fSilence, fClose, fEndlessLine, fData, fTruncate, fReset, fDrip, fSplit, fGarble}
	s.faults.known["REST"] = append(ofStreams(), fExtraReply, fFromStart)
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
	lines chan ftpLine  // commands from the client; closed at its end
	done  chan struct{} // closed when the session has ended
	busy  atomic.Bool   // carrying out a command: the client need not send anything
	idle  bool          // lines was closed by the idle timeout
	quit  bool
	plan  *plan // faults armed for the current command

	user     string
	loggedIn bool
	asked    byte // what USER and PASS still require: 'P'assword, 'A'ccount
	failures int

	dir      string // working directory, a name in the tree
	ascii    bool
	rest     int64
	renaming string // the argument of RNFR
	epsvAll  bool
	passive  net.Listener // after PASV and EPSV
	active   string       // address to connect to, after PORT and EPRT
	queue    []ftpLine    // commands that came during a transfer
	moving   bool         // a transfer is under way

	outOfTurn bool                    // the current command arrived before an earlier one was answered
	carryOut  func(line string) error // command(), for commands that carry out others

	turned    chan struct{} // lets the reader continue after a command that may turn TLS on or off
	clear     net.Conn      // the connection below TLS
	secured   bool
	sized     bool // PBSZ was given
	private   bool // data connections are under TLS
	announced bool // by a PRET
}

// maxFTPLine is the maximum length of a command, maxLogins the maximum number of wrong passwords on
// a connection.
const (
	maxFTPLine = 8 << 10
	maxLogins  = 10
)

func (s *FTP) serve(c *conn) {
	f := &ftpSession{conn: c, srv: s, ascii: true, dir: clean(s.LoginDir),
		lines: make(chan ftpLine), done: make(chan struct{}), turned: make(chan struct{}, 1)}
	if s.ImplicitTLS {
		if f.secure() != nil {
			return
		}
		f.private = true
	}
	f.carryOut = f.command
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
		for line := range f.lines {
			f.hear(line)
		}
	case f.idle:
		_ = f.answer(new(plan), "421 Timeout.")
	}
}

// ftpLine is a command as received and as read.
type ftpLine struct{ octets, text string }

// next waits for a command. It returns false if the client has left.
func (f *ftpSession) next() (text string, more bool) {
	var line ftpLine
	if len(f.queue) > 0 {
		line, f.queue = f.queue[0], f.queue[1:]
	} else if line, more = <-f.lines; !more {
		return "", false
	}
	return f.hear(line), true
}

// hear records a command when it is carried out, so that each reply follows its command in the
// transcript even if several commands came at once.
func (f *ftpSession) hear(line ftpLine) string {
	_, _ = f.received.Write([]byte(line.octets))
	return line.text
}

// read sends the client's lines to the session, also while a transfer runs.
func (f *ftpSession) read() {
	defer close(f.lines)
	r := bufio.NewReaderSize(f.conn, maxFTPLine)
	for {
		line, err := r.ReadSlice('\n')
		octets := string(line)
		if errors.Is(err, bufio.ErrBufferFull) {
			line, err = []byte{0}, skipLine(r) // not a command, so 500
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			if f.busy.Load() && len(line) == 0 {
				continue
			}
			f.idle = true
		}
		if err != nil {
			if len(line) > 0 { // an incomplete command
				f.received.script.record(Line{Conn: f.received.conn, From: f.received.from, Octets: octets}, lineText)
			}
			return
		}
		select {
		case f.lines <- ftpLine{octets, f.text(line)}:
		case <-f.done:
			return
		}
		if turnsTLS(f.text(line)) {
			select {
			case <-f.turned:
				r.Reset(f.conn) // discard what was sent before TLS changed
			case <-f.done:
				return
			}
		}
	}
}

// skipLine discards the rest of a line that was too long, up to a limit.
func skipLine(r *bufio.Reader) error {
	for range 1024 {
		if _, err := r.ReadSlice('\n'); !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
	return io.ErrShortBuffer
}

// text returns a line without its end, with IAC bytes read as BareIAC says.
func (f *ftpSession) text(line []byte) string {
	if f.srv.BareIAC {
		return strings.TrimSuffix(strings.TrimSuffix(string(line), "\n"), "\r")
	}
	return telnetText(line)
}

// telnetText reads a line of the Telnet stream that a control connection is (RFC 959 §3.3). It
// removes the line's end and the Telnet commands before an ABOR; a doubled IAC becomes one.
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

// refuses reports whether an armed reply means that the command is not carried out.
func refuses(reply string) bool { return reply == "" || reply[0] < '1' || reply[0] > '3' }

// reply sends the reply to a command, or the armed one if there is one.
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

// ftpCommands has all known commands. The X-names are those of RFC 1123 §4.1.3.1.
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

// isTransfer reports whether a command uses a data connection.
func isTransfer(verb string) bool {
	switch verb {
	case "RETR", "STOR", "STOU", "APPE", "NLST", "LIST", "MLSD":
		return true
	}
	return false
}
