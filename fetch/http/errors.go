package http

import (
	"errors"

	"github.com/fetch1738/fetch1738/fetch/http/internal/exchange"
)

// Errors that errors.Is finds in a *fetch.Error in addition to its kind. The kind is
// fetch.ErrProtocol, except for ErrHeader and ErrRewind.
var (
	// ErrNotHTTP means that the response does not start like an HTTP/1.0 or HTTP/1.1 response.
	ErrNotHTTP = exchange.ErrNotHTTP
	// ErrHeader means that the header of the response exceeds Limits.Line or Limits.Header. The
	// kind is fetch.ErrTooLarge.
	ErrHeader = exchange.ErrHeader
	// ErrCoding means that a content or transfer coding is unknown, was not requested, or does not
	// match the data.
	ErrCoding = exchange.ErrCoding
	// ErrFraming means that the chunked coding of a body is invalid.
	ErrFraming = errors.New("invalid chunked coding")
	// ErrRewind means that the request body would have to be sent again, but it is not an
	// io.Seeker. The kind is fetch.ErrLocalIO.
	ErrRewind = errors.New("the body cannot be sent again")
)
