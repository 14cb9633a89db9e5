package dialogue

import (
	"context"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/fault"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// escapeKey is Control-], which calls the program itself, as in every telnet.
const escapeKey = 0x1D

// sit lets a person talk to the service. The terminal is as it was when sit
// returns, however it does.
func (d *dialogue) sit(ctx context.Context) error {
	defer d.console.pause()()
	terminal, err := term.OpenRaw(d.console.In)
	if err != nil {
		return fault.New(fault.Read, err)
	}
	defer terminal.Close()
	k := &keyboard{d: d, local: terminal}
	server, _ := locator.ServerOf(d.Resource.Locator)
	k.say("Connected to %s. The escape character is ^].", stdio.Line(server.Host))
	if login := server.Login; login != nil && !d.Op.Telnet.Login {
		k.suggest(*login)
	}
	defer terminal.OnResize(func(columns, rows uint16) {
		// A connection that is broken is noticed by reading.
		_ = d.s.Resize(columns, rows)
	})()

	listen := d.Sink.Take
	if out, ok := d.screen(); ok {
		screen := term.NewScreen(out)
		defer func() { _ = screen.Reset() }()
		listen = func(r io.Reader) error {
			_, err := io.Copy(screen, r)
			return err
		}
	}
	err = d.run(ctx, func(ctx context.Context) (bool, error) { return k.read(ctx, terminal) }, listen)
	k.say("")
	k.say("Connection closed.")
	return err
}

// screen is standard output where a filter for it is wanted.
func (d *dialogue) screen() (io.Writer, bool) {
	switch {
	case !d.Sink.OnTerminal():
		return nil, false
	case d.Op.Telnet.Bare || d.Op.Output.Raw:
		d.Sink.Raw = true
		return nil, false
	}
	return d.console.Out, true
}

// A keyboard is a person's. While the server shows what it is sent, each key goes
// to it at once; otherwise lines are put together, and shown, here.
type keyboard struct {
	d       *dialogue
	local   io.Writer // the terminal
	line    []byte
	command bool // what is typed is for this program
	afterCR bool
}

// read passes keys on until the person quits. It reports that it is the end.
func (k *keyboard) read(ctx context.Context, terminal *term.Raw) (done bool, err error) {
	defer context.AfterFunc(ctx, func() { terminal.Interrupt() })()
	buf := make([]byte, 1024)
	wide, high := terminal.Size()
	for {
		n, err := terminal.Read(buf)
		// The signal of a new size may come later than what is typed in it.
		if columns, rows := terminal.Size(); n > 0 && columns > 0 && rows > 0 && (columns != wide || rows != high) {
			wide, high = columns, rows
			_ = k.d.s.Resize(columns, rows)
		}
		for _, key := range buf[:n] {
			if quit, err := k.press(key); quit {
				return true, err
			}
		}
		switch {
		case ctx.Err() != nil: // reading will tell
			return false, nil
		case err != nil: // hung up
			return true, nil
		}
	}
}

// press takes one key. What cannot be sent is noticed by reading.
func (k *keyboard) press(key byte) (quit bool, err error) {
	wasCR := k.afterCR
	k.afterCR = key == '\r'
	switch {
	case key == '\n' && wasCR:
		return false, nil
	case k.command:
		if line, whole := k.edit(key); whole {
			return k.obey(line)
		}
	case key == escapeKey:
		k.command, k.line = true, nil
		k.show("\r\ntelnet> ")
	case k.d.s.Echoes():
		k.send(string(append(k.line, key)), key == '\r')
	case key == 0x03:
		return true, fetch.Fail(fetch.OpRead, k.d.Locator, fetch.ErrCanceled, context.Canceled)
	default:
		if line, whole := k.edit(key); whole {
			k.send(line+"\r", true)
		}
	}
	return false, nil
}

// send sends keys; Enter, as the last of them, is what the server takes for it.
func (k *keyboard) send(keys string, enter bool) {
	k.line = nil
	if enter {
		keys = keys[:len(keys)-1] + k.d.s.Enter()
	}
	_, _ = io.WriteString(k.d.s, keys)
}

// edit puts a line together and shows it.
func (k *keyboard) edit(key byte) (line string, whole bool) {
	switch {
	case key == '\r' || key == '\n':
		line = string(k.line)
		k.line = nil
		k.show("\r\n")
		return line, true
	case key == 0x7F || key == '\b':
		if len(k.line) > 0 {
			_, size := utf8.DecodeLastRune(k.line)
			k.line = k.line[:len(k.line)-size]
			k.show("\b \b")
		}
	case key == 0x15: // Control-U
		for len(k.line) > 0 {
			_, size := utf8.DecodeLastRune(k.line)
			k.line = k.line[:len(k.line)-size]
			k.show("\b \b")
		}
	case key >= ' ' || key == '\t':
		k.line = append(k.line, key)
		k.show(string([]byte{key}))
	default:
		k.line = append(k.line, key)
	}
	return "", false
}

// obey carries out a command for the program itself.
func (k *keyboard) obey(line string) (quit bool, err error) {
	k.command = false
	switch line {
	case "":
	case "q", "quit", "close":
		return true, nil
	case "s", "status":
		k.status()
	case "e", "escape":
		k.send(string([]byte{escapeKey}), false)
	default:
		k.say("quit    ends the session\r\nstatus  tells about it\r\nescape  sends ^]\r\nAn empty line goes back to the session.")
	}
	return false, nil
}

func (k *keyboard) status() {
	echo := "here, line by line"
	if k.d.s.Echoes() {
		echo = "by the server, key by key"
	}
	server, _ := locator.ServerOf(k.d.Locator)
	k.say("Connected to %s port %d. What is typed is shown %s. The escape character is ^].", stdio.Line(server.Host), server.Port, echo)
}

// suggest shows the login of the URL, as RFC 1738 §3.8 says, which is for the
// person to type.
func (k *keyboard) suggest(login locator.Login) {
	if login.User != "" {
		k.say("Suggested user name: %s", stdio.Line(login.User))
	}
	if login.HasPassword {
		k.say("Suggested password: %s", stdio.Line(login.Password))
	}
}

func (k *keyboard) say(format string, args ...any) { k.show(fmt.Sprintf(format, args...) + "\r\n") }

func (k *keyboard) show(text string) { _, _ = io.WriteString(k.local, text) }
