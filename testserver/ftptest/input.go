package ftptest

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"sync/atomic"

	"github.com/fetch1738/fetch1738/testserver/internal/core"
)

// inputs are the commands that a client sends. A goroutine reads them, also while a transfer runs.
type inputs struct {
	srv    *Server
	client *core.Client
	lines  chan input    // closed at the end of the client
	queue  []input       // those that came while another was carried out; they precede those of lines
	busy   atomic.Bool   // a command is being carried out: the client need not send anything
	idle   bool          // lines was closed by the idle timeout
	turned chan struct{} // lets the reader continue after a command that may turn TLS on or off
	done   chan struct{} // closed when the session has ended
}

// input is a command as received and as read, and what the server sends for the Telnet commands in
// it.
type input struct{ octets, text, telnet string }

// next waits for a command. It returns false if the client has left.
func (in *inputs) next() (text string, more bool) {
	in.busy.Store(false)
	var line input
	if len(in.queue) > 0 {
		line, in.queue = in.queue[0], in.queue[1:]
	} else if line, more = <-in.lines; !more {
		return "", false
	}
	in.busy.Store(true)
	in.log(line)
	_, err := io.WriteString(in.client, line.telnet)
	return line.text, err == nil
}

// log logs a command when it is carried out, so that each reply follows its command in the
// transcript even if several commands came at once.
func (in *inputs) log(line input) { _, _ = in.client.Received.Write([]byte(line.octets)) }

// more returns where further commands come from: nil while too many are in the queue.
func (in *inputs) more() <-chan input {
	if len(in.queue) >= maxQueue {
		return nil
	}
	return in.lines
}

// read sends the client's lines to the session.
func (in *inputs) read() {
	defer close(in.lines)
	r := bufio.NewReaderSize(in.client, maxLine)
	for {
		line, err := r.ReadSlice('\n')
		octets := string(line)
		if errors.Is(err, bufio.ErrBufferFull) {
			line, err = []byte{0}, core.SkipLine(r) // not a command, so 500
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			if in.busy.Load() && len(line) == 0 {
				continue
			}
			in.idle = true
		}
		if err != nil {
			if len(line) > 0 { // an incomplete command
				in.client.Log(core.FromClient, octets, core.LineText)
			}
			return
		}
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		text, telnet := string(line), ""
		if !in.srv.BareIAC {
			text, telnet = telnetText(line)
		}
		select {
		case in.lines <- input{octets, text, telnet}:
		case <-in.done:
			return
		}
		if in.srv.commands.of(text).has(turnsTLS) {
			select {
			case <-in.turned:
				r.Reset(in.client) // discard what was sent before TLS changed
			case <-in.done:
				return
			}
		}
	}
}

// telnetText reads a line of the Telnet stream that a control connection is (RFC 959 §3.3). As in
// the servers of BSD, IAC takes the next byte with it, unless that is IAC, too; and each option is
// refused, even one that the client does not want.
func telnetText(line []byte) (text, answer string) {
	const iac, will, wont, do, dont = 255, 251, 252, 253, 254
	refusal := map[byte]byte{will: dont, wont: dont, do: wont, dont: wont}
	var read, back []byte
	for i := 0; i < len(line); i++ {
		if line[i] != iac {
			read = append(read, line[i])
		} else if i++; i < len(line) && line[i] == iac {
			read = append(read, iac)
		} else if i < len(line)-1 && refusal[line[i]] != 0 {
			i++
			back = append(back, iac, refusal[line[i-1]], line[i])
		}
	}
	return string(read), string(back)
}
