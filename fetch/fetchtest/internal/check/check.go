// Package check has what holds for every result of a Fetcher, whatever a test does with it: errors
// are typed, no text has a password, hooks do not overlap, and no goroutine is left.
package check

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/locator"
)

// The passwords of every test. They must never be shown.
const (
	Password = "canary-Xq7"
	Mistaken = "canary-Zk3"
)

// Login is the login of servers that have one.
var Login = locator.Login{User: "lab", Password: Password, HasPassword: true}

// Error checks an error against the contract: it is a *fetch.Error that has the operation, the
// locator and the kind of the failure. Its text is one printable line without a password.
func Error(t testing.TB, err error, l locator.Locator) *fetch.Error {
	t.Helper()
	e, ok := err.(*fetch.Error)
	if !ok {
		t.Errorf("the error is a %T; every error must be a *fetch.Error: %v", err, err)
		if !errors.As(err, &e) {
			e = driver.Fail(fetch.OpFetch, l, fetch.ErrOther, err)
		}
	}
	if e == nil {
		t.Fatalf("the error is a nil *fetch.Error, which is not a nil error; return nil")
	}
	text := e.Error()
	if e.Op == "" || e.URL != l.Redacted() {
		t.Errorf("the error has Op %q and URL %q; Op must be set and URL must be %q: %s", e.Op, e.URL, l.Redacted(), text)
	}
	if e.Kind == fetch.ErrOther {
		t.Errorf("the error's Kind is ErrOther; every failure must have a kind of its own: %s (%#v)", text, e.Err)
	}
	if i := strings.IndexFunc(text, func(c rune) bool { return c < ' ' || c > '~' }); i >= 0 {
		t.Errorf("the error's text must be one line of printable ASCII: %q", text)
	}
	if len(text) > 4096 {
		t.Errorf("the error's text has %d bytes, more than 4096: %.100s...", len(text), text)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%q"} {
		for err := error(e); err != nil; err = errors.Unwrap(err) {
			Secrets(t, "an error in "+verb, fmt.Sprintf(verb, err))
		}
	}
	return e
}

// secrets are the passwords in every form in which they could be shown.
var secrets = func() (forms []string) {
	for _, secret := range []string{Password, Mistaken} {
		forms = append(forms, secret, base64.StdEncoding.EncodeToString([]byte(secret)),
			base64.StdEncoding.EncodeToString([]byte(Login.User+":"+secret)))
	}
	return forms
}()

// Secrets fails the test if text, which a user may see, has a password.
func Secrets(t testing.TB, where, text string) {
	t.Helper()
	if slices.ContainsFunc(secrets, func(form string) bool { return strings.Contains(text, form) }) {
		t.Errorf("a password is shown by %s; it must be masked: %q", where, text)
	}
}

// Difference describes where two byte slices first differ.
func Difference(got, want []byte) string {
	i := 0
	for i < len(got) && i < len(want) && got[i] == want[i] {
		i++
	}
	return fmt.Sprintf("got %d bytes, want %d; they differ from offset %d: got %.20q, want %.20q", len(got), len(want), i, got[i:], want[i:])
}

// Size checks that size is the right one, or unknown.
func Size(t testing.TB, what string, size int64, want []byte) {
	t.Helper()
	if size != -1 && size != int64(len(want)) {
		t.Errorf("%s: the Size is %d; want %d, or -1 if it is unknown", what, size, len(want))
	}
}
