// Package ftptest has an FTP server for tests. Package testserver has what all servers have in
// common.
package ftptest

import (
	"cmp"
	"context"
	"io"
	"sync/atomic"
	"time"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/internal/build"
	"github.com/fetch1738/fetch1738/testserver/internal/core"
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
	commands  commands
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
		s.m, s.commands, s.Greeting = m, newCommands(), cmp.Or(s.Greeting, "220 testserver ready")
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
