package transfer

import (
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/output"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/record"
	"github.com/fetch1738/fetch1738/fetch"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/locator"
)

// A Result is what a transfer was to do and what came of it.
type Result struct {
	client.Call        // Op says what was wanted; Locator is nil if URL is none
	URL         string // as typed, or one of those that a glob or a wildcard stands for
	Number      int    // of the URL on the command line, from 0
	Serial      int    // of the transfer, from 0
	Upload      bool
	Source      string    // the file to upload; "" if there is none
	Malformed   error     // what is wrong with the glob
	Looks       bool      // it only looks what there is, for a wildcard
	Out         io.Writer // standard output, or the transfer's part of it

	Departures locator.Tolerance // from RFC 1738, which the URL needed
	Account    record.Account
	Heads      record.Heads
	Sink       *output.Sink // nil if there is none yet
	Answer     Answer
	Tries      int
	Skipped    bool // what is there already stays
	Folder     Folder
	Err        error
}

// An Answer is what a server has answered.
type Answer struct {
	Effective   locator.Locator // where it came from
	Status      int
	Redirects   int
	ContentType string
	EntryPath   string
	ShownHead   int             // octets of it that went to the output
	Web         *fetchhttp.Info // of HTTP
	Header      []fetch.Field   // of HTTP
	Modified    time.Time
	submitted   bool // of a form
}

// Method is the HTTP method that was used. As for curl, every other download is a
// GET.
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
	case r.Op.Posted() != nil:
		return http.MethodPost
	}
	return http.MethodGet
}

// Gateway is the gateway of the URL's scheme, or "".
func (r *Result) Gateway() string { return r.Op.Policy.Gateways[r.Locator.Scheme()] }

// SendsLogin reports whether the login of a Locator goes to the server.
func (r *Result) SendsLogin(l locator.Locator) bool {
	return l.Scheme() != "telnet" || r.Op.Telnet.Login
}

// AsFolder is the transfer's ftp or ftps URL with a slash at its end.
func (r *Result) AsFolder() locator.Locator {
	return client.Rewritten(r.Locator, func(path *locator.FTP) {
		path.CWD = append(slices.Clip(path.CWD), path.Name)
		path.Name, path.Type = "", 0
	})
}
