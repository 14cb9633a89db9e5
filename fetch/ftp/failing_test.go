package ftp

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// eachMode runs a test in passive and active mode, in the clear and under TLS.
func eachMode(t *testing.T, configure func(*ftptest.Server), test func(*testing.T, *ftptest.Server, *Fetcher)) {
	t.Helper()
	for _, active := range []*Active{nil, {}} {
		for _, security := range []Security{NoTLS, RequireTLS} {
			t.Run(fmt.Sprintf("active %t, TLS %t", active != nil, security != NoTLS), func(t *testing.T) {
				securely(t, configure, func(t *testing.T, srv *ftptest.Server, f *Fetcher) {
					f.Active, f.Security = active, security
					test(t, srv, f)
				})
			})
		}
	}
}

// transfers are a transfer of each kind. Each returns what was received.
var transfers = map[string]func(t *testing.T, srv *ftptest.Server, f *Fetcher) (string, error){
	"RETR": func(t *testing.T, srv *ftptest.Server, f *Fetcher) (string, error) {
		return read(t.Context(), f, &fetch.Request{Locator: on(srv, "pub/a.txt")})
	},
	"LIST": func(t *testing.T, srv *ftptest.Server, f *Fetcher) (string, error) {
		return read(t.Context(), f, &fetch.Request{Locator: on(srv, "pub/")})
	},
	"MLSD": func(t *testing.T, srv *ftptest.Server, f *Fetcher) (string, error) {
		return read(t.Context(), f, &fetch.Request{Locator: on(srv, "pub/"), Options: &Options{Facts: true}})
	},
	"NLST": func(t *testing.T, srv *ftptest.Server, f *Fetcher) (string, error) {
		return read(t.Context(), f, &fetch.Request{Locator: on(srv, "pub/"), Options: &Options{ListOnly: true}})
	},
	"STOR": func(t *testing.T, srv *ftptest.Server, f *Fetcher) (string, error) {
		_, err := f.Replace(t.Context(), &fetch.Request{Locator: on(srv, "pub/new")}, io.LimitReader(zeros{}, 1<<20))
		return "", err
	},
	"APPE": func(t *testing.T, srv *ftptest.Server, f *Fetcher) (string, error) {
		_, err := f.Update(t.Context(), &fetch.Request{Locator: on(srv, "pub/new")}, io.LimitReader(zeros{}, 1<<20))
		return "", err
	},
}

// atOnce checks that a transfer fails within a second after a reply, and with that reply.
func atOnce(t *testing.T, name string, err error, took time.Duration, verb fetch.Op, code int, kind fetch.ErrorKind) {
	t.Helper()
	e, ok := errors.AsType[*fetch.Error](err)
	if !ok || e.Op != verb || e.Code != code || e.Kind != kind || e.Reply == "" {
		t.Errorf("%s: %v (%+v); want %s, %d, %v", name, err, e, verb, code, kind)
	}
	if strings.Contains(fmt.Sprint(err), "closed network connection") {
		t.Errorf("%s: the error states what the client has done: %v", name, err)
	}
	const more = 100 * time.Millisecond // under TLS something may come after the handshake
	if took > 2*lookInterval+more {
		t.Errorf("%s: it took %v after the reply", name, took)
	}
}

// TestFailingMeanwhile tests that a negative reply ends a transfer whose data connection stays open
// and silent. What has come is kept, and so is the session.
func TestFailingMeanwhile(t *testing.T) {
	eachMode(t, nil, func(t *testing.T, srv *ftptest.Server, f *Fetcher) {
		f.DisablePipelining = true // else a failure is taken for that of pipelining, and the transfer repeated
		for verb, transfer := range transfers {
			for _, tc := range []struct {
				reply string
				code  int
				kind  fetch.ErrorKind // if nothing has come
			}{
				{"425 cannot", 425, fetch.ErrUnreachable},
				{"426 broken", 426, fetch.ErrConnectionFailed},
				{"451 disk", 451, fetch.ErrBusy},
				{"452 full", 452, fetch.ErrTooLarge},
				{"552-quota\n552 exceeded", 552, fetch.ErrTooLarge},
				{"553 no", 553, fetch.ErrPermission},
			} {
				for _, n := range []int64{0, 4} {
					name := fmt.Sprintf("%s, %d bytes, %s", verb, n, tc.reply)
					srv.On(verb, 1, ftptest.Stall(n, tc.reply))
					start, kind := time.Now(), tc.kind
					got, err := transfer(t, srv, f)
					if !isUpload(fetch.Op(verb)) {
						if n > 0 || tc.code == 426 {
							kind = fetch.ErrTruncated
						}
						if int64(len(got)) != n {
							t.Errorf("%s: received %q", name, got)
						}
					}
					atOnce(t, name, err, time.Since(start), fetch.Op(verb), tc.code, kind)
				}
			}
		}
		if got, err := transfers["RETR"](t, srv, f); got != "0123456789" || err != nil {
			t.Errorf("the next transfer: %q, %v", got, err)
		}
		if n := count(verbs(srv), "USER"); n != 1 {
			t.Errorf("%d logins", n)
		}
	})
}

// TestClosingMeanwhile tests that 421, and the end of the control connection, end a transfer whose
// data connection stays open and silent.
func TestClosingMeanwhile(t *testing.T) {
	eachMode(t, nil, func(t *testing.T, srv *ftptest.Server, f *Fetcher) {
		for verb, transfer := range transfers {
			srv.On(verb, 1, ftptest.Stall(0, "421 shutting down"))
			start := time.Now()
			_, err := transfer(t, srv, f)
			atOnce(t, verb, err, time.Since(start), fetch.Op(verb), 421, fetch.ErrBusy)
		}
		if got, err := transfers["RETR"](t, srv, f); got != "0123456789" || err != nil {
			t.Errorf("the next transfer: %q, %v", got, err)
		}
	})
	for verb, transfer := range transfers {
		securely(t, nil, func(t *testing.T, srv *ftptest.Server, f *Fetcher) {
			srv.On("DATA", 1, testserver.Silence())
			time.AfterFunc(30*time.Second, func() { srv.Close() })
			start := time.Now()
			_, err := transfer(t, srv, f)
			if took := time.Since(start) - 30*time.Second; err == nil || took > 2*lookInterval+100*time.Millisecond || errors.Is(err, fetch.ErrTimeout) {
				t.Errorf("%s: %v after %v", verb, err, took)
			}
		})
	}
}

// TestFailingBeforeHandshake tests a server that opens a port, does not use it, and says so after
// ten seconds.
func TestFailingBeforeHandshake(t *testing.T) {
	for _, security := range []Security{NoTLS, RequireTLS} {
		for verb, transfer := range transfers {
			securely(t, func(s *ftptest.Server) { s.Passive = ftptest.PassiveUnaccepted }, func(t *testing.T, srv *ftptest.Server, f *Fetcher) {
				f.Security = security
				start := time.Now()
				_, err := transfer(t, srv, f)
				e, _ := errors.AsType[*fetch.Error](err)
				if took := time.Since(start) - 10*time.Second; e == nil || e.Code != 425 || took > 2*lookInterval+100*time.Millisecond {
					t.Errorf("%s: %v after %v", verb, err, took)
				}
			})
		}
	}
}

// TestEarlyReply tests that 226 does not end a transfer of which a byte is missing, however long that
// takes.
func TestEarlyReply(t *testing.T) {
	eachMode(t, nil, func(t *testing.T, srv *ftptest.Server, f *Fetcher) {
		for range 2 {
			srv.On("RETR", 1, ftptest.Stall(9, "226 sent"))
			res, err := f.Fetch(t.Context(), &fetch.Request{Locator: on(srv, "pub/a.txt")})
			if err != nil {
				t.Fatal(err)
			}
			if n, err := io.ReadFull(res.Body, make([]byte, 9)); n != 9 || err != nil {
				t.Fatalf("%d bytes, %v", n, err)
			}
			start := time.Now()
			if _, err := res.Body.Read(make([]byte, 1)); !errors.Is(err, fetch.ErrTimeout) || time.Since(start) < time.Minute {
				t.Errorf("the data connection is open: %v after %v", err, time.Since(start))
			}
			res.Close()
		}
	})
}

// TestDataAfterReply tests that data which come after a negative reply are taken, as long as they
// come.
func TestDataAfterReply(t *testing.T) {
	securely(t, nil, func(t *testing.T, srv *ftptest.Server, f *Fetcher) {
		srv.On("RETR", 1, testserver.Drip(1, lookInterval-time.Millisecond), ftptest.Stall(8, "426 broken"))
		got, err := transfers["RETR"](t, srv, f)
		if got != "01234567" || !errors.Is(err, fetch.ErrTruncated) {
			t.Errorf("%q, %v", got, err)
		}
	})
	h := &hostile{data: "0123456789", first: map[string]string{"RETR": "150 here\r\n426 broken\r\n"}}
	synctest.Test(t, func(t *testing.T) {
		h.serve(t)
		f := &Fetcher{Env: h.env()}
		defer f.Close()
		got, err := read(t.Context(), f, &fetch.Request{Locator: at("/x")})
		if e, _ := errors.AsType[*fetch.Error](err); got != h.data || e == nil || e.Kind != fetch.ErrTruncated || e.Code != 426 {
			t.Errorf("%q, %v", got, err)
		}
	})
}

// TestFailingInKernel tests the same over a real network, where the kernel moves the data of a file.
func TestFailingInKernel(t *testing.T) {
	srv, f := start(t), &Fetcher{}
	defer f.Close()
	big := bytes.Repeat([]byte("0123456789abcdef"), 1<<18)
	name := filepath.Join(t.TempDir(), "big")
	if err := errors.Join(srv.Put("big", big), os.WriteFile(name, big, 0o600)); err != nil {
		t.Fatal(err)
	}
	srv.On("RETR", 1, ftptest.Stall(3<<20, "426 broken"))
	res, err := f.Fetch(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/big")})
	if err != nil {
		t.Fatal(err)
	}
	defer res.Close()
	got, err := toFile(t, res.Body)
	if e, _ := errors.AsType[*fetch.Error](err); got != string(big[:3<<20]) || e == nil || e.Code != 426 || e.Kind != fetch.ErrTruncated {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	for verb, store := range map[string]func(*fetch.Request, io.Reader) (*fetch.Attributes, error){
		"STOR": func(req *fetch.Request, r io.Reader) (*fetch.Attributes, error) {
			return f.Replace(t.Context(), req, r)
		},
		"APPE": func(req *fetch.Request, r io.Reader) (*fetch.Attributes, error) { return f.Update(t.Context(), req, r) },
	} {
		src, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		srv.On(verb, 1, ftptest.Stall(1000, "552 disk full"))
		_, err = store(&fetch.Request{Locator: parse(t, srv.URL+"/up")}, src)
		if e, _ := errors.AsType[*fetch.Error](err); e == nil || e.Code != 552 || e.Kind != fetch.ErrTooLarge {
			t.Errorf("%s: %v", verb, err)
		}
	}
}

// TestLookUnderTLS tests that a reply is seen which came in the same packet as the one before it, in
// a record of its own.
func TestLookUnderTLS(t *testing.T) {
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		securely(t, strictly, func(t *testing.T, srv *ftptest.Server, f *Fetcher) {
			f.Security, settings(f).MaxVersion = RequireTLS, version
			srv.On("RETR", 1, testserver.Reply("150 Mark"), ftptest.Stall(0, "550 Not found"))
			start := time.Now()
			_, err := transfers["RETR"](t, srv, f)
			atOnce(t, "RETR", err, time.Since(start), "RETR", 550, fetch.ErrNotFound)
		})
	}
}

// TestWholeButOpen tests that a download ends when all bytes and the last reply have come, although
// the data connection stays open; not if a byte is missing.
func TestWholeButOpen(t *testing.T) {
	for _, secure := range []bool{false, true} {
		securely(t, nil, func(t *testing.T, srv *ftptest.Server, f *Fetcher) {
			if secure {
				f.Security = RequireTLS
			}
			const size = 300000
			if err := srv.Put("whole.bin", make([]byte, size)); err != nil {
				t.Fatal(err)
			}
			f.Env.Limits.Idle = 3 * time.Second
			for missing, want := range map[int64]fetch.ErrorKind{0: fetch.ErrOther, 1: fetch.ErrTimeout} {
				srv.On("RETR", 1, ftptest.Stall(size-missing, "226 Transfer complete."))
				start := time.Now()
				got, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, srv.URL+"/whole.bin")})
				if missing == 0 && (err != nil || len(got) != size || time.Since(start) > 2*time.Second) || missing > 0 && fetch.KindOf(err) != want {
					t.Errorf("TLS %v, %d missing: %d bytes after %v: %v", secure, missing, len(got), time.Since(start), err)
				}
			}
		})
	}
}

// TestRequiredPRET tests a server that refuses a port unless PRET has announced the transfer: PRET is
// sent when the refusal says so, and then before each transfer.
func TestRequiredPRET(t *testing.T) {
	for _, greeting := range []string{"220 ready", measured} { // a known server is connected to later
		securely(t, func(s *ftptest.Server) { s.RequirePRET, s.Greeting = true, greeting }, func(t *testing.T, srv *ftptest.Server, f *Fetcher) {
			for range 3 {
				for verb, transfer := range transfers {
					if _, err := transfer(t, srv, f); err != nil {
						t.Errorf("%s, %s: %v", greeting, verb, err)
					}
				}
			}
		})
	}
	securely(t, func(s *ftptest.Server) { s.RequirePRET = true }, func(t *testing.T, srv *ftptest.Server, f *Fetcher) {
		f.Exact = true
		if _, err := transfers["RETR"](t, srv, f); fetch.KindOf(err) != fetch.ErrUnsupported {
			t.Errorf("exact: %v", err)
		}
	})
}

// TestEPSVEndsSession tests that PASV is used in another session after the first has ended at EPSV, and
// then for this server always.
func TestEPSVEndsSession(t *testing.T) {
	for _, fault := range []ftptest.Fault{testserver.Close(), testserver.Reset(0)} {
		securely(t, nil, func(t *testing.T, srv *ftptest.Server, f *Fetcher) {
			srv.On("EPSV", 1, fault)
			for verb, transfer := range transfers {
				if _, err := transfer(t, srv, f); err != nil {
					t.Errorf("%v, %s: %v", fault, verb, err)
				}
			}
			if sent := strings.Count(srv.Transcript().String(), "C: EPSV"); sent != 1 {
				t.Errorf("%v: EPSV was sent %d times:\n%s", fault, sent, srv.Transcript())
			}
		})
	}
}
