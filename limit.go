package fetch1738

import (
	"fmt"
	"io"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
)

// limited limits the body of res to max bytes; 0 means no limit. If the whole resource was
// requested and its Size is larger, limited fails at once.
func limited(req *fetch.Request, res *fetch.Resource, max int64) (*fetch.Resource, error) {
	if max == 0 {
		return res, nil
	}
	tooLarge := driver.Fail(fetch.OpRead, res.Locator, fetch.ErrTooLarge, fmt.Errorf("more than %d bytes", max))
	if req.Offset == 0 && req.Length == 0 && res.Size > max {
		res.Close()
		return nil, tooLarge
	}
	res.Body = &limitedBody{ReadCloser: res.Body, left: max, err: tooLarge}
	return res, nil
}

type limitedBody struct {
	io.ReadCloser
	left int64
	err  error
}

func (b *limitedBody) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, b.err
	}
	// One byte more than the limit shows whether the body ends there.
	if int64(len(p))-1 > b.left {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return n - 1, b.err
	}
	return n, err
}
