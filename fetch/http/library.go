package http

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	// go-retryablehttp repeats a request: it waits, and sends the body again. It works on any
	// http.Client, and all that it decides can be replaced by functions: what is repeated, and when, is
	// in retry.go.
	"github.com/hashicorp/go-retryablehttp"
	// httpguts has the grammar of methods and header fields that net/http applies and does not export.
	// So a request which that would refuse or repair fails before anything is sent.
	"golang.org/x/net/http/httpguts"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/http/internal/exchange"
)

// send sends r, the request of ex. If repeat is set, it repeats r if that may help and does no harm.
// The caller that requests the rest of a body counts its attempts itself.
func (c *call) send(ex *exchange.Exchange, r *http.Request, repeat bool) (*http.Response, error) {
	if !repeat {
		return c.f.transport.RoundTrip(ex, r)
	}
	last, attempts := error(nil), 0
	client := retryablehttp.Client{
		HTTPClient: newClient(c.f.transport, ex),
		RetryMax:   c.f.retries(),
		CheckRetry: func(_ context.Context, resp *http.Response, err error) (bool, error) {
			attempts++
			last = err
			if attempts > c.f.retries() || !c.mayRepeat(resp, err) {
				return false, nil
			}
			if resp != nil {
				last = c.statusError(resp)
				resp.Body.Close() // go-retryablehttp would read it to its end, which may take long
			}
			return true, nil
		},
		Backoff: func(_, _ time.Duration, n int, resp *http.Response) time.Duration {
			wait := backoff(n, resp)
			c.hooks.Call(func(t *fetch.Trace) { t.Retry(fetch.Retry{Attempt: n + 1, Err: last, Wait: wait}) })
			return wait
		},
		PrepareRetry: func(r *http.Request) error { return c.setBody(r) },
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
	resp, err := client.Do(&retryablehttp.Request{Request: r})
	if resp != nil {
		show(resp)
	}
	return resp, err
}

// checkFields checks a method and header fields. It returns the fields by their canonical names, and
// how other names were spelled.
func checkFields(method string, header http.Header) (canonical http.Header, spelling map[string]string, err error) {
	if !httpguts.ValidHeaderFieldName(method) || method == http.MethodConnect {
		return nil, nil, fmt.Errorf("method %q is not valid here", method)
	}
	canonical, spelling = make(http.Header), make(map[string]string)
	for spelled, values := range header {
		if !httpguts.ValidHeaderFieldName(spelled) {
			return nil, nil, fmt.Errorf("%q is not a valid header field name", spelled)
		}
		if slices.ContainsFunc(values, func(v string) bool { return !httpguts.ValidHeaderFieldValue(v) }) {
			return nil, nil, fmt.Errorf("header field %s contains a line break or control character", spelled)
		}
		name := http.CanonicalHeaderKey(spelled)
		if canonical[name] = append(canonical[name], values...); spelled != name {
			spelling[name] = spelled
		}
	}
	if hosts := canonical["Host"]; len(hosts) > 1 || len(hosts) == 1 && !httpguts.ValidHostHeader(hosts[0]) {
		return nil, nil, errors.New("bad Host header field")
	}
	return canonical, spelling, nil
}
