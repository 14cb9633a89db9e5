package client

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

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/entry"
	"github.com/fetch1738/fetch1738/internal/netrc"
	"github.com/fetch1738/fetch1738/locator"
)

// Authenticate puts a login into the transfer's URL: that of -u, or one of the netrc
// file, unless the URL has precedence.
func (t *Call) Authenticate() error {
	if _, ok := locator.WithLogin(t.Locator, nil); !ok {
		return nil // a scheme without logins
	}
	given := LoginOf(t.Locator)
	login := given
	if login != nil && login.HasPassword && login.Password != "" {
		t.warnOfPassword()
	}
	if t.Op.Login.Given != nil {
		login = t.Op.Login.Given
	}
	if t.Op.Login.Given == nil && (login == nil || !login.HasPassword || t.Op.Login.Netrc == plan.NetrcRequired) {
		found, err := t.fromNetrc(t.Locator, login)
		if err != nil {
			return err
		}
		if found != nil {
			login = found
		}
	}
	if login != given {
		t.Locator, _ = locator.WithLogin(t.Locator, login)
	}
	return nil
}

// warnOfPassword warns the user once that the password in a URL is visible.
func (t *Call) warnOfPassword() {
	if first := !t.warned.Swap(true); first && term.IsTerminal(t.client.Streams.Err) {
		t.Warn("a password in a URL is visible in the process list and the shell history; omit it to be prompted, or use -n")
	}
}

// fromNetrc looks up the host of l. It returns nil if there is no entry. If given is
// not nil, the entry must be for its user.
func (t *Call) fromNetrc(l locator.Locator, given *locator.Login) (*locator.Login, error) {
	file, err := t.netrc()
	if err != nil || file == nil {
		return nil, err
	}
	server := t.ServerOf(l)
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

// readNetrc reads the netrc file. It returns nil if none is to be used, or if the
// default one does not exist.
func (n *Network) readNetrc() (netrc.File, error) {
	if n.Op.Login.Netrc == plan.NetrcUnused && n.Op.Login.NetrcFile == "" {
		return nil, nil
	}
	named := cmp.Or(n.Op.Login.NetrcFile, os.Getenv("NETRC"))
	path := cmp.Or(named, filepath.Join(os.Getenv("HOME"), ".netrc"))
	file, exposed, err := netrc.Read(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && named == "":
		return nil, nil
	case err != nil:
		return nil, localerr.New(localerr.Read, err)
	case exposed:
		n.Warn("other users can read or change the passwords in %s; run: chmod 600 %s", path, path)
	}
	return file, nil
}

// credentials answers a server that requires a password: from the netrc file, or, if
// the user name is known, with a prompt on the terminal. The login for one server is
// never sent to another one.
func (n *Network) credentials(ctx context.Context, c fetch.Challenge) (locator.Login, error) {
	t := callerOf(ctx).call
	if t == nil {
		return locator.Login{}, errors.New("no login is available")
	}
	if entry.IsNews(c.Locator) {
		return t.newsLogin(ctx, c)
	}
	if !c.Account && c.User == "" {
		if found, err := t.fromNetrc(c.Locator, nil); err != nil || found != nil && found.HasPassword {
			return *orEmpty(found), err
		}
	}
	if c.User == "" {
		return locator.Login{}, errors.New("a login is required; use -u USER:PASSWORD")
	}
	if given := LoginOf(t.Locator); !c.Account && given != nil && given.HasPassword {
		return locator.Login{}, errors.New("the login was refused")
	}
	login, err := n.ask(ctx, c)
	if errors.Is(err, term.ErrNoTerminal) && !c.Account && t.lacksPassword(c) {
		t.Warn("the netrc file has no password of %s, and there is no terminal to ask for it: an empty one is sent", fetch.Printable(c.User))
		return locator.Login{User: c.User, HasPassword: true}, nil // as curl
	}
	return login, err
}

// lacksPassword reports whether the user of c is one of the netrc file that has no password there.
func (t *Call) lacksPassword(c fetch.Challenge) bool {
	found, err := t.fromNetrc(c.Locator, &locator.Login{User: c.User})
	return err == nil && found != nil && found.User == c.User && !found.HasPassword
}

// orEmpty returns l, or an empty Login for nil.
func orEmpty(l *locator.Login) *locator.Login {
	if l == nil {
		return new(locator.Login)
	}
	return l
}

// secrets are the user's answers to prompts, by prompt.
type secrets struct {
	mu    sync.Mutex
	known map[string]string
}

// ask prompts for a password, once for each user and server, one prompt at a time.
func (n *Network) ask(ctx context.Context, c fetch.Challenge) (locator.Login, error) {
	place := HostOf(n.ServerOf(c.Locator))
	what, option := "Password", ""
	if c.Account {
		what, option = "Account", " (--ftp-account)"
	}
	question := fmt.Sprintf("%s of %s at %s %s: ", what, fetch.Printable(c.User), c.Locator.Scheme(), fetch.Printable(place))
	by := callerOf(ctx)
	if t := by.call; t != nil {
		t.asking.Store(true)
		defer t.asking.Store(false)
	}
	a := &n.client.secrets
	a.mu.Lock()
	defer a.mu.Unlock()
	secret, known := a.known[question]
	if !known && by.early.drop() {
		return locator.Login{}, errEarly
	}
	if !known {
		var err error
		if secret, err = n.client.secret(ctx, n.Op.Password, question); err != nil {
			return locator.Login{}, fmt.Errorf("the %s of %s is required%s: %w", strings.ToLower(what), fetch.Printable(c.User), option, err)
		}
		if a.known == nil {
			a.known = make(map[string]string)
		}
		a.known[question] = secret
	}
	return locator.Login{User: c.User, Password: secret, HasPassword: true}, nil
}

// newsLogin answers a news server that requires a login: from -u or the netrc file, as
// a URL has none.
func (t *Call) newsLogin(ctx context.Context, c fetch.Challenge) (locator.Login, error) {
	if given := t.Op.Login.Given; given != nil {
		if given.HasPassword {
			return *given, nil
		}
		c.User = given.User
		return t.ask(ctx, c)
	}
	found, err := t.fromNetrc(c.Locator, nil)
	if err == nil && (found == nil || !found.HasPassword) {
		err = errors.New("a login is required; use -u USER:PASSWORD")
	}
	return *orEmpty(found), err
}
