package dialogue

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/wire"
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
			d.mu.Lock()
			d.sent = append(d.sent, l.Text)
			d.mu.Unlock()
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
	d.mu.Lock()
	defer d.mu.Unlock()
	for {
		if i := strings.Index(string(d.text), l.Text); i >= 0 {
			d.text = d.text[i+len(l.Text):]
			return nil
		}
		switch {
		case d.over && d.broken == nil:
			return driver.Fail(fetch.OpRead, d.Locator, fetch.ErrTruncated, errors.New(d.unanswered(l)))
		case d.over:
			return d.brokenAt(l)
		case ctx.Err() != nil:
			return nil // reading tells why
		case !time.Now().Before(late):
			return d.timeout(wait, d.unanswered(l))
		}
		d.more.Wait()
	}
}

// brokenAt returns the error of a connection that was broken during a line. The caller holds d.mu.
func (d *dialogue) brokenAt(l plan.ScriptLine) error {
	known, ok := errors.AsType[*fetch.Error](d.broken)
	if !ok {
		return nil // reading tells why
	}
	at := *known
	at.Err = fmt.Errorf("%w; %s", known.Err, d.unanswered(l))
	return &at
}

// unanswered says which line waits in vain, for what, and what the server has said last. The caller
// holds d.mu.
func (d *dialogue) unanswered(l plan.ScriptLine) string {
	secrets := d.sent // each may be a password
	if d.autoLogin != nil {
		secrets = append(secrets[:len(secrets):len(secrets)], d.autoLogin.login.Password)
	}
	last := "it has sent nothing"
	if line := lastLine(string(d.said), secrets); line != "" {
		last = "its last line is " + strconv.Quote(line)
	}
	return fmt.Sprintf("line %d of the script: the server has not sent %s; %s", l.Number, strconv.Quote(cut(l.Text)), last)
}

// lastLine returns the last line of text that is not blank, without the secrets that a server may
// have repeated. Of a long line it is the end.
func lastLine(text string, secrets []string) string {
	text = strings.TrimRight(text, " \t\r\n\x00")
	line := text[strings.LastIndexAny(text, "\r\n")+1:]
	for _, secret := range secrets {
		if before, echoed := strings.CutSuffix(line, secret); echoed && secret != "" { // also a short one
			line = before + wire.Mask
		}
	}
	line = wire.MaskSecrets(line, secrets)
	return line[max(0, len(line)-maxQuoted):]
}

// maxQuoted is how many bytes of a text a message has.
const maxQuoted = 100

// cut returns the beginning of a text.
func cut(text string) string { return text[:min(len(text), maxQuoted)] }
