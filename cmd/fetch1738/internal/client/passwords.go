package client

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// maxPassword is the longest password, in bytes.
const maxPassword = 4 << 10

// A passwordSource reads passwords, one a line.
type passwordSource struct {
	once  sync.Once
	lines chan passwordLine
}

type passwordLine struct {
	text string
	err  error
}

// next returns the next line of a descriptor; 0 means stdin. A read cannot be
// interrupted: if ctx ends, the line is returned by the next call.
func (s *passwordSource) next(ctx context.Context, fd uintptr, stdin io.Reader) (string, error) {
	s.once.Do(func() {
		s.lines = make(chan passwordLine)
		go s.read(fd, stdin)
	})
	select {
	case line := <-s.lines:
		return line.text, line.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// read reads one line ahead, until the program ends.
func (s *passwordSource) read(fd uintptr, stdin io.Reader) {
	in := stdin
	if fd != 0 {
		in = os.NewFile(fd, "descriptor")
	}
	r := bufio.NewReaderSize(in, maxPassword)
	for {
		b, err := r.ReadSlice('\n')
		switch {
		case len(b) > 0 && errors.Is(err, io.EOF):
			err = nil
		case errors.Is(err, io.EOF):
			err = errors.New("--password-fd: no more lines")
		case errors.Is(err, bufio.ErrBufferFull):
			err = fmt.Errorf("--password-fd: a line is longer than %d bytes", maxPassword)
		case err != nil:
			err = fmt.Errorf("--password-fd: %w", err)
		}
		s.lines <- passwordLine{strings.TrimSuffix(strings.TrimSuffix(string(b), "\n"), "\r"), err}
	}
}

// secret returns a password: the next line of the file descriptor fd, or, if fd is
// nil, the user's answer to a prompt on the terminal.
func (c *Client) secret(ctx context.Context, fd *uintptr, question string) (string, error) {
	if fd != nil {
		return c.passwords.next(ctx, *fd, c.Streams.In)
	}
	if c.Pause != nil {
		defer c.Pause()()
	}
	return term.AskSecret(ctx, question)
}

// askProxyPassword prompts for the passwords of proxies that use a login of -U without
// a password.
func (n *Network) askProxyPassword(ctx context.Context) error {
	if n.options.Proxy.User == "" || strings.Contains(n.options.Proxy.User, ":") {
		return nil
	}
	login := proxyLogin(&n.options.Proxy)
	user := fetch.Printable(login.User)
	answers := make(map[string]string) // by place
	for _, p := range n.proxies {
		if p.err != nil || p.Login == nil || *p.Login != *login {
			continue
		}
		place := HostOf(locator.Server{HostPort: p.Address()})
		answer, known := answers[place]
		if !known {
			var err error
			if answer, err = n.client.secret(ctx, n.Op.Password, fmt.Sprintf("Password of %s at the proxy %s: ", user, fetch.Printable(place))); err != nil {
				return localerr.Errorf(localerr.Login, "the password of %s for the proxy is required: %w", user, err)
			}
			answers[place] = answer
		}
		p.Login = &locator.Login{User: login.User, Password: answer, HasPassword: true}
	}
	return nil
}
