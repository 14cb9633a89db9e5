package driver_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
)

// listen accepts connections on loopback until the test ends.
func listen(t *testing.T) (port uint16) {
	t.Helper()
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer c.Close()
				io.Copy(io.Discard, c)
			})
		}
	})
	t.Cleanup(func() { ln.Close(); wg.Wait() })
	return ln.Addr().(*net.TCPAddr).AddrPort().Port()
}

// hosted returns a target on host, with the locator of the other tests.
func hosted(host string, port uint16) fetch.Target {
	return fetch.Target{Locator: url, Host: host, Port: port}
}

// asking is an Env that records the targets that Allow receives, and refuses by a rule.
type asking struct {
	fetch.Env
	mu      sync.Mutex
	targets []fetch.Target
}

var errDenied = errors.New("denied by the test")

func newAsking(refuse func(fetch.Target) bool) *asking {
	a := &asking{}
	a.Allow = func(_ context.Context, t fetch.Target) error {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.targets = append(a.targets, t)
		if refuse(t) {
			return errDenied
		}
		return nil
	}
	return a
}

func (a *asking) Connect(ctx context.Context, t fetch.Target) (net.Conn, error) {
	return driver.NewEnv(&a.Env).Connect(ctx, t)
}

func never(fetch.Target) bool { return false }

// resolved refuses addresses, but not names.
func resolved(t fetch.Target) bool { return t.Addr.IsValid() }

func wantKind(t *testing.T, err error, kind fetch.ErrorKind) *fetch.Error {
	t.Helper()
	e, ok := err.(*fetch.Error)
	if !ok || e.Kind != kind {
		t.Fatalf("got %v (%T), want an *Error of kind %q", err, err, kind)
	}
	return e
}

// TestConnect: the policy is called for the name, and once for the address, before the connection.
func TestConnect(t *testing.T) {
	port := listen(t)
	env := newAsking(never)
	var log []string
	ctx := fetch.WithTrace(t.Context(), &fetch.Trace{
		DialStart: func(network, address string) { log = append(log, "dial "+network+" "+address) },
		Connected: func(c fetch.Connection) {
			log = append(log, fmt.Sprintf("connected %s %d %s %v %t", c.Network, c.Purpose, c.Host, c.Remote, c.Local.IsValid()))
		},
	})
	target := hosted("127.0.0.1", port)
	target.From, target.Purpose = fetch.Provenance{Kind: fetch.OriginConfig}, fetch.PurposeData
	conn, err := env.Connect(ctx, target)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, ok := conn.(*net.TCPConn); !ok {
		t.Errorf("the connection is a %T, not the one that Dial returned", conn)
	}
	addr := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), port)
	named, known := target, target
	named.Network, known.Network, known.Addr = "tcp", "tcp", addr
	want := []fetch.Target{named, known}
	if len(env.targets) != len(want) {
		t.Fatalf("Allow was asked %+v", env.targets)
	}
	for i, got := range env.targets {
		if got != want[i] {
			t.Errorf("call %d of Allow has %+v, want %+v", i+1, got, want[i])
		}
	}
	if diff := cmp.Diff([]string{"dial tcp " + addr.String(), "connected tcp 1 127.0.0.1 " + addr.String() + " true"}, log); diff != "" {
		t.Error(diff)
	}
}

func TestConnectNilEnv(t *testing.T) {
	conn, err := driver.NewEnv(nil).Connect(t.Context(), hosted("127.0.0.1", listen(t)))
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
}

// TestConnectRefusesName: a refused name is not looked up.
func TestConnectRefusesName(t *testing.T) {
	env := newAsking(func(t fetch.Target) bool { return t.Host == "bad.example" })
	env.Dial = func(context.Context, string, string) (net.Conn, error) {
		t.Error("dialled")
		return nil, io.EOF
	}
	_, err := env.Connect(t.Context(), hosted("bad.example", 21))
	if e := wantKind(t, err, fetch.ErrRefused); !errors.Is(e, errDenied) || e.URL != "ftp://lab:***@example.com/x" {
		t.Errorf("got %v", err)
	}
	if len(env.targets) != 1 || env.targets[0].Addr.IsValid() {
		t.Errorf("Allow was asked %+v", env.targets)
	}
}

// TestConnectRefusesAddress: the standard dialer is stopped before connect(2).
func TestConnectRefusesAddress(t *testing.T) {
	port := listen(t)
	for _, host := range []string{"127.0.0.1", "localhost", "::ffff:127.0.0.1"} {
		env := newAsking(resolved)
		var connected bool
		ctx := fetch.WithTrace(t.Context(), &fetch.Trace{Connected: func(fetch.Connection) { connected = true }})
		_, err := env.Connect(ctx, hosted(host, port))
		if e := wantKind(t, err, fetch.ErrRefused); !errors.Is(e, errDenied) {
			t.Errorf("%s: %v", host, err)
		}
		if connected {
			t.Errorf("%s: connected", host)
		}
		for _, target := range env.targets[1:] {
			if !target.Addr.IsValid() || target.Addr.Addr().Is4In6() || !target.Addr.Addr().IsLoopback() || target.Addr.Port() != port {
				t.Errorf("%s: Allow was asked about the address %v", host, target.Addr)
			}
		}
		if len(env.targets) < 2 {
			t.Errorf("%s: Allow was not asked about an address", host)
		}
	}
}

// TestConnectSkipsRefusedAddresses: of the addresses of a name a permitted one is used. The test
// has its own name server, so that the name has two addresses.
func TestConnectSkipsRefusedAddresses(t *testing.T) {
	port := listen(t)
	serveNames(t, "127.0.0.2", "127.0.0.1")
	permitted := netip.MustParseAddr("127.0.0.1")
	env := newAsking(func(t fetch.Target) bool { return t.Addr.IsValid() && t.Addr.Addr() != permitted })
	conn, err := env.Connect(t.Context(), hosted("two.test", port))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if got := conn.RemoteAddr().(*net.TCPAddr).AddrPort().Addr(); got != permitted {
		t.Errorf("connected to %v", got)
	}
	var asked []string
	for _, target := range env.targets {
		asked = append(asked, target.Addr.Addr().String())
	}
	if got := strings.Join(asked, " "); !strings.Contains(got, "127.0.0.2") || !strings.HasSuffix(got, "127.0.0.1") || strings.Count(got, "127.0.0.1") != 1 {
		t.Errorf("Allow was asked about %s", got)
	}
}

// TestKnownAddrs: the hosts that are not looked up (RFC 6761 §6.3).
func TestKnownAddrs(t *testing.T) {
	for host, want := range map[string]string{
		"1.2.3.4": "[1.2.3.4]", "fe80::1%eth0": "[fe80::1%eth0]",
		"localhost": "[127.0.0.1 ::1]", "a.b.LOCALHOST.": "[127.0.0.1 ::1]",
		"": "[]", "localhost.example": "[]", "xlocalhost": "[]", "localhost..": "[]", "127.1": "[]",
	} {
		if got := fmt.Sprint(driver.KnownAddrs(host)); got != want {
			t.Errorf("%s: %s, want %s", host, got, want)
		}
	}
}

// TestConnectLocalhost: a server on either loopback address is found, and the policy is called for
// each.
func TestConnectLocalhost(t *testing.T) {
	for _, at := range []string{"127.0.0.1", "::1"} {
		l, err := net.Listen("tcp", net.JoinHostPort(at, "0"))
		if err != nil {
			t.Skipf("cannot listen on %s, this computer may have only one loopback address: %v", at, err)
		}
		defer l.Close()
		port := driver.AddrPort(l.Addr()).Port()
		conn, err := driver.NewEnv(nil).Connect(t.Context(), hosted("x.localhost", port))
		if err != nil {
			t.Errorf("%s: %v", at, err)
			continue
		}
		conn.Close()
		env := newAsking(func(t fetch.Target) bool { return t.Addr.IsValid() })
		if _, err := env.Connect(t.Context(), hosted("x.localhost", port)); !errors.Is(err, fetch.ErrRefused) || len(env.targets) != 3 {
			t.Errorf("%s: %v, asked about %v", at, err, env.targets)
		}
	}
}

// TestConnectEmptyHost: ":port" would connect to this computer without the policy.
func TestConnectEmptyHost(t *testing.T) {
	port := listen(t)
	for _, env := range []*fetch.Env{nil, &newAsking(never).Env} {
		conn, err := driver.NewEnv(env).Connect(t.Context(), hosted("", port))
		if err == nil {
			t.Errorf("connected to %v", conn.RemoteAddr())
			conn.Close()
			continue
		}
		wantKind(t, err, fetch.ErrRefused)
	}
}

// addressed is a pipe with a remote address.
type addressed struct {
	net.Conn
	addr   net.Addr
	closed bool
}

func (a *addressed) RemoteAddr() net.Addr { return a.addr }
func (a *addressed) Close() error         { a.closed = true; return a.Conn.Close() }

// TestConnectCustomDial: the policy is called for the address that a caller's Dial connected. A
// refused connection is closed.
func TestConnectCustomDial(t *testing.T) {
	for _, tc := range []struct {
		name    string
		addr    net.Addr
		network string
		refused bool
	}{
		{"address", &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 21}, "", true},
		{"mapped address", &net.TCPAddr{IP: net.ParseIP("::ffff:10.0.0.1"), Port: 21}, "tcp", true},
		{"datagrams", &net.UDPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 21}, "udp", true},
		{"other address", &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 21}, "", false},
		{"no address", &net.UnixAddr{Name: "x"}, "", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			bad := netip.MustParseAddrPort("10.0.0.1:21")
			env := newAsking(func(t fetch.Target) bool { return t.Addr == bad })
			here, there := net.Pipe()
			defer there.Close()
			conn := &addressed{Conn: here, addr: tc.addr}
			var dialled string
			env.Dial = func(_ context.Context, network, address string) (net.Conn, error) {
				dialled = network + " " + address
				return conn, nil
			}
			target := hosted("h.test", 21)
			target.Network = tc.network
			got, err := env.Connect(t.Context(), target)
			if tc.refused {
				if wantKind(t, err, fetch.ErrRefused); !conn.closed {
					t.Error("the refused connection is open")
				}
			} else if err != nil || got != net.Conn(conn) {
				t.Errorf("got %v, %v", got, err)
			}
			if want := strings.TrimPrefix(tc.network+" h.test:21", " "); !strings.HasSuffix(dialled, want) {
				t.Errorf("dialled %q, want %q", dialled, want)
			}
			conn.Close()
		})
	}
}

func TestConnectIPv6Literal(t *testing.T) {
	var env fetch.Env
	var dialled string
	env.Dial = func(_ context.Context, network, address string) (net.Conn, error) {
		dialled = address
		return nil, errors.New("no")
	}
	driver.NewEnv(&env).Connect(t.Context(), hosted("2001:db8::1", 70))
	if dialled != "[2001:db8::1]:70" {
		t.Errorf("dialled %q", dialled)
	}
}

func TestConnectFails(t *testing.T) {
	for _, tc := range []struct {
		err    error
		kind   fetch.ErrorKind
		prefix string
	}{
		{&net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}, fetch.ErrUnreachable, "connect ftp://"},
		{&net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "h", IsNotFound: true}}, fetch.ErrUnresolved, "resolve ftp://"},
		{errors.New("proxy says no"), fetch.ErrUnreachable, "connect ftp://"},
		{os.ErrDeadlineExceeded, fetch.ErrTimeout, "connect ftp://"},
		{&fetch.Error{Op: "CONNECT", Kind: fetch.ErrUnauthenticated}, fetch.ErrUnauthenticated, "CONNECT ftp://"},
	} {
		env := fetch.Env{Dial: func(context.Context, string, string) (net.Conn, error) { return nil, tc.err }}
		_, err := driver.NewEnv(&env).Connect(t.Context(), hosted("h.test", 21))
		if e := wantKind(t, err, tc.kind); !strings.HasPrefix(e.Error(), tc.prefix) {
			t.Errorf("%v: got %v, want %s…", tc.err, e, tc.prefix)
		}
	}
}

// TestConnectRefused: no server listens on the port.
func TestConnectRefused(t *testing.T) {
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := ln.Addr().(*net.TCPAddr).AddrPort().Port()
	ln.Close()
	var env fetch.Env
	_, err = driver.NewEnv(&env).Connect(t.Context(), hosted("127.0.0.1", port))
	if e := wantKind(t, err, fetch.ErrUnreachable); !errors.Is(e, syscall.ECONNREFUSED) {
		t.Errorf("got %v", err)
	}
}

// stuck is a dial that ends only with its context.
func stuck(ctx context.Context, _, _ string) (net.Conn, error) {
	<-ctx.Done()
	return nil, &net.OpError{Op: "dial", Net: "tcp", Err: ctx.Err()}
}

func TestConnectEnds(t *testing.T) {
	deadline := func(d time.Duration) func(context.Context) (context.Context, context.CancelFunc) {
		return func(ctx context.Context) (context.Context, context.CancelFunc) { return context.WithTimeout(ctx, d) }
	}
	cancel := func(d time.Duration) func(context.Context) (context.Context, context.CancelFunc) {
		return func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(d, cancel)
			return ctx, cancel
		}
	}
	for _, tc := range []struct {
		name  string
		limit time.Duration
		ctx   func(context.Context) (context.Context, context.CancelFunc)
		kind  fetch.ErrorKind
		after time.Duration
	}{
		{"default limit", 0, deadline(time.Hour), fetch.ErrTimeout, 30 * time.Second},
		{"own limit", time.Second, deadline(time.Hour), fetch.ErrTimeout, time.Second},
		{"no limit", -1, deadline(time.Hour), fetch.ErrTimeout, time.Hour},
		{"deadline", 0, deadline(time.Second), fetch.ErrTimeout, time.Second},
		{"cancelled", 0, cancel(time.Second), fetch.ErrCanceled, time.Second},
		{"done before", 0, deadline(-1), fetch.ErrTimeout, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := tc.ctx(t.Context())
				defer cancel()
				env := fetch.Env{Dial: stuck, Limits: fetch.Limits{Connect: tc.limit}}
				start := time.Now()
				// Defaults that are filled in stay as they are.
				_, err := driver.NewEnv(&driver.NewEnv(&env).Env).Connect(ctx, hosted("h.test", 21))
				wantKind(t, err, tc.kind)
				if took := time.Since(start); took != tc.after {
					t.Errorf("it took %v, want %v", took, tc.after)
				}
			})
		})
	}
}

// TestConnectDoneBefore: with a context that is done neither Allow nor Dial is called.
func TestConnectDoneBefore(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	env := newAsking(never)
	env.Dial = func(context.Context, string, string) (net.Conn, error) {
		t.Error("dialled")
		return nil, io.EOF
	}
	_, err := env.Connect(ctx, hosted("h.test", 21))
	wantKind(t, err, fetch.ErrCanceled)
	if len(env.targets) != 0 {
		t.Errorf("Allow was asked %+v", env.targets)
	}
}

// TestConnectHandsOutNoDeadline: the limit applies to connecting only. The connection has no
// deadline.
func TestConnectHandsOutNoDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here, there := net.Pipe()
		defer there.Close()
		go io.Copy(io.Discard, there)
		env := fetch.Env{
			Dial:   func(context.Context, string, string) (net.Conn, error) { return here, nil },
			Limits: fetch.Limits{Connect: time.Second},
		}
		conn, err := driver.NewEnv(&env).Connect(t.Context(), hosted("127.0.0.1", 21))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		<-time.After(time.Minute)
		if _, err := conn.Write([]byte("x")); err != nil {
			t.Error(err)
		}
	})
}

// With DialControl, a Dial with its own net.Dialer applies the policy to every address.
func TestDialControl(t *testing.T) {
	port := listen(t)
	env := newAsking(resolved)
	env.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
		if target, ok := fetch.ContextTarget(ctx); !ok || target.Host != "elsewhere.example" || target.Network != "tcp" || target.Addr.IsValid() {
			t.Errorf("dialled for %+v, %v", target, ok)
		}
		d := net.Dialer{ControlContext: fetch.DialControl}
		return d.DialContext(ctx, network, fmt.Sprintf("127.0.0.1:%d", port))
	}
	if c, err := env.Connect(t.Context(), hosted("elsewhere.example", 80)); !errors.Is(err, errDenied) || fetch.KindOf(err) != fetch.ErrRefused {
		t.Errorf("%v, %v", c, err)
	}
	last := env.targets[len(env.targets)-1]
	if want := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), port); len(env.targets) != 2 || last.Addr != want || last.Host != "elsewhere.example" {
		t.Errorf("asked about %+v", env.targets)
	}
	d := net.Dialer{ControlContext: fetch.DialControl}
	if _, err := d.DialContext(t.Context(), "tcp", fmt.Sprintf("127.0.0.1:%d", port)); fetch.KindOf(err) != fetch.ErrRefused {
		t.Errorf("DialControl called outside Env.Dial: %v", err)
	}
	if _, ok := fetch.ContextTarget(t.Context()); ok {
		t.Error("a target outside Env.Dial")
	}
}

// What a Dial says before it connects is not believed: if it connects to another address, the
// policy is asked about that one.
func TestConnectElsewhere(t *testing.T) {
	good, bad := netip.MustParseAddrPort("192.0.2.1:21"), netip.MustParseAddrPort("10.0.0.1:21")
	for _, asked := range []netip.AddrPort{good, bad} {
		env := newAsking(func(t fetch.Target) bool { return t.Addr == bad })
		here, there := net.Pipe()
		defer there.Close()
		conn := &addressed{Conn: here, addr: net.TCPAddrFromAddrPort(bad)}
		env.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
			_ = fetch.DialControl(ctx, network, asked.String(), nil) // it goes on even if that refuses
			return conn, nil
		}
		if _, err := env.Connect(t.Context(), hosted("h.test", 21)); fetch.KindOf(err) != fetch.ErrRefused || !conn.closed {
			t.Errorf("asked about %v, connected to %v: %v", asked, bad, err)
		}
	}
}

// The policy is asked with the context of the Fetcher: a Dial cannot change what it is told.
func TestConnectAsksInOwnContext(t *testing.T) {
	type key struct{}
	env := fetch.Env{
		Allow: func(ctx context.Context, t fetch.Target) error {
			if t.Addr.IsValid() && ctx.Value(key{}) == nil {
				return errDenied
			}
			return nil
		},
		Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			return driver.Dial(context.WithValue(ctx, key{}, true), network, address)
		},
	}
	conn, err := driver.NewEnv(&env).Connect(t.Context(), hosted("127.0.0.1", listen(t)))
	if err == nil {
		conn.Close()
	}
	wantKind(t, err, fetch.ErrRefused)
}
