package fetchtest

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/locator"
)

// checkError checks an error against the contract: it is a *fetch.Error that has the operation, the
// locator and the kind of the failure. Its text is one printable line without a password.
func (r *rig) checkError(err error, l locator.Locator) *fetch.Error {
	r.Helper()
	e, ok := err.(*fetch.Error)
	if !ok {
		r.Errorf("the error is a %T; every error must be a *fetch.Error: %v", err, err)
		if !errors.As(err, &e) {
			e = driver.Fail(fetch.OpFetch, l, fetch.ErrOther, err)
		}
	}
	if e == nil {
		r.Fatalf("the error is a nil *fetch.Error, which is not a nil error; return nil")
	}
	text := e.Error()
	if e.Op == "" || e.URL != l.Redacted() {
		r.Errorf("the error has Op %q and URL %q; Op must be set and URL must be %q: %s", e.Op, e.URL, l.Redacted(), text)
	}
	if e.Kind == fetch.ErrOther {
		r.Errorf("the error's Kind is ErrOther; every failure must have a kind of its own: %s (%#v)", text, e.Err)
	}
	if i := strings.IndexFunc(text, func(c rune) bool { return c < ' ' || c > '~' }); i >= 0 {
		r.Errorf("the error's text must be one line of printable ASCII: %q", text)
	}
	if len(text) > 4096 {
		r.Errorf("the error's text has %d bytes, more than 4096: %.100s...", len(text), text)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%q"} {
		for err := error(e); err != nil; err = errors.Unwrap(err) {
			r.checkSecrets("an error in "+verb, fmt.Sprintf(verb, err))
		}
	}
	return e
}

// secrets are the passwords in every form in which they could be shown.
var secrets = func() (forms []string) {
	for _, secret := range []string{password, mistaken} {
		forms = append(forms, secret, base64.StdEncoding.EncodeToString([]byte(secret)),
			base64.StdEncoding.EncodeToString([]byte(login.User+":"+secret)))
	}
	return forms
}()

// checkSecrets fails the test if text, which a user may see, has a password.
func (r *rig) checkSecrets(where, text string) {
	r.Helper()
	if slices.ContainsFunc(secrets, func(form string) bool { return strings.Contains(text, form) }) {
		r.Errorf("a password is shown by %s; it must be masked: %q", where, text)
	}
}

// checkOctets compares the result of a fetch with the bytes it should have delivered.
func (r *rig) checkOctets(what string, a answer, want []byte) {
	r.Helper()
	if a.err != nil {
		r.Errorf("%s: %v", what, a.err)
	} else if !bytes.Equal(a.octets, want) {
		r.Errorf("%s: %s", what, difference(a.octets, want))
	}
}

// checkKind fails the test unless a failed with an error of one of the kinds.
func (r *rig) checkKind(what string, a answer, kinds ...fetch.ErrorKind) {
	r.Helper()
	if a.err == nil {
		r.Errorf("%s: no error, and %d bytes; want an error of kind %s", what, len(a.octets), anyOf(kinds))
	} else if !slices.Contains(kinds, a.err.Kind) {
		r.Errorf("%s: the error's kind is %q, want %s: %v", what, a.err.Kind, anyOf(kinds), a.err)
	}
}

// anyOf lists kinds for a message.
func anyOf(kinds []fetch.ErrorKind) string {
	var list []string
	for _, kind := range kinds {
		list = append(list, fmt.Sprintf("%q", kind))
	}
	return strings.Join(list, " or ")
}

// difference describes where two byte slices first differ.
func difference(got, want []byte) string {
	i := 0
	for i < len(got) && i < len(want) && got[i] == want[i] {
		i++
	}
	return fmt.Sprintf("got %d bytes, want %d; they differ from offset %d: got %.20q, want %.20q", len(got), len(want), i, got[i:], want[i:])
}

// checkGoroutines fails t if goroutines that were started during the test are still running when it
// ends.
func checkGoroutines(t *testing.T, fakeClock bool) {
	enough := hung // goroutines of a real network may end late
	if fakeClock {
		enough = 2 * time.Second
	}
	before := make(map[string]bool)
	for id := range goroutines() {
		before[id] = true
	}
	t.Cleanup(func() {
		var left []string
		for wait := time.Millisecond; wait < enough; wait *= 2 {
			left = left[:0]
			for id, stack := range goroutines() {
				if !before[id] {
					left = append(left, stack)
				}
			}
			if len(left) == 0 {
				return
			}
			<-time.After(wait)
		}
		t.Errorf("%d goroutines outlive the test; all must end when the Fetcher is closed:\n%s", len(left), strings.Join(left, "\n\n"))
	})
}

// notOurs marks the stacks of goroutines that no test starts.
var notOurs = [...]string{"\ncreated by testing.", "\nruntime.runCleanups(", "\nruntime.runFinalizers("}

// bubble matches the bubble of package synctest in the first line of a stack.
var bubble = regexp.MustCompile(`synctest bubble \d+`)

// goroutines returns the stacks of all other goroutines by their number; in a bubble of package
// synctest, of those in the same bubble. While a fake clock runs, no real time passes, and a timer of
// an earlier test that has just fired would count as a goroutine that never ends.
//
// It leaves out the goroutines of the testing package and the runtime's own. The latter show while they
// run a cleanup or a finalizer, such as that of a pipe that package net no longer needs.
func goroutines() map[string]string {
	buf := make([]byte, 32<<10)
	n := runtime.Stack(buf, true)
	for n == len(buf) {
		buf = make([]byte, 2*len(buf))
		n = runtime.Stack(buf, true)
	}
	list := make(map[string]string)
	stacks := strings.Split(string(buf[:n]), "\n\n")
	ours := bubble.FindString(stacks[0]) // stacks[0] is the caller
	for _, stack := range stacks[1:] {
		id, _, _ := strings.Cut(strings.TrimPrefix(stack, "goroutine "), " ")
		if ours != "" && bubble.FindString(stack) != ours {
			continue
		}
		if !slices.ContainsFunc(notOurs[:], func(mark string) bool { return strings.Contains(stack, mark) }) {
			list[id] = stack
		}
	}
	return list
}
