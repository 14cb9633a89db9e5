package dialogue

import (
	"context"
	"fmt"
	"io"
	"sync"
	"unicode/utf8"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/locator"
)

// escapeKey is Control-], which opens the command prompt, as in other telnet clients.
const escapeKey = 0x1D

// runTerminal conducts a session with a user at the terminal. It restores the terminal before
// it returns.
func (d *dialogue) runTerminal(ctx context.Context) error {
	defer d.console.pause()()
	terminal, err := term.OpenRaw(d.console.In)
	if err != nil {
		return localerr.New(localerr.Read, err)
	}
	defer terminal.Close()
	k := &keyboard{d: d, local: terminal}
	server, _ := locator.ServerOf(d.Resource.Locator)
	k.say("Connected to %s. The escape character is ^].", stdio.Line(server.Host))
	if login := server.Login; login != nil && !d.Op.Telnet.Login {
		k.suggest(*login)
	}
	defer terminal.OnResize(func(columns, rows uint16) {
		// A broken connection is detected by the next read.
		_ = d.s.Resize(columns, rows)
	})()

	listen := d.Sink.Take
	if out, ok := d.screen(); ok {
		screen := term.NewScreen(held{out, &k.prompt})
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

// screen returns standard output if it is a terminal that requires a filter.
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

// A held writer waits while the command prompt is open, so that what the server sends does not
// mix with the command.
type held struct {
	w      io.Writer
	prompt *sync.Mutex
}

// Write implements io.Writer.
func (h held) Write(p []byte) (int, error) {
	h.prompt.Lock()
	defer h.prompt.Unlock()
	return h.w.Write(p)
}

// A keyboard is the input of a user. While the server echoes, each key is sent at
// once. Otherwise lines are edited and echoed here.
type keyboard struct {
	d       *dialogue
	local   io.Writer // the terminal
	line    []byte
	command bool       // the input is a command for this program
	prompt  sync.Mutex // locked while command is set
	afterCR bool
}

// read sends keys until the user quits. It then reports true.
func (k *keyboard) read(ctx context.Context, terminal *term.Raw) (done bool, err error) {
	defer context.AfterFunc(ctx, func() { terminal.Interrupt() })()
	defer k.closePrompt()
	buf := make([]byte, 1024)
	wide, high := terminal.Size()
	for {
		n, err := terminal.Read(buf)
		// The signal of a resize may arrive later than keys that were typed after it.
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
		case ctx.Err() != nil: // the next read returns the error
			return false, nil
		case err != nil: // hung up
			return true, nil
		}
	}
}

// press handles one key. A failure to send is detected by the next read.
func (k *keyboard) press(key byte) (quit bool, err error) {
	wasCR := k.afterCR
	k.afterCR = key == '\r'
	switch {
	case key == '\n' && wasCR:
		return false, nil
	case k.command:
		if line, whole := k.edit(key); whole {
			return k.execute(line)
		}
	case key == escapeKey:
		k.prompt.Lock()
		k.command, k.line = true, nil
		k.show("\r\ntelnet> ")
	case k.d.s.Echoes():
		k.send(string(append(k.line, key)), key == '\r')
	case key == 0x03:
		return true, driver.Fail(fetch.OpRead, k.d.Locator, fetch.ErrCanceled, context.Canceled)
	default:
		if line, whole := k.edit(key); whole {
			k.send(line+"\r", true)
		}
	}
	return false, nil
}

// send sends keys. If enter is set, the last one is sent as the line end that the
// server expects.
func (k *keyboard) send(keys string, enter bool) {
	k.line = nil
	if enter {
		keys = keys[:len(keys)-1] + k.d.s.Enter()
	}
	_, _ = io.WriteString(k.d.s, keys)
}

// edit adds a key to the line and echoes it.
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

// execute executes a command for this program.
func (k *keyboard) execute(line string) (quit bool, err error) {
	defer k.closePrompt()
	switch line {
	case "":
	case "q", "quit", "close":
		return true, nil
	case "s", "status":
		k.status()
	case "e", "escape":
		k.send(string([]byte{escapeKey}), false)
	default:
		k.say("quit    end the session\r\nstatus  show the connection\r\nescape  send ^]\r\nAn empty line returns to the session.")
	}
	return false, nil
}

// closePrompt returns to the session.
func (k *keyboard) closePrompt() {
	if k.command {
		k.command = false
		k.prompt.Unlock()
	}
}

// status shows which server the session is with, and which side echoes.
func (k *keyboard) status() {
	echo := "locally, line by line"
	if k.d.s.Echoes() {
		echo = "by the server, key by key"
	}
	server, _ := locator.ServerOf(k.d.Locator)
	k.say("Connected to %s port %d. Typed characters are echoed %s. The escape character is ^].", stdio.Line(server.Host), server.Port, echo)
}

// suggest shows the login of the URL (RFC 1738 §3.8), for the user to type.
func (k *keyboard) suggest(login locator.Login) {
	if login.User != "" {
		k.say("Suggested user name: %s", stdio.Line(login.User))
	}
	if login.HasPassword {
		k.say("Suggested password: %s", stdio.Line(login.Password))
	}
}

// say shows a line.
func (k *keyboard) say(format string, args ...any) { k.show(fmt.Sprintf(format, args...) + "\r\n") }

func (k *keyboard) show(text string) { _, _ = io.WriteString(k.local, text) }
