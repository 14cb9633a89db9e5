package http

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/fetch1738/fetch1738/fetch"
)

const (
	defaultRetries = 2
	firstWait      = 250 * time.Millisecond // doubled each time
	longestWait    = 30 * time.Second
)

// client is what go-retryablehttp drives. It follows nothing: a redirect is a
// request of its own, with a header of its own (see call.follow).
func (f *Fetcher) client() *http.Client {
	return &http.Client{
		Transport:     direct{f.transport},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// direct is a transport whose redirects http.Client does not see.
type direct struct{ t *http.Transport }

func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := d.t.RoundTrip(r)
	if err == nil {
		exchangeOf(r.Context()).gotHead(resp)
	}
	return resp, err
}

// send sends r, and again if that may help and does no harm. Without repeat it
// is sent once: who asks for the rest of a body counts by himself.
func (c *call) send(r *http.Request, repeat bool) (*http.Response, error) {
	var last error
	attempts := 0
	client := retryablehttp.Client{
		HTTPClient: c.f.client(),
		RetryMax:   c.f.retries(),
		CheckRetry: func(_ context.Context, resp *http.Response, err error) (bool, error) {
			attempts++
			last = err
			if !repeat || attempts > c.f.retries() || !c.mayRepeat(resp, err) {
				return false, nil
			}
			if resp != nil {
				last = c.statusError(&answer{resp: resp})
				resp.Body.Close() // it would be read to its end, and that may be long in coming
			}
			return true, nil
		},
		Backoff: func(_, _ time.Duration, n int, resp *http.Response) time.Duration {
			wait := backoff(n, resp)
			c.trace.Retry(fetch.Retry{Attempt: n + 1, Err: last, Wait: wait})
			return wait
		},
		PrepareRetry: func(r *http.Request) error { return c.putBody(r) },
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
	return client.Do(&retryablehttp.Request{Request: r})
}

// retries is how often something is tried again.
func (f *Fetcher) retries() int {
	if f.Retries == 0 {
		return defaultRetries
	}
	return max(0, f.Retries)
}

// mayRepeat is the policy of [Fetcher.Retries].
func (c *call) mayRepeat(resp *http.Response, err error) bool {
	if c.ctx.Err() != nil || !idempotent(c.verb()) || !c.upload.again() {
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
		return false // an unknown name, a refusal by the policy, talk that is no HTTP
	}
	switch resp.StatusCode {
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusBadGateway,
		http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return asked
	}
	return false
}

// idempotent methods may be sent twice (RFC 9110 §9.2.2).
func idempotent(method string) bool {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPut, http.MethodDelete, http.MethodOptions, http.MethodTrace:
		return true
	}
	return false
}

// backoff is how long to wait before the n-th repetition, from 0. The server's
// wish (RFC 9110 §10.2.3) counts up to the longest wait.
func backoff(n int, resp *http.Response) time.Duration {
	wait := min(longestWait, firstWait<<min(n, 16))
	if resp == nil {
		return wait
	}
	wish := resp.Header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(wish, 10, 31); err == nil {
		wait = time.Duration(seconds) * time.Second
	} else if t, err := http.ParseTime(wish); err == nil {
		wait = time.Until(t)
	}
	return min(longestWait, max(0, wait))
}
