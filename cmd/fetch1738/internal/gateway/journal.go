package gateway

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/gateway"
	"github.com/fetch1738/fetch1738/policy"
)

// A journal writes the lines about requests. It is safe for concurrent use.
type journal struct {
	mu       sync.Mutex
	w        io.Writer
	requests atomic.Int64
}

// print writes a line, with what other people sent made printable.
func (j *journal) print(line string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	fmt.Fprintln(j.w, stdio.Line(line))
}

// Write writes a message of net/http as one line.
func (j *journal) Write(p []byte) (int, error) {
	j.print("fetch1738: gateway: " + strings.TrimSpace(string(p)))
	return len(p), nil
}

// access writes the line of one request: time, client, method, kind of page, URL, status, bytes and
// duration, and why it failed.
func (j *journal) access(a gateway.LogEntry) {
	page := a.Page
	if page == "" {
		page = "-"
	}
	line := fmt.Sprintf("%s %s %s %s %s %d %d %s", a.Time.Format(time.RFC3339), a.Client.Addr(), a.Method,
		page, strings.ReplaceAll(a.URL, " ", "%20"), a.Status, a.Bytes, a.Took.Round(time.Millisecond))
	if a.Err != nil {
		line += ": " + reason(a)
	}
	j.print(line)
}

// reason returns why a request failed, without the words of a search, which may be in the URL of the
// error.
func reason(a gateway.LogEntry) string {
	if denied, ok := errors.AsType[*policy.Denied](a.Err); ok {
		return "denied (rule " + denied.Rule + ")"
	}
	if failed, ok := errors.AsType[*fetch.Error](a.Err); ok && failed.URL != "" {
		return stdio.InOptions(strings.ReplaceAll(failed.Error(), failed.URL, a.URL))
	}
	return stdio.InOptions(a.Err.Error())
}

// conversations returns a handler that shows what next sends to servers and receives from them.
// Each line begins with the number of the request.
func (j *journal) conversations(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := j.requests.Add(1)
		lines := func(mark, text string) {
			for line := range strings.Lines(text) {
				j.print(fmt.Sprintf("%d %s %s", n, mark, strings.TrimRight(line, "\r\n")))
			}
		}
		next.ServeHTTP(w, r.WithContext(fetch.WithTrace(r.Context(), &fetch.Trace{
			Connected: func(c fetch.Connection) { lines("*", fmt.Sprintf("Connected to %s (%s)", c.Host, c.Remote)) },
			Reused: func(c fetch.Connection) {
				lines("*", fmt.Sprintf("Re-using the connection to %s (%s)", c.Host, c.Remote))
			},
			Sent:     func(octets []byte) { lines(">", string(octets)) },
			Received: func(octets []byte) { lines("<", string(octets)) },
			Retry:    func(r fetch.Retry) { lines("*", fmt.Sprintf("Retrying in %v: %v", r.Wait, r.Err)) },
			Note:     func(text string) { lines("*", text) },
		})))
	})
}
