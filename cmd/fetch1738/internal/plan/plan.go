// Package plan says what is to be done, as plain data by subject. Package curl
// makes it out of a command line, package transfer carries it out.
package plan

import (
	"io/fs"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/dial"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/fetch/telnet"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/policy"
)

// An Operation is some URLs and what is to be done about them. The n-th output
// and the n-th upload belong to the n-th URL. Use New to make one.
type Operation struct {
	*Global
	URLs      []string
	Swallowed string       // the option that took what looks like a URL; "" if none did
	Listed    map[int]bool // which of the URLs came out of a file
	Outputs   []Destination
	Uploads   []string
	GlobOff   bool // braces and brackets mean themselves

	Reading Reading
	Policy  Policy
	Connect Connect
	Limits  Limits
	Proxy   Proxy
	TLS     TLS
	Login   Login
	Ask     Ask
	Output  Output
	Retry   Retry

	Exact    bool // send only what RFC 1738 names
	FTP      FTP
	HTTP     HTTP
	Gopher   Gopher
	News     News
	WAIS     WAIS
	Telnet   Telnet
	FileMode fs.FileMode // of files made by file URLs; 0 for the usual mode
	SMTP     string      // the mail server, HOST:PORT
}

// Global holds for all Operations of a command line.
type Global struct {
	FailEarly   bool
	Silent      bool
	ShowError   bool // in spite of Silent
	NoMeter     bool
	ProgressBar bool
	Verbose     bool

	Parallel Parallel
	Interval time.Duration // between the starts of two transfers; 0 for none
	Trace    Trace
	Password *uintptr // the file descriptor that passwords come from; nil for the terminal
}

// Parallel says how many transfers run at once.
type Parallel struct {
	On        bool
	Max       int
	PerHost   int  // 0 for no limit
	Immediate bool // open new connections rather than wait for others
}

// The limits of Parallel.Max.
const (
	DefaultParallel = 50
	MaxParallel     = 65535
)

// Trace says how the conversation is shown.
type Trace struct {
	Form TraceForm
	File string // "-" for standard output, "%" for standard error
	Time bool   // the time before each line
}

// A TraceForm is a way to show a conversation.
type TraceForm uint8

// The forms.
const (
	TraceNot   TraceForm = iota
	TraceLines           // lines after a mark
	TraceHex             // octets in hexadecimal and ASCII
	TraceASCII           // octets in ASCII
)

// A Destination is where a document goes: to a file, to one named after the URL,
// nowhere, or, being none of these, to standard output.
type Destination struct {
	Path   string // "-" for standard output
	Remote bool
	Null   bool
}

// Policy says where URLs may lead.
type Policy struct {
	Schemes       SchemeSet
	Redirects     SchemeSet // that redirects may lead to
	Rules         policy.Rules
	Gateways      map[string]string // by scheme
	GatewayLogins bool              // tell logins to gateways
}

// Connect says how servers are reached.
type Connect struct {
	Timeout time.Duration // 0 for the default
	Dialer  dial.Dialer
}

// Limits end a transfer, or slow it down. Zero is no limit.
type Limits struct {
	Time      time.Duration
	Size      int64 // octets of a document
	Rate      int64 // octets in a second
	Speed     int   // octets in a second that are too few if SpeedTime passes
	SpeedTime int   // seconds
}

// Proxy is what is known of proxies.
type Proxy struct {
	URL     *string // nil for what the environment says, "" for no proxy
	HTTP10  bool    // ask by HTTP/1.0
	User    string  // USER[:PASSWORD], as in a URL
	Headers []string
	Tunnel  bool    // CONNECT, even for http
	None    *string // hosts that are reached without; nil for what the environment says
}

// TLS is what is known of TLS, for every scheme that has it.
type TLS struct {
	Insecure bool
	CAFile   string
	CAPath   string
	Identity Identity
	Min, Max uint16   // versions; 0 for any
	Ciphers  []uint16 // up to TLS 1.2; nil for the usual ones
	Pins     string   // public keys of the server, "sha256//BASE64;…" or a file

	// For schemes that begin TLS by a command.
	Try     bool // if the server has it
	Control bool // or fail, for FTP's commands
	Require bool // or fail
}

// An Identity is the certificate that a server may ask for, and its key.
type Identity struct {
	File, KeyFile string // the key may be in File
	Password      string // of the key
	DER, KeyDER   bool   // in DER, not PEM
}

// Login is who logs in.
type Login struct {
	Given     *locator.Login // for every URL; nil if there is none
	Email     string
	Netrc     NetrcMode
	NetrcFile string
}

// NetrcMode is how the netrc file is used.
type NetrcMode uint8

// The modes.
const (
	NetrcUnused   NetrcMode = iota
	NetrcOptional           // if neither Given nor the URL has a login
	NetrcRequired           // before the URL's login
)

// Ask is what is asked for.
type Ask struct {
	Append   bool
	Head     bool
	Span     *Span
	SpanText string // Span as it was given, with a "-"
	Ranges   string // several spans, of which http alone knows
	Resume   Resumption
	ResumeAt int64
	Method   string // "" for the usual one
	Time     TimeCondition
	Numbers  []int // of the links to follow, one after the other
	Segments int   // connections for one document; 0 and 1 for one
}

// A Span is a part of a document, as fetch.Request has it.
type Span struct {
	Offset, Length int64
	Empty          bool // no document has such a part
}

// Resumption is where a transfer goes on.
type Resumption uint8

// The ways to resume.
const (
	ResumeNot   Resumption = iota
	ResumeGiven            // at Ask.ResumeAt
	ResumeFound            // at the end of what is there already
)

// A TimeCondition wants documents newer than a time, or not newer. The zero value
// wants any.
type TimeCondition struct {
	When  time.Time
	Older bool
}

// Met reports whether a document of that time is wanted. One whose time is not
// known is. Times are compared by the second: servers tell no more.
func (c TimeCondition) Met(modified time.Time) bool {
	switch {
	case c.When.IsZero() || modified.IsZero():
		return true
	case c.Older:
		return modified.Unix() <= c.When.Unix()
	}
	return modified.Unix() > c.When.Unix()
}

// Output is what becomes of an answer.
type Output struct {
	Charset          term.Charset // on a terminal
	CreateDirs       bool
	DumpHeader       string // a file for heads of answers
	Include          bool   // heads of answers
	JSON, List       bool   // directories and menus in another form
	NoConnectHeads   bool   // no answers to CONNECT among the heads
	Dir              string
	Raw              bool // no filter for terminals
	RemoteNameAll    bool
	RemoteHeaderName bool   // the server names the file
	WriteOut         string // a format to write after each transfer

	Clobber       Clobber
	SkipExisting  bool
	RemoteTime    bool
	RemoveOnError bool
}

// Clobber is what is done about a file that exists where a document is to go.
type Clobber uint8

// What is done.
const (
	ClobberTyped  Clobber = iota // replace it if its name was typed, keep it if a server chose the name
	ClobberAlways                // replace it
	ClobberNever                 // write to another name, with a number
)

// Retry says when a failed transfer is tried again.
type Retry struct {
	Times   int
	All     bool // whatever the failure
	Refused bool // even if nobody listens
	Delay   time.Duration
	MaxTime time.Duration // 0 for any
}

// FTP is for ftp URLs.
type FTP struct {
	Session    FTPSession
	Account    string
	CreateDirs bool
	Method     string // of walking the path; "" for multicwd
	ListOnly   bool
	Quotes     []string
	ASCII      bool
}

// FTPSession is how sessions of FTP are made.
type FTPSession struct {
	Active        *ftp.Active // the server connects; nil for the passive mode
	DisableEPRT   bool
	DisableEPSV   bool
	NoPipelining  bool
	Distrust      bool // refuse a reply to PASV that names another host
	GuessType     bool
	ClearCommands ftp.ClearCommands
	Alternative   string // to a USER that is refused
	PRET          bool
	CRLF          bool
}

// HTTP is for http URLs.
type HTTP struct {
	AutoReferer     bool
	Compressed      bool
	ContinueTimeout time.Duration
	Cookies         []string
	ETagCompare     string // a file
	ETagSave        string // a file
	Data            []byte // nil for none
	Fail            bool
	FailWithBody    bool
	Follow          bool // Ask.Method is for redirects whose status keeps it
	Get             bool // Data goes into the URL
	Headers         []string
	KeepPost        []int // statuses of redirects after which POST stays POST
	Location        bool  // follow redirects
	LocationTrusted bool
	MaxRedirects    int
	Query           []string
	Referer         *string
	Target          string
	UserAgent       *string
}

// Gopher is for gopher URLs.
type Gopher struct {
	Answers   []Answer // to a form
	Language  string
	ListViews bool
	View      string
}

// An Answer is one to the question of a form that has this name, or number.
type Answer struct{ Name, Value string }

// News is for news and nntp URLs.
type News struct {
	Articles string // a range of them
	Server   string
}

// WAIS is for wais URLs.
type WAIS struct {
	Like    []locator.Locator // documents that others should be like
	MaxHits int
}

// Telnet is for telnet URLs.
type Telnet struct {
	telnet.Options
	Script []ScriptLine // nil for none
	Login  bool         // type the login at the prompts
	Bare   bool         // no filter between service and terminal
}

// A ScriptLine is a step of a conversation: "expect" waits until the server has
// said Text, "send" types it, "timeout" says how long to wait from now on.
type ScriptLine struct {
	Number  int // of the line in its file
	Verb    string
	Text    string
	Enter   bool // the Enter key after Text
	Timeout time.Duration
}

// New is an Operation that asks for nothing yet.
func New(g *Global) *Operation {
	return &Operation{
		Global: g,
		Policy: Policy{
			Redirects: SchemeSet{"http", "https", "ftp", "ftps"},
			Rules:     policy.Rules{AnyHTTPPort: true, RedirectToFTP: true},
		},
		HTTP: HTTP{MaxRedirects: 50, ContinueTimeout: time.Second},
	}
}

// Posted is what goes into the body of an HTTP request; nil for nothing.
func (o *Operation) Posted() []byte {
	if o.HTTP.Get {
		return nil
	}
	return o.HTTP.Data
}

// Resuming reports whether transfers go on where others ended.
func (o *Operation) Resuming() bool { return o.Ask.Resume != ResumeNot }
