package ftp

import (
	"fmt"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
)

// Options are the Request.Options of this package. The zero value, as nil, asks
// for nothing special.
type Options struct {
	// Quote are raw commands to send after the login, PreTransfer just before the
	// transfer (after CWD and TYPE), PostQuote after it. One that starts with "*"
	// may fail. A session on which raw commands were sent is not used again.
	Quote, PreTransfer, PostQuote []string
	// ListOnly lists directories by name (NLST).
	ListOnly bool
	// Facts lists directories by MLSD (RFC 3659 §7) where the server's answer to
	// FEAT tells of it, for Items that are to be relied on; Body is in its form
	// then. Fetcher.Exact does without it.
	Facts bool
	// ListCommand, if set, lists directories in place of LIST and NLST, such as
	// "MLSD" or "LIST -a". Of what it lists, lines like those of LIST are items.
	ListCommand string
	// Method is how the directory is reached. Anything but MultiCWD departs from
	// RFC 1738 §3.2.2.
	Method Method
	// CRLF turns each LF of what is stored into CR LF, in TYPE I too. A CR LF stays.
	CRLF bool
	// SetModTime, if not zero, is the time that a stored file gets, by MFMT or SITE
	// UTIME. A server that knows neither is no error; a Trace is told.
	SetModTime time.Time
	// CreateDirs makes (MKD) the directories on the way that CWD does not lead to,
	// also when nothing is stored.
	CreateDirs bool
	// AlternativeToUser is a command to send when the server refuses USER or PASS; its
	// reply is taken for the one to what was refused.
	AlternativeToUser string
	// PRET tells the server which transfer is to come before the data connection
	// is asked for, as drftpd wants it.
	PRET bool
	// Account answers the server's wish for an account (ACCT).
	Account string
	// ModTime asks for a file's time of modification (MDTM) before it is fetched.
	ModTime bool
	// Ranges has FindAttributes ask whether files can be fetched in part (REST). If
	// so the Header has HeaderAcceptRanges.
	Ranges bool
	// More says that another access to the same server is to follow: the port for its
	// data is asked for together with this transfer, which saves a round trip. If none
	// follows, only that was in vain.
	More bool
	// Wanted, if not nil, is asked before a file is fetched, with its time if ModTime
	// asks for that; its size is not known then. If it is false nothing is
	// transferred, and Info.Unwanted says so.
	Wanted func(fetch.Attributes) bool
}

// Method is a way to reach a file in its directory.
type Method uint8

// The methods, by the names curl gives them.
const (
	MultiCWD  Method = iota // one CWD for each component, as RFC 1738 says
	SingleCWD               // one CWD with all of them joined by "/"
	NoCWD                   // none: RETR gets the whole path
)

// options reads req.Options.
func options(req *fetch.Request) (Options, error) {
	o, err := fetch.OptionsOf[Options](req)
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

// checkLine refuses what would end a command and begin another.
func checkLine(what, s string) error {
	if i := strings.IndexAny(s, "\r\n\x00"); i >= 0 {
		return &fetch.Error{Kind: fetch.ErrBadURL, Section: "6", Err: fmt.Errorf("octet %02X in %s", s[i], what)}
	}
	return nil
}
