package curl

import (
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
)

func parsed(t *testing.T, args ...string) *CommandLine {
	t.Helper()
	c := New(stdio.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}, Options())
	if err := c.add(args); err != nil {
		t.Fatalf("%q: %v", args, err)
	}
	return c
}

// Options and URLs keep their order, in clusters of letters, after --next, and in --url.
func TestPairing(t *testing.T) {
	c := parsed(t, "-sSo", "1", "u1", "--url", "u2", "-O", "u3", "-o3", "--next", "-T", "f", "u4", "--", "-u5")
	first, second := c.Operations[0], c.Operations[1]
	if diff := cmp.Diff([]string{"u1", "u2", "u3"}, first.URLs); diff != "" {
		t.Error(diff)
	}
	if want := []plan.Destination{{Path: "1"}, {Remote: true}, {Path: "3"}}; !slices.Equal(first.Outputs, want) {
		t.Errorf("outputs %v, want %v", first.Outputs, want)
	}
	if diff := cmp.Diff([]string{"u4", "-u5"}, second.URLs); diff != "" {
		t.Error(diff)
	}
	if !slices.Equal(second.Uploads, []string{"f"}) || !first.Silent || !second.ShowError {
		t.Errorf("uploads %v, silent %v, show errors %v", second.Uploads, first.Silent, second.ShowError)
	}
}

// Switching off one of several alternative switches resets only its own value.
func TestChoices(t *testing.T) {
	for _, c := range []struct {
		args   []string
		family string
		netrc  plan.NetrcMode
	}{
		{[]string{"-4", "-n"}, "4", plan.NetrcRequired},
		{[]string{"-4", "-6", "-n", "--netrc-optional"}, "6", plan.NetrcOptional},
		{[]string{"-4", "--no-ipv6", "-n", "--no-netrc-optional"}, "4", plan.NetrcRequired},
		{[]string{"-4", "--no-ipv4", "-n", "--no-netrc"}, "", plan.NetrcUnused},
	} {
		if o := parsed(t, c.args...).op; o.Connect.Dialer.Family != c.family || o.Login.Netrc != c.netrc {
			t.Errorf("%q: family %q, netrc %v", c.args, o.Connect.Dialer.Family, o.Login.Netrc)
		}
	}
}

func TestValues(t *testing.T) {
	o := parsed(t, "-m", "1.5", "--max-filesize", "3M", "-r", "10-19", "-C-", "--retry", "4", "-u", "me:a:b", "--max-redirs", "-1", "-x", "").op
	switch {
	case o.Limits.Time != 1500*time.Millisecond:
		t.Errorf("-m: %v", o.Limits.Time)
	case o.MaxSize != 3<<20:
		t.Errorf("--max-filesize: %v", o.MaxSize)
	case *o.Ask.Span != plan.Span{Offset: 10, Length: 10}:
		t.Errorf("-r: %v", *o.Ask.Span)
	case o.Ask.Resume != plan.ResumeFound:
		t.Errorf("-C: %v", o.Ask.Resume)
	case o.Retry.Times != 4:
		t.Errorf("--retry: %v", o.Retry.Times)
	case o.Login.Given.User != "me" || o.Login.Given.Password != "a:b" || !o.Login.Given.HasPassword:
		t.Errorf("-u: %v", *o.Login.Given)
	case o.HTTPSession.MaxRedirects != 1000:
		t.Errorf("--max-redirs: %v", o.HTTPSession.MaxRedirects)
	case o.Proxy.URL == nil || *o.Proxy.URL != "":
		t.Errorf("-x: %v", o.Proxy)
	}
}

func TestSchemeSets(t *testing.T) {
	for text, want := range map[string]string{
		"=http":            "http",
		"=http,ftp":        "http ftp",
		"-http,-https":     "file ftp gopher",
		"all,-file":        "ftp gopher http https",
		"=http,+ftp":       "http ftp",
		"-all,ftp":         "ftp",
		"=HTTP,nonsense":   "http",
		"=nonsense,gopher": "gopher",
	} {
		o := parsed(t, "--proto", text).op
		var got []string
		for _, scheme := range []string{"file", "ftp", "gopher", "http", "https"} {
			if o.Policy.Schemes.Has(scheme) {
				got = append(got, scheme)
			}
		}
		names := strings.Fields(want)
		slices.Sort(names)
		if !slices.Equal(got, names) {
			t.Errorf("%s: %q, want %q", text, got, names)
		}
	}
}

func TestSplitConfigLine(t *testing.T) {
	for line, want := range map[string][2]string{
		`url = "a b"`:            {"url", "a b"},
		`url=x`:                  {"url", "x"},
		`url: x # comment`:       {"url", "x"},
		`url x`:                  {"url", "x"},
		"  url\t=\tx":            {"url", "x"},
		`--url x`:                {"--url", "x"},
		`-o =x`:                  {"-o", "=x"},
		`header = "X: \"1\"\\n"`: {"header", `X: "1"\n`},
		`user = "\t\n\r\v\q"`:    {"user", "\t\n\r\vq"},
		`url = ""`:               {"url", ""},
	} {
		name, value, err := splitConfigLine(line)
		if err != nil || value == nil || name != want[0] || *value != want[1] {
			t.Errorf("%q: %q, %v, %v; want %q", line, name, value, err, want)
		}
	}
	for _, line := range []string{"", "  ", "# url = x", "/ x", "* x"} {
		if name, _, err := splitConfigLine(line); name != "" || err != nil {
			t.Errorf("%q: %q, %v; want nothing", line, name, err)
		}
	}
	for _, line := range []string{"silent", "silent # so", "silent ="} {
		if name, value, err := splitConfigLine(line); name != "silent" || value != nil || err != nil {
			t.Errorf("%q: %q, %v, %v", line, name, value, err)
		}
	}
}

// FuzzConfigLine checks that any value in quotes is parsed unchanged.
func FuzzConfigLine(f *testing.F) {
	for _, seed := range []string{"x", "a b", `"`, `\`, "\t", "#", "=:", "\x00\xff"} {
		f.Add(seed)
	}
	quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`)
	f.Fuzz(func(t *testing.T, text string) {
		_, _, _ = splitConfigLine(text)
		name, value, err := splitConfigLine(`url = "` + quoted.Replace(text) + `" # end`)
		if err != nil || name != "url" || value == nil || *value != text {
			t.Errorf("%q: %q, %v, %v", text, name, value, err)
		}
	})
}

// FuzzCommandLine checks that no arguments crash the program, and that every error has a text.
func FuzzCommandLine(f *testing.F) {
	for _, seed := range []string{"-sSfLo\nfile\nftp://h/", "--next", "-:", "--\n-x", "-r\n1-2\n-C\n-", "--max-filesize=9P", "-#", "-Q\n*x", "--no-proto", "-\n", "--=", "-u=a:b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.ContainsAny(text, "@K") || strings.Contains(text, "config") {
			return // reads files
		}
		c := New(stdio.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}, Options())
		if err := c.add(strings.Split(text, "\n")); err != nil && err.Error() == "" {
			t.Error("an error without text")
		}
		for _, op := range c.Operations {
			_ = Check(op)
			for _, url := range op.URLs {
				_, _ = op.Reading.Parse(url)
			}
			_ = op.Count()
		}
	})
}
