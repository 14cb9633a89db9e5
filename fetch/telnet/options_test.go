package telnet

import (
	"context"
	"errors"
	"io"
	"net"
	"reflect"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

func TestSet(t *testing.T) {
	var o Options
	for _, s := range []string{"TTYPE=VT100", "xdisploc=host:0.0", "NEW_ENV=USER,joe", "NEW_ENV=A,b,c=d", "WS=80x24", "BINARY=1"} {
		if err := o.Set(s); err != nil {
			t.Errorf("%s: %v", s, err)
		}
	}
	want := Options{TerminalType: "VT100", Display: "host:0.0", Environ: []Variable{{"USER", "joe"}, {"A", "b,c=d"}}, Columns: 80, Rows: 24, Binary: BinaryAsk}
	if !reflect.DeepEqual(o, want) {
		t.Errorf("%+v", o)
	}
	for _, s := range []string{
		"", "TTYPE", "NEW_ENV=USER", "NEW_ENV=,x", "WS=80", "WS=80x", "WS=0x24", "WS=80x70000", "WS=80x24x3", "BINARY=yes", "ECHO=1", "=x",
		"TTYPE=a b", "TTYPE=a\x00", "XDISPLOC=a\xff", "NEW_ENV=A,\r\n", "NEW_ENV=\x01,a", "TTYPE=caf\xc3\xa9", "TTYPE=-f", "NEW_ENV=USER,-froot", "NEW_ENV=-f,root",
		"XDISPLOC=" + strings.Repeat("x", maxValue+1),
	} {
		var bad *OptionError
		if err := new(Options).Set(s); !errors.As(err, &bad) {
			t.Errorf("%q: %v", s, err)
		} else if text := err.Error(); text != fetch.Printable(text) {
			t.Errorf("%q: the error contains unprintable bytes: %q", s, text)
		}
	}
	var large Options
	for i := range 4 {
		err := large.Set("NEW_ENV=A," + strings.Repeat("x", maxValue))
		if (err != nil) != (i > 1) {
			t.Errorf("%d KiB of environment: %v", i+1, err)
		}
	}
}

func TestAdvice(t *testing.T) {
	for url, want := range map[string]string{
		"telnet://h.example/":             "telnet to host h.example, port 23",
		"telnet://h.example:2323":         "telnet to host h.example, port 2323",
		"telnet://joe@h/":                 "telnet to host h, port 23; log in as joe",
		"telnet://joe:s3cret@h/":          "telnet to host h, port 23; log in as joe; the password is s3cret",
		"telnet://joe:@h/":                "telnet to host h, port 23; log in as joe; the password is empty",
		"telnet://:p@h/":                  "telnet to host h, port 23; the password is p",
		"telnet://@h/":                    "telnet to host h, port 23",
		"telnet://a%20b:%3B%22%1B%5B2J@h": `telnet to host h, port 23; log in as "a b"; the password is ";\"\x1b[2J"`,
	} {
		ref, err := locator.Parser{}.Parse(url)
		if err != nil {
			t.Fatal(err)
		}
		f := &Fetcher{Env: &fetch.Env{Dial: func(context.Context, string, string) (net.Conn, error) {
			t.Errorf("%s: the client connected", url)
			return nil, errors.New("no")
		}}}
		res, err := f.Fetch(t.Context(), &fetch.Request{Locator: ref.Locator})
		if err != nil {
			t.Fatal(err)
		}
		if res.Kind != fetch.KindAdvice || res.Advice != want || res.Conn != nil || res.Body == nil || res.Size != -1 {
			t.Errorf("%s: %v %q", url, res.Kind, res.Advice)
		}
		if _, err := io.Copy(io.Discard, res.Body); !errors.Is(err, fetch.ErrNoOctets) {
			t.Errorf("%s: the Body ends in %v", url, err)
		}
		explained, err := f.Explain(&fetch.Request{Locator: ref.Locator})
		if err != nil || explained.Network != "" || len(explained.Steps) != 1 || strings.Contains(explained.Steps[0].Do, "s3cret") {
			t.Errorf("%s: %+v, %v", url, explained, err)
		}
	}
}

// TestRefused checks that unsupported requests are rejected before connecting.
func TestRefused(t *testing.T) {
	l := &locator.Telnet{Server: locator.Server{HostPort: locator.HostPort{Host: "127.0.0.1"}}}
	f := &Fetcher{Env: &fetch.Env{
		Dial:  func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("dialled") },
		Allow: func(context.Context, fetch.Target) error { return errors.New("asked") },
	}}
	for name, tt := range map[string]struct {
		req  fetch.Request
		kind fetch.ErrorKind
	}{
		"no locator":    {fetch.Request{}, fetch.ErrUnsupported},
		"another":       {fetch.Request{Locator: &locator.News{All: true}}, fetch.ErrUnsupported},
		"offset":        {fetch.Request{Locator: l, Offset: 1}, fetch.ErrUnsupported},
		"from the end":  {fetch.Request{Locator: l, Offset: -1}, fetch.ErrUnsupported},
		"length":        {fetch.Request{Locator: l, Length: 1}, fetch.ErrUnsupported},
		"query":         {fetch.Request{Locator: l, Query: "x"}, fetch.ErrUnsupported},
		"other options": {fetch.Request{Locator: l, Options: Options{}}, fetch.ErrUnsupported},
		"bad options":   {fetch.Request{Locator: l, Options: &Options{Display: "\r"}}, fetch.ErrBadURL},
		"no name":       {fetch.Request{Locator: l, Options: &Options{Environ: []Variable{{"", "x"}}}}, fetch.ErrBadURL},
	} {
		for _, interact := range []bool{false, true} {
			req := tt.req
			req.Interact = interact
			if _, err := f.Fetch(t.Context(), &req); !errors.Is(err, tt.kind) {
				t.Errorf("%s: %v, want %v", name, err, tt.kind)
			}
			if _, err := f.Explain(&req); !errors.Is(err, tt.kind) {
				t.Errorf("%s explained: %v, want %v", name, err, tt.kind)
			}
		}
	}
	if _, err := f.Fetch(t.Context(), &fetch.Request{Locator: l, Options: (*Options)(nil)}); !errors.Is(err, fetch.ErrRefused) {
		t.Errorf("advice although Allow denies it: %v", err)
	}
	explained, err := f.Explain(&fetch.Request{Locator: l, Interact: true, Options: &Options{TerminalType: "VT100", Display: "h:0", Columns: 80, Rows: 24, Environ: []Variable{{"A", "secret"}}}})
	if err != nil || explained.Steps[0].Do != "pass data in both directions until the server closes; if the server requests them, send the terminal type VT100, the window size 80x24, the display h:0, the variable A" {
		t.Errorf("%+v, %v", explained, err)
	}
}
