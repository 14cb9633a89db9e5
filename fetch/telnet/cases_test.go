package telnet

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/telnettest"
)

// TestSubnegotiationFlaws sends what has overflowed buffers or disclosed secrets in other telnet
// clients (see the CVE ids).
func TestSubnegotiationFlaws(t *testing.T) {
	t.Setenv("CANARY_HOME", "canary-in-the-environment")
	environ := &Options{Environ: []Variable{{"USER", "joe"}}}
	long := &Options{Environ: []Variable{{"a", strings.Repeat("b", 256)}}}
	send := func(names ...string) string {
		return iacDO + "\x27\xff\xfa\x27\x01\x03" + strings.Join(names, "\x03") + iacSE
	}
	for _, tt := range []struct {
		id      string
		opt     *Options
		say     string
		kind    fetch.ErrorKind // ErrOther means no error
		answers []string        // nil means any answers that are not longer than say
	}{
		{"case 83, CVE-2005-0469 LINEMODE SLC", environ, "\xff\xfa\x22\x03" + strings.Repeat("\x01\x02\x03", 10000) + iacSE, fetch.ErrTooLarge, []string{}},
		{"case 83, CVE-2005-0469 agreed to", environ, iacDO + "\x22\xff\xfa\x22\x03" + strings.Repeat("\x01\x02\x03", 1000) + iacSE, fetch.ErrOther, []string{"IAC WONT LINEMODE"}},
		{"case 84, CVE-2005-0468 NEW-ENVIRON IAC", environ, "\xff\xfa\x27\x01\x03" + strings.Repeat("\xff\xff", 64<<10) + iacSE, fetch.ErrTooLarge, []string{}},
		{"case 84, CVE-2005-0468 NEW-ENVIRON ESC", environ, iacDO + "\x27\xff\xfa\x27\x01\x03" + strings.Repeat("\x02", 64<<10) + iacSE, fetch.ErrTooLarge, []string{"IAC WILL NEW-ENVIRON"}},
		{"case 84, CVE-2005-0468 within the limit", environ, send(strings.Repeat("\x02\x01", 1000)), fetch.ErrOther, nil},
		{"case 85, CVE-2005-0488 nothing named", nil, send("CANARY_HOME", "HOME", "PATH"), fetch.ErrOther, []string{"IAC WONT NEW-ENVIRON"}},
		{"case 85, CVE-2005-0488 something else named", environ, send("CANARY_HOME", "HOME", "PATH"), fetch.ErrOther, []string{"IAC WILL NEW-ENVIRON", "IAC SB NEW-ENVIRON 00 IAC SE"}},
		{"case 85, CVE-2005-1205 all options", nil, iacDO + "\x24" + iacDO + "\x23" + iacDO + "\x20" + iacDO + "\x18\xff\xfa\x18\x01" + iacSE, fetch.ErrOther,
			[]string{"IAC WONT OLD-ENVIRON", "IAC WONT X-DISPLAY", "IAC WONT TERMINAL-SPEED", "IAC WILL TERMINAL-TYPE", `IAC SB TERMINAL-TYPE 00 "UNKNOWN" IAC SE`}},
		{"case 86, CVE-2021-22898, CVE-2021-22925 long value", long, send("a"), fetch.ErrOther,
			[]string{"IAC WILL NEW-ENVIRON", `IAC SB NEW-ENVIRON 00 00 61 01 "` + strings.Repeat("b", 256) + `" IAC SE`}},
		{"case 89, CVE-2000-0834 NTLM", nil, iacDO + "\x25" + iacWILL + "\x25\xff\xfa\x25\x01\x0f\x00" + iacSE, fetch.ErrOther, []string{"IAC WONT AUTHENTICATION", "IAC DONT AUTHENTICATION"}},
		{"case 91, CVE-2020-10188, CVE-2022-39028 EC, EL and the urgent mark", nil, "\xff\xf7\xff\xf8\xff\xf2\xff\xf3\xff\xf4\xff\xf5", fetch.ErrOther, []string{}},
	} {
		t.Run(tt.id, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := serve(t, telnettest.Step{Command: tt.say}, done)
				s := open(t, srv, fetch.Env{}, tt.opt)
				_, err := io.ReadAll(s)
				if tt.kind == fetch.ErrOther && err != nil || tt.kind != fetch.ErrOther && !errors.Is(err, tt.kind) {
					t.Errorf("%v", err)
				}
				synctest.Wait()
				s.Close()
				synctest.Wait()
				octets := 0
				for _, l := range srv.Transcript() {
					if l.From == testserver.FromClient {
						octets += len(l.Octets)
					}
					if l.From == testserver.FromClient && strings.Contains(l.Octets, os.Getenv("CANARY_HOME")) {
						t.Errorf("the client sent its environment: %s", l.Text)
					}
				}
				got := srv.Transcript().From(testserver.FromClient)
				if tt.kind == fetch.ErrOther {
					got = got[:len(got)-1] // to AYT
				}
				if tt.answers != nil && !slices.Equal(got, tt.answers) || octets > len(tt.say)+2+300 {
					t.Errorf("the client sent %d bytes, more than it received: %q", octets, got)
				}
			})
		})
	}
}

// TestOctetsOfTheUser checks that user input cannot contain telnet commands.
func TestOctetsOfTheUser(t *testing.T) {
	telnet := func(user, password string) locator.Locator {
		return &locator.Telnet{Server: locator.Server{HostPort: locator.HostPort{Host: "127.0.0.1"}, Login: &locator.Login{User: user, Password: password, HasPassword: true}}}
	}
	plain := telnet("joe", "")
	for _, tt := range []struct {
		id  string
		loc locator.Locator
		opt *Options
	}{
		{"case 87, CVE-2023-27533 user", telnet("a\xff\xfd\x18", ""), nil},
		{"case 87, CVE-2023-27533 user CR", telnet("a\r", ""), nil},
		{"case 87, CVE-2023-27533 user NUL", telnet("a\x00", ""), nil},
		{"case 87, CVE-2023-27533 password", telnet("a", "\xff"), nil},
		{"case 87, CVE-2023-27533 type", plain, &Options{TerminalType: "\xff\xf0"}},
		{"case 87, CVE-2023-27533 display", plain, &Options{Display: "a\r\n"}},
		{"case 87, CVE-2023-27533 variable", plain, &Options{Environ: []Variable{{"a\xff", "b"}}}},
		{"case 87, CVE-2023-27533 value", plain, &Options{Environ: []Variable{{"a", "b\x00"}}}},
		{"case 88, CVE-2019-0053 display of 1 MiB", plain, &Options{Display: strings.Repeat("x", 1<<20)}},
		{"case 90, CVE-2026-24061 user of -f root", plain, &Options{Environ: []Variable{{"USER", "-f root"}}}},
		{"case 90, CVE-2026-24061 user of -froot", plain, &Options{Environ: []Variable{{"USER", "-froot"}}}},
	} {
		for _, interact := range []bool{false, true} {
			f := &Fetcher{Env: &fetch.Env{Dial: nil, Allow: func(context.Context, fetch.Target) error {
				t.Errorf("%s: the client sent a request", tt.id)
				return nil
			}}}
			req := &fetch.Request{Locator: tt.loc, Interact: interact}
			if tt.opt != nil {
				req.Options = tt.opt
			}
			if _, err := f.Fetch(t.Context(), req); !errors.Is(err, fetch.ErrBadURL) {
				t.Errorf("%s: %v", tt.id, err)
			}
		}
	}
	// case 92, CVE-1999-0817, CVE-2004-0473, CVE-2004-0411, CVE-2001-0150: hosts that are
	// another program's options. That none is started is a rule of the tree
	// (TestForbidden in the root package), for CVE-2006-5925, CVE-2017-1000117 and
	// CVE-2024-3817 as well.
	for _, url := range []string{"telnet://-oX/", "telnet://-f", "telnet://-n:23/", "telnet://-l root/"} {
		var bad *locator.SyntaxError
		if l, err := (locator.Parser{Tolerate: locator.TolerateAll}).Parse(url); !errors.As(err, &bad) {
			t.Errorf("%s: %v, %v", url, l, err)
		}
	}
}

// TestLoginIsNotSent checks that the user and password of the URL are not sent (case 89,
// CVE-2000-0834).
func TestLoginIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := serve(t, telnettest.Step{Command: iacDO + "\x27" + iacDO + "\x25"}, telnettest.Step{Say: "login: "}, done, telnettest.Step{Say: "Password: "}, done)
		l := &locator.Telnet{Server: locator.Server{HostPort: locator.HostPort{Host: "127.0.0.1"}, Login: &locator.Login{User: "canary", Password: "canary", HasPassword: true}}}
		res, err := (&Fetcher{Env: &fetch.Env{Dial: srv.Dial}}).Fetch(t.Context(), &fetch.Request{Locator: l, Interact: true})
		if err != nil {
			t.Fatal(err)
		}
		defer res.Close()
		io.Copy(io.Discard, res.Conn)
		if text := srv.Transcript().String(); strings.Contains(text, "canary") {
			t.Errorf("sent:\n%s", text)
		}
	})
}
