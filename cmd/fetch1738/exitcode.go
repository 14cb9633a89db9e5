package main

import (
	"crypto/tls"
	"errors"
	"net"
	"slices"
	"strings"
	"syscall"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/dial"
	"github.com/fetch1738/fetch1738/fetch"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
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

// faultCodes are the exit codes of what fails here.
func faultCodes() map[fault.Kind]int {
	return map[fault.Kind]int{
		fault.Usage: exitUsage, fault.Unsupported: exitUnsupported, fault.BadURL: exitBadURL, fault.NoSuchProxy: exitNoSuchProxy,
		fault.Unreachable: exitUnreachable, fault.Partial: exitPartial, fault.Status: exitStatus, fault.Write: exitWrite, fault.Read: exitRead,
		fault.Timeout: exitTimeout, fault.Range: exitRange, fault.TLS: exitTLS, fault.Resume: exitResume, fault.Aborted: exitAborted,
		fault.NoOption: exitNoOption, fault.OptionSyntax: exitOptionSyntax, fault.OwnCertificate: exitOwnCertificate, fault.Ciphers: exitCiphers,
		fault.Login: exitLogin, fault.Authorities: exitAuthorities, fault.Listing: exitListing, fault.Pin: exitPin,
	}
}

// code is the exit code.
func (f failure) code() int {
	var known *fetch.Error
	var denied *policy.Denied
	var certificate *tls.CertificateVerificationError
	var local *dial.LocalError
	switch {
	case f.err == nil:
		return exitOK
	case fault.KindOf(f.err) != 0:
		return faultCodes()[fault.KindOf(f.err)]
	case errors.As(f.err, &local):
		return exitInterface
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
	ops    []fetch.Op
	kinds  []fetch.ErrorKind
	reply  int // of fetch.Error.Code; refusedReply is any reply that is a refusal
	only   func(failure) bool
	code   int
}

const refusedReply = -1

func (r exitRule) fits(f failure, e *fetch.Error) bool {
	return (r.scheme == "" || r.scheme == plainScheme(f.scheme)) &&
		(r.ops == nil || slices.Contains(r.ops, e.Op)) &&
		(r.kinds == nil || slices.Contains(r.kinds, e.Kind)) &&
		(r.reply == 0 || r.reply == e.Code || r.reply == refusedReply && e.Code >= 300) &&
		(r.only == nil || r.only(f))
}

// opsByKind have no rule of their own: what is wrong decides, whatever was being
// done.
var opsByKind = []fetch.Op{
	fetch.OpExplain, fetch.OpResolve, fetch.OpGreeting, fetch.OpInit, fetch.OpAccess, fetch.OpAttributes, fetch.OpUpdate, fetch.OpReplace,
	fetch.OpUpload, fetch.OpFetch, fetch.OpFollow, fetch.OpGateway, fetch.OpSend, fetch.OpWrite, fetch.OpTransfer, fetch.OpOpen, fetch.OpSeek,
	fetch.OpClose, fetch.OpList, fetch.OpUnion, fetch.OpMatch, fetch.OpMirror, fetch.OpChoose, fetch.OpQuery, fetch.OpSearch, fetch.OpRetrieve,
	fetch.OpCCC, fetch.OpPWD, fetch.OpFEAT, fetch.OpMDTM,
	fetch.OpCAPABILITIES, fetch.OpMODE, fetch.OpAUTHINFO, fetch.OpGROUP, fetch.OpLISTGROUP, fetch.OpOVER, fetch.OpXOVER, fetch.OpSTAT, fetch.OpARTICLE,
	fetch.OpEHLO, fetch.OpMAIL, fetch.OpRCPT, fetch.OpDATA, fetch.OpGET, fetch.OpHEAD, fetch.OpPUT, fetch.OpGetObjectInfo,
}

// exitRules are looked through from the top.
func exitRules() []exitRule {
	kinds := func(k ...fetch.ErrorKind) []fetch.ErrorKind { return k }
	ops := func(o ...fetch.Op) []fetch.Op { return o }
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
		{ops: ops(fetch.OpAccept), kinds: kinds(fetch.ErrTimeout), code: exitAcceptTime},
		{kinds: kinds(fetch.ErrTimeout), code: exitTimeout},
		{kinds: kinds(fetch.ErrCanceled), code: exitInterrupted},
		{kinds: kinds(fetch.ErrTooManyHops), code: exitHops},
		{kinds: kinds(fetch.ErrBadURL), ops: ops(fetch.OpParse, fetch.OpCheck, fetch.OpProxyConnect), code: exitBadURL},
		{kinds: kinds(fetch.ErrRefused), code: exitRefused},
		{ops: ops(fetch.OpProxyConnect), only: socks, code: exitProxy},
		{kinds: kinds(fetch.ErrUnresolved), only: byHTTP, code: exitNoSuchProxy},
		{kinds: kinds(fetch.ErrUnresolved), code: exitNoSuchHost},

		{ops: ops(fetch.OpProxyConnect), code: exitReceive},

		{scheme: "ftp", kinds: kinds(fetch.ErrBusy), reply: 421, code: exitTimeout}, // which curl takes it for
		{scheme: "ftp", ops: ops(fetch.OpConnect), reply: refusedReply, code: exitWeirdReply},
		{scheme: "ftp", ops: ops(fetch.OpACCT), reply: refusedReply, code: exitACCT},
		{scheme: "ftp", ops: ops(fetch.OpAUTH, fetch.OpPBSZ, fetch.OpPROT), code: exitNoTLS},
		{ops: ops(fetch.OpSTARTTLS), code: exitNoTLS},
		{scheme: "ftp", ops: ops(fetch.OpAccept), code: exitAccept},
		{scheme: "ftp", ops: ops(fetch.OpEPRT, fetch.OpPORT), code: exitPORT},
		{scheme: "ftp", ops: ops(fetch.OpPRET), reply: refusedReply, code: exitPRET},
		{scheme: "ftp", ops: ops(fetch.OpUSER, fetch.OpPASS, fetch.OpACCT, fetch.OpLogin), code: exitLogin},
		{scheme: "ftp", ops: ops(fetch.OpCWD, fetch.OpMKD), reply: refusedReply, code: exitDenied},
		{scheme: "ftp", ops: ops(fetch.OpTYPE), reply: refusedReply, code: exitTYPE},
		{scheme: "ftp", ops: ops(fetch.OpPASV, fetch.OpEPSV), reply: refusedReply, code: exitWeirdPASV},
		{scheme: "ftp", ops: ops(fetch.OpPASV), kinds: kinds(fetch.ErrProtocol), code: exitWeird227},
		{scheme: "ftp", ops: ops(fetch.OpEPSV), kinds: kinds(fetch.ErrProtocol), code: exitWeirdPASV},
		{scheme: "ftp", ops: ops(fetch.OpQuote), code: exitQuote},
		{scheme: "ftp", kinds: kinds(fetch.ErrBadRange), code: exitResume},
		{scheme: "ftp", ops: ops(fetch.OpREST), reply: refusedReply, code: exitREST},
		{kinds: kinds(fetch.ErrTruncated), only: reset, code: exitReceive},
		{scheme: "ftp", kinds: kinds(fetch.ErrTruncated), code: exitPartial},
		{scheme: "ftp", ops: ops(fetch.OpRETR, fetch.OpSIZE), reply: 550, code: exitNotFound},
		{scheme: "ftp", ops: ops(fetch.OpRETR, fetch.OpSIZE), kinds: kinds(fetch.ErrNotFound), code: exitNotFound},
		{scheme: "ftp", ops: ops(fetch.OpRETR, fetch.OpLIST, fetch.OpNLST, fetch.OpMLSD, fetch.OpSIZE), reply: refusedReply, code: exitRETR},
		{scheme: "ftp", ops: ops(fetch.OpSTOR, fetch.OpAPPE), only: unsent, code: exitSend},
		{scheme: "ftp", ops: ops(fetch.OpSTOR, fetch.OpAPPE), reply: 552, only: sending, code: exitRemoteFull},
		{scheme: "ftp", ops: ops(fetch.OpSTOR, fetch.OpAPPE), reply: refusedReply, only: sending, code: exitPartial},
		{scheme: "ftp", ops: ops(fetch.OpSTOR, fetch.OpAPPE), reply: refusedReply, code: exitUpload},

		{scheme: "http", kinds: kinds(fetch.ErrBadRange), code: exitRange},
		{scheme: "http", kinds: kinds(fetch.ErrMoved), only: uploading, code: exitUpload},
		{scheme: "http", kinds: kinds(fetch.ErrMoved), code: exitUnsupported},
		{scheme: "http", reply: refusedReply, code: exitStatus},
		{scheme: "http", only: caused(fetchhttp.ErrNotHTTP), code: exitUnsupported}, // curl takes it for HTTP/0.9
		{scheme: "http", only: caused(fetchhttp.ErrCoding), code: exitCoding},
		{scheme: "http", only: caused(fetchhttp.ErrFraming), code: exitReceive},
		{scheme: "http", only: caused(fetchhttp.ErrRewind), code: exitRewind},
		{scheme: "http", kinds: kinds(fetch.ErrConnectionFailed), only: unsent, code: exitSend},
		{ops: ops(fetch.OpTLS), code: exitTLS},
		{only: byAlert, code: exitReceive},
		{scheme: "http", kinds: kinds(fetch.ErrConnectionFailed), only: unheard, code: exitEmptyReply},

		{ops: ops(fetch.OpPOST), kinds: kinds(fetch.ErrLocalIO), only: uploading, code: exitRead},
		{ops: ops(fetch.OpPOST), reply: refusedReply, only: uploading, code: exitUpload},

		{scheme: "file", kinds: kinds(fetch.ErrBadURL, fetch.ErrNoOctets), code: exitBadURL},
		{scheme: "file", kinds: kinds(fetch.ErrBadRange), code: exitResume},
		{scheme: "file", kinds: kinds(fetch.ErrTooLarge), code: exitTooLarge},
		{scheme: "file", ops: ops(fetch.OpRead), only: uploading, code: exitRead},
		{scheme: "file", only: uploading, code: exitWrite},
		{scheme: "file", code: exitFile},

		{kinds: kinds(fetch.ErrUnsupported), only: uploading, code: exitUpload},
		{kinds: kinds(fetch.ErrUnsupported, fetch.ErrMoved), code: exitUnsupported},
		{kinds: kinds(fetch.ErrBadURL, fetch.ErrNoOctets), code: exitBadURL},
		{kinds: kinds(fetch.ErrNotFound), code: exitNotFound},
		{kinds: kinds(fetch.ErrPermission), code: exitDenied},
		{kinds: kinds(fetch.ErrUnauthenticated), code: exitLogin},
		{kinds: kinds(fetch.ErrUnreachable), code: exitUnreachable},
		{kinds: kinds(fetch.ErrTruncated), code: exitPartial},
		{kinds: kinds(fetch.ErrProtocol), code: exitWeirdReply},
		{kinds: kinds(fetch.ErrTooLarge), code: exitTooLarge},
		{kinds: kinds(fetch.ErrBadRange), only: resuming, code: exitResume},
		{kinds: kinds(fetch.ErrBadRange), code: exitRange},
		{kinds: kinds(fetch.ErrLocalIO), only: uploading, code: exitRead},
		{kinds: kinds(fetch.ErrLocalIO), code: exitWrite},
		{kinds: kinds(fetch.ErrExists), only: uploading, code: exitUpload},
	}
}
