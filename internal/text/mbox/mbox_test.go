package mbox

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// normal returns a message as the format keeps it.
func normal(message string) string {
	message = strings.ReplaceAll(message, "\r\n", "\n")
	if message != "" && !strings.HasSuffix(message, "\n") {
		message += "\n"
	}
	return message
}

var (
	separators = regexp.MustCompile(`(?m)^From x@y .*\n`)
	quotes     = regexp.MustCompile(`(?m)^>(>*From )`)
)

// messages reads a file of messages with the sender x@y.
func messages(file string) (all []string) {
	for _, m := range separators.Split(file, -1)[1:] {
		all = append(all, quotes.ReplaceAllString(strings.TrimSuffix(m, "\n"), "$1"))
	}
	return all
}

// Every message is read as it was written.
func FuzzRoundTrip(f *testing.F) {
	long := strings.Repeat("x", 4095)
	for _, m := range []string{
		"", "a", "a\r\n", "\n", "\r\n\r\n", "From x\r\n>From y\n>>From z", ">", ">>>\nFrom", "a\rb\r\r\n\x00\xff\n\n\nFrom ", strings.Repeat(">", 10_000) + "From x",
		long + "\r\nFrom \n", long + "\r", long + "\rx", long[1:] + "\r\nx", "From " + long + long, "\n\nFrom a\n\n",
	} {
		f.Add(m, "From a\n\n")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		var file, dir bytes.Buffer
		for _, m := range []string{a, b, a} {
			if err := Write(&file, "From x@y Thu Jan  1 00:00:00 1970", iotest.HalfReader(strings.NewReader(m))); err != nil {
				t.Fatal(err)
			}
		}
		if err := WriteLF(&dir, strings.NewReader(a)); err != nil || dir.String() != normal(a) {
			t.Errorf("%q: %q, %v", a, dir.String(), err)
		}
		if got, want := messages(file.String()), []string{normal(a), normal(b), normal(a)}; !slices.Equal(got, want) {
			t.Errorf("%q is %q in %q", want, got, file.String())
		}
	})
}

func TestSeparator(t *testing.T) {
	when := time.Date(1994, 12, 3, 4, 5, 6, 0, time.FixedZone("", 3600))
	for from, want := range map[string]string{
		"Name <a@b.example>": "a@b.example", "a@b.example (Name)": "a@b.example", "a@b": "a@b", "": "MAILER-DAEMON",
		"<a b@c>": "MAILER-DAEMON", "a\r\nFrom x@y": "MAILER-DAEMON", "<@>": "@", "é@b": "MAILER-DAEMON",
	} {
		if got := Separator(from, when); got != "From "+want+" Sat Dec  3 03:05:06 1994" {
			t.Errorf("%q: %q", from, got)
		}
	}
	if got := Separator("", time.Time{}); got != "From MAILER-DAEMON Thu Jan  1 00:00:00 1970" {
		t.Error(got)
	}
}

func TestSeparatorOf(t *testing.T) {
	for message, want := range map[string]string{
		"FROM: Name <a@b>\r\nDate: Sat, 03 Dec 1994 04:05:06 +0100\r\n\r\nFrom: x@y\r\n": "From a@b Sat Dec  3 03:05:06 1994",
		"": "From MAILER-DAEMON Thu Jan  1 00:00:00 1970", "Date: " + strings.Repeat("(", 1000) + "\nFrom: a@b": "From a@b Thu Jan  1 00:00:00 1970",
		"Date: Thu Dec  1 19:05:06 PST 1994\nFrom: a@b\n\n":      "From a@b Fri Dec  2 03:05:06 1994",
		"From: a@b\nDate: Fri, 2 Dec 94 04:05:06 MET (winter)\n": "From a@b Fri Dec  2 03:05:06 1994",
		strings.Repeat("x", 100_000):                             "From MAILER-DAEMON Thu Jan  1 00:00:00 1970",
	} {
		if got := SeparatorOf(strings.NewReader(message)); got != want {
			t.Errorf("%q: %q", message, got)
		}
	}
}

// An error of reading is returned, and no end of a message is written.
func TestWriteFails(t *testing.T) {
	broken := errors.New("broken")
	var file bytes.Buffer
	err := Write(&file, "From x", io.MultiReader(strings.NewReader("a\n"), iotest.ErrReader(broken)))
	if err != broken || strings.HasSuffix(file.String(), "\n\n") {
		t.Errorf("%q, %v", file.String(), err)
	}
}
