package prospero

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/codec/ardp"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/memnet"
	"github.com/fetch1738/fetch1738/testserver/prosperotest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// parse parses a URL as tolerantly as one typed by a user.
func parse(t testing.TB, url string) locator.Locator {
	t.Helper()
	ref, err := locator.Parser{Tolerate: locator.TolerateAll}.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	return ref.Locator
}

// bubble runs f as a subtest with a fake clock.
func bubble(t *testing.T, name string, f func(t *testing.T)) {
	t.Run(name, func(t *testing.T) { synctest.Test(t, f) })
}

// fixture is a network with one test server at its usual port.
type fixture struct {
	*testing.T
	srv   *prosperotest.Server
	env   fetch.Env
	notes []string
}

func newFixture(t *testing.T, configure func(*prosperotest.Server)) *fixture {
	t.Helper()
	w := &fixture{T: t}
	w.srv = prosperotest.New(t, func(s *prosperotest.Server) {
		s.InMemory = true
		configure(s)
	})
	w.env.Dial = w.srv.Dial
	return w
}

// fetch fetches a path of the server. The path does not include the slash after the host.
func (w *fixture) fetch(path string) (*fetch.Resource, error) {
	w.Helper()
	return w.do(&fetch.Request{Locator: parse(w, "prospero://127.0.0.1/"+path)})
}

func (w *fixture) do(req *fetch.Request) (*fetch.Resource, error) {
	ctx := fetch.WithTrace(w.Context(), &fetch.Trace{Note: func(text string) { w.notes = append(w.notes, text) }})
	res, err := (&Fetcher{Env: &w.env}).Fetch(ctx, req)
	if err == nil {
		w.Cleanup(func() { res.Close() })
	}
	return res, err
}

// items fetches a directory and returns its Items.
func (w *fixture) items(path string) ([]fetch.Item, error) {
	w.Helper()
	res, err := w.fetch(path)
	if err != nil {
		return nil, err
	}
	if res.Kind != fetch.KindMenu {
		w.Fatalf("%s is a %v", path, res.Kind)
	}
	return collect(res)
}

func collect(res *fetch.Resource) (all []fetch.Item, err error) {
	for it, err := range res.Items {
		if err != nil {
			return all, err
		}
		all = append(all, it)
	}
	return all, nil
}

// names returns the names of items, in order.
func names(items []fetch.Item) string {
	var list []string
	for _, it := range items {
		list = append(list, it.Name)
	}
	return strings.Join(list, " ")
}

// noted checks that a note contains text.
func (w *fixture) noted(text string) {
	w.Helper()
	if !strings.Contains(strings.Join(w.notes, "\n"), text) {
		w.Errorf("no note contains %q; the notes are:\n%s", text, strings.Join(w.notes, "\n"))
	}
}

// sent returns the lines that clients sent.
func (w *fixture) sent() string {
	return strings.Join(w.srv.Transcript().From(testserver.FromClient), "\n")
}

// wantKind checks the kind and text of an error.
func wantKind(t *testing.T, err error, kind fetch.ErrorKind, text string) {
	t.Helper()
	var e *fetch.Error
	if !errors.As(err, &e) || e.Kind != kind || !strings.Contains(err.Error(), text) {
		t.Errorf("%v; want an error of kind %q that contains %q", err, kind, text)
	}
}

// recorded returns the text of the first answer of a trace.
func recorded(t testing.TB, name string) string {
	t.Helper()
	var a ardp.Assembly
	for n := 1; !a.Complete(); n++ {
		octets, err := os.ReadFile(filepath.Join("..", "..", "internal", "codec", "ardp", "testdata", "traces", fmt.Sprintf("%s.s2c.%d.bin", name, n)))
		if err != nil {
			t.Fatal(err)
		}
		p, err := ardp.Decode(octets)
		if err != nil {
			t.Fatal(err)
		}
		if p.Seq == 0 {
			continue
		}
		if _, err := a.Add(p); err != nil {
			t.Fatal(err)
		}
	}
	var text []byte
	for data, ok := a.Next(); ok; data, ok = a.Next() {
		text = append(text, data...)
	}
	return string(text)
}

// rogue is a hostile server. It calls the function hear with each packet that arrives.
type rogue struct {
	net.PacketConn
	network memnet.Network
	heard   int
}

// newRogue starts a rogue that ends with the test. hear sends answers with say.
func newRogue(t *testing.T, hear func(p *rogue, q *ardp.Packet, from net.Addr)) *rogue {
	t.Helper()
	p := new(rogue)
	socket, err := p.network.ListenPacket(t.Context(), "udp", "127.0.0.1:1525")
	if err != nil {
		t.Fatal(err)
	}
	p.PacketConn = socket
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 1<<16)
		for {
			n, from, err := socket.ReadFrom(buf)
			if err != nil {
				return
			}
			p.heard++
			if q, err := ardp.Decode(bytes.Clone(buf[:n])); err == nil {
				hear(p, q, from)
			}
		}
	}()
	t.Cleanup(func() { socket.Close(); <-done })
	return p
}

// say sends a packet to a client.
func (p *rogue) say(to net.Addr, answer *ardp.Packet) { p.WriteTo(answer.Append(nil), to) }

// env returns an Env that connects to the rogue for any address.
func (p *rogue) env() *fetch.Env {
	return &fetch.Env{Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return p.network.Dial(ctx, network, "127.0.0.1:1525")
	}}
}

// read fetches a locator and reads the body to the end.
func read(ctx context.Context, env *fetch.Env, l locator.Locator) (string, error) {
	res, err := (&Fetcher{Env: env}).Fetch(ctx, &fetch.Request{Locator: l})
	if err != nil {
		return "", err
	}
	defer res.Close()
	octets, err := io.ReadAll(res.Body)
	return string(octets), err
}
