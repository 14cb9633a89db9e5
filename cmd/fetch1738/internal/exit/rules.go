package exit

import (
	"crypto/tls"
	"errors"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/dial"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/fetch"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/policy"
)

// A Failure has what determines the exit code of an error.
type Failure struct {
	Scheme    string
	Uploading bool
	Sending   bool   // bytes of an upload have been sent
	Resuming  bool   // -C
	Proxy     string // the scheme of the proxy, or "" without one
	Unheard   bool   // nothing was received after the last request
	Err       error
}

// Of returns the exit code of a localerr.Kind.
func Of(kind localerr.Kind) int { return faultCodes()[kind] }

// faultCodes returns the exit code of each localerr.Kind.
func faultCodes() map[localerr.Kind]int {
	return map[localerr.Kind]int{
		localerr.Usage: Usage, localerr.Unsupported: Unsupported, localerr.BadURL: BadURL, localerr.NoSuchProxy: NoSuchProxy,
		localerr.Unreachable: Unreachable, localerr.Partial: Partial, localerr.Status: Status, localerr.Write: Write, localerr.Output: Write, localerr.Read: Read,
		localerr.Timeout: Timeout, localerr.Range: Range, localerr.TLS: TLS, localerr.Resume: Resume, localerr.Aborted: Aborted,
		localerr.NoOption: NoOption, localerr.OptionSyntax: OptionSyntax, localerr.OwnCertificate: OwnCertificate, localerr.Ciphers: Ciphers,
		localerr.Login: Login, localerr.Authorities: Authorities, localerr.Listing: Listing, localerr.Pin: Pin,
	}
}

// Code returns the exit code.
func (f Failure) Code() int {
	if f.Err == nil {
		return OK
	}
	var known *fetch.Error
	var denied *policy.Denied
	var certificate *tls.CertificateVerificationError
	var local *dial.LocalError
	switch {
	case localerr.KindOf(f.Err) != 0:
		return faultCodes()[localerr.KindOf(f.Err)]
	case errors.As(f.Err, &local):
		return Interface
	case !errors.As(f.Err, &known):
		return Write // all other errors are those of the output
	case errors.As(f.Err, &denied) && (denied.Rule == "cross-scheme-redirect" || denied.Rule == "remote-to-local"):
		return Unsupported // as curl does for a redirect that is not permitted
	case errors.As(f.Err, &certificate):
		return Certificate
	}
	for _, r := range exitRules {
		if r.fits(f, known) {
			return r.code
		}
	}
	return Receive
}

// An exitRule maps failures to an exit code. An empty field matches any failure.
type exitRule struct {
	scheme string
	ops    ops
	kinds  kinds
	reply  int // is fetch.Error.Code; refusedReply means any code from 300
	only   func(Failure) bool
	code   int
}

const refusedReply = -1

func (r exitRule) fits(f Failure, e *fetch.Error) bool {
	return (r.scheme == "" || r.scheme == plan.PlainScheme(f.Scheme)) &&
		(r.ops == nil || slices.Contains(r.ops, e.Op)) &&
		(r.kinds == nil || slices.Contains(r.kinds, e.Kind)) &&
		(r.reply == 0 || r.reply == e.Code || r.reply == refusedReply && e.Code >= 300) &&
		(r.only == nil || r.only(f))
}

// opsByKind are the operations without a rule of their own. Their exit code follows
// from the kind of the error.
var opsByKind = []fetch.Op{
	fetch.OpExplain, fetch.OpResolve, "greeting", "init", fetch.OpAccess, fetch.OpAttributes, fetch.OpUpdate, fetch.OpReplace,
	fetch.OpUpload, fetch.OpFetch, fetch.OpFollow, fetch.OpGateway, fetch.OpSend, fetch.OpTransfer, fetch.OpOpen, fetch.OpSeek,
	fetch.OpClose, fetch.OpList, "union", fetch.OpMatch, "choose", "query", "search", "retrieve",
	"CCC", "PWD", "FEAT", "MLST", "MDTM",
	"CAPABILITIES", "MODE", "AUTHINFO", "GROUP", "LISTGROUP", "OVER", "XOVER", "XPAT", "STAT", "ARTICLE",
	"EHLO", "MAIL", "RCPT", "DATA", "GET", "HEAD", "PUT", "MOVE", "MKCOL", "PROPFIND", "GET-OBJECT-INFO",
}

// The rules have many of these.
type (
	ops   = []fetch.Op
	kinds = []fetch.ErrorKind
)

// exitRules are the rules. The first one that matches determines the code.
var exitRules = []exitRule{
	{ops: ops{fetch.OpAccept}, kinds: kinds{fetch.ErrTimeout}, code: AcceptTime},
	{kinds: kinds{fetch.ErrTimeout}, code: Timeout},
	{kinds: kinds{fetch.ErrCanceled}, code: Interrupted},
	{kinds: kinds{fetch.ErrTooManyHops}, code: Hops},
	{kinds: kinds{fetch.ErrBadURL}, ops: ops{fetch.OpParse, fetch.OpCheck, fetch.OpProxyConnect}, code: BadURL},
	{kinds: kinds{fetch.ErrRefused}, code: Refused},
	{ops: ops{fetch.OpProxyConnect}, only: socks, code: Proxy},
	{kinds: kinds{fetch.ErrUnresolved}, only: byHTTP, code: NoSuchProxy},
	{kinds: kinds{fetch.ErrUnresolved}, code: NoSuchHost},

	{ops: ops{fetch.OpProxyConnect}, code: Receive},
	{ops: ops{fetch.OpMirror}, kinds: kinds{fetch.ErrTruncated}, code: Partial}, // --max-delete

	{scheme: "ftp", ops: ops{fetch.OpAccept}, code: Accept},
	{scheme: "ftp", kinds: kinds{fetch.ErrBusy}, reply: 421, code: Timeout}, // as in curl
	{ops: ops{fetch.OpConnect}, kinds: kinds{fetch.ErrBusy}, only: late, code: Timeout},
	{scheme: "ftp", ops: ops{fetch.OpConnect}, reply: refusedReply, code: WeirdReply},
	{scheme: "ftp", ops: ops{"ACCT"}, reply: refusedReply, code: ACCT},
	{scheme: "ftp", ops: ops{"AUTH"}, kinds: kinds{fetch.ErrProtocol}, code: WeirdReply},
	{scheme: "ftp", ops: ops{"AUTH", "PBSZ", "PROT"}, code: NoTLS},
	{ops: ops{"STARTTLS"}, code: NoTLS},
	{scheme: "ftp", ops: ops{"EPRT", "PORT"}, code: PORT},
	{scheme: "ftp", ops: ops{"PRET"}, reply: refusedReply, code: PRET},
	{scheme: "ftp", ops: ops{"USER", "PASS", "ACCT", fetch.OpLogin}, code: Login},
	{scheme: "ftp", ops: ops{"CWD", "MKD"}, reply: refusedReply, code: Denied},
	{scheme: "ftp", ops: ops{"TYPE"}, reply: refusedReply, code: TYPE},
	{scheme: "ftp", ops: ops{"PASV", "EPSV"}, reply: refusedReply, code: WeirdPASV},
	{scheme: "ftp", ops: ops{"PASV"}, kinds: kinds{fetch.ErrProtocol}, code: Weird227},
	{scheme: "ftp", ops: ops{"EPSV"}, kinds: kinds{fetch.ErrProtocol}, code: WeirdPASV},
	{scheme: "ftp", ops: ops{"QUOTE"}, code: Quote},
	{scheme: "ftp", kinds: kinds{fetch.ErrBadRange}, code: Resume},
	{scheme: "ftp", ops: ops{"REST"}, reply: refusedReply, code: REST},
	{kinds: kinds{fetch.ErrTruncated}, only: reset, code: Receive},
	{scheme: "ftp", kinds: kinds{fetch.ErrTruncated}, code: Partial},
	{scheme: "ftp", ops: ops{"RETR", "SIZE"}, reply: 550, code: NotFound},
	{scheme: "ftp", ops: ops{"RETR", "SIZE"}, kinds: kinds{fetch.ErrNotFound}, code: NotFound},
	{scheme: "ftp", ops: ops{"RETR", "LIST", "NLST", "MLSD", "SIZE"}, reply: refusedReply, code: RETR},
	{scheme: "ftp", ops: ops{"STOR", "APPE"}, reply: 552, only: sending, code: RemoteFull},
	{scheme: "ftp", ops: ops{"STOR", "APPE"}, only: unsent, code: Send},
	{scheme: "ftp", ops: ops{"STOR", "APPE"}, reply: refusedReply, only: sending, code: Partial},
	{scheme: "ftp", ops: ops{"STOR", "APPE", "RNFR", "RNTO", "DELE", "RMD", "MFMT"}, reply: refusedReply, code: Upload},

	{scheme: "http", kinds: kinds{fetch.ErrBadRange}, code: Range},
	{scheme: "http", kinds: kinds{fetch.ErrMoved}, only: uploading, code: Upload},
	{scheme: "http", kinds: kinds{fetch.ErrMoved}, code: Unsupported},
	{scheme: "http", reply: refusedReply, code: Status},
	{scheme: "http", only: caused(fetchhttp.ErrNotHTTP), code: Unsupported}, // curl reads it as HTTP/0.9
	{scheme: "http", only: caused(fetchhttp.ErrCoding), code: Coding},
	{scheme: "http", only: caused(fetchhttp.ErrFraming), code: Receive},
	{scheme: "http", only: caused(fetchhttp.ErrHeader), code: Receive},
	{scheme: "http", only: caused(fetchhttp.ErrRewind), code: Rewind},
	{scheme: "http", kinds: kinds{fetch.ErrConnectionFailed}, only: unsent, code: Send},
	{ops: ops{fetch.OpTLS}, code: TLS},
	{only: byAlert, code: Receive},
	{scheme: "http", kinds: kinds{fetch.ErrConnectionFailed}, only: unheard, code: EmptyReply},

	{ops: ops{"POST"}, kinds: kinds{fetch.ErrLocalIO}, only: uploading, code: Read},
	{ops: ops{"POST"}, reply: refusedReply, only: uploading, code: Upload},

	{scheme: "file", kinds: kinds{fetch.ErrBadURL, fetch.ErrNoOctets}, code: BadURL},
	{scheme: "file", kinds: kinds{fetch.ErrBadRange}, code: Resume},
	{scheme: "file", kinds: kinds{fetch.ErrTooLarge}, code: TooLarge},
	{ops: ops{fetch.OpEdit}, kinds: kinds{fetch.ErrOther, fetch.ErrExists}, code: Upload},
	{scheme: "file", ops: ops{fetch.OpWrite}, code: Write},
	{scheme: "file", ops: ops{fetch.OpRead}, only: uploading, code: Read},
	{scheme: "file", only: uploading, code: Write},
	{scheme: "file", code: File},

	{kinds: kinds{fetch.ErrUnsupported}, only: knownUpload, code: Upload},
	{kinds: kinds{fetch.ErrUnsupported, fetch.ErrMoved}, code: Unsupported},
	{kinds: kinds{fetch.ErrBadURL, fetch.ErrNoOctets}, code: BadURL},
	{kinds: kinds{fetch.ErrNotFound}, code: NotFound},
	{kinds: kinds{fetch.ErrPermission}, code: Denied},
	{kinds: kinds{fetch.ErrUnauthenticated}, code: Login},
	{kinds: kinds{fetch.ErrUnreachable}, code: Unreachable},
	{kinds: kinds{fetch.ErrTruncated}, code: Partial},
	{kinds: kinds{fetch.ErrProtocol}, code: WeirdReply},
	{kinds: kinds{fetch.ErrTooLarge}, code: TooLarge},
	{kinds: kinds{fetch.ErrBadRange}, only: resuming, code: Resume},
	{kinds: kinds{fetch.ErrBadRange}, code: Range},
	{kinds: kinds{fetch.ErrLocalIO}, only: uploading, code: Read},
	{kinds: kinds{fetch.ErrLocalIO}, code: Write},
	{kinds: kinds{fetch.ErrExists}, only: uploading, code: Upload},
}

// What the rules ask of a failure.

func uploading(f Failure) bool { return f.Uploading }

// knownUpload says that the scheme is known, but not for uploads.
func knownUpload(f Failure) bool {
	_, known := locator.SchemeOf(f.Scheme)
	return f.Uploading && known
}

func sending(f Failure) bool { return f.Sending }

// unsent says that the connection broke while data was being sent.
func unsent(f Failure) bool {
	op, ok := errors.AsType[*net.OpError](f.Err)
	return ok && f.Sending && (op.Op == "write" || op.Op == "readfrom")
}

func resuming(f Failure) bool { return f.Resuming }
func byHTTP(f Failure) bool   { return f.Proxy == "http" }
func socks(f Failure) bool    { return strings.HasPrefix(f.Proxy, "socks") }

// byAlert says that the server sent an alert of TLS, which it may do after the handshake.
func byAlert(f Failure) bool {
	op, ok := errors.AsType[*net.OpError](f.Err)
	return ok && op.Op == "remote error"
}

func reset(f Failure) bool   { return errors.Is(f.Err, syscall.ECONNRESET) }
func unheard(f Failure) bool { return f.Unheard && !reset(f) }

// late says that the cause is a time limit.
func late(f Failure) bool { return errors.Is(f.Err, os.ErrDeadlineExceeded) }

func caused(cause error) func(Failure) bool {
	return func(f Failure) bool { return errors.Is(f.Err, cause) }
}
