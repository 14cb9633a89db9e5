// Package dialogue talks to services and answers forms.
package dialogue

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/fault"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/form"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/transfer"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/gopher"
	"github.com/fetch1738/fetch1738/fetch/telnet"
	"github.com/fetch1738/fetch1738/locator"
)

// A Console is the program's end of services and forms: a person at a terminal, a
// script, or what standard input has. It implements transfer.Console.
type Console struct {
	stdio.Streams
	Pause func() (resume func()) // keeps others from the terminal; nil if there are none
}

// Size is that of the terminal that standard input is, 0 if it is none.
func (c *Console) Size() (columns, rows uint16) { return term.Size(c.In) }

// Answer asks a person.
func (c *Console) Answer(ctx context.Context, r *transfer.Result, f *gopher.Form) ([]string, error) {
	if !term.IsTerminal(c.In) {
		return nil, transfer.ErrNobody
	}
	defer c.pause()()
	return form.Person{In: c.In, Err: c.Err, Charset: r.Op.Output.Charset}.Ask(ctx, f)
}

func (c *Console) pause() (resume func()) {
	if c.Pause == nil {
		return func() {}
	}
	return c.Pause()
}

// A dialogue is a session under way. What the server says is read from it; one
// other goroutine speaks.
type dialogue struct {
	*transfer.Conversation
	console *Console
	s       *telnet.Session
	typist  *typist       // of --telnet-login, or nil
	typed   chan struct{} // closed when the typist is through
	end     *time.Timer   // of silence; nil until it matters
	silence time.Duration

	mu     sync.Mutex
	more   sync.Cond
	text   []byte // what the server has said that no script has expected yet
	over   bool   // the server says no more
	broken bool   // and that is not how it should end
	mine   bool   // this side has hung up
	fault  error  // why it has
}

// maxUnexpected bounds what is kept of the server's words.
const maxUnexpected = 1 << 20

// Converse leads a session to its end: by a script, by a person at a terminal,
// or by what standard input has.
func (c *Console) Converse(ctx context.Context, talk *transfer.Conversation) error {
	d := &dialogue{Conversation: talk, console: c, s: talk.Session}
	d.more.L = &d.mu
	if l, ok := talk.Resource.Locator.(*locator.Telnet); ok && talk.Op.Telnet.Login && l.Login != nil && (l.Login.User != "" || l.Login.HasPassword) {
		d.typist, d.typed = &typist{login: *l.Login}, make(chan struct{})
	}
	switch {
	case talk.Op.Telnet.Script != nil:
		return d.run(ctx, d.recite, talk.Listen)
	case talk.Input != nil:
		return d.run(ctx, d.relay, talk.Listen)
	case term.IsTerminal(c.In):
		return d.sit(ctx)
	}
	return d.run(ctx, d.relay, talk.Listen)
}

// run lets speak speak while listen reads, until the server closes or speak has
// enough, which it says by done.
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

// hangUp ends the session from this side; the first reason counts.
func (d *dialogue) hangUp(reason error) {
	d.mu.Lock()
	if !d.mine && d.fault == nil {
		d.mine, d.fault = !d.over, reason
	}
	d.more.Broadcast()
	d.mu.Unlock()
	_ = d.s.Close()
}

// Read reads what the server says. The end is the server's or this side's own.
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
	}
	if err != nil {
		if d.mine {
			err = io.EOF
		}
		d.over, d.broken = true, err != io.EOF
	}
	d.more.Broadcast()
	if d.typist != nil && n > 0 {
		if answer := d.typist.hear(p[:n]); answer != "" {
			// A connection that is broken is noticed by reading.
			_, _ = io.WriteString(d.s, answer+d.s.Enter())
			if d.typist.through() {
				close(d.typed)
			}
		}
	}
	return n, err
}

// quiet hangs up when the server has said nothing for a while, for a reason that
// may be none.
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

// relay sends what -T names, or standard input has, after a login that is typed.
// An empty one makes a probe of it: the port is open, and that was all.
func (d *dialogue) relay(ctx context.Context) (done bool, err error) {
	if d.typist != nil {
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
	case ctx.Err() != nil, errors.As(err, &sending): // reading will tell
		return false, nil
	case err != nil:
		return true, fault.New(fault.Read, err)
	case n == 0:
		return true, nil
	}
	d.quiet(client.IdleTime, d.timeout("the server has been silent for too long after the end of the input"))
	return false, nil
}

func (d *dialogue) timeout(text string) error {
	return fetch.Fail(fetch.OpRead, d.Locator, fetch.ErrTimeout, errors.New(text))
}

// A typist answers the prompts for a user name and a password, each once.
type typist struct {
	login locator.Login
	tail  string // the end of what was said
	named bool   // the user name has been typed
	done  bool   // the password has
}

// through reports whether there is nothing more to type.
func (t *typist) through() bool { return t.done || t.named && !t.login.HasPassword }

// maxPrompt is the length of the longest prompt.
const maxPrompt = 64

// hear gives what is to be typed, if the server's words end in a prompt.
func (t *typist) hear(said []byte) string {
	t.tail += string(said[max(0, len(said)-maxPrompt):])
	t.tail = t.tail[max(0, len(t.tail)-maxPrompt):]
	line := t.tail[strings.LastIndexAny(t.tail, "\r\n")+1:]
	line = strings.ToLower(strings.TrimRight(line, " \t"))
	ends := func(words ...string) bool {
		for _, w := range words {
			if strings.HasSuffix(line, w) {
				return true
			}
		}
		return false
	}
	switch {
	case t.through():
	case !t.named && t.login.User != "" && ends("login:", "username:", "user:", "user name:", "name:"):
		t.named, t.tail = true, ""
		return t.login.User
	case t.login.HasPassword && ends("password:", "passwd:", "passphrase:"):
		t.named, t.done, t.tail = true, true, ""
		return t.login.Password
	}
	return ""
}
