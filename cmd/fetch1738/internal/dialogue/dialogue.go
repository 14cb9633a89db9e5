// Package dialogue conducts telnet sessions and fills in forms.
package dialogue

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/form"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/transfer"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/gopher"
	"github.com/fetch1738/fetch1738/fetch/telnet"
	"github.com/fetch1738/fetch1738/locator"
)

// A Console is this program's side of sessions and forms: a user at a terminal, a
// script, or standard input. It implements transfer.Console.
type Console struct {
	stdio.Streams
	Pause func() (resume func()) // stops other output to the terminal; may be nil
}

// Size returns the size of the terminal that is standard input, or 0 if it is not a
// terminal.
func (c *Console) Size() (columns, rows uint16) { return term.Size(c.In) }

// Answer prompts the user.
func (c *Console) Answer(ctx context.Context, r *transfer.Result, f *gopher.Form) ([]string, error) {
	if !term.IsTerminal(c.In) {
		return nil, transfer.ErrNobody
	}
	defer c.pause()()
	return form.Person{In: c.In, Err: c.Err, Charset: r.Op.Output.Charset}.Ask(ctx, f)
}

// pause calls Pause, if that is set.
func (c *Console) pause() (resume func()) {
	if c.Pause == nil {
		return func() {}
	}
	return c.Pause()
}

// A dialogue is an open session. One goroutine reads what the server sends, another
// one sends.
type dialogue struct {
	*transfer.Conversation
	console   *Console
	s         *telnet.Session
	autoLogin *autoLogin    // for --telnet-login, or nil
	typed     chan struct{} // closed when autoLogin is done
	end       *time.Timer   // ends the session after silence; nil until it applies
	silence   time.Duration

	mu     sync.Mutex
	more   sync.Cond
	text   []byte // received, and not matched by the script yet
	said   []byte // the end of what was received
	sent   []string
	over   bool  // nothing more is received
	broken error // because of this error, or nil
	mine   bool  // this side has closed the connection
	fault  error // why, or nil
}

// maxUnexpected is how many received bytes are kept for the script.
const maxUnexpected = 1 << 20

// maxSaid is how many bytes are kept of what the server has said, for messages.
const maxSaid = 4 << 10

// Converse conducts a session to its end, with the input of a script, of a user at a
// terminal, or of standard input.
func (c *Console) Converse(ctx context.Context, talk *transfer.Conversation) error {
	d := &dialogue{Conversation: talk, console: c, s: talk.Session}
	d.more.L = &d.mu
	if l, ok := talk.Resource.Locator.(*locator.Telnet); ok && talk.Op.Telnet.Login && l.Login != nil && (l.Login.User != "" || l.Login.HasPassword) {
		d.autoLogin, d.typed = &autoLogin{login: *l.Login}, make(chan struct{})
	}
	switch {
	case talk.Op.Telnet.Script != nil:
		return d.run(ctx, d.runScript, talk.Listen)
	case talk.Input != nil:
		return d.run(ctx, d.relay, talk.Listen)
	case term.IsTerminal(c.In):
		return d.runTerminal(ctx)
	}
	return d.run(ctx, d.relay, talk.Listen)
}

// run calls speak, which sends, and listen, which receives, at the same time. It ends
// when the server closes the connection or speak returns done or an error.
func (d *dialogue) run(ctx context.Context, speak func(context.Context) (done bool, err error), listen func(io.Reader) error) error {
	ctx, cancel := context.WithCancel(ctx)
	spoken := make(chan struct{})
	go func() {
		defer close(spoken)
		if done, err := speak(ctx); done || err != nil {
			d.hangUp(err)
		}
	}()
	err := listen(d)
	cancel()
	d.hangUp(nil)
	<-spoken
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.end != nil {
		d.end.Stop()
	}
	if d.fault != nil {
		return d.fault
	}
	return err
}

// hangUp closes the connection. The reason of the first call is kept.
func (d *dialogue) hangUp(reason error) {
	d.mu.Lock()
	if !d.mine && d.fault == nil {
		d.mine, d.fault = !d.over, reason
	}
	d.more.Broadcast()
	d.mu.Unlock()
	_ = d.s.Close()
}

// Read reads what the server sends. It returns io.EOF when either side has closed the
// connection.
func (d *dialogue) Read(p []byte) (int, error) {
	n, err := d.s.Read(p)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.end != nil && n > 0 {
		d.end.Reset(d.silence)
	}
	if d.Op.Telnet.Script != nil {
		d.text = append(d.text, p[:n]...)
		d.text = d.text[max(0, len(d.text)-maxUnexpected):]
		d.said = append(d.said, p[:n]...)
		d.said = d.said[max(0, len(d.said)-maxSaid):]
	}
	if err != nil {
		if d.mine && !errors.Is(err, fetch.ErrTooLarge) {
			err = io.EOF
		}
		if d.over = true; err != io.EOF {
			d.broken = err
		}
	}
	d.more.Broadcast()
	if d.autoLogin != nil && n > 0 {
		if answer := d.autoLogin.hear(p[:n]); answer != "" {
			// A broken connection is detected by the next read.
			_, _ = io.WriteString(d.s, answer+d.s.Enter())
			if d.autoLogin.isDone() {
				close(d.typed)
			}
		}
	}
	return n, err
}

// quiet closes the connection when nothing has been received for a time. reason may
// be nil.
func (d *dialogue) quiet(after time.Duration, reason error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.silence = after
	d.end = time.AfterFunc(after, func() {
		d.mu.Lock()
		over := d.over
		d.mu.Unlock()
		if !over {
			d.hangUp(reason)
		}
	})
}

// relay sends the file of -T, or standard input, after the login of --telnet-login. If
// the input is empty, the session is only a probe: the port is open, and it ends.
func (d *dialogue) relay(ctx context.Context) (done bool, err error) {
	if d.autoLogin != nil {
		select {
		case <-d.typed:
		case <-ctx.Done():
			return false, nil
		}
	}
	input := d.Input
	if input == nil {
		input = d.Outgoing(stdio.Interruptible(ctx, d.console.In))
	}
	n, err := io.Copy(d.s, input)
	var sending *fetch.Error
	switch {
	case ctx.Err() != nil, errors.As(err, &sending): // the next read returns the error
		return false, nil
	case err != nil:
		return true, localerr.New(localerr.Read, err)
	case n == 0:
		return true, nil
	}
	if limit := client.IdleTime(&d.Op.Connect); limit > 0 {
		d.quiet(limit, d.timeout(limit, "no data after the end of the input (--idle-timeout SECONDS changes that)"))
	}
	return false, nil
}

// timeout returns the error of a wait that has reached its limit; awaited says what did
// not happen.
func (d *dialogue) timeout(limit time.Duration, awaited string) error {
	return driver.Fail(fetch.OpRead, d.Locator, fetch.ErrTimeout, fmt.Errorf("timed out after %vs: %s", limit.Seconds(), awaited))
}

// An autoLogin answers the prompts for a user name and a password, each once.
type autoLogin struct {
	login locator.Login
	tail  string // the end of what was received
	named bool   // the user name has been sent
	done  bool   // the password has been sent
}

// isDone reports whether there is nothing more to send.
func (t *autoLogin) isDone() bool { return t.done || t.named && !t.login.HasPassword }

// maxPrompt is the length of the longest prompt.
const maxPrompt = 64

// hear returns the answer to send if what was received ends in a prompt, or "".
func (t *autoLogin) hear(said []byte) string {
	t.tail += string(said[max(0, len(said)-maxPrompt):])
	t.tail = t.tail[max(0, len(t.tail)-maxPrompt):]
	line := t.tail[strings.LastIndexAny(t.tail, "\r\n")+1:]
	line = strings.ToLower(strings.TrimRight(line, " \t"))
	ends := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.HasSuffix(line, w) })
	}
	switch {
	case t.isDone():
	case !t.named && t.login.User != "" && ends("login:", "username:", "user:", "user name:", "name:"):
		t.named, t.tail = true, ""
		return t.login.User
	case t.login.HasPassword && ends("password:", "passwd:", "passphrase:"):
		t.named, t.done, t.tail = true, true, ""
		return t.login.Password
	}
	return ""
}
