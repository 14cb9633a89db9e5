// Package crawl copies documents over links and hosts: from menus, directories, newsgroups and pages
// to what they link to. It is for the protocols of RFC 1738 before the web, and can follow links to
// http too.
//
// A [Crawl] asks servers by a Resolver. The Recorder of that Resolver keeps what they send, such as
// an archive.Recorder, which writes WARC files. The crawl itself keeps the frontier: which URLs are
// known, and which of them are to be fetched. The frontier is a file, so an interrupted crawl
// continues in the next run, also after kill -9.
//
// The crawl is polite: it makes one request at a time to a host, by its name and by its address, and
// waits between two. It obeys robots.txt (RFC 9309). It never fetches what a link asks to be sent or
// answered: searches, forms, phone books, telnet sessions and mail addresses. Links may lead to
// public addresses only.
package crawl

import (
	"cmp"
	"context"
	"errors"
	"net/netip"
	"time"

	fetch1738 "github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/policy"
)

// The defaults of a Crawl.
const (
	DefaultWait          = 2 * time.Second
	DefaultTimeout       = 20 * time.Minute
	DefaultConnections   = 16
	DefaultDepth         = 20
	DefaultMaxHosts      = 1000
	DefaultMaxDocuments  = 10_000
	DefaultMaxHostOctets = 1_000_000_000
	DefaultMaxOctets     = 10_000_000_000
	DefaultMaxSimilar    = 500
	DefaultMaxFailures   = 3
)

// FrontierFile is the name of the frontier in the directory of a crawl, and HostsFile the name of
// the report about hosts, which has a line of JSON for each.
const (
	FrontierFile = "frontier.db"
	HostsFile    = "hosts.jsonl"
)

// agent is the name that the lines "User-agent" of robots.txt are compared with.
const agent = "fetch1738"

// A Crawl describes a crawl. Resolver, Dir and Start must be set, or Found or Here in place of Start.
// For all other fields the zero value is a useful default. A Crawl must not be modified during Run.
type Crawl struct {
	// Resolver fetches. Its Recorder should keep what is received. It is called concurrently. Its
	// own policy applies besides Links.
	Resolver *fetch1738.Resolver
	// Start are the URLs to begin with. The policy treats them as the user's. They have no login.
	Start []locator.Locator
	// Dir is the directory of the frontier. It is created if it does not exist.
	Dir string
	// Records, if not nil, are what the Recorder writes. They are on the disk before the frontier
	// is told that documents are fetched. What it was not told, because the process has ended at
	// that moment, is removed from them at the start of the next run, and fetched again.
	Records Records

	// NoSync does not wait until the frontier is on the disk. If the system crashes, it is damaged. It is
	// for a Dir that is of no use then.
	NoSync bool

	// Links is the policy for all URLs that are not in Start. If nil, it is policy.Public.
	Links func(ctx context.Context, t fetch.Target) error
	// HTTP follows links to http and https URLs, too.
	HTTP bool
	// SameHost follows only links to the hosts of Start.
	SameHost bool

	// Depth is the number of links from a URL of Start that are followed; 0 means [DefaultDepth].
	// A negative Depth means that no link is followed.
	Depth int
	// MaxHosts is the maximum number of hosts. 0 means [DefaultMaxHosts].
	MaxHosts int
	// MaxDocuments and MaxHostOctets limit the number of documents of a host, and of the bytes in
	// them. MaxOctets limits the bytes of all hosts together. 0 means [DefaultMaxDocuments],
	// [DefaultMaxHostOctets] and [DefaultMaxOctets]. The document that exceeds a limit is cut off.
	MaxDocuments             int
	MaxHostOctets, MaxOctets int64
	// MaxSimilar is the maximum number of URLs of a host that look generated, and differ only in
	// numbers and in what looks like the id of a session. 0 means [DefaultMaxSimilar].
	MaxSimilar int

	// Connections is the maximum number of hosts that are asked at the same time. 0 means
	// [DefaultConnections].
	Connections int
	// Wait is the time between the end of a request to a host and the start of the next one. A
	// longer Crawl-delay of the server is obeyed. 0 means [DefaultWait]; a negative Wait means none.
	Wait time.Duration
	// Timeout is the maximum time for one document. 0 means [DefaultTimeout].
	Timeout time.Duration
	// MaxFailures is the number of failures in turn after which a host counts as dead: its name has
	// no address, it refuses connections, it does not answer. The wait doubles with each, from 30 s.
	// 0 means [DefaultMaxFailures].
	MaxFailures int

	// Found are links that another crawl has found. Unlike Start, they get nothing but what Links
	// permits, and no failure of them is an error of Run.
	Found []Link
	// Here, if not nil, reports whether a URL belongs to this crawl. Those of Start and Found do. It
	// is called concurrently.
	Here func(locator.Locator) bool
	// Elsewhere gets the links that do not belong to this crawl, before the document that has them
	// counts as fetched. It gets a URL once, also over runs; only if a run is interrupted at that
	// moment, the next one may give it again. An error ends the run, and nothing is lost. If Elsewhere
	// is nil, the links are not followed ([OtherHost]). Those beyond Depth are not ([LimitDepth]).
	Elsewhere func([]Link) error
	// Claim, if not nil, is called before each connection, with the address of the server, and may be
	// called again for the same connection. It is called concurrently. If it fails, that address is
	// not asked. If no other address can be, the request remains to be done, and Run returns
	// [ErrStopped].
	Claim func(ctx context.Context, addr netip.Addr) error
	// Continue, if not nil, is called before each request, and, if none is being made, with the time
	// until the next one may begin. If it reports false, no further request is made, and Run returns
	// [ErrStopped].
	Continue func(wait time.Duration) bool

	// Report, if not nil, is called for each [Event]. Calls are never concurrent. The crawl waits
	// for Report to return.
	Report func(Event)
}

// A Link is a URL that a document has.
type Link struct {
	// URL is without a login. One that a crawl does not follow counts as skipped.
	URL string `json:"url"`
	// From is the URL of the document; "" if it is not known.
	From string `json:"from,omitempty"`
	// Depth is the number of links between a URL of Start and this one.
	Depth int `json:"depth,omitempty"`
}

// An Event reports what happened to a URL, or to a host. The first one is about neither: it has what
// is to be fetched when the run begins.
type Event struct {
	// URL is that of the document, without a password; or "" if the Event is about a host.
	URL string
	// Host is the name of the host.
	Host string
	// Next is set if the crawl waits for a host: it is asked again then. If Reason is "", nothing has
	// failed; the host or the crawl wants long waits between requests.
	Next time.Time
	// Octets is the length of the document.
	Octets int64
	// Links is the number of its links that are new.
	Links int
	// Reason says why the document was not fetched, or why the host is asked again or given up; ""
	// means that the document was fetched.
	Reason Reason
	// Err is the error, if there is one.
	Err error
	// Queued is the number of URLs that are to be fetched, without those of hosts that were given up.
	Queued int
}

// A Summary counts what all runs in a directory have done. Its JSON is documented in docs/crawl.md.
type Summary struct {
	// Complete is set if nothing is left to be fetched because of a limit, an interruption, or a
	// failure of a URL in Start, and not everything was refused ([ErrRefused]).
	Complete bool `json:"complete"`
	// Documents and Octets count the documents that were fetched, without robots.txt and caps.txt.
	Documents int   `json:"documents"`
	Octets    int64 `json:"bytes"`
	// Failed counts the documents that servers did not send, or not completely.
	Failed int `json:"failed"`
	// Hosts is the number of hosts that documents were fetched from.
	Hosts int `json:"hosts"`
	// Skipped counts links that are not followed, and Left URLs that are not fetched because of a
	// limit, by reason.
	Skipped map[Reason]int `json:"skipped"`
	Left    map[Reason]int `json:"left"`
	// Dead are the hosts that were given up.
	Dead []Dead `json:"given_up"`
	// Delay is the longest time between requests that a server asks for.
	Delay time.Duration `json:"-"`
}

// Dead is a host that was given up.
type Dead struct {
	Host string `json:"host"`
	// Reason is [Unresolved], [Unreachable], [Timeout], [Broken] or [Refused].
	Reason Reason `json:"reason"`
	// Error is the text of the last error.
	Error string `json:"error"`
	// Left is the number of its URLs that were not fetched.
	Left int `json:"left"`
}

// A Reason is why something was not fetched.
type Reason string

// The reasons.
const (
	// Links that are never followed: telnet, mail, another scheme, or no valid URL; a search or form.
	// Http, and another host, are followed only if that is asked for.
	Scheme    Reason = "scheme"
	Search    Reason = "search"
	Web       Reason = "http"
	OtherHost Reason = "other-host"
	// Trap: the path is too long or repeats itself, or too many URLs are similar.
	Trap Reason = "trap"
	// Robots: robots.txt forbids it.
	Robots Reason = "robots"
	// Refused: the policy forbids it.
	Refused Reason = "refused"

	// Failures of a document or host.
	Failed      Reason = "failed"
	Unresolved  Reason = "unresolved"
	Unreachable Reason = "unreachable"
	Timeout     Reason = "timeout"
	Broken      Reason = "broken"

	// Limits: what is left of a host, or of all hosts, is not fetched.
	LimitDepth     Reason = "depth"
	LimitHosts     Reason = "hosts"
	LimitDocuments Reason = "documents"
	LimitOctets    Reason = "size"
	LimitLinks     Reason = "links" // a document has more of them than are kept
	Stopped        Reason = "interrupted"
)

// ErrLimit is the error of a Run that ended because of a limit. A run with a higher limit continues.
var ErrLimit = errors.New("a limit of the crawl was reached")

// ErrRefused is the error of a Run with URLs in Start that has fetched nothing but these, because the
// policy has refused what they link to. It wraps the first refusal. A run with another policy
// continues.
var ErrRefused = errors.New("the policy refuses what is linked")

// ErrInUse is the error of a Run in a directory where another one is running.
var ErrInUse = errors.New("another crawl is running in this directory")

// ErrStopped is the error of a Run that Continue or Claim has ended.
var ErrStopped = errors.New("the crawl was stopped")

var errIncomplete = errors.New("crawl: Resolver, Dir and one of Start, Found and Here must be set")

// Run fetches until nothing is left. It may be called repeatedly: with the same Dir it continues,
// asks dead hosts again, and tries again to fetch URLs of Start that have failed, and links that the
// policy has refused. A failure of a document that is linked does not end the run and is no error. Run
// returns the first error of a URL in Start, or else [ErrRefused] if everything was refused, or
// [ErrLimit] if a limit was reached. Errors about a resource are of type *[fetch.Error]. If ctx is
// done, Run stops soon and returns the error of ctx.
func (c *Crawl) Run(ctx context.Context) (Summary, error) {
	if c.Resolver == nil || c.Dir == "" || len(c.Start)+len(c.Found) == 0 && c.Here == nil {
		return Summary{}, errIncomplete
	}
	filled := *c
	filled.fill()
	r, err := newRun(&filled)
	if err != nil {
		return Summary{}, err
	}
	err = r.do(ctx)
	failed := cmp.Or(err, ctx.Err(), r.err, r.onlyRefused())
	sum, sumErr := r.frontier.summary(&filled, failed != nil)
	err = cmp.Or(failed, sumErr)
	if err == nil && !sum.Complete {
		err = ErrLimit
	}
	return sum, errors.Join(err, r.frontier.close())
}

// fill replaces zero fields by their defaults.
func (c *Crawl) fill() {
	if c.Links == nil {
		c.Links = policy.Public
	}
	c.Depth = max(0, cmp.Or(c.Depth, DefaultDepth))
	c.MaxHosts = cmp.Or(c.MaxHosts, DefaultMaxHosts)
	c.MaxDocuments = cmp.Or(c.MaxDocuments, DefaultMaxDocuments)
	c.MaxHostOctets = cmp.Or(c.MaxHostOctets, DefaultMaxHostOctets)
	c.MaxOctets = cmp.Or(c.MaxOctets, DefaultMaxOctets)
	c.MaxSimilar = cmp.Or(c.MaxSimilar, DefaultMaxSimilar)
	c.Connections = cmp.Or(c.Connections, DefaultConnections)
	c.Wait = max(0, cmp.Or(c.Wait, DefaultWait))
	c.Timeout = cmp.Or(c.Timeout, DefaultTimeout)
	c.MaxFailures = cmp.Or(c.MaxFailures, DefaultMaxFailures)
}
