package transfer

import (
	"io"
	"net/http"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/outcome"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/output"
	"github.com/fetch1738/fetch1738/fetch"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/locator"
)

// A Task is what one transfer is asked to do. It does not change once the transfer begins.
type Task struct {
	URL       string // as typed, or one that a glob or wildcard expands to
	Number    int    // of the URL on the command line, from 0
	Serial    int    // of the transfer, from 0
	Upload    bool
	Source    string    // the file to upload, or ""
	Malformed error     // the error of the glob or wildcard
	Looks     bool      // it only lists a directory, for a wildcard
	Out       io.Writer // standard output, or the transfer's portion of it
}

// A Result is a transfer with its outcome, so far or at its end.
type Result struct {
	client.Call // Op is the Operation; Locator is nil if URL is malformed
	Task

	Departures locator.Tolerance // of the URL from RFC 1738
	Account    outcome.Account
	Heads      outcome.Heads
	Sink       *output.Sink // nil until it is created
	Answer     Answer
	Tries      int
	Skipped    bool // because the file exists
	Folder     Folder
	Err        error
}

// An Answer is the response of a server.
type Answer struct {
	Effective   locator.Locator // the URL of the response
	Status      int
	Redirects   int
	ContentType string
	EntryPath   string
	ShownHead   int             // bytes of the head in the output
	Web         *fetchhttp.Info // of HTTP
	Header      []fetch.Field   // of HTTP
	Modified    time.Time
}

// Read parses the URL and sets Locator. --proto must permit the scheme.
func (r *Result) Read() error {
	ref, err := r.Op.Reading.Parse(r.URL)
	if err != nil {
		return err
	}
	r.Departures = ref.Used
	r.Locator = client.WithQuery(r.Op, ref.Locator)
	r.Answer.Effective = r.Locator
	if scheme := r.Locator.Scheme(); !r.Op.Policy.Schemes.Has(scheme) {
		return localerr.Errorf(localerr.Unsupported, "the scheme %q is disabled by --proto", scheme)
	}
	return nil
}

// Method returns the HTTP method that was used. As in curl, downloads by other schemes
// are a GET.
func (r *Result) Method() string {
	switch {
	case r.Answer.Web != nil:
		return r.Answer.Web.Method
	case r.Op.Ask.Method != "":
		return r.Op.Ask.Method
	case r.Upload:
		return http.MethodPut
	case r.Op.Ask.Head:
		return http.MethodHead
	case r.Op.Posts() && client.IsHTTP(r.Locator):
		return http.MethodPost
	}
	return http.MethodGet
}

// Gateway returns the gateway of the URL's scheme, or "".
func (r *Result) Gateway() string { return r.Op.Gateways[r.Locator.Scheme()] }

// SendsLogin reports whether the login of a Locator is sent to the server.
func (r *Result) SendsLogin(l locator.Locator) bool {
	return l.Scheme() != "telnet" || r.Op.Telnet.Login
}

// Verbatim reports whether the Sink receives the bytes of the document and no
// others.
func (r *Result) Verbatim() bool {
	o := r.Op
	return !o.Output.Include && !o.Ask.Head && !o.HTTP.Compressed && o.Ask.Numbers == nil && o.Ask.Method == "" && o.HTTP.Data == nil && !r.Upload
}

// underWay reports whether the speed limit applies. It does not during connecting,
// which has its own limit, and during prompts.
func (r *Result) underWay() bool {
	facts := r.Account.Facts()
	return !r.Asking() && (!facts.Connected.IsZero() || r.Account.Moved.Load() > 0)
}

// skip sets and reports whether the file exists and the transfer is to be skipped.
func (r *Result) skip() (skipped bool, err error) {
	if !r.Upload {
		r.Skipped, err = r.Sink.Skips(r.Op.Output.SkipExisting)
	}
	return r.Skipped, err
}
