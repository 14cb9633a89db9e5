package http

import (
	"net/http"
	"strconv"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/http/internal/exchange"
)

const (
	firstWait   = 250 * time.Millisecond // doubled each time
	longestWait = 30 * time.Second
)

// mayRepeat implements the policy of [Fetcher.Retries].
func (c *call) mayRepeat(resp *http.Response, err error) bool {
	if c.ctx.Err() != nil || !exchange.Idempotent(c.verb()) || !c.upload.CanResend() {
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
