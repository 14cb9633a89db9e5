package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// maxPassword bounds a password, in octets.
const maxPassword = 4 << 10

// setPasswordFD lets passwords come from a file descriptor.
func setPasswordFD(c *commandLine, value string) error {
	n, err := strconv.ParseUint(value, 10, 31)
	if err != nil {
		return errors.New("expected the number of a file descriptor")
	}
	c.global.passwords = &passwordSource{fd: uintptr(n), stdin: c.std.in}
	return nil
}

// A passwordSource gives passwords, a line each.
type passwordSource struct {
	fd    uintptr
	stdin io.Reader // what descriptor 0 is
	once  sync.Once
	lines chan passwordLine
}

type passwordLine struct {
	text string
	err  error
}

// next is the next line. A read cannot be interrupted; who gives up waiting
// leaves it to whoever asks next.
func (s *passwordSource) next(ctx context.Context) (string, error) {
	s.once.Do(func() {
		s.lines = make(chan passwordLine)
		go s.read()
	})
	select {
	case line := <-s.lines:
		return line.text, line.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// read reads one line ahead, to the end of the program.
func (s *passwordSource) read() {
	in := s.stdin
	if s.fd != 0 {
		in = os.NewFile(s.fd, "descriptor")
	}
	r := bufio.NewReaderSize(in, maxPassword)
	for {
		b, err := r.ReadSlice('\n')
		switch {
		case len(b) > 0 && errors.Is(err, io.EOF):
			err = nil
		case errors.Is(err, io.EOF):
			err = errors.New("what --password-fd names has no more lines")
		case errors.Is(err, bufio.ErrBufferFull):
			err = fmt.Errorf("what --password-fd names has a line of more than %d octets", maxPassword)
		case err != nil:
			err = fmt.Errorf("--password-fd: %w", err)
		}
		s.lines <- passwordLine{strings.TrimSuffix(strings.TrimSuffix(string(b), "\n"), "\r"), err}
	}
}

// secret is the answer to a question for a password: the next line of
// --password-fd, or what a person at the terminal types.
func (g *global) secret(ctx context.Context, question string) (string, error) {
	if g.passwords != nil {
		return g.passwords.next(ctx)
	}
	defer g.display.Pause()()
	return term.AskSecret(ctx, question)
}

// askProxyPassword asks for what -U leaves out, where a proxy has its login.
func (e *environment) askProxyPassword(ctx context.Context) error {
	if e.op.proxy.user == "" || strings.Contains(e.op.proxy.user, ":") {
		return nil
	}
	login := e.op.proxy.login()
	user := fetch.Printable(login.User)
	answers := make(map[string]string) // by place
	for _, p := range e.proxies {
		if p.err != nil || p.Login == nil || *p.Login != *login {
			continue
		}
		place := hostOf(locator.Server{HostPort: p.Address()})
		answer, known := answers[place]
		if !known {
			var err error
			if answer, err = e.op.secret(ctx, fmt.Sprintf("Password of %s at the proxy %s: ", user, fetch.Printable(place))); err != nil {
				return &codedError{exitLogin, fmt.Errorf("the password of %s for the proxy is needed: %w", user, err)}
			}
			answers[place] = answer
		}
		p.Login = &locator.Login{User: login.User, Password: answer, HasPassword: true}
	}
	return nil
}
