package transfer

import (
	"errors"
	"net/http"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/fetch"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
)

// checkStatus decides whether the response of an HTTP server is a failure. Responses of any
// status arrive as a document.
func (a *attempt) checkStatus(req *fetch.Request, res *fetch.Resource) error {
	info, ok := res.Info.(*fetchhttp.Info)
	if !ok || info.StatusCode/100 == 2 {
		return nil
	}
	e := &fetch.Error{
		Op: fetch.Op(a.Method()), URL: a.Answer.Effective.Redacted(), Code: info.StatusCode,
		Reply: strings.TrimSpace(info.Status[min(3, len(info.Status)):]),
	}
	wait := client.RetryAfter(info.Header)
	crowds := a.crowds(a.Result, info.StatusCode, wait)
	resuming := req.Offset != 0 && (a.Op.Ask.Resume != plan.ResumeNot || a.canResume())
	switch status := info.StatusCode; {
	case crowds, client.TransientStatus(status) && mayRepeat(a.Result, wait):
		e.Kind, a.retryAfter, a.crowded = fetch.ErrBusy, wait, crowds
	case status == http.StatusRequestedRangeNotSatisfiable && resuming:
		if info.AtEnd {
			return nil // the file is complete
		}
		e.Kind = fetch.ErrBadRange
	case a.Op.HTTP.Fail && (status >= 400 || noDocument(a.Op, a.etag != "", status)):
		if err := writeHead(a.Result, res); err != nil {
			return err
		}
	case resuming:
		e.Kind, e.Err = fetch.ErrBadRange, errors.New("not appended to the existing file")
	case status/100 == 3 && a.Op.HTTPSession.Location && a.Op.HTTPSession.MaxRedirects == 0 && strings.TrimSpace(info.Header.Get("Location")) != "":
		e.Kind, e.Err = fetch.ErrTooManyHops, errors.New("--max-redirs 0 forbids redirects")
	default:
		return nil
	}
	return e
}

// noDocument reports whether a status below 400 was not asked for, or leads nowhere. conditional says
// that there was an ETag to compare with.
func noDocument(o *plan.Operation, conditional bool, status int) bool {
	unasked := status != http.StatusNotModified || !conditional && o.Ask.Time.When.IsZero()
	return status < 200 || status/100 == 3 && o.HTTPSession.Location && unasked
}
