package transfer

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// numbered is a server of documents that are numbers.
type numbered struct {
	*httptest.Server
	answer func(w http.ResponseWriter, r *http.Request, n, try int)

	mu          sync.Mutex
	arrived     *sync.Cond
	requests    map[int]int // by document
	running     int
	most        int // of running
	connections int
}

// startNumbered starts a server that answers with the number in the path, unless answer does.
func startNumbered(t *testing.T, http2 bool, answer func(w http.ResponseWriter, r *http.Request, n, try int)) *numbered {
	s := &numbered{requests: make(map[int]int), answer: answer}
	s.arrived = sync.NewCond(&s.mu)
	s.Server = httptest.NewUnstartedServer(s)
	s.EnableHTTP2, s.Config.ErrorLog = http2, log.New(io.Discard, "", 0)
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.connections++
		}
	}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// ServeHTTP implements http.Handler.
func (s *numbered) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n, _ := strconv.Atoi(strings.Trim(r.URL.Path, "/"))
	s.mu.Lock()
	s.requests[n]++
	try := s.requests[n]
	s.running++
	s.most = max(s.most, s.running)
	s.mu.Unlock()
	s.arrived.Broadcast()
	s.answer(w, r, n, try)
	s.mu.Lock()
	s.running--
	s.mu.Unlock()
}

// await waits until something has been requested.
func (s *numbered) await(what func() bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for !what() {
		s.arrived.Wait()
	}
}

// list returns the Operation for documents of s, and what it writes.
func (s *numbered) list(g *plan.Global, to int) (op *plan.Operation, all string) {
	op = plan.New(g)
	op.TLS.Insecure = true
	for n := range to {
		op.URLs = append(op.URLs, fmt.Sprintf("%s/%d", s.URL, n))
		all += fmt.Sprintln(n)
	}
	return op, all
}

// told are Events that keep what is shown, in order.
type told struct {
	ended
	lines []string
}

func (e *told) Begin(r *Result) Watch {
	name := r.Locator.(*locator.HTTP).Path
	e.lines = append(e.lines, "begin "+name)
	note := func(what string) func([]byte) {
		return func(octets []byte) {
			first, _, _ := strings.Cut(string(octets), "\r\n")
			e.lines = append(e.lines, what+name+" "+first)
		}
	}
	return Watch{Traces: []*fetch.Trace{{
		Reused: func(fetch.Connection) { e.lines = append(e.lines, "reused "+name) },
		Sent:   note("sent "), Received: note("received "),
		Body: func(n int64) { e.lines = append(e.lines, fmt.Sprint("body ", name, " ", n)) },
	}}}
}

func (e *told) End(r *Result) {
	e.ended.End(r)
	e.lines = append(e.lines, "end "+r.Locator.(*locator.HTTP).Path)
}

// The requests from the third on are sent before the second document has come, and answered in any
// order. What is shown is as it is in turn.
func TestAhead(t *testing.T) {
	const files = 12
	done := make([]chan struct{}, files+1)
	for n := range done {
		done[n] = make(chan struct{})
	}
	close(done[files])
	var srv *numbered
	srv = startNumbered(t, true, func(w http.ResponseWriter, _ *http.Request, n, _ int) {
		if n > 0 {
			srv.await(func() bool { return len(srv.requests) == files })
			<-done[n+1]
			defer close(done[n])
		}
		if n == 5 {
			w.WriteHeader(http.StatusNotFound)
		}
		fmt.Fprintln(w, n)
	})
	op, all := srv.list(new(plan.Global), files)
	var out bytes.Buffer
	events := new(told)
	last, err := engineOf(t, &out, events).InTurn(t.Context(), op)
	if err != nil || last.Err != nil || last.Serial != files-1 || out.String() != all {
		t.Errorf("%v, %+v, %q", err, last, out.String())
	}
	var want []string
	for n := range files {
		status := "200"
		if n == 5 {
			status = "404"
		}
		want = append(want, fmt.Sprint("begin ", n))
		if n > 0 {
			want = append(want, fmt.Sprint("reused ", n))
		}
		size := len(strconv.Itoa(n)) + 1
		want = append(want, fmt.Sprintf("sent %d GET /%d HTTP/2", n, n), fmt.Sprintf("received %d HTTP/2 %s", n, status), fmt.Sprintf("body %d %d", n, size), fmt.Sprint("end ", n))
	}
	for i, line := range events.lines {
		events.lines[i] = strings.TrimRight(line, " ")
	}
	if !slices.Equal(events.lines, want) {
		t.Errorf("shown:\n%s", strings.Join(events.lines, "\n"))
	}
	if srv.connections != 1 || len(srv.requests) != files || srv.requests[5] != 1 {
		t.Errorf("%d connections, %v", srv.connections, srv.requests)
	}
	for _, r := range events.results {
		if f := r.Account.Facts(); f.Asked.Before(f.Start) || f.FirstOctet.Before(f.Asked) || f.End.Before(f.FirstOctet) || f.Sent == 0 {
			t.Errorf("%s: %+v", r.URL, f)
		}
	}
}

// Where a request may depend on the transfer before it, or a limit counts from its turn, it waits.
func TestNotAhead(t *testing.T) {
	for name, set := range map[string]func(*plan.Operation){
		"--fail-early":    func(op *plan.Operation) { op.FailEarly = true },
		"--rate":          func(op *plan.Operation) { op.Interval = time.Nanosecond },
		"-m":              func(op *plan.Operation) { op.Limits.Time = time.Hour },
		"--max-filesize":  func(op *plan.Operation) { op.MaxSize = 1 << 20 },
		"--limit-rate":    func(op *plan.Operation) { op.Limits.Rate = 1 << 30 },
		"-y":              func(op *plan.Operation) { op.Limits.SpeedTime = 3600 },
		"-I":              func(op *plan.Operation) { op.Ask.Head = true },
		"-X":              func(op *plan.Operation) { op.Ask.Method = "REPORT" },
		"-d":              func(op *plan.Operation) { op.HTTP.Data = []byte("a=b") },
		"-C 0":            func(op *plan.Operation) { op.Ask.Resume = plan.ResumeGiven },
		"-r":              func(op *plan.Operation) { op.Ask.Span, op.Ask.SpanText = &plan.Span{Length: 1}, "0-0" },
		"-z":              func(op *plan.Operation) { op.Ask.Time.When = time.Unix(1e9, 0) },
		"--etag-compare":  func(op *plan.Operation) { op.HTTP.ETagCompare = t.TempDir() + "/none" },
		"--skip-existing": func(op *plan.Operation) { op.Output.SkipExisting = true },
		"--no-pipelining": func(op *plan.Operation) { op.FTPSession.NoPipelining = true },
	} {
		t.Run(name, func(t *testing.T) {
			events := new(ended)
			srv := startNumbered(t, true, func(w http.ResponseWriter, _ *http.Request, n, _ int) {
				events.mu.Lock()
				defer events.mu.Unlock()
				if n != len(events.results) {
					t.Errorf("document %d was requested when %d transfers had ended", n, len(events.results))
				}
				fmt.Fprintln(w, n)
			})
			op, _ := srv.list(new(plan.Global), 8)
			set(op)
			if last, err := engineOf(t, io.Discard, events).InTurn(t.Context(), op); err != nil || last.Err != nil {
				t.Error(err, last.Err)
			}
			if srv.most != 1 || len(events.results) != 8 {
				t.Errorf("%d requests at once, %d results", srv.most, len(events.results))
			}
		})
	}
}

// By HTTP/1.1 there is one request at a time, and to other servers.
func TestNotAheadElsewhere(t *testing.T) {
	answer := func(w http.ResponseWriter, _ *http.Request, n, _ int) { fmt.Fprintln(w, n) }
	old, one, other := startNumbered(t, false, answer), startNumbered(t, true, answer), startNumbered(t, true, answer)
	op, _ := old.list(new(plan.Global), 8)
	for n := range 8 {
		op.URLs = append(op.URLs, fmt.Sprintf("%s/%d", one.URL, n), fmt.Sprintf("%s/%d", other.URL, n))
	}
	var out bytes.Buffer
	if last, err := engineOf(t, &out, nil).InTurn(t.Context(), op); err != nil || last.Err != nil {
		t.Fatal(err, last.Err)
	}
	if want := "0 1 2 3 4 5 6 7 0 0 1 1 2 2 3 3 4 4 5 5 6 6 7 7"; strings.Join(strings.Fields(out.String()), " ") != want {
		t.Errorf("%q", out.String())
	}
	if old.most != 1 || one.most != 1 || other.most != 1 || old.connections != 1 {
		t.Errorf("%d, %d, %d requests at once, %d connections", old.most, one.most, other.most, old.connections)
	}
}

// What is not wanted before its turn is canceled, and requested again.
func TestAheadAgain(t *testing.T) {
	const files, odd = 8, 4
	large := strings.Repeat("large\n", 3<<20/6)
	for name, first := range map[string]func(w http.ResponseWriter){
		"busy": func(w http.ResponseWriter) { w.WriteHeader(http.StatusTooManyRequests) },
		"password": func(w http.ResponseWriter) {
			w.Header().Set("WWW-Authenticate", `Basic realm="r"`)
			w.WriteHeader(http.StatusUnauthorized)
		},
		"large":                func(w http.ResponseWriter) { w.Header().Set("Content-Length", fmt.Sprint(len(large))) },
		"large without a size": func(w http.ResponseWriter) { _, _ = io.WriteString(w, large) },
	} {
		t.Run(name, func(t *testing.T) {
			var srv *numbered
			canceled := make(chan struct{})
			srv = startNumbered(t, true, func(w http.ResponseWriter, r *http.Request, n, try int) {
				switch {
				case n == odd && try == 1:
					first(w)
					w.(http.Flusher).Flush()
					<-r.Context().Done()
					close(canceled)
					return
				case n == odd && strings.HasPrefix(name, "large"):
					_, _ = io.WriteString(w, large)
					return
				case n == 1:
					<-canceled // before the turn of the other one
				}
				fmt.Fprintln(w, n)
			})
			op, want := srv.list(new(plan.Global), files)
			if name == "password" {
				for i, url := range op.URLs {
					op.URLs[i] = strings.Replace(url, "://", "://me@", 1)
				}
			}
			if strings.HasPrefix(name, "large") {
				want = strings.Replace(want, fmt.Sprintln(odd), large, 1)
			}
			var out bytes.Buffer
			if last, err := engineOf(t, &out, nil).InTurn(t.Context(), op); err != nil || last.Err != nil || out.String() != want {
				t.Errorf("%v, %v, %d bytes instead of %d", err, last.Err, out.Len(), len(want))
			}
			if srv.requests[odd] != 2 || srv.requests[odd-1] != 1 || srv.connections != 1 {
				t.Errorf("%v", srv.requests)
			}
		})
	}
}

// full is a writer that takes some bytes.
type full struct{ room int }

func (f *full) Write(b []byte) (int, error) {
	if f.room -= len(b); f.room < 0 {
		return 0, &fs.PathError{Op: "write", Path: "pipe", Err: errors.New("full")}
	}
	return len(b), nil
}

// When the output fails, what was requested early is canceled.
func TestAheadCanceled(t *testing.T) {
	var canceled sync.WaitGroup
	var srv *numbered
	canceled.Add(4)
	srv = startNumbered(t, true, func(w http.ResponseWriter, r *http.Request, n, _ int) {
		if n > 1 {
			w.(http.Flusher).Flush()
			<-r.Context().Done()
			canceled.Done()
			return
		}
		if n == 1 {
			srv.await(func() bool { return len(srv.requests) == 6 })
		}
		fmt.Fprintln(w, n)
	})
	op, _ := srv.list(new(plan.Global), 6)
	if last, err := engineOf(t, &full{2}, nil).InTurn(t.Context(), op); err != nil || last.Serial != 1 || localerr.KindOf(last.Err) != localerr.Output {
		t.Errorf("%v, %+v", err, last)
	}
	canceled.Wait()
}

// In parallel, streams are limited by --parallel-max, and else by 100; connections by 50.
func TestStreamsAtOnce(t *testing.T) {
	for _, tc := range []struct {
		http2              bool
		max, perHost, want int
	}{{true, 0, 0, 100}, {true, 20, 0, 20}, {true, 0, 10, 10}, {false, 0, 0, 50}, {false, 60, 0, 60}} {
		t.Run(fmt.Sprint(tc), func(t *testing.T) {
			var srv *numbered
			srv = startNumbered(t, tc.http2, func(w http.ResponseWriter, _ *http.Request, n, _ int) {
				srv.await(func() bool { return srv.most >= tc.want }) // none has to end before others begin
				fmt.Fprintln(w, n)
			})
			op, all := srv.list(&plan.Global{Parallel: plan.Parallel{On: true, Max: tc.max, PerHost: tc.perHost, Immediate: !tc.http2}}, tc.want+20)
			var out bytes.Buffer
			if last, err := engineOf(t, &out, nil).AtOnce(t.Context(), []*plan.Operation{op}); err != nil || last.Err != nil || len(out.String()) != len(all) {
				t.Errorf("%v, %v, %q", err, last.Err, out.String())
			}
			if srv.most != tc.want || tc.http2 && srv.connections != 1 || !tc.http2 && srv.connections > tc.want {
				t.Errorf("%d requests at once, %d connections", srv.most, srv.connections)
			}
		})
	}
}
