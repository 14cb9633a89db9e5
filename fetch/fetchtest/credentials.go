package fetchtest

import (
	"context"
	"encoding/base64"
	stderrors "errors"
	"fmt"
	"io/fs"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// credentials tests that passwords go to the server that requests them, for the user they belong
// to, and nowhere else. Every fetch of every group checks that errors and hooks do not show them.
func (k *kit) credentials(t *testing.T) {
	if k.site.Locate(small) != nil && !k.Local {
		k.secrets(t)
	}
	if !k.logins || k.site.Locate(small) == nil {
		return
	}
	as := func(name string, f func(*rig)) { k.testAs(t, name, &login, f) }
	as("in the locator", func(r *rig) {
		r.checkOctets("a login", r.get(r.ctx(), r.withLogin(&login)), k.want(small))
	})
	as("asked for", func(r *rig) {
		asked := r.answer(login, nil)
		for _, l := range []locator.Locator{r.withLogin(&locator.Login{User: login.User}), r.withLogin(nil)} {
			r.checkOctets("a login", r.get(r.ctx(), l), k.want(small))
		}
		if asked.Load() == 0 {
			r.Log("Env.Credentials is not called for a locator without a user name")
		}
	})
	as("wrong", func(r *rig) {
		l := r.withLogin(&locator.Login{User: login.User, Password: mistaken, HasPassword: true})
		r.checkUnauthenticated(r.get(r.ctx(), l))
		r.checkOctets("the right login after a wrong one", r.get(r.ctx(), r.withLogin(&login)), k.want(small))
		r.checkUnauthenticated(r.get(r.ctx(), l)) // must not use the other user's session
	})
	as("none", func(r *rig) {
		r.checkUnauthenticated(r.get(r.ctx(), r.withLogin(&locator.Login{User: login.User})))
		r.checkOctets("the right login", r.get(r.ctx(), r.withLogin(&login)), k.want(small))
		r.checkUnauthenticated(r.get(r.ctx(), r.withLogin(nil)))
	})
	as("refused by the user", func(r *rig) {
		cause := stderrors.New("not today")
		r.answer(locator.Login{}, cause)
		a := r.get(r.ctx(), r.withLogin(&locator.Login{User: login.User}))
		r.checkUnauthenticated(a)
		if a.err != nil && !stderrors.Is(a.err, cause) {
			r.Errorf("the error does not wrap the error of Env.Credentials: %v", a.err)
		}
	})
	as("asked for, with bytes that end a command", (*rig).unsendable)
	as("cancelled while asking", func(r *rig) {
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		r.env.Credentials = func(ctx context.Context, c fetch.Challenge) (locator.Login, error) {
			cancel()
			<-ctx.Done()
			return locator.Login{}, ctx.Err()
		}
		r.checkKind("a cancelled prompt", r.get(ctx, r.withLogin(&locator.Login{User: login.User})), fetch.ErrCanceled)
	})
}

// unsendable has Credentials return bytes that a line of the protocol cannot carry. None of them
// may be sent, not even escaped.
func (r *rig) unsendable() {
	begun := base64.StdEncoding.EncodeToString([]byte(login.User + ":" + password)[:12]) // the beginning of a Basic login
	for _, bad := range []string{"\x00", "\r", "\n", "\r\nDELE x", "\n\x00"} {
		for what, given := range map[string]locator.Login{
			"password":  {User: login.User, Password: password + bad},
			"user name": {User: password + bad, Password: password},
		} {
			r.env.Credentials = func(context.Context, fetch.Challenge) (locator.Login, error) { return given, nil }
			asked := []locator.Locator{r.withLogin(nil)}
			if what == "password" {
				asked = append(asked, r.withLogin(&locator.Login{User: login.User}))
			}
			for _, l := range asked {
				before := r.net.established()
				r.checkKind(fmt.Sprintf("a %s with %q", what, bad), r.get(r.ctx(), l), fetch.ErrBadURL, fetch.ErrUnauthenticated)
				for _, w := range r.net.since(before) {
					if sent := string(w.sent()); strings.Contains(sent, password) || strings.Contains(sent, begun) {
						r.Errorf("a %s with %q was sent to the server; the fetch must fail before that: %q", what, bad, sent)
					}
				}
			}
			r.close()
		}
	}
}

// withLogin returns the locator of the small document with a login.
func (r *rig) withLogin(login *locator.Login) locator.Locator {
	l, _ := locator.WithLogin(r.site.Locate(small), login)
	return l
}

// answer makes Env.Credentials return one answer, and counts the calls.
func (r *rig) answer(login locator.Login, err error) *atomic.Int32 {
	var asked atomic.Int32
	r.env.Credentials = func(_ context.Context, c fetch.Challenge) (locator.Login, error) {
		asked.Add(1)
		if c.Locator == nil || c.User != "" && c.User != login.User && err == nil {
			r.Errorf("Env.Credentials was called with %+v; it must have the Locator and the user", c)
		}
		return login, err
	}
	return &asked
}

func (r *rig) checkUnauthenticated(a answer) {
	r.Helper()
	r.checkKind("a fetch without the password", a, fetch.ErrUnauthenticated)
	if a.err != nil && !stderrors.Is(a.err, fs.ErrPermission) {
		r.Errorf("errors.Is(err, fs.ErrPermission) must be true for %v", a.err)
	}
}

// secrets causes many failures with a password in the locator; checkError examines every error.
func (k *kit) secrets(t *testing.T) {
	fails := func(name string, dial dialFunc, prepare func(*rig)) {
		k.testAlone(t, "secret, "+name, dial, func(r *rig) {
			l, ok := locator.WithLogin(r.site.Locate(small), &login)
			if !ok {
				return
			}
			prepare(r)
			if a := r.get(r.ctx(), l); a.err == nil && !k.EndsWithClose {
				r.Errorf("%s: the fetch returned no error; want one", name)
			}
		})
	}
	nothing := func(*rig) {}
	fails("no connection", refusedDial, nothing)
	fails("silence", peer(sayNothing), nothing)
	fails("close", peer(say("")), nothing)
	fails("garbage", peer(say("\x00garbage\r\n")), nothing)
	fails("policy", refusedDial, func(r *rig) {
		r.env.Allow = func(context.Context, fetch.Target) error { return errDenied }
	})
}
