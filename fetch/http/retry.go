package http

import (
	"net/http"
	"strconv"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
)

const (
	defaultRetries = 2
	firstWait      = 250 * time.Millisecond // doubled each time
	longestWait    = 30 * time.Second
)

// newClient returns the client for go-retryablehttp. It does not follow redirects: each is a
// separate request with its own header (see call.follow).
func newClient(t *http.Transport) *http.Client {
	return &http.Client{
		Transport:     noRedirects{t},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// noRedirects is a transport that hides redirects from http.Client.
type noRedirects struct{ t *http.Transport }

func (d noRedirects) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := d.t.RoundTrip(r)
	if err == nil {
		exchangeOf(r.Context()).gotHead(resp)
	}
	return resp, err
}

// retries returns the maximum number of repetitions.
func (f *Fetcher) retries() int {
	if f.Retries == 0 {
		return defaultRetries
	}
	return max(0, f.Retries)
}

// mayRepeat implements the policy of [Fetcher.Retries].
func (c *call) mayRepeat(resp *http.Response, err error) bool {
	if c.ctx.Err() != nil || !idempotent(c.verb()) || !c.upload.canResend() {
		return false
	}
	asked := c.f.Retries > 0
	if err != nil {
		switch c.fail(err).Kind {
		case fetch.ErrConnectionFailed:
			return true
		case fetch.ErrUnreachable, fetch.ErrTimeout:
			return asked
		}
		return false // an unknown name, a refusal by the policy, or not HTTP
	}
	switch resp.StatusCode {
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusBadGateway,
		http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return asked
	}
	return false
}

// idempotent reports whether a method may be sent twice (RFC 9110 §9.2.2).
func idempotent(method string) bool {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPut, http.MethodDelete, http.MethodOptions, http.MethodTrace:
		return true
	}
	return false
}

// backoff returns how long to wait before the n-th repetition, counted from 0. Retry-After (RFC
// 9110 §10.2.3) is respected up to longestWait.
func backoff(n int, resp *http.Response) time.Duration {
	wait := min(longestWait, firstWait<<min(n, 16))
	if resp == nil {
		return wait
	}
	retryAfter := resp.Header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(retryAfter, 10, 31); err == nil {
		wait = time.Duration(seconds) * time.Second
	} else if t, err := http.ParseTime(retryAfter); err == nil {
		wait = time.Until(t)
	}
	return min(longestWait, max(0, wait))
}
