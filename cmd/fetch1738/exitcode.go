package main

import (
	"crypto/tls"
	"errors"
	"net"
	"slices"
	"strings"
	"syscall"

	"github.com/fetch1738/fetch1738/fetch"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/internal/dial"
	"github.com/fetch1738/fetch1738/policy"
)

// Exit codes, curl's where curl has one.
const (
	exitOK             = 0
	exitUnsupported    = 1
	exitUsage          = 2
	exitBadURL         = 3
	exitNoSuchProxy    = 5
	exitNoSuchHost     = 6
	exitUnreachable    = 7
	exitWeirdReply     = 8
	exitDenied         = 9
	exitAccept         = 10
	exitACCT           = 11
	exitAcceptTime     = 12
	exitWeirdPASV      = 13
	exitWeird227       = 14
	exitTYPE           = 17
	exitPartial        = 18
	exitRETR           = 19
	exitQuote          = 21
	exitStatus         = 22
	exitWrite          = 23
	exitUpload         = 25
	exitRead           = 26
	exitTimeout        = 28
	exitPORT           = 30
	exitREST           = 31
	exitRange          = 33
	exitTLS            = 35
	exitResume         = 36
	exitFile           = 37
	exitInterface      = 45
	exitAborted        = 42
	exitHops           = 47
	exitNoOption       = 48
	exitOptionSyntax   = 49
	exitEmptyReply     = 52
	exitSend           = 55
	exitReceive        = 56
	exitOwnCertificate = 58
	exitCiphers        = 59
	exitCertificate    = 60
	exitCoding         = 61
	exitTooLarge       = 63
	exitNoTLS          = 64
	exitRewind         = 65
	exitLogin          = 67
	exitRemoteFull     = 70
	exitAuthorities    = 77
	exitNotFound       = 78
	exitPRET           = 84
	exitListing        = 87
	exitPin            = 90
	exitProxy          = 97
	exitRefused        = 120 // by the policy; curl has no such
	exitInterrupted    = 130 // as a shell reports SIGINT
	exitTerminated     = 143 // as a shell reports SIGTERM
)

// A failure is what there is to know of one when its exit code is looked up.
type failure struct {
	scheme    string
	uploading bool
	sending   bool   // octets of an upload have been sent
	resuming  bool   // -C
	proxy     string // the scheme of the proxy on the way; "" is none
	unheard   bool   // nothing came for what was sent last
	err       error
}

// A codedError brings its exit code.
type codedError struct {
	code int
	error
}

func (e *codedError) Unwrap() error { return e.error }

// code is the exit code.
func (f failure) code() int {
	var known *fetch.Error
	var coded *codedError
	var denied *policy.Denied
	var certificate *tls.CertificateVerificationError
	var misuse *usageError
	var local *dial.LocalError
	switch {
	case f.err == nil:
		return exitOK
	case errors.As(f.err, &coded):
		return coded.code
	case errors.As(f.err, &local):
		return exitInterface
	case errors.As(f.err, &misuse):
		return exitUsage
	case !errors.As(f.err, &known):
		return exitWrite // whatever else fails is the output
	case errors.As(f.err, &denied) && (denied.Rule == "cross-scheme-redirect" || denied.Rule == "remote-to-local"):
		return exitUnsupported // as curl does when a redirect leads where none may
	case errors.As(f.err, &certificate):
		return exitCertificate
	}
	for _, r := range exitRules() {
		if r.fits(f, known) {
			return r.code
		}
	}
	return exitReceive
}

// An exitRule gives an exit code to some failures. Empty fields fit any.
type exitRule struct {
	scheme string
	ops    string // of fetch.Error.Op, separated by commas
	kinds  []fetch.ErrorKind
	reply  int // of fetch.Error.Code; refusedReply is any reply that is a refusal
	only   func(failure) bool
	code   int
}

const refusedReply = -1

func (r exitRule) fits(f failure, e *fetch.Error) bool {
	return (r.scheme == "" || r.scheme == plainScheme(f.scheme)) &&
		(r.ops == "" || slices.Contains(strings.Split(r.ops, ","), e.Op)) &&
		(r.kinds == nil || slices.Contains(r.kinds, e.Kind)) &&
		(r.reply == 0 || r.reply == e.Code || r.reply == refusedReply && e.Code >= 300) &&
		(r.only == nil || r.only(f))
}

// exitRules are looked through from the top.
func exitRules() []exitRule {
	kinds := func(k ...fetch.ErrorKind) []fetch.ErrorKind { return k }
	uploading := func(f failure) bool { return f.uploading }
	sending := func(f failure) bool { return f.sending }
	unsent := func(f failure) bool { // the connection broke while something was sent
		op, ok := errors.AsType[*net.OpError](f.err)
		return ok && f.sending && (op.Op == "write" || op.Op == "readfrom")
	}
	resuming := func(f failure) bool { return f.resuming }
	byHTTP := func(f failure) bool { return f.proxy == "http" }
	socks := func(f failure) bool { return strings.HasPrefix(f.proxy, "socks") }
	byAlert := func(f failure) bool { // of TLS, which a server may raise after the handshake
		op, ok := errors.AsType[*net.OpError](f.err)
		return ok && op.Op == "remote error"
	}
	reset := func(f failure) bool { return errors.Is(f.err, syscall.ECONNRESET) }
	unheard := func(f failure) bool { return f.unheard && !reset(f) }
	caused := func(cause error) func(failure) bool {
		return func(f failure) bool { return errors.Is(f.err, cause) }
	}
	return []exitRule{
		{ops: "accept", kinds: kinds(fetch.Timeout), code: exitAcceptTime},
		{kinds: kinds(fetch.Timeout), code: exitTimeout},
		{kinds: kinds(fetch.Canceled), code: exitInterrupted},
		{kinds: kinds(fetch.TooManyHops), code: exitHops},
		{kinds: kinds(fetch.BadURL), ops: "parse,check,connect by proxy", code: exitBadURL},
		{kinds: kinds(fetch.Refused), code: exitRefused},
		{ops: "connect by proxy", only: socks, code: exitProxy},
		{kinds: kinds(fetch.Unresolved), only: byHTTP, code: exitNoSuchProxy},
		{kinds: kinds(fetch.Unresolved), code: exitNoSuchHost},

		{ops: "connect by proxy", code: exitReceive},

		{scheme: "ftp", kinds: kinds(fetch.Busy), reply: 421, code: exitTimeout}, // which curl takes it for
		{scheme: "ftp", ops: "connect", reply: refusedReply, code: exitWeirdReply},
		{scheme: "ftp", ops: "ACCT", reply: refusedReply, code: exitACCT},
		{scheme: "ftp", ops: "AUTH,PBSZ,PROT", code: exitNoTLS},
		{ops: "STARTTLS", code: exitNoTLS},
		{scheme: "ftp", ops: "accept", code: exitAccept},
		{scheme: "ftp", ops: "EPRT,PORT", code: exitPORT},
		{scheme: "ftp", ops: "PRET", reply: refusedReply, code: exitPRET},
		{scheme: "ftp", ops: "USER,PASS,ACCT,login", code: exitLogin},
		{scheme: "ftp", ops: "CWD,MKD", reply: refusedReply, code: exitDenied},
		{scheme: "ftp", ops: "TYPE", reply: refusedReply, code: exitTYPE},
		{scheme: "ftp", ops: "PASV,EPSV", reply: refusedReply, code: exitWeirdPASV},
		{scheme: "ftp", ops: "PASV", kinds: kinds(fetch.Protocol), code: exitWeird227},
		{scheme: "ftp", ops: "EPSV", kinds: kinds(fetch.Protocol), code: exitWeirdPASV},
		{scheme: "ftp", ops: "quote,QUOTE", code: exitQuote},
		{scheme: "ftp", kinds: kinds(fetch.BadRange), code: exitResume},
		{scheme: "ftp", ops: "REST", reply: refusedReply, code: exitREST},
		{kinds: kinds(fetch.Truncated), only: reset, code: exitReceive},
		{scheme: "ftp", kinds: kinds(fetch.Truncated), code: exitPartial},
		{scheme: "ftp", ops: "RETR,SIZE", reply: 550, code: exitNotFound},
		{scheme: "ftp", ops: "RETR,SIZE", kinds: kinds(fetch.NotFound), code: exitNotFound},
		{scheme: "ftp", ops: "RETR,LIST,NLST,MLSD,SIZE", reply: refusedReply, code: exitRETR},
		{scheme: "ftp", ops: "STOR,APPE", only: unsent, code: exitSend},
		{scheme: "ftp", ops: "STOR,APPE", reply: 552, only: sending, code: exitRemoteFull},
		{scheme: "ftp", ops: "STOR,APPE", reply: refusedReply, only: sending, code: exitPartial},
		{scheme: "ftp", ops: "STOR,APPE", reply: refusedReply, code: exitUpload},

		{scheme: "http", kinds: kinds(fetch.BadRange), code: exitRange},
		{scheme: "http", kinds: kinds(fetch.Moved), only: uploading, code: exitUpload},
		{scheme: "http", kinds: kinds(fetch.Moved), code: exitUnsupported},
		{scheme: "http", reply: refusedReply, code: exitStatus},
		{scheme: "http", only: caused(fetchhttp.ErrNotHTTP), code: exitUnsupported}, // curl takes it for HTTP/0.9
		{scheme: "http", only: caused(fetchhttp.ErrCoding), code: exitCoding},
		{scheme: "http", only: caused(fetchhttp.ErrFraming), code: exitReceive},
		{scheme: "http", only: caused(fetchhttp.ErrRewind), code: exitRewind},
		{scheme: "http", kinds: kinds(fetch.ConnectionFailed), only: unsent, code: exitSend},
		{ops: "TLS handshake", code: exitTLS},
		{only: byAlert, code: exitReceive},
		{scheme: "http", kinds: kinds(fetch.ConnectionFailed), only: unheard, code: exitEmptyReply},

		{ops: "POST", kinds: kinds(fetch.LocalIO), only: uploading, code: exitRead},
		{ops: "POST", reply: refusedReply, only: uploading, code: exitUpload},

		{scheme: "file", kinds: kinds(fetch.BadURL), code: exitBadURL},
		{scheme: "file", kinds: kinds(fetch.BadRange), code: exitResume},
		{scheme: "file", kinds: kinds(fetch.TooLarge), code: exitTooLarge},
		{scheme: "file", ops: "read", only: uploading, code: exitRead},
		{scheme: "file", only: uploading, code: exitWrite},
		{scheme: "file", code: exitFile},

		{kinds: kinds(fetch.Unsupported), only: uploading, code: exitUpload},
		{kinds: kinds(fetch.Unsupported, fetch.Moved), code: exitUnsupported},
		{kinds: kinds(fetch.BadURL), code: exitBadURL},
		{kinds: kinds(fetch.NotFound), code: exitNotFound},
		{kinds: kinds(fetch.Permission), code: exitDenied},
		{kinds: kinds(fetch.Unauthenticated), code: exitLogin},
		{kinds: kinds(fetch.Unreachable), code: exitUnreachable},
		{kinds: kinds(fetch.Truncated), code: exitPartial},
		{kinds: kinds(fetch.Protocol), code: exitWeirdReply},
		{kinds: kinds(fetch.TooLarge), code: exitTooLarge},
		{kinds: kinds(fetch.BadRange), only: resuming, code: exitResume},
		{kinds: kinds(fetch.BadRange), code: exitRange},
		{kinds: kinds(fetch.LocalIO), only: uploading, code: exitRead},
		{kinds: kinds(fetch.LocalIO), code: exitWrite},
		{kinds: kinds(fetch.Exists), only: uploading, code: exitUpload},
	}
}
