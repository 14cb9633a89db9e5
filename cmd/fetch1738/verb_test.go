package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/verbtest"
)

func runVerb(t *testing.T, verb, stdin string, args ...string) verbtest.Output {
	t.Helper()
	return verbtest.Run(t, *verbNamed([]string{verb}), stdin, args...)
}

func TestVerbHelp(t *testing.T) {
	for _, c := range commands() {
		for _, flag := range []string{"-h", "--help"} {
			got := runVerb(t, c.Name, "", flag)
			if got.Code != 0 || got.Err != "" {
				t.Errorf("%s %s: %+v", c.Name, flag, got)
			}
			if !strings.HasPrefix(got.Out, "Usage: fetch1738 "+c.Name) {
				t.Errorf("%s %s: %s", c.Name, flag, got.Out)
			}
			if !strings.Contains(got.Out, "\n  $ ") {
				t.Errorf("%s %s shows no example", c.Name, flag)
			}
			for line := range strings.Lines(got.Out) {
				if len(line) > 81 {
					t.Errorf("%s %s has a line of %d columns: %s", c.Name, flag, len(line)-1, line)
				}
			}
		}
	}
}

func TestVerbUsage(t *testing.T) {
	for _, tc := range []struct {
		verb string
		args []string
		want string // in the complaint
	}{
		{"parse", []string{"--no-such"}, "unknown flag: --no-such"},
		{"parse", []string{"-x", "http://h/"}, "unknown shorthand flag: 'x' in -x"},
		{"parse", []string{"--tolerant", "http://h/"}, "unknown flag: --tolerant"},
		{"explain", nil, "no URL given"},
		{"explain", []string{"--no-such"}, "unknown flag: --no-such"},
		{"explain", []string{"--allow-port", "70000", "http://h/"}, "expected a port, 1 to 65535"},
		{"explain", []string{"--allow-port", "smtp", "http://h/"}, "smtp"},
		{"extract", []string{"--no-such"}, "unknown flag: --no-such"},
		{"serve", []string{"--no-such"}, "unknown flag: --no-such"},
		{"serve", []string{"folder"}, `unexpected argument "folder"`},
		{"serve", []string{"--ftp"}, "flag needs an argument: --ftp"},
		{"demo", []string{"--no-such"}, "unknown flag: --no-such"},
		{"demo", []string{"extra"}, `unexpected argument "extra"`},
	} {
		got := runVerb(t, tc.verb, "", tc.args...)
		if got.Code != 2 || got.Out != "" {
			t.Errorf("%s %q: %+v", tc.verb, tc.args, got)
		}
		verbtest.OneLine(t, got.Err)
		if !strings.HasPrefix(got.Err, "fetch1738: (2) "+tc.verb+": ") || !strings.Contains(got.Err, tc.want) {
			t.Errorf("%s %q complains %q", tc.verb, tc.args, got.Err)
		}
	}
}

// broken fails every Write, as a closed pipe does.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// faulty is readable, but not to its end.
type faulty struct{ text io.Reader }

func (f faulty) Read(p []byte) (int, error) {
	n, err := f.text.Read(p)
	if err == io.EOF {
		err = errors.New("the disk is gone")
	}
	return n, err
}

func TestVerbOutputFails(t *testing.T) {
	for _, tc := range []struct {
		verb string
		args []string
	}{
		{"parse", []string{"http://h/"}}, {"parse", []string{"--help"}}, {"parse", []string{"-"}},
		{"explain", []string{"http://h/"}},
		{"extract", nil}, {"serve", nil}, {"gateway", []string{"--port", "0"}}, {"demo", nil}, {"mirror", []string{"--help"}}, {"mirror", []string{"--dry-run", "file://localhost/", t.TempDir(), "--depth", "1"}},
	} {
		for _, c := range commands() {
			if c.Name != tc.verb {
				continue
			}
			var complaint bytes.Buffer
			if code := c.Run(t.Context(), tc.args, stdio.Streams{In: strings.NewReader("http://h/\n"), Out: broken{}, Err: &complaint}); code != 23 {
				t.Errorf("%s %q on a broken output: code %d, %s", tc.verb, tc.args, code, complaint.String())
			}
		}
	}
}

func TestVerbInputFails(t *testing.T) {
	for _, verb := range []string{"parse", "extract"} {
		for _, c := range commands() {
			if c.Name != verb {
				continue
			}
			var out, complaint bytes.Buffer
			in := faulty{strings.NewReader("http://h/\nhttp://h/2\n")}
			if code := c.Run(t.Context(), nil, stdio.Streams{In: in, Out: &out, Err: &complaint}); code != 26 {
				t.Errorf("%s: code %d", verb, code)
			}
			if want := "fetch1738: (26) " + verb + ": standard input: the disk is gone\n"; complaint.String() != want {
				t.Errorf("%s complains %q, want %q", verb, complaint.String(), want)
			}
			if strings.Count(out.String(), "\n") != 2 {
				t.Errorf("%s lost what it had read: %q", verb, out.String())
			}
		}
	}
}

// A verb that waits for the keyboard ends when it is interrupted.
func TestVerbInterrupted(t *testing.T) {
	for _, verb := range []string{"parse", "extract"} {
		for _, c := range commands() {
			if c.Name != verb {
				continue
			}
			keyboard, typist := io.Pipe()
			ctx, interrupt := context.WithCancel(t.Context())
			interrupt()
			if code := c.Run(ctx, nil, stdio.Streams{In: keyboard, Out: io.Discard, Err: io.Discard}); code != 130 {
				t.Errorf("%s: code %d", verb, code)
			}
			typist.Close()
		}
	}
}
