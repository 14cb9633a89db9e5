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
func (t *Transfer) checkStatus(req *fetch.Request, res *fetch.Resource) error {
	info, ok := res.Info.(*fetchhttp.Info)
	if !ok || info.StatusCode/100 == 2 {
		return nil
	}
	e := &fetch.Error{
		Op: fetch.Op(t.Method()), URL: t.Answer.Effective.Redacted(), Code: info.StatusCode,
		Reply: strings.TrimSpace(info.Status[min(3, len(info.Status)):]),
	}
	wait := client.RetryAfter(info.Header)
	resuming := req.Offset != 0 && (t.Op.Ask.Resume != plan.ResumeNot || t.canResume())
	switch status := info.StatusCode; {
	case client.TransientStatus(status) && mayRepeat(t, wait):
		e.Kind, t.retryAfter = fetch.ErrBusy, wait
		t.crowded = crowds(t, status, wait)
	case crowds(t, status, wait):
		e.Kind, t.retryAfter, t.crowded = fetch.ErrBusy, wait, true
	case status == http.StatusRequestedRangeNotSatisfiable && resuming:
		if info.AtEnd {
			return nil // the file is complete
		}
		e.Kind = fetch.ErrBadRange
	case t.Op.HTTP.Fail && (status >= 400 || noDocument(t, status)):
		if err := writeHead(t, res); err != nil {
			return err
		}
	case resuming:
		e.Kind, e.Err = fetch.ErrBadRange, errors.New("not appended to the existing file")
	case status/100 == 3 && t.Op.HTTP.Location && t.Op.HTTP.MaxRedirects == 0 && strings.TrimSpace(info.Header.Get("Location")) != "":
		e.Kind, e.Err = fetch.ErrTooManyHops, errors.New("--max-redirs 0 forbids redirects")
	default:
		return nil
	}
	return e
}

// noDocument reports whether a status below 400 was not asked for, or leads nowhere.
func noDocument(t *Transfer, status int) bool {
	unasked := status != http.StatusNotModified || t.etag == "" && t.Op.Ask.Time.When.IsZero()
	return status < 200 || status/100 == 3 && t.Op.HTTP.Location && unasked
}
