package fetchtest_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/fetch1738/fetch1738/locator"
)

// serveMini serves mini to all clients of ln.
func serveMini(tb testing.TB, ln net.Listener, content fs.FS, login *locator.Login) {
	var wg sync.WaitGroup
	var conns, puts sync.Map
	wg.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			conns.Store(c, nil)
			wg.Go(func() {
				defer c.Close()
				s := miniSession{r: bufio.NewReader(c), w: c, content: content, puts: &puts, login: login}
				for s.answer() == nil {
				}
			})
		}
	})
	tb.Cleanup(func() {
		ln.Close()
		conns.Range(func(c, _ any) bool { c.(net.Conn).Close(); return true })
		wg.Wait()
	})
}

// miniSession is a connection of the server. After a login all commands are allowed on it.
type miniSession struct {
	r       *bufio.Reader
	w       io.Writer
	content fs.FS
	puts    *sync.Map      // documents that clients have stored, by name
	login   *locator.Login // the login still required
}

func (s *miniSession) answer() error {
	line, err := s.r.ReadString('\n')
	if err != nil {
		return err
	}
	var verb, user, password, name string
	var offset, length int64
	if _, err := fmt.Sscanf(line, "%s %q %q %d %d %q", &verb, &user, &password, &offset, &length, &name); err != nil {
		return err
	}
	var put []byte
	if verb == "PUT" {
		put = make([]byte, length)
		if _, err := io.ReadFull(s.r, put); err != nil {
			return err
		}
	}
	if s.login != nil && (user != s.login.User || password != s.login.Password) {
		_, err = io.WriteString(s.w, "401 who are you\r\n")
		return err
	}
	s.login = nil
	kind := "doc"
	data, err := fs.ReadFile(s.content, name)
	if old, ok := s.puts.Load(name); ok {
		data, err = old.([]byte), nil
	}
	if verb == "PUT" && (err == nil || !strings.Contains(name, "/")) {
		s.puts.Store(name, slices.Concat(data[:min(offset, int64(len(data)))], put))
		_, err = io.WriteString(s.w, "200 doc 0 0\r\n")
		return err
	}
	if entries, dirErr := fs.ReadDir(s.content, name); dirErr == nil {
		kind, data, err = "dir", nil, nil
		for _, e := range entries {
			data = append(data, e.Name()...)
			if e.IsDir() {
				data = append(data, '/')
			}
			data = append(data, '\n')
		}
	}
	size := int64(len(data))
	if offset < 0 {
		offset = max(0, size+offset)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		_, err = io.WriteString(s.w, "404 no such name\r\n")
	case err != nil:
		_, err = io.WriteString(s.w, "403 not for you\r\n")
	case offset > size:
		_, err = io.WriteString(s.w, "416 not that long\r\n")
	default:
		data = data[offset:]
		if length > 0 {
			data = data[:min(length, int64(len(data)))]
		}
		_, err = fmt.Fprintf(s.w, "200 %s %d %d\r\n%s", kind, size, len(data), data)
	}
	return err
}
