package nats

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"
	"go.uber.org/goleak"

	"github.com/fetch1738/fetch1738/crawl"
	"github.com/fetch1738/fetch1738/scale"
)

// leak is a goroutine that nats.go 1.55.0 leaves if an object is stored before it has begun.
const leak = "github.com/nats-io/nats.go/jetstream.(*jetStream).resetPendingAcksOnReconnect"

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction(leak)) }

// ttl is longer than what a busy machine takes from a process.
const ttl = 10 * time.Second

func newServer(t *testing.T, o ServerOptions) *Server {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	if o.Listen == "" {
		o.Listen = "127.0.0.1:0"
	}
	s, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// debianServer starts Debian's server, which may be of version 2.9, and returns its URL.
func debianServer(t *testing.T) string {
	t.Helper()
	const program = "/usr/sbin/nats-server"
	if _, err := os.Stat(program); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skipf("%v: the server of Debian is not installed", err)
	}
	cmd := exec.Command(program, "-js", "-sd", t.TempDir(), "-a", "127.0.0.1", "-p", "-1")
	out, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = cmd.Process.Kill(), cmd.Wait() })
	addr := ""
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if _, text, ok := strings.Cut(lines.Text(), "Listening for client connections on "); ok {
			addr = text
		}
		if strings.Contains(lines.Text(), "Server is ready") {
			return "nats://" + addr
		}
	}
	t.Fatal(program, "has ended")
	return ""
}

// eachServer runs a test with the embedded server and with that of Debian.
func eachServer(t *testing.T, test func(t *testing.T, url string)) {
	t.Run("embedded", func(t *testing.T) { test(t, newServer(t, ServerOptions{}).URL()) })
	t.Run("debian", func(t *testing.T) { test(t, debianServer(t)) })
}

func open(t *testing.T, o Options) *Engine {
	t.Helper()
	if o.TTL == 0 {
		o.TTL = ttl
	}
	e, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func add(t *testing.T, e *Engine, unit string, urls ...string) {
	t.Helper()
	var links []crawl.Link
	for _, url := range urls {
		links = append(links, crawl.Link{URL: url})
	}
	if err := e.Add(t.Context(), map[string][]crawl.Link{unit: links}); err != nil {
		t.Fatal(err)
	}
}

func take(t *testing.T, e *Engine) *scale.Work {
	t.Helper()
	w, err := e.Take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func commit(t *testing.T, e *Engine, w *scale.Work, status scale.Status, again time.Duration) {
	t.Helper()
	err := e.Commit(t.Context(), w, scale.State{Status: status, Frontier: fmt.Sprint("f", w.Fence)}, again)
	if err != nil {
		t.Fatal(err)
	}
	e.Release(w, 0, 0)
}

func urls(w *scale.Work) (list []string) {
	for _, l := range w.Links {
		list = append(list, l.URL)
	}
	return list
}

func status(t *testing.T, e *Engine, name string) scale.Status {
	t.Helper()
	for unit, err := range e.Units(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if unit.Name == name {
			return unit.State.Status
		}
	}
	return ""
}

// stopRenewing is what happens to a lease whose process does not run.
func stopRenewing(w *scale.Work) { close(of(w).end) }

// A unit is taken with its links, and a Work that was not committed leaves them.
func TestUnit(t *testing.T) {
	e := open(t, Options{URL: newServer(t, ServerOptions{}).URL()})
	add(t, e, "h.example", "gopher://h.example/1a", "gopher://h.example/1b")
	add(t, e, "h.example", "gopher://h.example/1c")
	w := take(t, e)
	if got := fmt.Sprintf("%s %v %v %v", w.Unit, urls(w), w.State.Status, w.Interrupted); got != "h.example [gopher://h.example/1a gopher://h.example/1b gopher://h.example/1c] new false" {
		t.Error(got)
	}
	if s := status(t, e, "h.example"); s != scale.Active {
		t.Error(s)
	}
	e.Release(w, 0, 0)
	again := take(t, e)
	if len(again.Links) != 3 || again.Interrupted || again.Fence <= w.Fence || again.State.Status != scale.New {
		t.Errorf("%+v", again)
	}
	commit(t, e, again, scale.Waiting, 0)
	w = take(t, e)
	if len(w.Links) != 0 || w.State.Frontier != fmt.Sprint("f", again.Fence) {
		t.Errorf("%+v", w)
	}
	commit(t, e, w, scale.Done, -1)
	add(t, e, "h.example", "gopher://h.example/1d")
	w = take(t, e)
	if fmt.Sprintf("%v %v", urls(w), w.State.Status) != "[gopher://h.example/1d] done" {
		t.Errorf("%+v", w)
	}
	commit(t, e, w, scale.Done, -1)
}

// Names of every kind are keys and back again.
func TestNames(t *testing.T) {
	e := open(t, Options{URL: newServer(t, ServerOptions{}).URL()})
	for _, name := range []string{"127.0.0.1", "::1", "a..b.", ".x", "UPPER", "news.example/comp.lang.*", "münchen.example", "a b", "=41", strings.Repeat("l.", 100)} {
		add(t, e, name, "gopher://h/")
		w := take(t, e)
		if w.Unit != name || len(w.Links) != 1 {
			t.Errorf("%q became %q", name, w.Unit)
		}
		if err := e.Claim(t.Context(), w, "address/"+name); err != nil {
			t.Error(err)
		}
		commit(t, e, w, scale.Done, -1)
	}
}

// While one process has a unit, no other gets it, and after Release not before the time to hold.
func TestLease(t *testing.T) {
	s := newServer(t, ServerOptions{})
	a, b := open(t, Options{URL: s.URL()}), open(t, Options{URL: s.URL()})
	add(t, a, "h", "gopher://h/")
	w := take(t, a)
	if err := a.due(t.Context(), "h"); err != nil { // refused: there is a message
		t.Fatal(err)
	}
	if l, _, err := b.take(t.Context(), "h", nil); l != nil || err != nil {
		t.Fatal("two owners", err)
	}
	a.Release(w, time.Hour, 0)
	if l, _, err := b.take(t.Context(), "h", nil); l != nil || err != nil {
		t.Fatal("taken although it is held", err)
	}
}

// An owner that does not renew loses its lease to one with a greater fence, and cannot commit.
func TestFence(t *testing.T) {
	s := newServer(t, ServerOptions{})
	a, b := open(t, Options{URL: s.URL(), TTL: time.Second}), open(t, Options{URL: s.URL(), TTL: time.Second})
	add(t, a, "h", "gopher://h/")
	old := take(t, a)
	stopRenewing(old)
	w := take(t, b)
	if !w.Interrupted || w.Fence <= old.Fence || len(w.Links) != 1 {
		t.Errorf("%+v", w)
	}
	if old.Held() {
		t.Error("the first owner believes in its lease")
	}
	if err := a.Claim(t.Context(), old, "x"); !errors.Is(err, scale.ErrFenced) {
		t.Error(err)
	}
	if err := a.Commit(t.Context(), old, scale.State{Status: scale.Done}, -1); !errors.Is(err, scale.ErrFenced) {
		t.Error(err)
	}
	if err := b.Commit(t.Context(), w, scale.State{Status: scale.Done, Frontier: "f"}, -1); err != nil && !errors.Is(err, scale.ErrFenced) {
		t.Error(err)
	}
	b.Release(w, 0, 0)
}

// A lease that was removed ends the Work at the next renewal.
func TestLost(t *testing.T) {
	e := open(t, Options{URL: newServer(t, ServerOptions{}).URL(), TTL: time.Second})
	add(t, e, "h", "gopher://h/")
	w := take(t, e)
	if err := e.leases.Purge(t.Context(), "unit.h"); err != nil {
		t.Fatal(err)
	}
	<-w.Lost
	e.Release(w, 0, 0)
}

// One address is for one Work at a time, and an account for as many as it has slots.
func TestClaim(t *testing.T) {
	e := open(t, Options{URL: newServer(t, ServerOptions{}).URL()})
	var works []*scale.Work
	for i := range 3 {
		add(t, e, fmt.Sprint("h", i), "gopher://h/")
		works = append(works, take(t, e))
	}
	claim := func(i int, names ...string) error { return e.Claim(t.Context(), works[i], names...) }
	for i, want := range []error{nil, nil, scale.ErrBusy} {
		if err := claim(i, "slot0", "slot1"); !errors.Is(err, want) {
			t.Errorf("%d: %v", i, err)
		}
	}
	if err := claim(0, "slot0", "slot1"); err != nil {
		t.Error("a second time:", err)
	}
	commit(t, e, works[0], scale.Done, -1)
	for { // Release does not wait
		err := claim(2, "slot0", "slot1")
		if err == nil {
			break
		}
		if !errors.Is(err, scale.ErrBusy) {
			t.Fatal(err)
		}
	}
	commit(t, e, works[1], scale.Done, -1)
	commit(t, e, works[2], scale.Done, -1)
}

// No link is lost that comes while its unit is being committed.
func TestAddWhileCommitting(t *testing.T) {
	s := newServer(t, ServerOptions{})
	e, other := open(t, Options{URL: s.URL()}), open(t, Options{URL: s.URL()})
	const links = 200
	var adding sync.WaitGroup
	adding.Go(func() {
		for i := range links {
			err := other.Add(t.Context(), map[string][]crawl.Link{"h": {{URL: fmt.Sprint("gopher://h/0", i)}}})
			if err != nil {
				t.Error(err)
				return
			}
		}
	})
	seen := make(map[string]bool)
	for len(seen) < links {
		w := take(t, e)
		for _, url := range urls(w) {
			seen[url] = true
		}
		commit(t, e, w, scale.Done, -1)
	}
	adding.Wait()
}

// A unit that a process has left without a message gets one.
func TestMend(t *testing.T) {
	e := open(t, Options{URL: newServer(t, ServerOptions{}).URL()})
	add(t, e, "waiting", "gopher://waiting/")
	commit(t, e, take(t, e), scale.Waiting, time.Hour)
	add(t, e, "done", "gopher://done/")
	commit(t, e, take(t, e), scale.Done, -1)
	if err := e.work.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := e.js.Publish(t.Context(), e.linksSubject("linked"), []byte(`[{"url":"gopher://linked/"}]`)); err != nil {
		t.Fatal(err)
	}
	if err := e.mend(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := make(map[string]bool)
	for range 2 {
		w := take(t, e)
		got[w.Unit] = true
		commit(t, e, w, scale.Done, -1)
	}
	if !got["waiting"] || !got["linked"] {
		t.Error(got)
	}
	// A message that was acknowledged, and is not delivered any more.
	if err := e.due(t.Context(), "done"); err != nil {
		t.Fatal(err)
	}
	if _, err := e.next(t.Context()); err != nil {
		t.Fatal(err)
	}
	add(t, e, "done", "gopher://done/1more")
	message := func() uint64 {
		m, err := e.work.GetLastMsgForSubject(t.Context(), e.workSubject("done"))
		if err != nil {
			t.Fatal(err)
		}
		return m.Sequence
	}
	before := message()
	if err := e.mend(t.Context()); err != nil {
		t.Fatal(err)
	}
	if message() == before {
		t.Error("the message was not replaced")
	}
	w := take(t, e)
	if w.Unit != "done" || len(w.Links) != 1 {
		t.Errorf("%+v", w)
	}
	commit(t, e, w, scale.Done, -1)
}

// waits returns when want messages wait for an acknowledgement, and all others are to be delivered
// for the first time, which the server may count a little later. It fails if the server has
// forgotten one that waits.
func waits(t *testing.T, e *Engine, when string, want int) {
	t.Helper()
	for {
		consumer, err := e.consumer.Info(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		work, err := e.work.Info(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if consumer.NumAckPending < want {
			t.Fatalf("%s: %d messages, %d of them new, and %d wait; want %d",
				when, work.State.Msgs, consumer.NumPending, consumer.NumAckPending, want)
		}
		if consumer.NumAckPending == want && work.State.Msgs == consumer.NumPending+uint64(want) {
			return
		}
	}
}

// released returns when the lease of a unit has ended, for which commit does not wait.
func released(t *testing.T, e *Engine, unit string) {
	t.Helper()
	for {
		_, err := e.leases.Get(t.Context(), "unit."+unit)
		if errors.Is(err, jetstream.ErrKeyNotFound) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A unit that waits, or has an owner, is left alone: it is asked neither never nor early.
func TestMendWaiting(t *testing.T) { eachServer(t, testMendWaiting) }

func testMendWaiting(t *testing.T, url string) {
	e := open(t, Options{URL: url})
	mend := func() {
		t.Helper()
		if err := e.mend(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for _, unit := range []string{"done", "hour", "owned", "new"} {
		add(t, e, unit, "gopher://"+unit+"/")
	}
	commit(t, e, take(t, e), scale.Done, -1)
	commit(t, e, take(t, e), scale.Waiting, time.Hour)
	owned := take(t, e)
	mend()
	waits(t, e, "one is done", 2)
	commit(t, e, take(t, e), scale.Done, -1)
	for _, unit := range []string{"done", "new"} {
		released(t, e, unit)
	}
	add(t, e, "done", "gopher://done/1more")
	if _, err := e.next(t.Context()); err != nil { // its process dies
		t.Fatal(err)
	}
	mend()
	waits(t, e, "a message was replaced", 2)
	w := take(t, e)
	if w.Unit != "done" {
		t.Error(w.Unit, "is taken, which was to wait")
	}
	commit(t, e, w, scale.Done, -1)
	commit(t, e, owned, scale.Done, -1)
	waits(t, e, "one is left", 1)
}

// Messages that were acknowledged, and that the server has again, are deleted, and no others.
func TestDeleteUpTo(t *testing.T) { eachServer(t, testDeleteUpTo) }

func testDeleteUpTo(t *testing.T, url string) {
	e := open(t, Options{URL: url})
	for _, unit := range []string{"a", "b", "c", "d"} {
		add(t, e, unit, "gopher://"+unit+"/")
	}
	for range 3 {
		if _, err := e.next(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // another node may have done the same
		if err := e.deleteUpTo(t.Context(), 2); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.delete(t.Context(), 2); err != nil {
		t.Error("a message that is gone:", err)
	}
	waits(t, e, "two are deleted", 1)
	left, err := e.subjects(t.Context(), e.work, e.workSubject(""))
	if err != nil || !maps.Equal(left, map[string]bool{"c": true, "d": true}) {
		t.Error(left, err)
	}
}

// A unit whose message is never delivered, as an earlier release or a crash of the server leaves
// it, gets another one when it is late by the clock of the server. All others keep theirs.
func TestMendLate(t *testing.T) { eachServer(t, testMendLate) }

func testMendLate(t *testing.T, url string) {
	e := open(t, Options{URL: url})
	began := time.Now()
	now, err := e.now(t.Context())
	if err != nil || now.Before(began) || now.After(time.Now()) {
		t.Fatal(began, now, err)
	}
	forget := func(msg jetstream.Msg, err error) { // for long after the end of the test
		t.Helper()
		if err == nil {
			err = msg.NakWithDelay(24 * time.Hour)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	number := make(map[string]uint64)
	replaced := func() (list []string) {
		t.Helper()
		for _, unit := range []string{"new", "waiting", "interrupted", "released", "owned", "hour", "slot"} {
			msg, err := e.work.GetLastMsgForSubject(t.Context(), e.workSubject(unit))
			if err != nil {
				t.Fatal(unit, err)
			}
			if msg.Sequence != number[unit] {
				list = append(list, unit)
			}
			number[unit] = msg.Sequence
		}
		return list
	}
	add(t, e, "new", "gopher://new/")
	forget(e.next(t.Context()))
	add(t, e, "waiting", "gopher://waiting/")
	commit(t, e, take(t, e), scale.Waiting, 0)
	forget(e.next(t.Context()))
	add(t, e, "interrupted", "gopher://interrupted/")
	w := take(t, e)
	stopRenewing(w)
	forget(of(w).msg, e.leases.Delete(t.Context(), "unit.interrupted"))
	add(t, e, "released", "gopher://released/")
	e.Release(take(t, e), 0, time.Hour)
	add(t, e, "owned", "gopher://owned/")
	owned := take(t, e)
	add(t, e, "hour", "gopher://hour/")
	commit(t, e, take(t, e), scale.Waiting, time.Hour)
	add(t, e, "slot", "gopher://slot/")
	replaced()
	for _, unit := range []string{"waiting", "released", "hour"} {
		released(t, e, unit)
	}
	for _, step := range []struct {
		after time.Duration
		want  string
	}{
		{late*ttl - time.Second, "[]"},
		{late*ttl + time.Minute, "[new waiting interrupted]"},
		{time.Hour, "[]"},
		{late*ttl + time.Hour + time.Minute, "[released hour]"},
		{time.Hour * 1000, "[]"}, // all were replaced, and nobody has taken them
	} {
		if err := e.mendAt(t.Context(), now.Add(step.after)); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(replaced()); got != step.want {
			t.Errorf("after %v %s got another message, want %s", step.after, got, step.want)
		}
	}
	var got []string
	for range 6 {
		w := take(t, e)
		got = append(got, w.Unit)
		commit(t, e, w, scale.Done, -1)
	}
	commit(t, e, owned, scale.Done, -1)
	slices.Sort(got)
	if want := "[hour interrupted new released slot waiting]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
	waits(t, e, "all are done", 0)
}

// A unit that was taken and committed since mend has read its value waits for as long as its owner
// said.
func TestReplaceChanged(t *testing.T) {
	e := open(t, Options{URL: newServer(t, ServerOptions{}).URL()})
	add(t, e, "h", "gopher://h/")
	w := take(t, e)
	revision := of(w).revision
	commit(t, e, w, scale.Waiting, time.Hour)
	released(t, e, "h")
	if err := e.replace(t.Context(), "h", revision, 1); err != nil {
		t.Fatal(err)
	}
	waits(t, e, "it was taken since then", 1)
}

// Nothing is left to do when each unit is done, dead, or waits because it did not answer.
func TestSettled(t *testing.T) {
	e := open(t, Options{URL: newServer(t, ServerOptions{}).URL()})
	check := func(what string, want bool, wantSilent int) {
		t.Helper()
		settled, silent, err := e.Settled(t.Context())
		if err != nil || settled != want || silent != wantSilent {
			t.Errorf("%s: %v, %d, %v", what, settled, silent, err)
		}
	}
	check("empty", true, 0)
	add(t, e, "h", "gopher://h/")
	check("new", false, 0)
	w := take(t, e)
	check("active", false, 0)
	commit(t, e, w, scale.Waiting, time.Hour)
	check("waiting", false, 0)
	add(t, e, "silent", "gopher://silent/")
	w = take(t, e)
	if err := e.Commit(t.Context(), w, scale.State{Status: scale.Waiting, Failures: 1}, time.Hour); err != nil {
		t.Fatal(err)
	}
	e.Release(w, 0, 0)
	if err := e.units.Purge(t.Context(), "h"); err != nil {
		t.Fatal(err)
	}
	check("a message without a unit", false, 0)
	if err := e.work.Purge(t.Context(), jetstream.WithPurgeSubject(e.workSubject("h"))); err != nil {
		t.Fatal(err)
	}
	check("silent", true, 1)
	add(t, e, "done", "gopher://done/")
	commit(t, e, take(t, e), scale.Done, -1)
	check("done", true, 1)
	if _, err := e.js.Publish(t.Context(), e.linksSubject("done"), []byte(`[{"url":"gopher://done/0x"}]`)); err != nil {
		t.Fatal(err)
	}
	check("links of a unit that is done", false, 0)
}

// A dead host stays dead when it is linked, and lives again when it is added.
func TestDead(t *testing.T) {
	e := open(t, Options{URL: newServer(t, ServerOptions{}).URL()})
	add(t, e, "h", "gopher://h/")
	commit(t, e, take(t, e), scale.Dead, -1)
	err := e.Add(t.Context(), map[string][]crawl.Link{"h": {{URL: "gopher://h/1x", Depth: 3}}, "other": {{URL: "gopher://other/"}}})
	if err != nil {
		t.Fatal(err)
	}
	if w := take(t, e); w.Unit != "other" {
		t.Error(w.Unit)
	} else {
		commit(t, e, w, scale.Done, -1)
	}
	add(t, e, "h", "gopher://h/")
	w := take(t, e)
	if w.Unit != "h" || w.State.Status != scale.Dead {
		t.Errorf("%+v", w)
	}
	commit(t, e, w, scale.Done, -1)
}

// A server that is started again with its folder has lost nothing, and owners keep their units.
func TestRestart(t *testing.T) {
	dir := t.TempDir()
	s := newServer(t, ServerOptions{Dir: dir})
	listen := strings.TrimPrefix(s.URL(), "nats://")
	e := open(t, Options{URL: s.URL()})
	objects, err := e.Objects(t.Context())
	if err == nil {
		err = objects.Put(t.Context(), "a/b", strings.NewReader("text"))
	}
	if err != nil {
		t.Fatal(err)
	}
	add(t, e, "h", "gopher://h/")
	w := take(t, e)
	s.Close()
	committed := make(chan error)
	go func() {
		committed <- e.Commit(t.Context(), w, scale.State{Status: scale.Waiting, Frontier: "f"}, 0)
	}()
	newServer(t, ServerOptions{Dir: dir, Listen: listen})
	if err := <-committed; err != nil {
		t.Fatal(err)
	}
	e.Release(w, 0, 0)
	w = take(t, e)
	if w.State.Frontier != "f" {
		t.Errorf("%+v", w)
	}
	commit(t, e, w, scale.Done, -1)
	r, err := objects.Get(t.Context(), "a/b")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if text, err := io.ReadAll(r); err != nil || string(text) != "text" {
		t.Errorf("%q, %v", text, err)
	}
}

// A file is there as a whole or not at all.
func TestObjects(t *testing.T) {
	e := open(t, Options{URL: newServer(t, ServerOptions{}).URL()})
	objects, err := e.Objects(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	bad := errors.New("bad")
	if err := objects.Put(t.Context(), "x", io.MultiReader(strings.NewReader("part"), failing{bad})); !errors.Is(err, bad) {
		t.Error(err)
	}
	if _, err := objects.Get(t.Context(), "x"); err == nil {
		t.Error("half a file")
	}
	if err := objects.Delete(t.Context(), "x"); err != nil {
		t.Error(err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// Nodes are shown while they run, and are told to drain: one or all.
func TestRegister(t *testing.T) {
	s := newServer(t, ServerOptions{})
	e, other := open(t, Options{URL: s.URL(), TTL: time.Second}), open(t, Options{URL: s.URL(), TTL: time.Second})
	ctx, cancel := context.WithCancel(t.Context())
	var drained [2]atomic.Int32
	var running sync.WaitGroup
	beat := make(chan bool, 100)
	for i := range drained {
		running.Go(func() {
			info := func() scale.NodeInfo {
				beat <- true
				return scale.NodeInfo{Name: fmt.Sprint("n", i)}
			}
			if err := e.Register(ctx, info, func() { drained[i].Add(1); beat <- true }); err != nil {
				t.Error(err)
			}
		})
	}
	for len(nodes(t, other)) < 2 {
		<-beat
	}
	for _, node := range []string{"n1", ""} {
		if err := other.Drain(t.Context(), node); err != nil {
			t.Fatal(err)
		}
	}
	for drained[0].Load() < 1 || drained[1].Load() < 2 {
		<-beat
	}
	cancel()
	running.Wait()
	if list := nodes(t, other); len(list) != 0 || drained[0].Load() != 1 {
		t.Error(list, drained[0].Load())
	}
}

func nodes(t *testing.T, e *Engine) []scale.NodeInfo {
	t.Helper()
	list, err := e.Nodes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// With nkeys only their owners may connect, and without them the server is on loopback only.
func TestServerOptions(t *testing.T) {
	for _, o := range []ServerOptions{
		{Listen: "127.0.0.1:0"},
		{Dir: t.TempDir(), Listen: "0.0.0.0:0"},
		{Dir: t.TempDir(), Listen: "192.0.2.1:0"},
		{Dir: t.TempDir(), Listen: "127.0.0.1"},
		{Dir: t.TempDir(), Listen: "127.0.0.1:x"},
		{Dir: t.TempDir(), Listen: "127.0.0.1:0", Monitor: "0.0.0.0:0"},
		{Dir: t.TempDir(), Listen: "127.0.0.1:0", Users: []string{"SUAMK2FG4MI6UE3ACF3FK3OIQBCEIEZV7NSWFFEW63UXMRLFM2XLAXK4GY"}},
	} {
		if s, err := Start(o); err == nil {
			s.Close()
			t.Errorf("%+v is accepted", o)
		} else if strings.Contains(err.Error(), "MK2FG4MI6UE3") {
			t.Errorf("a key is in %v", err)
		}
	}
	pair, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	public, _ := pair.PublicKey()
	seed, _ := pair.Seed()
	file := filepath.Join(t.TempDir(), "seed")
	if err := os.WriteFile(file, append(seed, '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	s := newServer(t, ServerOptions{Users: []string{public}})
	open(t, Options{URL: s.URL(), Seed: file})
	if _, err := Open(t.Context(), Options{URL: s.URL()}); err == nil {
		t.Error("a client without a key is accepted")
	}
	for name, text := range map[string]string{"0": "rubbish", "1": string(seed[:20])} {
		bad := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(bad, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), Options{URL: s.URL(), Seed: bad}); err == nil || strings.Contains(err.Error(), text) {
			t.Error(err)
		}
	}
}

// At the limit links create no unit, but what a user adds does, and units that exist get links.
func TestMaxUnits(t *testing.T) {
	e := open(t, Options{URL: newServer(t, ServerOptions{}).URL(), MaxUnits: 2})
	for _, name := range []string{"a", "b", "c", "a"} {
		err := e.Add(t.Context(), map[string][]crawl.Link{name: {{URL: "gopher://" + name + "/", Depth: 1}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	add(t, e, "d", "gopher://d/")
	got := make(map[string]int)
	for unit, err := range e.Units(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		links, _, err := e.linksOf(t.Context(), unit.Name)
		if err != nil {
			t.Fatal(err)
		}
		got[unit.Name] = len(links)
	}
	if want := (map[string]int{"a": 2, "b": 1, "d": 1}); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// A list of units that is not read to its end leaves nothing behind (TestMain).
func TestSomeUnits(t *testing.T) {
	e := open(t, Options{URL: newServer(t, ServerOptions{}).URL()})
	for i := range 600 { // more than what NATS keeps ready
		if err := e.Add(t.Context(), map[string][]crawl.Link{fmt.Sprint("h", i): {{URL: "gopher://h/"}}}); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		for _, err := range e.Units(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			break
		}
	}
}

// Two crawls on one server know nothing of each other.
func TestCrawls(t *testing.T) {
	s := newServer(t, ServerOptions{})
	a, b := open(t, Options{URL: s.URL(), Crawl: "a"}), open(t, Options{URL: s.URL(), Crawl: "b"})
	add(t, a, "h", "gopher://h/")
	add(t, b, "h", "gopher://h/1other")
	for e, want := range map[*Engine]string{a: "gopher://h/", b: "gopher://h/1other"} {
		w := take(t, e)
		if len(w.Links) != 1 || w.Links[0].URL != want {
			t.Errorf("%+v", w)
		}
		commit(t, e, w, scale.Done, -1)
	}
	if _, err := Open(t.Context(), Options{URL: s.URL(), Crawl: "a.b"}); err == nil {
		t.Error("a name with a dot is accepted")
	}
}
