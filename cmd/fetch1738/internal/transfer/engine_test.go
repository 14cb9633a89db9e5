package transfer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/output"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/telnettest"
)

// engineOf is an Engine without a Console whose documents go to out.
func engineOf(t *testing.T, out io.Writer, events Events) *Engine {
	c := &client.Client{Streams: stdio.Streams{In: strings.NewReader(""), Out: out, Err: io.Discard}}
	t.Cleanup(c.Close)
	return &Engine{Client: c, In: strings.NewReader(""), Out: out, Err: io.Discard, Events: events}
}

// ended are Events that keep what has ended.
type ended struct {
	mu      sync.Mutex
	results []*Result
	remarks []string
}

func (e *ended) Begin(*Result) Watch {
	return Watch{Remark: func(text string) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.remarks = append(e.remarks, text)
	}}
}

func (e *ended) End(r *Result) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.results = append(e.results, r)
}

func files(names ...string) fstest.MapFS {
	content := fstest.MapFS{}
	for _, name := range names {
		content[name] = &fstest.MapFile{Data: []byte("this is " + name + "\n"), ModTime: time.Date(1994, time.December, 1, 12, 0, 0, 0, time.UTC)}
	}
	return content
}

// A truncated document is resumed just before the point where it was truncated.
func TestRetryResumes(t *testing.T) {
	text := strings.Repeat("this is one\n", 1000)
	srv := ftptest.New(t, func(s *ftptest.Server) {
		s.Content = fstest.MapFS{"one": {Data: []byte(text), ModTime: time.Date(1994, time.December, 1, 12, 0, 0, 0, time.UTC)}}
	})
	srv.On("RETR", 1, testserver.Truncate(5000))
	path := filepath.Join(t.TempDir(), "copy")
	op := plan.New(new(plan.Global))
	op.URLs, op.Outputs = []string{srv.URL + "/one"}, []plan.Destination{{Path: path}}
	op.Retry = plan.Retry{Times: 2, Delay: time.Microsecond}
	r, err := engineOf(t, io.Discard, nil).InTurn(t.Context(), op)
	if err != nil || r.Err != nil {
		t.Fatal(err, r.Err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != text {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if r.Tries != 2 || r.Sink.Count != int64(len(text)) {
		t.Errorf("%d tries, %d octets", r.Tries, r.Sink.Count)
	}
	if talk := fmt.Sprint(srv.Transcript()); !strings.Contains(talk, "REST 904") {
		t.Errorf("not resumed:\n%s", talk)
	}
}

// Without tries that are left the failure is the Result's, and what came is kept.
func TestFailureIsTheResult(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = files("one", "two") })
	srv.On("RETR", 1, testserver.Truncate(5))
	events := new(ended)
	op := plan.New(new(plan.Global))
	op.URLs = []string{srv.URL + "/one", srv.URL + "/two"}
	var out bytes.Buffer
	last, err := engineOf(t, &out, events).InTurn(t.Context(), op)
	if err != nil || last.Err != nil || last.URL != srv.URL+"/two" || last.Serial != 1 {
		t.Errorf("%v, %+v", err, last)
	}
	if got := out.String(); got != "this "+"this is two\n" {
		t.Errorf("%q", got)
	}
	if len(events.results) != 2 || !errors.Is(events.results[0].Err, fetch.ErrTruncated) {
		t.Errorf("%d results", len(events.results))
	}
	op.Global.FailEarly = true
	srv.On("RETR", 1, testserver.Truncate(5))
	if last, _ = engineOf(t, &out, nil).InTurn(t.Context(), op); last.URL != srv.URL+"/one" || last.Err == nil {
		t.Errorf("went on after a failure: %s, %v", last.URL, last.Err)
	}
}

// Eight transfers are under way at once: the server greets nobody before it has
// eight connections.
func TestEightAtOnce(t *testing.T) {
	var names []string
	for i := range 8 {
		names = append(names, fmt.Sprint("file", i))
	}
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = files(names...) })
	for n := range 8 {
		srv.On("GREETING", n+1, testserver.Gather(8))
	}
	events := new(ended)
	var out bytes.Buffer
	op := plan.New(&plan.Global{Parallel: plan.Parallel{On: true, Max: 8}})
	for _, name := range names {
		op.URLs = append(op.URLs, srv.URL+"/"+name)
	}
	if last, err := engineOf(t, &out, events).AtOnce(t.Context(), []*plan.Operation{op}); err != nil || last.Err != nil {
		t.Fatal(err, last.Err)
	}
	for _, name := range names {
		if strings.Count(out.String(), "this is "+name+"\n") != 1 {
			t.Errorf("%s is not there once in %q", name, out.String())
		}
	}
	if len(events.results) != 8 {
		t.Errorf("%d results", len(events.results))
	}
}

// A transfer that has just begun is no reason to call Lasting.
func TestLasting(t *testing.T) {
	op := plan.New(&plan.Global{Parallel: plan.Parallel{On: true, Max: 1}})
	op.URLs = []string{"http://a.example/"}
	e, calls := engineOf(t, io.Discard, nil), 0
	e.Lasting = func() { calls++ }
	next, stop := iter.Pull2(e.allTransfers(t.Context(), []*plan.Operation{op}))
	defer stop()
	p := &pool{
		engine: e, global: op.Global, next: next, output: output.NewOutlet(io.Discard),
		hosts: make(map[locator.HostPort]*host), files: make(map[string]bool),
	}
	if p.start(t.Context()) == nil {
		t.Fatal("nothing was started")
	}
	for _, want := range []int{0, 1} {
		if p.widen(); calls != want {
			t.Errorf("called %d times, want %d", calls, want)
		}
	}
}

// Of several failures the one that comes last in the order of the URLs counts,
// whenever it happened. Who fails early takes others with it.
func TestFailuresAtOnce(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = files("one") })
	op := plan.New(&plan.Global{Parallel: plan.Parallel{On: true, Max: 4}})
	op.URLs = []string{srv.URL + "/missing", srv.URL + "/gone", srv.URL + "/one"}
	last, err := engineOf(t, io.Discard, nil).AtOnce(t.Context(), []*plan.Operation{op})
	if err != nil || last.URL != srv.URL+"/gone" || !errors.Is(last.Err, fetch.ErrNotFound) {
		t.Errorf("%v, %s: %v", err, last.URL, last.Err)
	}
	events := new(ended)
	op.Global.FailEarly = true
	op.URLs = []string{srv.URL + "/missing", srv.URL + "/gone"}
	srv.On("GREETING", 1, testserver.Gather(2), testserver.Silence()) // one of them waits until the other has failed
	if last, err = engineOf(t, io.Discard, events).AtOnce(t.Context(), []*plan.Operation{op}); err != nil || !errors.Is(last.Err, fetch.ErrNotFound) {
		t.Errorf("%v, %s: %v", err, last.URL, last.Err)
	}
	if len(events.results) != 2 || localerr.KindOf(events.results[1].Err) != localerr.Aborted {
		t.Errorf("%d results", len(events.results))
	}
}

// Services need a Console.
func TestWithoutConsole(t *testing.T) {
	srv := telnettest.New(t)
	op := plan.New(new(plan.Global))
	op.URLs = []string{srv.URL}
	if r, err := engineOf(t, io.Discard, nil).InTurn(t.Context(), op); err != nil || !errors.Is(r.Err, fetch.ErrUnsupported) {
		t.Error(err, r.Err)
	}
}

// An interrupt ends the Operation.
func TestInterrupted(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = files("one") })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	op := plan.New(new(plan.Global))
	op.URLs = []string{srv.URL + "/one", srv.URL + "/one"}
	r, err := engineOf(t, io.Discard, nil).InTurn(ctx, op)
	if err != nil || !errors.Is(r.Err, fetch.ErrCanceled) || r.Serial != 0 {
		t.Errorf("%v, transfer %d: %v", err, r.Serial, r.Err)
	}
}
