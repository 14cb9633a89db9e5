//go:build aix || darwin || dragonfly || freebsd || linux || netbsd || openbsd || solaris

package term

import (
	"bufio"
	"errors"
	"io"
	"os"
	"strings"

	// x/sys/unix switches the echo of a terminal off before a prompt is shown. The ReadPassword of x/term
	// does so only when it reads, so the first characters could be seen.
	"golang.org/x/sys/unix"
)

// readHidden writes a prompt and reads a line without echo. Echo is off before the prompt
// appears; ReadPassword of x/term is called after it, and would echo early input.
func readHidden(tty *os.File, question string) (string, error) {
	fd := int(tty.Fd())
	modes, err := unix.IoctlGetTermios(fd, getModes)
	if err != nil {
		return "", err
	}
	hidden := *modes
	hidden.Lflag &^= unix.ECHO
	hidden.Lflag |= unix.ICANON | unix.ISIG
	hidden.Iflag |= unix.ICRNL
	if err := unix.IoctlSetTermios(fd, setModes, &hidden); err != nil {
		return "", err
	}
	_, err = tty.WriteString(question)
	var line []byte
	if err == nil {
		line, err = bufio.NewReaderSize(tty, maxSecret).ReadSlice('\n')
	}
	if len(line) > 0 && errors.Is(err, io.EOF) {
		err = nil
	}
	return strings.TrimSuffix(string(line), "\n"), errors.Join(err, unix.IoctlSetTermios(fd, setModes, modes))
}

// maxSecret bounds an answer, in bytes; a system's line is not longer.
const maxSecret = 4 << 10
