package driver_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/locator"
)

type closing struct{ times int }

func (c *closing) Close() error { c.times++; return nil }

func TestNewBody(t *testing.T) {
	l := &locator.Opaque{Name: "x"}
	var received int64
	ctx := fetch.WithTrace(t.Context(), &fetch.Trace{Body: func(n int64) { received += n }})
	if err := iotest.TestReader(driver.NewBody(ctx, l, strings.NewReader("octets"), new(closing), 6), []byte("octets")); err != nil {
		t.Error(err)
	}
	if received != 6 {
		t.Errorf("the Body hook received %d bytes", received)
	}
	for _, limit := range []int64{5, 1} {
		body := driver.NewBody(ctx, l, strings.NewReader("octets"), new(closing), limit)
		for range 2 {
			got, err := io.ReadAll(body)
			if e, ok := err.(*fetch.Error); !ok || e.Kind != fetch.ErrTooLarge || e.URL != "x:" {
				t.Errorf("limit %d: %v", limit, err)
			}
			if int64(len(got)) != limit && len(got) != 0 {
				t.Errorf("limit %d: %q", limit, got)
			}
		}
	}
	broken := errors.New("broken")
	got, err := io.ReadAll(driver.NewBody(ctx, l, io.MultiReader(strings.NewReader("oct"), iotest.ErrReader(broken)), new(closing), 0))
	if e, ok := err.(*fetch.Error); !ok || !errors.Is(e, broken) || string(got) != "oct" {
		t.Errorf("%q, %v", got, err)
	}

	over, cancel := context.WithCancel(ctx)
	body := driver.NewBody(over, l, strings.NewReader("octets"), new(closing), 0)
	cancel()
	if n, err := body.Read(make([]byte, 1)); n != 0 || fetch.KindOf(err) != fetch.ErrCanceled {
		t.Errorf("after its context: %d, %v", n, err)
	}

	conn := new(closing)
	body = driver.NewBody(ctx, l, strings.NewReader("octets"), conn, 0)
	if err := errors.Join(body.Close(), body.Close()); err != nil || conn.times != 1 {
		t.Errorf("closed %d times: %v", conn.times, err)
	}
	if n, err := body.Read(make([]byte, 1)); n != 0 || fetch.KindOf(err) != fetch.ErrConnectionFailed {
		t.Errorf("after Close: %d, %v", n, err)
	}
}
