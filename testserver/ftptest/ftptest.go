// Package ftptest has an FTP server for tests. Package testserver has what all servers have in
// common.
package ftptest

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/internal/build"
	"github.com/fetch1738/fetch1738/testserver/internal/core"
	"github.com/fetch1738/fetch1738/testserver/internal/tree"
	"github.com/fetch1738/fetch1738/testserver/traffic"
)

// Server is a File Transfer Protocol server. It follows RFC 959 as amended by RFC 1123 and has the
// extensions of
//
//   - RFC 2389 (FEAT, OPTS),
//   - RFC 2428 (EPSV, EPRT),
//   - RFC 3659 (SIZE, MDTM, MLST, MLSD, REST, OPTS MLST),
//   - RFC 4217 (AUTH TLS, PBSZ, PROT, CCC).
//
// The transcript shows what goes over TLS decrypted. Uploads are kept in memory, over Content.
type Server struct {
	testserver.Server `json:"-"`

	// Anonymous means that "anonymous" and "ftp" may log in with any password. It is true unless a
	// configure function sets it to false.
	Anonymous bool
	// Users are the other accounts. One named "anonymous" replaces Anonymous.
	Users map[string]testserver.User `json:"-"`
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
	// PassiveHost, if not empty, is the IPv4 address in the reply to PASV, such as "10.0.0.5" for a
	// server behind NAT. SetPublic changes it, and the ports.
	PassiveHost string
	// PassivePorts are the first and the last port for passive connections; zeros mean any port.
	PassivePorts [2]uint16
	// DataPorts is the number of passive ports, at most 1000, that are opened when the server starts
	// and shared by all sessions, so that they can be mapped to others, as those of a container.
	// PassivePorts limits which they are; Ports returns them. 0 means a port of its own for each
	// transfer.
	//
	// A session has a port from the reply to PASV or EPSV until its data connection is accepted.
	// Without a free port PASV and EPSV wait up to 10 seconds, and then reply 425.
	DataPorts int
	// OnePort means that passive data connections are accepted on the control port. It is for one
	// client at a time, since neither side of a connection says what it is for. Others wait up to 2
	// seconds for the end of the session, and are then reset. If two connections may be the data
	// connection of a transfer, both are reset, and the transfer fails with "425 One port: two
	// candidates." or 426. DataPorts and PassivePorts must be 0.
	OnePort bool
	// ActiveToPeer means that PORT and EPRT set the port only: the server connects to the address
	// from which the control connection came. A client behind NAT names another one. If it is
	// false, PORT and EPRT with another address are refused.
	ActiveToPeer bool
	// RequireTLS means that logins and data connections without TLS are refused.
	RequireTLS bool
	// ReuseTLS means that a private data connection is refused (522) unless its TLS session resumes
	// an earlier one, as vsftpd requires.
	ReuseTLS bool
	// HandshakeFirst means that the TLS handshake on private data connections comes before the
	// first reply to a transfer, as with some servers. Others do it after that reply.
	HandshakeFirst bool
	// BareIAC means that an IAC byte (FF) in a command is taken literally, as by most servers, and
	// a doubled one as two. Otherwise it is read as in Telnet: a doubled one is one, and a single one
	// and the byte after it are a Telnet command. An option is refused before the reply.
	BareIAC bool
	// CodePage means that names are in the code page 1252 of Windows, in commands, replies and
	// listings, until the client has sent OPTS UTF8 ON. IIS behaves so.
	CodePage bool
	// RequirePRET means that PASV and EPSV are refused unless PRET has announced the transfer, as
	// by drftpd.
	RequirePRET bool
	// Replies replaces texts of replies; see [Replies].
	Replies Replies
	// Delays is how long the server waits before a reply, by the keys of Replies with a code, such
	// as "226".
	Delays map[string]time.Duration
	// Listings are the lines of listings, without line ends, by the command and the absolute path of the
	// directory ("LIST /pub"), or by the command alone. Other listings are made of Content.
	Listings map[string][]string
	// Listing, if not nil, formats what LIST, NLST, MLSD, MLST and STAT send: one line for each
	// element, without line ends. It may be called concurrently.
	Listing func(Listing) []string `json:"-"`
	// ListingOctets, if not nil, returns what LIST, NLST or MLSD sends for a directory, by its name in
	// Content ("" is the root), octet for octet. If octets is nil without an error, the listing is
	// made of Content. An error refuses the command; if it wraps errors.ErrUnsupported, with 502. The
	// server closes octets. It may be called concurrently.
	ListingOctets func(command, dir string) (octets io.ReadCloser, err error) `json:"-"`
	// ListOffset, if not nil, returns how much later than UTC the times in LIST and STAT are now. A
	// server in a time zone with daylight saving time, such as IIS, lists other times for all files
	// after a change. It may be called concurrently.
	ListOffset func() time.Duration `json:"-"`
	// LoginFirst lists commands that require a login here, although they usually do not, such as
	// "SYST".
	LoginFirst []string
	// NoAnonymousPassword means that USER logs the anonymous account in, without PASS.
	NoAnonymousPassword bool
	// IgnoreREST means that REST is accepted, but that the next transfer begins at the start.
	IgnoreREST bool
	// DrainUploads means that an upload that is too large (MaxUpload) is read to its end before it
	// is refused. Otherwise the data connection is closed at once.
	DrainUploads bool
	// Passive is what the ports of PASV and EPSV do.
	Passive Passive
	// Ahead is what the server does with commands that arrive before it has answered the previous
	// one. It does not apply to what follows AUTH and CCC.
	Ahead Ahead
	// AheadInTransfers limits Ahead to commands that arrive between the first reply to a transfer
	// and its last. The server handles other pipelined commands correctly.
	AheadInTransfers bool

	m         *core.Machine
	cameAhead atomic.Int64
	pool      *pool    // if DataPorts
	one       *onePort // if OnePort
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

// UnmarshalText reads the name of a constant, as in "SizeRaw".
func (c *SizeInASCII) UnmarshalText(name []byte) error {
	return core.Choose(c, name, "SizeConverted", "SizeRaw", "SizeRefused")
}

// Passive is what the ports of PASV and EPSV do.
type Passive uint8

const (
	// PassiveWorks means that they accept data connections.
	PassiveWorks Passive = iota
	// PassiveSilent means that they accept, and that nothing is sent or read.
	PassiveSilent
	// PassiveUnaccepted means that the system accepts, and the server does not: the transfer is
	// refused with 425 after ten seconds.
	PassiveUnaccepted
	// PassiveRefused means that they are closed.
	PassiveRefused
)

// UnmarshalText reads the name of a constant, as in "PassiveSilent".
func (p *Passive) UnmarshalText(name []byte) error {
	return core.Choose(p, name, "PassiveWorks", "PassiveSilent", "PassiveUnaccepted", "PassiveRefused")
}

// New starts an FTP server that ends with the test.
func New(tb testserver.TB, configure ...func(*Server)) *Server {
	tb.Helper()
	return build.New(tb, Start, configure)
}

// Start starts an FTP server on addr, such as "127.0.0.1:2121"; "" means a free loopback port. The
// server ends with ctx or by Close.
func Start(ctx context.Context, addr string, configure ...func(*Server)) (*Server, error) {
	s := &Server{Anonymous: true}
	return build.Start(ctx, s, &table, configure, func(m *core.Machine) (build.Service, error) {
		s.m, s.Greeting = m, cmp.Or(s.Greeting, "220 testserver ready")
		how := build.Service{Scheme: "ftp", Port: 21, SecureScheme: "ftps", SecurePort: 990, Addr: addr, Serve: s.serve}
		err := s.preparePorts(&how)
		return how, err
	})
}

// On arms faults for the n-th occurrence of a stage from now on, counted from 1 over all
// connections; 0 means every occurrence. See package testserver.
func (s *Server) On(stage string, n int, faults ...Fault) {
	build.On(&s.Server, stage, n, faults)
}

// session is one control connection.
type session struct {
	*core.Client
	srv    *Server
	tree   *tree.Tree
	lines  chan input    // commands from the client; closed at its end
	done   chan struct{} // closed when the session has ended
	busy   atomic.Bool   // carrying out a command: the client need not send anything
	idle   bool          // lines was closed by the idle timeout
	quit   bool
	faults *core.Faults // faults armed for the current command

	user     string
	loggedIn bool
	asked    byte // what USER and PASS still require: 'P'assword, 'A'ccount
	failures int
	lynx     bool
	utf8     bool // OPTS UTF8 ON was sent

	now current

	dir      string // working directory, a name in the tree
	ascii    bool
	rest     int64
	renaming string // the argument of RNFR
	epsvAll  bool
	facts    facts
	passive  dataListener // after PASV and EPSV
	active   string       // address to connect to, after PORT and EPRT
	queue    []input      // commands that came during a transfer
	moving   bool         // a transfer is under way
	aborted  bool         // an ABOR has ended a transfer, and is not answered yet

	outOfTurn bool                    // the current command arrived before an earlier one was answered
	carryOut  func(line string) error // command(), for commands that carry out others

	turned    chan struct{} // lets the reader continue after a command that may turn TLS on or off
	secured   bool
	sized     bool // PBSZ was given
	private   bool // data connections are under TLS
	announced bool // by a PRET
}

// Limits of the server.
const (
	maxLine     = 8 << 10 // bytes of a command
	maxLogins   = 10      // wrong passwords on a connection
	dataTimeout = 10 * time.Second
	settleTime  = 100 * time.Millisecond
)

// serve serves one control connection.
func (s *Server) serve(c *core.Client) {
	traffic.ReceiveUrgent(c.Conn)
	f := &session{Client: c, srv: s, tree: &s.m.Tree, ascii: true, secured: s.ImplicitTLS, private: s.ImplicitTLS, dir: tree.Clean(s.LoginDir),
		lines: make(chan input), done: make(chan struct{}), turned: make(chan struct{}, 1)}
	f.carryOut = f.command
	defer f.closePassive()
	defer close(f.done)
	s.m.Go(f.read)

	f.busy.Store(true)
	f.faults = f.At("GREETING")
	err := f.Preempt(f.faults)
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
	case errors.Is(err, core.ErrSilent): // stay, without an answer, until the client leaves
		for line := range f.lines {
			f.logCommand(line)
		}
	case f.idle:
		_ = f.answer(new(core.Faults), "421 Timeout.")
	}
}

// input is a command as received and as read, and what the server sends for the Telnet commands in
// it.
type input struct{ octets, text, telnet string }

// next waits for a command. It returns false if the client has left.
func (f *session) next() (text string, more bool) {
	var line input
	if len(f.queue) > 0 {
		line, f.queue = f.queue[0], f.queue[1:]
	} else if line, more = <-f.lines; !more {
		return "", false
	}
	f.logCommand(line)
	_, err := io.WriteString(f.Client, line.telnet)
	return f.fromClient(line.text), err == nil
}

// logCommand logs a command when it is carried out, so that each reply follows its command in
// the transcript even if several commands came at once.
func (f *session) logCommand(line input) { _, _ = f.Received.Write([]byte(line.octets)) }

// read sends the client's lines to the session, also while a transfer runs.
func (f *session) read() {
	defer close(f.lines)
	r := bufio.NewReaderSize(f.Client, maxLine)
	for {
		line, err := r.ReadSlice('\n')
		octets := string(line)
		if errors.Is(err, bufio.ErrBufferFull) {
			line, err = []byte{0}, core.SkipLine(r) // not a command, so 500
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			if f.busy.Load() && len(line) == 0 {
				continue
			}
			f.idle = true
		}
		if err != nil {
			if len(line) > 0 { // an incomplete command
				f.Log(core.FromClient, octets, core.LineText)
			}
			return
		}
		text, telnet := f.text(line)
		select {
		case f.lines <- input{octets, text, telnet}:
		case <-f.done:
			return
		}
		if turnsTLS(text) {
			select {
			case <-f.turned:
				r.Reset(f.Client) // discard what was sent before TLS changed
			case <-f.done:
				return
			}
		}
	}
}

// text returns a line without its end, with IAC bytes read as BareIAC says, and the answer to its
// Telnet commands.
func (f *session) text(line []byte) (text, answer string) {
	line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
	if f.srv.BareIAC {
		return string(line), ""
	}
	return telnetText(line)
}

// telnetText reads a line of the Telnet stream that a control connection is (RFC 959 §3.3). As in
// the servers of BSD, IAC takes the next byte with it, unless that is IAC, too; and each option is
// refused, even one that the client does not want.
func telnetText(line []byte) (text, answer string) {
	const iac, will, wont, do, dont = 255, 251, 252, 253, 254
	refusal := map[byte]byte{will: dont, wont: dont, do: wont, dont: wont}
	var read, back []byte
	for i := 0; i < len(line); i++ {
		if line[i] != iac {
			read = append(read, line[i])
		} else if i++; i < len(line) && line[i] == iac {
			read = append(read, iac)
		} else if i < len(line)-1 && refusal[line[i]] != 0 {
			i++
			back = append(back, iac, refusal[line[i-1]], line[i])
		}
	}
	return string(read), string(back)
}

// command carries out one line.
func (f *session) command(line string) error {
	if turnsTLS(line) {
		defer func() { f.turned <- struct{}{} }()
	}
	verb, arg, _ := strings.Cut(line, " ")
	verb = strings.ToUpper(verb)
	f.now = newCurrent(line)
	f.faults = f.At(verb, verb+" "+arg)
	if err := f.Preempt(f.faults); err != nil {
		return err
	}
	reply, armed := f.faults.Peek(core.Reply)
	if armed && refuses(reply.Text) && !(f.faults.Shapes() && isTransfer(verb)) {
		return f.reply("")
	}
	do, known := commands[verb]
	switch {
	case !known:
		return f.reply("500 Unknown command.")
	case core.ContainsFold(f.srv.Hide, verb):
		return f.reply("502 Command not implemented.")
	case !f.secured && f.srv.RequireTLS && (verb == "USER" || verb == "PASS"):
		return f.reply("530 AUTH TLS first.")
	case !f.loggedIn && (!slices.Contains(beforeLogin, verb) || core.ContainsFold(f.srv.LoginFirst, verb)):
		return f.reply("530 Please login with USER and PASS.")
	}
	if text, ok := f.srv.Replies.fixedReply(f.now.verb, arg); ok {
		return f.answer(f.faults, f.faults.Text(core.Reply, f.fill(text, "")))
	}
	return do(f, arg)
}

// refuses reports whether an armed reply means that the command is not carried out.
func refuses(reply string) bool { return reply == "" || reply[0] < '1' || reply[0] > '3' }

// reply sends the reply to a command, or the armed one if there is one.
func (f *session) reply(text string) error {
	return f.respond(f.faults, text)
}

// respond is reply with faults.
func (f *session) respond(faults *core.Faults, usual string) error {
	text, wait := f.replyText(usual)
	if passive := strings.HasPrefix(usual, "227") || strings.HasPrefix(usual, "229"); passive && f.srv.Passive == PassiveRefused {
		_ = f.passive.close()
	}
	if err := core.Sleep(f.srv.m.Ctx(), wait); err != nil {
		return err
	}
	if reply, armed := faults.Take(core.Reply); armed {
		text = f.fill(reply.Text, usual)
	}
	return f.answer(faults, text)
}

func (f *session) replyf(format string, args ...any) error {
	return f.reply(fmt.Sprintf(format, args...))
}

// beforeLogin are the commands that need no login.
var beforeLogin = []string{"USER", "PASS", "ACCT", "QUIT", "REIN", "NOOP", "HELP", "SYST", "FEAT", "OPTS", "AUTH", "PBSZ", "PROT"}

// commands has all known commands. The X-names are those of RFC 1123 §4.1.3.1.
var commands = map[string]func(*session, string) error{
	"USER": (*session).userName,
	"PASS": (*session).password,
	"ACCT": (*session).account,
	"REIN": (*session).reinitialize,
	"QUIT": (*session).logout,

	"AUTH": (*session).auth,
	"PBSZ": (*session).bufferSize,
	"PROT": (*session).protection,
	"CCC":  (*session).clearCommands,

	"NOOP": (*session).noop,
	"HELP": (*session).help,
	"SYST": (*session).system,
	"FEAT": (*session).features,
	"OPTS": (*session).options,
	"ALLO": (*session).allocate,

	"PWD":  (*session).printDir,
	"XPWD": (*session).printDir,
	"CWD":  (*session).changeDir,
	"XCWD": (*session).changeDir,
	"CDUP": (*session).changeUp,
	"XCUP": (*session).changeUp,

	"TYPE": (*session).setType,
	"MODE": (*session).setMode,
	"STRU": (*session).setStructure,
	"PASV": (*session).pasv,
	"EPSV": (*session).epsv,
	"PORT": (*session).port,
	"EPRT": (*session).eprt,
	"PRET": (*session).preTransfer,

	"REST": (*session).restart,
	"RETR": (*session).retrieve,
	"STOR": (*session).store,
	"STOU": (*session).storeUnique,
	"APPE": (*session).appendTo,
	"NLST": (*session).nlst,
	"LIST": (*session).list,
	"MLSD": (*session).mlsd,
	"ABOR": (*session).abort,

	"MLST": (*session).mlst,
	"STAT": (*session).status,
	"SIZE": (*session).size,
	"MDTM": (*session).modTime,
	"MFMT": (*session).setModTime,
	"DELE": (*session).deleteFile,
	"MKD":  (*session).makeDir,
	"XMKD": (*session).makeDir,
	"RMD":  (*session).removeDir,
	"XRMD": (*session).removeDir,
	"RNFR": (*session).renameFrom,
	"RNTO": (*session).renameTo,
}

// isTransfer reports whether a command uses a data connection.
func isTransfer(verb string) bool {
	return slices.Contains(downloads, verb) || slices.Contains(uploads, verb)
}
