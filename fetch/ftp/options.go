package ftp

import (
	"fmt"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
)

// Options holds the Request.Options of ftp and ftps URLs. A nil *Options is the same as the
// zero value.
type Options struct {
	// Quote holds raw commands to send after the login, PreTransfer those to send just before the
	// transfer (after CWD and TYPE), and PostQuote those to send after it. A command that starts
	// with "*" may fail. A session on which raw commands were sent is not reused.
	Quote, PreTransfer, PostQuote []string
	// ListOnly lists only the names of directory entries (NLST).
	ListOnly bool
	// Facts lists directories with MLSD (RFC 3659 §7) if the server's reply to FEAT
	// lists MLST with the fact type. Items then have exact sizes and times, and Body
	// contains the lines of MLSD. FindAttributes of a directory sends MLST, if the server lists it:
	// Attributes.Header then has the facts of the directory, as the server sends them. With
	// Fetcher.Exact, Facts has no effect.
	Facts bool
	// Hidden lists a directory with the files whose names begin with a dot, by "LIST -a", if MLSD is
	// not used. A server to which "-a" is a name gets LIST; see Info.Hides. To find that out, the first
	// directory may be listed by both. Hidden has no effect with Fetcher.Exact, ListOnly, ListCommand
	// or raw commands.
	Hidden bool
	// Unread, if not nil, is called in the loop over Items with each line that Info.Unread counts,
	// without its line end.
	Unread func(line string)
	// ListCommand, if not empty, is sent instead of LIST or NLST; for example "MLSD" or
	// "LIST -a". Lines in a format of LIST become Items.
	ListCommand string
	// Method selects the commands that lead to the directory. A value other than
	// MultiCWD is a departure from RFC 1738 §3.2.2.
	Method Method
	// CRLF converts each LF of an upload to CR LF, in type I too. It keeps an existing CR LF.
	CRLF bool
	// SetModTime, if not zero, is the modification time to set after an upload, by MFMT
	// or SITE UTIME. If the server supports neither, the upload still succeeds and the
	// Trace receives a note.
	SetModTime time.Time
	// CreateDirs creates (MKD) directories of the path to which CWD fails, for downloads too.
	CreateDirs bool
	// AlternativeToUser, if not empty, is a command to send when the server refuses USER
	// or PASS. Its reply replaces the refusal.
	AlternativeToUser string
	// PRET sends the command PRET, with the command of the transfer, before the data
	// connection is requested. drftpd requires it. If it is false, PRET is sent once the server
	// has refused a port with a text that names it.
	PRET bool
	// Account is sent (ACCT) when the server requests an account.
	Account string
	// ModTime requests the modification time of a file (MDTM) before fetching it.
	ModTime bool
	// Ranges makes FindAttributes check whether transfers can start at an offset (REST).
	// If so, Attributes.Header contains HeaderAcceptRanges.
	Ranges bool
	// More, if not nil, is called when the data has been transferred, or before. It reports whether
	// another transfer of the same kind with the same server is sure to follow. The port for its data
	// is then requested before the final reply to this one has arrived, which saves a round trip. Some
	// servers never close a port that no transfer has used.
	More func() bool
	// Unchecked leaves it to the caller to compare the size of an upload with that of the file on
	// the server, and to look for its name there. Otherwise SIZE is sent after it, which takes a
	// round trip, and a listing is requested if servers are known to change such a name.
	Unchecked bool
	// EndAtSize ends the document at the size that the server announced, even if the file grows
	// during the transfer. Otherwise up to 64 MiB more are read. If the file has more bytes, and
	// SIZE and the reply to RETR have not both stated the size, it may be another file: an error of
	// the kind ErrTruncated.
	EndAtSize bool
	// Wanted, if not nil, is called before a file is fetched. If ModTime is set, the
	// argument has the modification time; its Size is -1. If Wanted returns false, the
	// file is not transferred and Info.Unwanted is set.
	Wanted func(fetch.Attributes) bool
}

// A Method selects the commands that lead to the directory of a file.
type Method uint8

// The methods, with curl's names.
const (
	MultiCWD  Method = iota // one CWD for each component, as RFC 1738 says
	SingleCWD               // one CWD with all components joined by "/"
	NoCWD                   // no CWD: the argument of RETR is the whole path
)

// options returns req.Options after checking them.
func options(req *fetch.Request) (Options, error) {
	o, err := driver.OptionsOf[Options](req)
	if err != nil {
		return o, err
	}
	for _, list := range [][]string{o.Quote, o.PreTransfer, o.PostQuote, {o.Account, o.AlternativeToUser, o.ListCommand}} {
		for _, s := range list {
			if err := checkLine("an option", s); err != nil {
				return o, err
			}
		}
	}
	return o, nil
}

// checkLine refuses a CR, LF or NUL, which would end a command.
func checkLine(what, s string) error {
	if i := strings.IndexAny(s, "\r\n\x00"); i >= 0 {
		return &fetch.Error{Kind: fetch.ErrBadURL, Section: "6", Err: fmt.Errorf("%s contains the byte %02X", what, s[i])}
	}
	return nil
}

// quotes reports whether raw commands are sent before the transfer. They must not be sent again, and
// what they have changed is not known.
func (o *Options) quotes() bool { return len(o.Quote)+len(o.PreTransfer) > 0 }

// Security selects the connections of ftp URLs that are encrypted, by AUTH TLS (RFC 4217).
type Security uint8

// The values of Security. With RequireControl and RequireTLS, an access to a server that refuses
// TLS on the control connection fails with kind ErrUnsupported before the user name is sent.
const (
	NoTLS          Security = iota // no encryption; ftps URLs are encrypted as with RequireTLS anyway
	TryTLS                         // encrypt what the server agrees to; no protection from an active attacker
	RequireControl                 // require TLS for commands and replies; data is not encrypted
	RequireTLS                     // require TLS for commands, replies and data
)

// ClearCommands selects how TLS is ended on the control connection (RFC 4217 §12.3).
type ClearCommands uint8

// The values of ClearCommands.
const (
	KeepTLS    ClearCommands = iota // TLS is not ended
	CCCPassive                      // the server sends close_notify; the client sends none
	CCCActive                       // the client sends close_notify first, then the server
)

// tlsSettings holds the TLS settings of a Fetcher.
type tlsSettings struct {
	Security
	clear ClearCommands
}

// Active configures active mode, in which the server connects to a port of the client.
// The client announces the port with EPRT (RFC 2428) or, if the server refuses EPRT over
// IPv4, with PORT. It accepts only connections from the peer of the control connection,
// within Limits.Connect. Active mode is not supported through a proxy.
type Active struct {
	// Host is the address to listen on and to announce to the server: an IP address,
	// the name of a network interface, or a host name. If empty, it is the local
	// address of the control connection. An address that does not belong to this host
	// is announced anyway, for a router that forwards the connection; the port is then
	// opened at the local address of the control connection.
	Host string
	// Ports are the first and the last port to try. Zeros mean any free port.
	Ports [2]uint16
	// DisableEPRT sends PORT without trying EPRT first. Over IPv6 it has no effect.
	DisableEPRT bool
}

// check returns an error unless the settings are valid. A nil Active is.
func (a *Active) check() error {
	switch {
	case a == nil:
		return nil
	case a.Ports[1] < a.Ports[0]:
		return &fetch.Error{Kind: fetch.ErrUnsupported, Err: fmt.Errorf("invalid port range %d-%d", a.Ports[0], a.Ports[1])}
	}
	return checkLine("the address to listen on", a.Host)
}
