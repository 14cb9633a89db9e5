// Package plan describes what a command line requests, as plain data grouped by subject. Package
// curl creates it from a command line; package transfer carries it out.
package plan

import (
	"cmp"
	"io/fs"
	"net/http"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/dial"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/fetch/telnet"
	"github.com/fetch1738/fetch1738/internal/text/charset"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/policy"
)

// An Operation is a list of URLs and what to do with them. The n-th output and the n-th upload
// belong to the n-th URL. Use New to create one.
type Operation struct {
	*Global
	URLs      []string
	Swallowed string       // an option whose value looks like a URL, or ""
	Listed    map[int]bool // indexes of URLs that were read from a file
	Outputs   []Destination
	Uploads   []string
	GlobOff   bool // braces and brackets have no special meaning

	Connections
	Reading Reading
	Policy  Policy
	Limits  Limits
	Ask     Ask
	Output  Output
	Retry   Retry

	FTP      FTP
	HTTP     HTTP
	Gopher   Gopher
	Form     []Field // of --form, for HTTP and Gopher+
	News     News
	WAIS     WAIS
	Telnet   Telnet
	FileMode fs.FileMode // of new files at file URLs; 0 for the default
}

// Connections has the options that the Fetchers are made from: those that affect how sessions with
// servers begin, and so which of them a transfer may use. Operations with equal Connections share
// their sessions, also across --next.
type Connections struct {
	Connect       Connect
	Proxy         Proxy
	TLS           TLS
	Login         Login // a session with a news server stays logged in
	Exact         bool  // send only what RFC 1738 specifies
	MaxSize       int64 // bytes of a document; 0 for no limit
	FTPSession    FTPSession
	HTTPSession   HTTPSession
	NewsServer    string            // "" for that of the environment
	SMTP          string            // the mail server, HOST:PORT
	Gateways      map[string]string // by scheme
	GatewayLogins bool              // send URLs with a login to gateways
}

// Global has the options that apply to all Operations of a command line.
type Global struct {
	FailEarly   bool
	Silent      bool
	ShowError   bool // even if Silent
	NoMeter     bool
	ProgressBar bool
	Verbose     bool

	Parallel Parallel
	Interval time.Duration // between the starts of two transfers; 0 for no minimum
	Trace    Trace
	Archive  Archive
	Password *uintptr // file descriptor to read passwords from; nil for the terminal
}

// Parallel says how many transfers may run at once.
type Parallel struct {
	On        bool
	Max       int  // 0 for the default
	PerHost   int  // 0 for no limit
	Immediate bool // open new connections instead of waiting to reuse one
}

// MaxParallel is the maximum of Parallel.Max.
const MaxParallel = 65535

// Transfers returns how many transfers may run at once.
func (p *Parallel) Transfers() int { return cmp.Or(p.Max, 100) }

// Connections returns how many of them may be others than streams of shared connections.
func (p *Parallel) Connections() int { return cmp.Or(p.Max, 50) }

// Archive says where what servers send is recorded.
type Archive struct {
	Path    string // "" for no archive
	Folder  bool   // Path is a folder of files, not a file
	Crawl   bool   // each URL is fetched once, and robots.txt is obeyed
	Version string // of WARC; "" for the default
	MaxSize int64  // of a file in a folder, in octets; 0 for the default
}

// Trace says how the conversation is shown.
type Trace struct {
	Form TraceForm
	File string // "-" for standard output, "%" for standard error
	Time bool   // start each line with the time
}

// A TraceForm is a way to show a conversation.
type TraceForm uint8

// The forms.
const (
	TraceNot   TraceForm = iota
	TraceLines           // lines with a prefix, as -v shows them
	TraceHex             // bytes in hexadecimal and ASCII
	TraceASCII           // bytes in ASCII
)

// A Destination is where a document is written: to a file, to a file named after the URL, or
// nowhere. The zero value means standard output.
type Destination struct {
	Path   string // "-" for standard output
	Remote bool   // to a file named after the URL
	Null   bool   // discard it
}

// Policy says which servers URLs may lead to.
type Policy struct {
	Schemes   SchemeSet
	Redirects SchemeSet // that redirects may lead to
	Rules     policy.Rules
}

// Connect says how to connect to servers.
type Connect struct {
	Timeout time.Duration // 0 for the default
	Idle    time.Duration // how long a server may be silent; 0 for the default, negative for no limit
	HAProxy HAProxy
	Dialer  dial.Dialer
}

// HAProxy is what a load balancer would tell an HTTP server about the client.
type HAProxy struct {
	On       bool
	ClientIP string // "" for the address of the connection
}

// Limits end a transfer, or slow it down. Zero means no limit.
type Limits struct {
	Time      time.Duration
	Rate      int64 // bytes per second
	Speed     int   // minimum of bytes per second, averaged over SpeedTime
	SpeedTime int   // seconds
}

// Proxy has the options for proxies.
type Proxy struct {
	URL     *string // if nil, use the environment; "" for no proxy
	Pre     string  // a SOCKS proxy through which the other one is reached; "" for none
	HTTP10  bool    // send CONNECT with HTTP/1.0
	User    string  // USER[:PASSWORD], as in a URL
	Headers []string
	Persist []string // values of Proxy-Connection in CONNECT; nil for the default
	Tunnel  bool     // use CONNECT even for http
	None    *string  // hosts to connect to directly; if nil, use the environment
}

// TLS has the options for TLS, for all schemes that use it.
type TLS struct {
	Insecure bool
	CAFile   string
	CAPath   string
	Identity Identity
	Min, Max uint16   // versions; 0 for any
	Ciphers  []uint16 // up to TLS 1.2; nil for the default
	Pins     string   // public keys of the server, "sha256//BASE64;…" or a file

	// For schemes that start TLS with a command.
	Try     bool // use TLS if the server supports it
	Control bool // require TLS for FTP's control connection
	Require bool // require TLS
}

// An Identity is a client certificate and its private key.
type Identity struct {
	File, KeyFile string // the key may be in File
	Password      string // of the key
	DER, KeyDER   bool   // in DER, not PEM
}

// Login says which logins to use.
type Login struct {
	Given     *locator.Login // of -u, for every URL; nil if not given
	Email     string
	Netrc     NetrcMode
	NetrcFile string
}

// A NetrcMode says how to use the netrc file.
type NetrcMode uint8

// The modes.
const (
	NetrcUnused   NetrcMode = iota
	NetrcOptional           // use it if neither Given nor the URL has a login
	NetrcRequired           // its login takes precedence over the URL's
)

// Ask says what to request.
type Ask struct {
	Append   bool
	Head     bool
	Span     *Span
	SpanText string // Span as typed, with a "-"
	Ranges   string // several ranges, for http only
	Resume   Resumption
	ResumeAt int64
	Method   string // "" for the default
	Time     TimeCondition
	Numbers  []int // of the links to follow, in order
	Segments int   // maximum number of connections for one document; 0 means 1
}

// A Span is a part of a document, as in fetch.Request.
type Span struct {
	Offset, Length int64
	Empty          bool // the part is always empty
}

// A Resumption says where a transfer resumes.
type Resumption uint8

// The ways to resume.
const (
	ResumeNot   Resumption = iota
	ResumeGiven            // at Ask.ResumeAt
	ResumeFound            // at the end of the existing file
)

// A TimeCondition requests only documents that are newer than a time, or not newer. The zero value
// means no condition.
type TimeCondition struct {
	When  time.Time
	Older bool
}

// Met reports whether a document with that modification time meets the condition. A document whose
// time is not known does. Times are compared in seconds, because servers send no fractions.
func (c TimeCondition) Met(modified time.Time) bool {
	switch {
	case c.When.IsZero() || modified.IsZero():
		return true
	case c.Older:
		return modified.Unix() <= c.When.Unix()
	}
	return modified.Unix() > c.When.Unix()
}

// Field returns the condition as an HTTP header field.
func (c TimeCondition) Field() (name, value string) {
	name = "If-Modified-Since"
	if c.Older {
		name = "If-Unmodified-Since"
	}
	return name, c.When.UTC().Format(http.TimeFormat)
}

// Output says how to write documents and responses.
type Output struct {
	Charset          charset.Charset // on a terminal
	CreateDirs       bool
	DumpHeader       string // a file for response headers
	Include          bool   // write the response headers too
	JSON, List       bool   // convert directories and menus; JSON describes documents
	IncludeBody      bool   // in what JSON says of a document
	NoConnectHeads   bool   // omit responses to CONNECT
	Dir              string
	Raw              bool // no filter for terminals
	RemoteNameAll    bool
	RemoteHeaderName bool   // the server may choose the file name
	WriteOut         string // a format to write after each transfer

	Clobber       Clobber
	SkipExisting  bool
	RemoteTime    bool
	RemoveOnError bool
}

// A Clobber says what to do if the output file exists.
type Clobber uint8

// The ways to treat an existing file.
const (
	ClobberTyped  Clobber = iota // overwrite it if the user chose the name, not if the server did
	ClobberAlways                // overwrite it
	ClobberNever                 // write to a new file with a number in its name
)

// Retry says when to retry a failed transfer.
type Retry struct {
	Times   int
	All     bool // on any error
	Refused bool // also if the connection is refused
	Delay   time.Duration
	MaxTime time.Duration // 0 for no limit
}

// FTP has the options for ftp URLs.
type FTP struct {
	Account    string
	CreateDirs bool
	Method     string // how to change to the directory; "" for multicwd
	ListOnly   bool
	Quotes     []string
	ASCII      bool
}

// FTPSession has the options for FTP sessions.
type FTPSession struct {
	Active        *ftp.Active // active mode; nil for passive mode
	DisableEPRT   bool
	DisableEPSV   bool
	NoPipelining  bool
	Distrust      bool // refuse a reply to PASV that names another host
	GuessType     bool
	ClearCommands ftp.ClearCommands
	Alternative   string // command to send if USER or PASS is refused
	PRET          bool
	CRLF          bool
}

// HTTP has the options for http URLs.
type HTTP struct {
	AutoReferer     bool
	Compressed      bool
	EscapeForm      bool // names in a form have a backslash before quotes
	Cookies         Cookies
	ETagCompare     string // a file
	ETagSave        string // a file
	Data            []byte // nil for no data
	Fail            bool
	FailWithBody    bool
	Follow          bool // after a redirect, keep Ask.Method only if the status requires it
	Get             bool // add Data to the URL
	Headers         []string
	IgnoreLength    bool  // of responses by HTTP/1
	KeepPost        []int // redirect statuses after which POST remains POST
	LocationTrusted bool
	Query           []string
	Referer         *string
	Target          string
}

// HTTPSession has the options for HTTP connections, and for redirects, which may need new ones.
type HTTPSession struct {
	ContinueTimeout time.Duration
	Location        bool // follow redirects
	MaxRedirects    int
	UserAgent       *string // also of CONNECT; if nil, the default; "" for none
	Version         HTTPVersion
}

// An HTTPVersion says which versions of HTTP are used.
type HTTPVersion uint8

// The choices.
const (
	HTTPOffered   HTTPVersion = iota // HTTP/2 for https if the server speaks it, else HTTP/1.1
	HTTPVersion10                    // HTTP/1.0
	HTTPVersion11                    // HTTP/1.1
	HTTPVersion2                     // HTTP/2, without asking whether the server speaks it
)

// Gopher has the options for gopher URLs.
type Gopher struct {
	Language  string
	ListViews bool
	View      string
}

// News has the options for news and nntp URLs.
type News struct {
	Articles string // a range of article numbers
}

// WAIS has the options for wais URLs.
type WAIS struct {
	Like    []locator.Locator // find documents similar to these
	MaxHits int
}

// Telnet has the options for telnet URLs.
type Telnet struct {
	telnet.Options
	Script []ScriptLine // nil for no script
	Login  bool         // answer the login prompts
	Bare   bool         // do not filter what the service sends to the terminal
}

// A ScriptLine is a step of a telnet session: "expect" waits until the server has sent Text, "send"
// sends Text, and "timeout" sets the time limit of the following steps.
type ScriptLine struct {
	Number  int // line number in the file
	Verb    string
	Text    string
	Enter   bool // send the Enter key after Text
	Timeout time.Duration
}

// New returns an Operation with the default options and without URLs.
func New(g *Global) *Operation {
	return &Operation{
		Global: g,
		Policy: Policy{
			Redirects: SchemeSet{"http", "https", "ftp", "ftps"},
			Rules:     policy.Rules{AnyHTTPPort: true, RedirectToFTP: true},
		},
		Connections: Connections{HTTPSession: HTTPSession{MaxRedirects: 50, ContinueTimeout: time.Second}},
	}
}

// Posted returns the body of an HTTP request, or nil for no body.
func (o *Operation) Posted() []byte {
	if o.HTTP.Get {
		return nil
	}
	return o.HTTP.Data
}

// Posts reports whether an HTTP request has a body.
func (o *Operation) Posts() bool { return o.Posted() != nil || len(o.Form) > 0 }

// Resuming reports whether transfers resume earlier ones.
func (o *Operation) Resuming() bool { return o.Ask.Resume != ResumeNot }

// MayGoAhead reports whether documents may be requested before their turn: each is a plain GET that
// depends neither on the transfers before it nor on a file, and no limit counts from its turn.
func (o *Operation) MayGoAhead() bool {
	a, h := o.Ask, o.HTTP
	limited := o.FailEarly || o.FTPSession.NoPipelining || o.Interval > 0 || o.Limits != (Limits{}) || o.MaxSize > 0
	plain := a.Method == "" && !a.Head && a.Span == nil && a.Ranges == "" && a.Numbers == nil && a.Segments < 2 && !o.Uploading() && !o.Posts()
	depends := o.Resuming() || !a.Time.When.IsZero() || h.ETagCompare != "" || h.ETagSave != "" || h.Cookies.Stored() || o.Output.SkipExisting || o.Archive.Path != ""
	return plain && !limited && !depends
}
