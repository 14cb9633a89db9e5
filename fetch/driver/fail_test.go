package driver_test

import (
	"fmt"
	"io"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/locator"
)

func TestFail(t *testing.T) {
	const redacted = "ftp://lab:***@example.com/x"
	e := driver.Fail("RETR", url, fetch.ErrOther, io.ErrUnexpectedEOF)
	if e.Op != "RETR" || e.URL != redacted || e.Kind != fetch.ErrTruncated || e.Err != io.ErrUnexpectedEOF {
		t.Errorf("a cause without a kind: %#v", e)
	}
	if e := driver.Fail("RETR", url, fetch.ErrLocalIO, io.ErrUnexpectedEOF); e.Kind != fetch.ErrLocalIO {
		t.Errorf("a cause with a kind: %#v", e)
	}
	if e := driver.Fail("dial", nil, fetch.ErrTimeout, nil); e.Error() != "dial: timed out" {
		t.Errorf("without cause and locator: %v", e)
	}

	inner := &fetch.Error{Kind: fetch.ErrNotFound, Code: 550}
	e = driver.Fail("RETR", url, fetch.ErrProtocol, fmt.Errorf("wrapped: %w", inner))
	if e.Op != "RETR" || e.URL != redacted || e.Kind != fetch.ErrNotFound || e.Code != 550 {
		t.Errorf("an *Error without Op and URL: %#v", e)
	}
	if inner.Op != "" || inner.URL != "" {
		t.Errorf("the *Error it was given has changed: %#v", inner)
	}
	again := driver.Fail("other", &locator.News{All: true}, fetch.ErrOther, e)
	if again.Op != "RETR" || again.URL != redacted {
		t.Errorf("Op and URL were replaced: %#v", again)
	}
}
