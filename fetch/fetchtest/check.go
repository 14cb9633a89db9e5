package fetchtest

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// checkError holds an error of a Fetcher to the contract: an *fetch.Error that
// says what was done to which locator and what kind of failure it is, in one
// printable line, without a secret.
func (r *rig) checkError(err error, l locator.Locator) *fetch.Error {
	r.Helper()
	e, ok := err.(*fetch.Error)
	if !ok {
		r.Errorf("the error is a %T, not an *fetch.Error: %v", err, err)
		if !errors.As(err, &e) {
			e = fetch.Fail(fetch.OpFetch, l, fetch.ErrOther, err)
		}
	}
	if e == nil {
		r.Fatalf("the error is a nil *fetch.Error")
	}
	text := e.Error()
	if e.Op == "" || e.URL != l.Redacted() {
		r.Errorf("Op is %q, URL is %q, want the operation and %q: %s", e.Op, e.URL, l.Redacted(), text)
	}
	if e.Kind == fetch.ErrOther {
		r.Errorf("the error has no kind: %s (%#v)", text, e.Err)
	}
	if i := strings.IndexFunc(text, func(c rune) bool { return c < ' ' || c > '~' }); i >= 0 {
		r.Errorf("the error's text is not one printable line: %q", text)
	}
	if len(text) > 4096 {
		r.Errorf("the error's text has %d octets: %.100s...", len(text), text)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%q"} {
		for err := error(e); err != nil; err = errors.Unwrap(err) {
			r.checkSecrets("an error in "+verb, fmt.Sprintf(verb, err))
		}
	}
	return e
}

// secrets are the passwords as they could be shown.
var secrets = func() (forms []string) {
	for _, secret := range []string{password, mistaken} {
		forms = append(forms, secret, base64.StdEncoding.EncodeToString([]byte(secret)),
			base64.StdEncoding.EncodeToString([]byte(login.User+":"+secret)))
	}
	return forms
}()

// checkSecrets looks for a password in what anybody may see.
func (r *rig) checkSecrets(where, text string) {
	r.Helper()
	if slices.ContainsFunc(secrets, func(form string) bool { return strings.Contains(text, form) }) {
		r.Errorf("a password is shown by %s: %q", where, text)
	}
}

// checkOctets compares a fetch with what it should have given.
func (r *rig) checkOctets(what string, a answer, want []byte) {
	r.Helper()
	if a.err != nil {
		r.Errorf("%s: %v", what, a.err)
	} else if !bytes.Equal(a.octets, want) {
		r.Errorf("%s: %s", what, difference(a.octets, want))
	}
}

// checkKind wants a failure of one of some kinds.
func (r *rig) checkKind(what string, a answer, kinds ...fetch.ErrorKind) {
	r.Helper()
	if a.err == nil {
		r.Errorf("%s: no error but %d octets; want one of kind %v", what, len(a.octets), kinds)
	} else if !slices.Contains(kinds, a.err.Kind) {
		r.Errorf("%s: kind %q, want one of %v: %v", what, a.err.Kind, kinds, a.err)
	}
}

// difference tells where octets first differ.
func difference(got, want []byte) string {
	i := 0
	for i < len(got) && i < len(want) && got[i] == want[i] {
		i++
	}
	return fmt.Sprintf("%d octets, want %d; from offset %d: %.20q, want %.20q", len(got), len(want), i, got[i:], want[i:])
}

// checkGoroutines fails t if goroutines that it starts outlive it.
func checkGoroutines(t *testing.T, virtual bool) {
	enough := hung // those of a real network may take their time
	if virtual {
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
		t.Errorf("%d goroutines outlive the test:\n%s", len(left), strings.Join(left, "\n\n"))
	})
}

// notOurs marks the stacks of goroutines that no test starts.
var notOurs = [...]string{"\ncreated by testing.", "\nruntime.runCleanups(", "\nruntime.runFinalizers("}

// goroutines are the stacks of all other goroutines by their number, but for
// those of the testing package and the runtime's own, which show while they run a
// cleanup or a finalizer, such as that of a pipe that package net no longer needs.
func goroutines() map[string]string {
	buf := make([]byte, 32<<10)
	n := runtime.Stack(buf, true)
	for n == len(buf) {
		buf = make([]byte, 2*len(buf))
		n = runtime.Stack(buf, true)
	}
	list := make(map[string]string)
	stacks := strings.Split(string(buf[:n]), "\n\n")
	for _, stack := range stacks[1:] { // the first is the caller
		id, _, _ := strings.Cut(strings.TrimPrefix(stack, "goroutine "), " ")
		if !slices.ContainsFunc(notOurs[:], func(mark string) bool { return strings.Contains(stack, mark) }) {
			list[id] = stack
		}
	}
	return list
}
