package client

import (
	"net/http"
	"strconv"
	"time"
)

// TransientStatus reports whether an HTTP status may be transient.
func TransientStatus(status int) bool {
	switch status {
	case 408, 429, 500, 502, 503, 504, 522, 524:
		return true
	}
	return false
}

// RetryAfter returns the wait that a server requests (RFC 9110 §10.2.3), or 0.
func RetryAfter(h http.Header) time.Duration {
	text := h.Get("Retry-After")
	if n, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(n) * time.Second
	}
	if when, err := http.ParseTime(text); err == nil {
		return max(0, time.Until(when))
	}
	return 0
}
