//go:build !(aix || darwin || dragonfly || freebsd || linux || netbsd || openbsd || solaris)

package term

import (
	"os"

	"golang.org/x/term"
)

// readHidden writes a prompt and reads a line without echo.
func readHidden(tty *os.File, question string) (string, error) {
	if _, err := tty.WriteString(question); err != nil {
		return "", err
	}
	text, err := term.ReadPassword(int(tty.Fd()))
	return string(text), err
}
