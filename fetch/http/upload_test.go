package http

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
)

// store returns a server that stores uploads in got.
func store(got *string) server {
	return func(v *received) string {
		*got = strings.SplitN(v.head, " ", 2)[0] + " " + v.body()
		return status("201 Created", "made", `ETag: "new"`)
	}
}

func TestReplaceAndUpdate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		name := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(name, []byte("xxxcontent"), 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if _, err := file.Seek(3, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		for _, tc := range []struct {
			name    string
			body    io.Reader
			want    string
			framing string
		}{
			{"string", strings.NewReader("content"), "content", "Content-Length: 7"},
			{"buffer", bytes.NewBufferString("content"), "content", "Content-Length: 7"},
			{"file, from where it is", file, "content", "Content-Length: 7"},
			{"pipe", iotest.OneByteReader(strings.NewReader("content")), "content", "Transfer-Encoding: chunked"},
			{"empty", strings.NewReader(""), "", "Content-Length: 0"},
			{"empty pipe", iotest.OneByteReader(strings.NewReader("")), "", "Transfer-Encoding: chunked"},
			{"nil", nil, "", "Content-Length: 0"},
		} {
			var got string
			w := newNetwork(t, map[string]server{"a.example:80": store(&got)})
			f := w.fetcher()
			req := &fetch.Request{Locator: parse(t, "http://a.example/f")}
			a, err := f.Replace(t.Context(), req, tc.body)
			if err != nil || got != "PUT "+tc.want || !strings.Contains(w.visits[0].head, tc.framing+"\r\n") || a.Size != 4 {
				t.Errorf("%s: %q in %q, %+v, %v", tc.name, got, w.visits[0].head, a, err)
			}
			if s, ok := tc.body.(io.Seeker); ok {
				if _, err := s.Seek(int64(-len(tc.want)), io.SeekCurrent); err != nil {
					t.Errorf("%s: %v", tc.name, err)
				}
				if _, err := f.Update(t.Context(), req, tc.body); err != nil || got != "POST "+tc.want {
					t.Errorf("%s: %q, %v", tc.name, got, err)
				}
			}
			if len(w.dials) != 1 {
				t.Errorf("%s: %d connections", tc.name, len(w.dials))
			}
		}
		w := newNetwork(t, nil)
		if _, err := w.fetcher().Replace(t.Context(), &fetch.Request{Locator: parse(t, "http://a.example/"), Offset: 3}, strings.NewReader("x")); fetch.KindOf(err) != fetch.ErrBadRange || len(w.dials) > 0 {
			t.Errorf("a part: %v", err)
		}
	})
}

// TestEarlyAnswer checks that a refusal that arrives before the server has read the body counts,
// even if the server then closes, and that a success does not if the body was not sent. After the
// end, nothing more of the body is read.
func TestEarlyAnswer(t *testing.T) {
	for name, body := range map[string]func() io.Reader{
		"known":       func() io.Reader { return bytes.NewReader(make([]byte, 8<<20)) },
		"endless":     func() io.Reader { return zeros{} },
		"small":       func() io.Reader { return strings.NewReader("x") },
		"small, once": func() io.Reader { return iotest.OneByteReader(strings.NewReader("xyz")) },
	} {
		for code, kind := range map[string]fetch.ErrorKind{"403 Forbidden": fetch.ErrPermission, "413 Too Large": fetch.ErrTooLarge, "201 Created": fetch.ErrTruncated} {
			if code == "201 Created" && name != "endless" {
				continue // it may have been sent
			}
			w := newNetwork(t, map[string]server{"a.example:80": says(status(code, ""))})
			_, err := w.fetcher().Replace(t.Context(), &fetch.Request{Locator: parse(t, "http://a.example/f")}, body())
			if fetch.KindOf(err) != kind {
				t.Errorf("%s, %s: %v", name, code, err)
			}
		}
	}
}

// TestAnsweredBeforeSent has a body that was sent to a server that redirects it, and then a success
// of a server that has not asked for it with 100; and one whose response is read.
func TestAnsweredBeforeSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newNetwork(t, map[string]server{
			"a.example:80": func(v *received) string {
				v.body()
				return status("307 Temporary Redirect", "", "Location: http://b.example/f", "Connection: close")
			},
			"b.example:80": says(status("201 Created", "", "Connection: close")),
		})
		body := strings.NewReader(strings.Repeat("b", largeBody+1))
		_, err := w.fetcher().Replace(t.Context(), &fetch.Request{Locator: parse(t, "http://a.example/f")}, body)
		if fetch.KindOf(err) != fetch.ErrTruncated || len(w.visits) != 2 {
			t.Errorf("sent to the first server only: %d visits, %v", len(w.visits), err)
		}
		for method, kind := range map[string]fetch.ErrorKind{"PUT": fetch.ErrTruncated, "POST": fetch.ErrOther} {
			_, _, err := get(t, w.fetcher(), "http://b.example/f", &Options{Method: method, Body: zeros{}})
			if fetch.KindOf(err) != kind || (err == nil) != (kind == fetch.ErrOther) {
				t.Errorf("%s: %v", method, err)
			}
		}
	})
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestUploadFails(t *testing.T) {
	broken := errors.New("the disk is broken")
	var got string
	w := newNetwork(t, map[string]server{"a.example:80": store(&got)})
	_, err := w.fetcher().Replace(t.Context(), &fetch.Request{Locator: parse(t, "http://a.example/f")},
		io.MultiReader(strings.NewReader("start"), iotest.ErrReader(broken)))
	if fetch.KindOf(err) != fetch.ErrLocalIO || !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

// TestUploadHangs checks that a body whose Read hangs does not block a canceled fetch.
func TestUploadHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got string
		w := newNetwork(t, map[string]server{"a.example:80": store(&got)})
		r, hang := io.Pipe()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start := time.Now()
		_, err := w.fetcher().Replace(ctx, &fetch.Request{Locator: parse(t, "http://a.example/f")}, r)
		if fetch.KindOf(err) != fetch.ErrTimeout || time.Since(start) != time.Minute {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		hang.Close()
		synctest.Wait()
	})
}

// TestUploadStalls checks that an upload fails if the server reads nothing for Limits.Idle.
func TestUploadStalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newNetwork(t, map[string]server{"a.example:80": func(v *received) string {
			io.ReadFull(v.rest, make([]byte, 100<<10))
			time.Sleep(time.Hour)
			return cut
		}})
		start := time.Now()
		_, err := w.fetcher().Replace(t.Context(), &fetch.Request{Locator: parse(t, "http://a.example/f")}, bytes.NewReader(make([]byte, 900<<10)))
		if fetch.KindOf(err) != fetch.ErrTimeout || time.Since(start) != time.Minute {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		time.Sleep(time.Hour)
	})
}

// TestUploadWithLogin checks that a body is sent again with the password. A body that cannot be
// sent twice is held back until the server has accepted the head.
func TestUploadWithLogin(t *testing.T) {
	for name, body := range map[string]io.Reader{"twice": strings.NewReader("body"), "once": iotest.OneByteReader(strings.NewReader("body"))} {
		var got string
		w := newNetwork(t, map[string]server{"a.example:80": func(v *received) string {
			if v.field("Authorization") == "" {
				if v.field("Expect") == "" {
					v.body()
				}
				return status("401 Unauthorized", "", `WWW-Authenticate: Basic realm="x"`, "Connection: close") + cut
			}
			got = v.body()
			return document("")
		}})
		f := w.fetcher(func(f *Fetcher) { f.Env.Credentials = gives("me", "secret") })
		_, err := f.Replace(t.Context(), &fetch.Request{Locator: parse(t, "http://a.example/f")}, body)
		if err != nil || got != "body" || len(w.visits) != 2 {
			t.Errorf("%s: %q in %d requests, %v", name, got, len(w.visits), err)
		}
	}
}

// TestContinueTimeout has a server that never sends 100 Continue: it gets the body after the
// timeout.
func TestContinueTimeout(t *testing.T) {
	for limit, want := range map[time.Duration]time.Duration{0: time.Second, 7 * time.Second: 7 * time.Second, -1: 0} {
		synctest.Test(t, func(t *testing.T) {
			var waited time.Duration
			w := newNetwork(t, map[string]server{"a.example:80": func(v *received) string {
				v.read = true
				asked := time.Now()
				line := make([]byte, len("4\r\nbody\r\n0\r\n\r\n"))
				_, _ = io.ReadFull(v.rest, line[:1])
				waited = time.Since(asked)
				_, _ = io.ReadFull(v.rest, line[1:])
				return document(string(line))
			}})
			f := w.fetcher(func(f *Fetcher) { f.ContinueTimeout = limit })
			body, _, err := get(t, f, "http://a.example/", &Options{Method: "PUT", Body: io.LimitReader(strings.NewReader("body"), 4)})
			if err != nil || !strings.Contains(body, "body") || waited != want {
				t.Errorf("%v: waited %v; %q, %v", limit, waited, body, err)
			}
		})
	}
}

// TestExpectationFailed has a server that does not support the Expect field: the request is
// repeated without it.
func TestExpectationFailed(t *testing.T) {
	for _, again := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			var body io.Reader = strings.NewReader(strings.Repeat("b", largeBody+1))
			if !again {
				body = io.LimitReader(body, largeBody)
			}
			w := newNetwork(t, map[string]server{"a.example:80": func(v *received) string {
				if v.field("Expect") != "" {
					_, _ = io.CopyN(io.Discard, v.rest, 1) // so that the body must be rewound to be sent again
					return status("417 Expectation Failed", "", "Connection: close") + cut
				}
				return document(v.body()[:1])
			}})
			got, res, err := get(t, w.fetcher(), "http://a.example/", &Options{Method: "PUT", Body: body, AnyStatus: true})
			if again && (err != nil || got != "b" || len(w.heads("")) != 2) {
				t.Errorf("%q, %+v, %v", got, res, err)
			}
			if !again && (err != nil || res.Info.(*Info).StatusCode != 417) {
				t.Errorf("a body that cannot be sent again: %+v, %v", res, err)
			}
		})
	}
}

// TestFailedPart tests 207 responses to changes: they fail if a status in the body does.
func TestFailedPart(t *testing.T) {
	for body, code := range map[string]int{
		`<D:response><D:status>HTTP/1.1 424 Failed Dependency</D:status></D:response><status>HTTP/1.1 423 Locked</status>`: 424,
		`<D:status xml:lang="en">HTTP/1.1 423 Locked</D:status >`:                                                          423,
		`<D:status>HTTP/1.1 201 Created</D:status>`:                                                                        0,
		`<D:status>HTTP/1.1</D:status><status>`:                                                                            0,
		``:                                                                                                                 0,
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newNetwork(t, map[string]server{"a.example:80": says(status("207 Multi-Status", body))}).fetcher()
			_, err := f.Replace(t.Context(), &fetch.Request{Locator: parse(t, "http://a.example/f")}, strings.NewReader("x"))
			if e, _ := errors.AsType[*fetch.Error](err); (err != nil) != (code != 0) || e != nil && e.Code != code {
				t.Errorf("%s: %v", body, err)
			}
			f = newNetwork(t, map[string]server{"a.example:80": says(status("207 Multi-Status", body))}).fetcher()
			res, err := f.Fetch(t.Context(), &fetch.Request{Locator: parse(t, "http://a.example/f"), Options: &Options{Method: "MOVE"}})
			if (err != nil) != (code != 0) {
				t.Errorf("MOVE: %s: %v", body, err)
			}
			if err == nil {
				res.Close()
			}
		})
	}
}
