//go:build unix

package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// terminal is a program for scripts:
//
//	terminal [-stdin] [-await TEXT] FILE COMMAND…
//
// It runs the command at a terminal of its own and leaves what the terminal
// showed in the file "screen". FILE and then Control-D are typed before the
// command starts, or with -await when the terminal shows TEXT, whose parts an
// ellipsis separates. With -stdin the terminal is standard input as well.
//
// The ttyin and ttyout of package testscript close the terminal when the command
// ends, and lose what has not been read by then.
func terminal() {
	code, err := runOnTerminal()
	if err != nil {
		fmt.Fprintln(os.Stderr, "terminal:", err)
		code = 125
	}
	os.Exit(code)
}

func runOnTerminal() (code int, err error) {
	options := flag.NewFlagSet("terminal", flag.ExitOnError)
	stdin := options.Bool("stdin", false, "")
	await := options.String("await", "", "")
	if err := options.Parse(os.Args[1:]); err != nil {
		return 0, err
	}
	keys, err := os.ReadFile(options.Arg(0))
	if err != nil {
		return 0, err
	}
	keys = append(keys, 0x04)
	control, tty, err := pty.Open() // both stay open until this program ends
	if err != nil {
		return 0, err
	}
	// The session is this program's: if the command led it, the system would hang up
	// the terminal when the command ends, and what it still has to show would be lost.
	if _, err := unix.Setsid(); err != nil {
		return 0, err
	}
	if err := unix.IoctlSetInt(int(tty.Fd()), unix.TIOCSCTTY, 0); err != nil {
		return 0, err
	}
	signal.Notify(make(chan os.Signal, 1), os.Interrupt) // typed for the command
	if *await == "" {
		if _, err := control.Write(keys); err != nil {
			return 0, err
		}
	}
	cmd := exec.Command(options.Arg(1), options.Args()[2:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if *stdin {
		cmd.Stdin = tty
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	screen := make(chan string, 1)
	go func() { screen <- sitAt(control, *await, keys) }()
	var failed *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &failed) {
		return 0, err
	}
	if _, err := io.WriteString(tty, endOfScreen); err != nil {
		return 0, err
	}
	code = cmd.ProcessState.ExitCode()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		code = 128 + int(status.Signal()) // as a shell has it
	}
	return code, os.WriteFile("screen", []byte(<-screen), 0o600)
}

// endOfScreen comes out of a terminal after all that the command wrote.
const endOfScreen = "\x00end of screen\x00"

// sitAt returns what the terminal shows before endOfScreen. It types the keys when
// the terminal shows await, unless that is "".
func sitAt(control io.ReadWriter, await string, keys []byte) string {
	var shown strings.Builder
	buf := make([]byte, 4<<10)
	for {
		n, err := control.Read(buf)
		shown.Write(buf[:n])
		if await != "" && hasInTurn(shown.String(), await) {
			_, err = control.Write(keys)
			await = ""
		}
		if text, _, ended := strings.Cut(shown.String(), endOfScreen); ended || err != nil {
			return text
		}
	}
}

// hasInTurn reports whether text has the parts of await, which an ellipsis separates, one after another.
func hasInTurn(text, await string) bool {
	for part := range strings.SplitSeq(await, "…") {
		_, rest, found := strings.Cut(text, part)
		if !found {
			return false
		}
		text = rest
	}
	return true
}
