package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/netrc"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// authenticate puts a login into the transfer's URL: that of -u, or one of the
// netrc file, if the URL does not go before it.
func (t *transfer) authenticate() error {
	if _, ok := locator.WithLogin(t.locator, nil); !ok {
		return nil // a scheme without logins
	}
	given := loginOf(t.locator)
	login := given
	if login != nil && login.HasPassword && login.Password != "" {
		t.warnOfPassword()
	}
	if t.op.login != nil {
		login = t.op.login
	}
	if t.op.login == nil && (login == nil || !login.HasPassword || t.op.netrc == netrcRequired) {
		found, err := t.fromNetrc(t.locator, login)
		if err != nil {
			return err
		}
		if found != nil {
			login = found
		}
	}
	if login != given {
		t.locator, _ = locator.WithLogin(t.locator, login)
	}
	return nil
}

// warnOfPassword tells a person, once, where else the password now is.
func (t *transfer) warnOfPassword() {
	if first := !t.warned.Swap(true); first && term.IsTerminal(t.std.err) {
		t.warn("a password in a URL shows in the list of processes and in the shell's history; leave it out to be asked, or use -n")
	}
}

// fromNetrc looks the host of l up; it gives nil where there is no entry. The
// entry's user must be the one given, if one is.
func (t *transfer) fromNetrc(l locator.Locator, given *locator.Login) (*locator.Login, error) {
	file, err := t.netrc()
	if err != nil || file == nil {
		return nil, err
	}
	server := t.serverOf(l)
	user := ""
	if given != nil {
		user = given.User
	}
	entry, found := file.Find(server.Host, user)
	if !found || entry.Login == "" && !entry.HasPassword {
		return nil, nil
	}
	return &locator.Login{User: entry.Login, Password: entry.Password, HasPassword: entry.HasPassword}, nil
}

// readNetrc reads the netrc file. It is nil where none is to be used, and where
// the usual one does not exist.
func (e *environment) readNetrc() (netrc.File, error) {
	if e.op.netrc == netrcUnused && e.op.netrcFile == "" {
		return nil, nil
	}
	named := cmp.Or(e.op.netrcFile, os.Getenv("NETRC"))
	path := cmp.Or(named, filepath.Join(os.Getenv("HOME"), ".netrc"))
	file, exposed, err := netrc.Read(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && named == "":
		return nil, nil
	case err != nil:
		return nil, &codedError{exitRead, err}
	case exposed:
		e.warn("other users can read or change the passwords in %s; run: chmod 600 %s", path, path)
	}
	return file, nil
}

type transferKey struct{}

// credentials answers a server that wants a password: from the netrc file, or by
// asking on the terminal for that of a user who is known. What the user gave for
// one server is given to no other.
func (e *environment) credentials(ctx context.Context, c fetch.Challenge) (locator.Login, error) {
	t, ok := ctx.Value(transferKey{}).(*transfer)
	if !ok {
		return locator.Login{}, errors.New("no login is known")
	}
	if isNews(c.Locator) {
		return t.newsLogin(ctx, c)
	}
	if !c.Account && c.User == "" {
		if found, err := t.fromNetrc(c.Locator, nil); err != nil || found != nil && found.HasPassword {
			return *orEmpty(found), err
		}
	}
	if c.User == "" {
		return locator.Login{}, errors.New("a login is needed; give it with -u USER:PASSWORD")
	}
	if given := loginOf(t.locator); !c.Account && given != nil && given.HasPassword {
		return locator.Login{}, errors.New("the login was refused")
	}
	return e.ask(ctx, c)
}

func orEmpty(l *locator.Login) *locator.Login {
	if l == nil {
		return new(locator.Login)
	}
	return l
}

// secrets are what a person has answered, by question.
type secrets struct {
	mu    sync.Mutex
	known map[string]string
}

// ask asks for a password, once for each user and server, and one at a time.
func (e *environment) ask(ctx context.Context, c fetch.Challenge) (locator.Login, error) {
	place := hostOf(e.serverOf(c.Locator))
	what := "Password"
	if c.Account {
		what = "Account"
	}
	question := fmt.Sprintf("%s of %s at %s %s: ", what, fetch.Printable(c.User), c.Locator.Scheme(), fetch.Printable(place))
	if t, ok := ctx.Value(transferKey{}).(*transfer); ok {
		t.asking.Store(true)
		defer t.asking.Store(false)
	}
	a := &e.op.secrets
	a.mu.Lock()
	defer a.mu.Unlock()
	secret, known := a.known[question]
	if !known {
		var err error
		if secret, err = e.op.secret(ctx, question); err != nil {
			return locator.Login{}, fmt.Errorf("the password of %s is needed: %w", fetch.Printable(c.User), err)
		}
		if a.known == nil {
			a.known = make(map[string]string)
		}
		a.known[question] = secret
	}
	return locator.Login{User: c.User, Password: secret, HasPassword: true}, nil
}

func setLogin(c *commandLine, value string) error {
	login := locator.Login{}
	login.User, login.Password, login.HasPassword = strings.Cut(value, ":")
	c.op.login = &login
	return nil
}

// netrcUse is what -n and --netrc-optional set.
func netrcUse(o *operation) *netrcMode { return &o.netrc }
