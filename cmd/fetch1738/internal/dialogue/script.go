package dialogue

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
)

// scriptTimeout is how long a script waits that does not say.
const scriptTimeout = 60 * time.Second

// runScript goes through the script. When it is through, the server is listened to
// until it closes or is silent.
func (d *dialogue) runScript(ctx context.Context) (done bool, err error) {
	wait := scriptTimeout
	for _, l := range d.Op.Telnet.Script {
		switch l.Verb {
		case "timeout":
			wait = l.Timeout
		case "send":
			text := l.Text
			if l.Enter {
				text += d.s.Enter()
			}
			if _, err := io.WriteString(d.s, text); err != nil {
				return true, err
			}
		case "expect":
			if err := d.await(ctx, l, wait); err != nil {
				return true, err
			}
		}
	}
	d.quiet(wait, nil)
	return false, nil
}

// await waits until the server has said a text.
func (d *dialogue) await(ctx context.Context, l plan.ScriptLine, wait time.Duration) error {
	wake := func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.more.Broadcast()
	}
	late := time.Now().Add(wait)
	defer time.AfterFunc(wait, wake).Stop()
	defer context.AfterFunc(ctx, wake)()
	what := fmt.Sprintf("line %d of the script: the server has not sent %s", l.Number, fetch.Printable(stdio.Line(l.Text)))
	d.mu.Lock()
	defer d.mu.Unlock()
	for {
		if i := strings.Index(string(d.text), l.Text); i >= 0 {
			d.text = d.text[i+len(l.Text):]
			return nil
		}
		switch {
		case d.over && !d.broken:
			return driver.Fail(fetch.OpRead, d.Locator, fetch.ErrTruncated, errors.New(what))
		case d.over || ctx.Err() != nil:
			return nil // reading tells why
		case !time.Now().Before(late):
			return d.timeout(wait, what)
		}
		d.more.Wait()
	}
}
