package ardp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/testserver/memnet"
)

// played is a server that answers the n-th datagram that it receives with the n-th list of
// datagrams.
type played struct {
	net.PacketConn
	heard []string
	at    []time.Duration
}

// play starts a server in memory and a socket connected to it.
func play(t *testing.T, answers ...[][]byte) (*played, net.Conn) {
	t.Helper()
	n := new(memnet.Network)
	socket, err := n.ListenPacket(t.Context(), "udp", "127.0.0.1:1525")
	if err != nil {
		t.Fatal(err)
	}
	p := &played{PacketConn: socket}
	start := time.Now()
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 1<<16)
		for {
			got, from, err := socket.ReadFrom(buf)
			if err != nil {
				return
			}
			p.heard = append(p.heard, string(buf[:got]))
			p.at = append(p.at, time.Since(start))
			if len(answers) > 0 {
				for _, d := range answers[0] {
					socket.WriteTo(d, from)
				}
				answers = answers[1:]
			}
		}
	}()
	t.Cleanup(func() { socket.Close(); <-done })
	conn, err := n.Dial(t.Context(), "udp", "mem:1525")
	if err != nil {
		t.Fatal(err)
	}
	return p, conn
}

// answersOf returns the text of the request of a trace, the server's datagrams after each of the
// client's, and the client's datagrams.
func answersOf(t testing.TB, name string) (request []byte, answers [][][]byte, sent [][]byte) {
	for _, r := range traces(t, name) {
		if r.client {
			answers = append(answers, nil)
			sent = append(sent, r.octets)
		} else if len(answers) > 0 {
			answers[len(answers)-1] = append(answers[len(answers)-1], r.octets)
		}
	}
	p, err := Decode(sent[0])
	if err != nil {
		t.Fatal(err)
	}
	return p.Data, answers, sent
}

func idOf(datagram []byte) uint16 { return uint16(datagram[1])<<8 | uint16(datagram[2]) }

// TestRecordedExchanges repeats the recorded exchanges. The client must send the same datagrams as the
// recorded clients and receive the whole answer.
func TestRecordedExchanges(t *testing.T) {
	for name, octets := range map[string]int{
		"dirlist": 359, "dirlist-attributes": 2013, "multipacket": 68903, "ardp-slow": 26, "archie-v5": 1091, "archie-v5-multipacket": 0, "archie-v1": 816, "contents-binary": 653,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				request, answers, sent := answersOf(t, name)
				p, conn := play(t, answers...)
				x, err := Start(t.Context(), conn, request, Config{ID: idOf(sent[0]), AnyID: name == "archie-v1"})
				if err != nil {
					t.Fatal(err)
				}
				text, err := io.ReadAll(x)
				if err != nil || octets > 0 && len(text) != octets {
					t.Errorf("%d bytes, %v", len(text), err)
				}
				x.Close()
				synctest.Wait()
				// c-archie puts its total into an acknowledgement, without any need.
				if name == "archie-v1" {
					sent = sent[:1]
					p.heard = p.heard[:1]
				}
				for i, want := range sent {
					if i >= len(p.heard) || p.heard[i] != string(want) {
						t.Errorf("datagram %d of %d differs from the recorded client's %x", i, len(p.heard), want)
					}
				}
				if len(p.heard) != len(sent) {
					t.Errorf("%d datagrams were sent; the recorded client sent %d", len(p.heard), len(sent))
				}
			})
		})
	}
}

// TestManyPackets sends a long request, which the server acknowledges in parts.
func TestManyPackets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		request := bytes.Repeat([]byte("0123456789"), 5000) // 40 packets
		ack := func(n uint16) []byte { return (&Packet{Header: 9, ID: 7, Received: n}).Append(nil) }
		var answers [][][]byte
		for n := range 40 {
			switch n {
			case 15:
				answers = append(answers, [][]byte{ack(16)})
			case 31:
				answers = append(answers, [][]byte{ack(31)}) // one is lost
			case 39:
				answers = append(answers, [][]byte{(&Packet{Header: 9, ID: 7, Seq: 1, Total: 1, Received: 40, Data: []byte("ok")}).Append(nil)})
			default:
				answers = append(answers, nil)
			}
		}
		p, conn := play(t, answers...)
		var sent, received int
		x, err := Start(t.Context(), conn, request, Config{ID: 7, Sent: func([]byte) { sent++ }, Received: func([]byte) { received++ }})
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(x)
		if string(text) != "ok" || err != nil || sent != 40 || received != 3 {
			t.Errorf("%q, %v; %d sent, %d received", text, err, sent, received)
		}
		x.Close()
		synctest.Wait()
		var got []byte
		for _, d := range p.heard {
			p, _ := Decode([]byte(d))
			got = append(got, p.Data...)
		}
		if !bytes.Equal(got, request) {
			t.Errorf("the server received %d bytes of %d", len(got), len(request))
		}
	})
	if _, err := Start(t.Context(), &endedConn{}, make([]byte, MaxData*MaxPackets+1), Config{}); err != ErrTooLong {
		t.Errorf("a request that is too long: %v", err)
	}
}

// TestRepeating checks the timers, and that acknowledged packets are not sent again.
func TestRepeating(t *testing.T) {
	ack := func(n uint16) []byte { return (&Packet{Header: 9, ID: 7, Received: n}).Append(nil) }
	data := func(seq, total uint16) []byte {
		return (&Packet{Header: 7, ID: 7, Seq: seq, Total: total, Data: []byte("a")}).Append(nil)
	}
	first := (&Packet{Header: 9, ID: 7, Seq: 1, Received: 1, Data: []byte("a")}).Append(nil)
	for name, tc := range map[string]struct {
		answers [][][]byte
		heard   string // lengths and times
	}{
		"nothing comes":     {nil, "[14 at 0s 14 at 4s 14 at 12s 14 at 28s 13 at 1m0s]"},
		"request acked":     {[][][]byte{{ack(1)}}, "[14 at 0s 9 at 4s 9 at 12s 9 at 28s 13 at 1m0s]"},
		"half an answer":    {[][][]byte{{first}}, "[14 at 0s 9 at 1s 9 at 3s 9 at 7s 9 at 15s 9 at 31s 13 at 1m0s]"},
		"a wait":            {[][][]byte{{(&Packet{Header: 11, ID: 7, Wait: 30}).Append(nil)}}, "[14 at 0s 14 at 30s 14 at 38s 14 at 54s 13 at 1m30s]"},
		"a wait withdrawn":  {[][][]byte{{(&Packet{Header: 11, ID: 7, Wait: 30}).Append(nil), (&Packet{Header: 11, ID: 7}).Append(nil)}}, "[14 at 0s 14 at 4s 14 at 12s 14 at 28s 13 at 1m0s]"},
		"a wait for longer": {[][][]byte{{(&Packet{Header: 11, ID: 7, Wait: 65535}).Append(nil)}}, "[14 at 0s 14 at 2m0s 14 at 2m8s 14 at 2m24s 13 at 3m0s]"},
		"late":              {[][][]byte{nil, {ack(1)}, nil, {first}}, "[14 at 0s 14 at 4s 9 at 8s 9 at 16s 9 at 17s 9 at 19s 9 at 23s 9 at 31s 9 at 47s 13 at 1m16s]"},
		"an answer, no ack": {[][][]byte{{data(1, 2)}}, "[14 at 0s 9 at 1s 9 at 3s 9 at 7s 9 at 15s 9 at 31s 13 at 1m0s]"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, conn := play(t, tc.answers...)
				x, err := Start(t.Context(), conn, []byte("LIST\n"), Config{ID: 7})
				if err != nil {
					t.Fatal(err)
				}
				_, err = io.ReadAll(x)
				if !errors.Is(err, ErrSilent) || !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("%v", err)
				}
				if _, again := x.Read(make([]byte, 1)); again != err {
					t.Errorf("a further read: %v", again)
				}
				x.Close()
				synctest.Wait()
				var got []string
				for i, d := range p.heard {
					got = append(got, fmt.Sprintf("%d at %v", len(d), p.at[i]))
				}
				if fmt.Sprint(got) != tc.heard {
					t.Errorf("the client sent %v, want %s", got, tc.heard)
				}
			})
		})
	}
}

// TestGap checks that the client acknowledges at once, and only once, if packets of the server's
// window are missing, including the one that requests an acknowledgement.
func TestGap(t *testing.T) {
	window := func(from, to int, lost ...int) (list [][]byte) {
		for seq := from; seq <= to; seq++ {
			p := &Packet{Header: 12, ID: 7, Seq: uint16(seq), Received: 1, Data: []byte("a")}
			if seq == to {
				p.Flags = FlagAck
			}
			if seq == 20 {
				p.Total = 20
			}
			if !slices.Contains(lost, seq) {
				list = append(list, p.Append(nil))
			}
		}
		return list
	}
	for name, tc := range map[string]struct {
		answers [][][]byte
		heard   string // what the client tells to have, and when
	}{
		"nothing is lost":             {[][][]byte{window(1, 16), window(17, 20)}, "[0 at 0s 16 at 0s 20 at 0s]"},
		"one amid":                    {[][][]byte{window(1, 16, 3), window(3, 18), nil, window(19, 20)}, "[0 at 0s 2 at 0s 2 at 0s 18 at 0s 20 at 0s]"},
		"one amid, and the last":      {[][][]byte{window(1, 16, 3, 16), window(3, 18), window(19, 20)}, "[0 at 0s 2 at 0s 18 at 0s 20 at 0s]"},
		"the last":                    {[][][]byte{window(1, 16, 16), window(16, 20)}, "[0 at 0s 15 at 1s 20 at 1s]"},
		"the first":                   {[][][]byte{window(1, 16, 1), nil, window(1, 16), window(17, 20)}, "[0 at 0s 0 at 0s 0 at 1s 16 at 1s 20 at 1s]"},
		"two neighbours change place": {[][][]byte{swapped(window(1, 16)), window(17, 20)}, "[0 at 0s 16 at 0s 20 at 0s]"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, conn := play(t, tc.answers...)
				x, err := Start(t.Context(), conn, []byte("LIST\n"), Config{ID: 7})
				if err != nil {
					t.Fatal(err)
				}
				text, err := io.ReadAll(x)
				if err != nil || len(text) != 20 {
					t.Errorf("%q, %v", text, err)
				}
				x.Close()
				synctest.Wait()
				var got []string
				for i, d := range p.heard {
					said, err := Decode([]byte(d))
					if err != nil {
						t.Fatal(err)
					}
					got = append(got, fmt.Sprintf("%d at %v", said.Received, p.at[i]))
				}
				if fmt.Sprint(got) != tc.heard {
					t.Errorf("the client sent %v, want %s", got, tc.heard)
				}
			})
		})
	}
}

// swapped returns the packets with those before the last in another order.
func swapped(list [][]byte) [][]byte {
	n := len(list)
	list[n-3], list[n-2] = list[n-2], list[n-3]
	return list
}

// TestEndings checks the other ways in which an exchange ends.
func TestEndings(t *testing.T) {
	packet := func(p *Packet) []byte {
		p.ID = 7
		return p.Append(nil)
	}
	extra, _ := RedirectExtra(netip.MustParseAddrPort("127.0.0.1:99"))
	data := packet(&Packet{Header: 7, Seq: 1, Data: []byte("a")})
	redirect := packet(&Packet{Option: OptRedirectAll, Extra: extra})
	for name, tc := range map[string]struct {
		answer [][]byte
		want   error
	}{
		"refused":            {[][]byte{packet(&Packet{Option: OptCancel})}, ErrRefused},
		"versions":           {[][]byte{packet(&Packet{Option: OptVersions})}, ErrVersion},
		"late redirect":      {[][]byte{data, redirect}, ErrHeader},
		"conflict":           {[][]byte{packet(&Packet{Header: 7, Seq: 2, Data: []byte("a")}), packet(&Packet{Header: 7, Seq: 2, Data: []byte("b")})}, ErrConflict},
		"text":               {[][]byte{[]byte("LINK\n")}, ErrText},
		"another version":    {[][]byte{{0x81, 0, 0}}, ErrVersion},
		"bad header":         {[][]byte{{9, 0, 7, 0}}, ErrHeader},
		"bad header, short":  {[][]byte{{9, 0}}, ErrHeader},
		"flood of nothing":   {slices.Repeat([][]byte{{}}, maxIgnored), ErrFlood},
		"flood of something": {slices.Repeat([][]byte{make60000()}, 5), ErrFlood},
		"flood of copies":    {append([][]byte{data}, slices.Repeat([][]byte{packet(&Packet{Header: 7, Seq: 5, Data: make([]byte, 60000)})}, 6)...), ErrFlood},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				socket, conn := pipe(t)
				x, err := Start(t.Context(), conn, []byte("LIST\n"), Config{ID: 7, Note: func(string) {}})
				if err != nil {
					t.Fatal(err)
				}
				defer x.Close()
				go func() {
					for i, d := range tc.answer {
						if i%100 == 0 {
							time.Sleep(time.Millisecond) // the reader keeps up
						}
						socket.WriteTo(d, conn.LocalAddr())
					}
				}()
				if _, err := io.ReadAll(x); !errors.Is(err, tc.want) {
					t.Errorf("%v, want %v", err, tc.want)
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		_, conn := play(t, [][]byte{redirect})
		x, _ := Start(t.Context(), conn, nil, Config{ID: 7})
		_, err := io.ReadAll(x)
		var to *Redirected
		if !errors.As(err, &to) || to.To.Port() != 99 || !to.Always || !strings.Contains(err.Error(), "127.0.0.1:99") {
			t.Errorf("%v", err)
		}
		x.Close()
	})
}

func make60000() []byte {
	return (&Packet{ID: 8, Seq: 1, Total: 1, Data: make([]byte, 60000)}).Append(nil)
}

// pipe returns a listening socket and a socket connected to it.
func pipe(t *testing.T) (net.PacketConn, net.Conn) {
	t.Helper()
	n := new(memnet.Network)
	socket, err := n.ListenPacket(t.Context(), "udp", "127.0.0.1:1525")
	if err != nil {
		t.Fatal(err)
	}
	conn, err := n.Dial(t.Context(), "udp", "mem:1525")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { socket.Close() })
	return socket, conn
}

// endedConn is a connection that returns io.EOF.
type endedConn struct {
	net.Conn
	after int // writes
}

func (c *endedConn) Read([]byte) (int, error) { return 0, io.EOF }
func (c *endedConn) Write(p []byte) (int, error) {
	if c.after--; c.after < 0 {
		return 0, syscall.ECONNREFUSED
	}
	return len(p), nil
}
func (c *endedConn) Close() error                     { return nil }
func (c *endedConn) SetReadDeadline(time.Time) error  { return nil }
func (c *endedConn) SetWriteDeadline(time.Time) error { return nil }

// TestBrokenSockets checks sockets that fail.
func TestBrokenSockets(t *testing.T) {
	if _, err := Start(t.Context(), &endedConn{}, nil, Config{ID: 7}); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("a socket that cannot send: %v", err)
	}
	x, err := Start(t.Context(), &endedConn{after: 1}, nil, Config{ID: 7})
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(x); !errors.Is(err, ErrClosed) {
		t.Errorf("a socket that ends: %q, %v", text, err)
	}
	x.Close()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		p, conn := play(t, [][]byte{(&Packet{ID: 7, Option: OptQueue, Extra: QueueExtra(Queue{Position: 2, Time: time.Minute})}).Append(nil)})
		var notes []string
		x, err := Start(ctx, conn, []byte("LIST\n"), Config{ID: 7, Limit: time.Hour, Note: func(s string) { notes = append(notes, s) }})
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(2*time.Second, cancel)
		if _, err := x.Read(nil); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		x.SetLimit(0)
		x.Close()
		synctest.Wait()
		want := string((&Packet{Header: 13, ID: 7, Option: OptCancel}).Append(nil))
		if len(p.heard) != 2 || p.heard[1] != want {
			t.Errorf("the client did not cancel the request: %q", p.heard)
		}
		if fmt.Sprint(notes) != "[the server's queue: position 2, about 1m0s]" {
			t.Errorf("%q", notes)
		}
	})
}

// TestTrimmedNUL checks servers that append a NUL to each packet.
func TestTrimmedNUL(t *testing.T) {
	for _, old := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			_, conn := play(t, [][]byte{
				(&Packet{Header: 7, ID: 7, Seq: 1, Data: []byte("VERSION 5 A50\x00")}).Append(nil),
				(&Packet{Header: 7, ID: 7, Seq: 2, Total: 2, Data: []byte("b\x00")}).Append(nil),
			})
			x, err := Start(t.Context(), conn, nil, Config{ID: 7, TrimNUL: func(first []byte) bool { return old }})
			if err != nil {
				t.Fatal(err)
			}
			defer x.Close()
			want := "VERSION 5 A50\x00b\x00"
			if old {
				want = strings.ReplaceAll(want, "\x00", "")
			}
			if text, err := io.ReadAll(x); string(text) != want || err != nil {
				t.Errorf("%q, %v", text, err)
			}
		})
	}
}

// FuzzARDP answers a request with any sequence of datagrams. In the input, two octets before each
// datagram have its length and a third one says whether it gets the right id.
func FuzzARDP(f *testing.F) {
	for _, name := range []string{"dirlist", "dirlist-attributes", "archie-v5", "archie-v1", "ardp-slow", "ardp-refused", "ardp-redirect", "virtual-links", "multipacket-request"} {
		var seed []byte
		for _, r := range traces(f, name) {
			if !r.client {
				seed = append(seed, byte(len(r.octets)>>8), byte(len(r.octets)), 1)
				seed = append(seed, r.octets...)
			}
		}
		f.Add(seed, name == "archie-v1")
	}
	for _, p := range []*Packet{
		{Flags: FlagAddress | FlagPriority | FlagWindow, Extra: []byte{1, 1, 'a', 0, 1, 0, 40}}, {Seq: 1, Flags: FlagSequencedControl | FlagAck},
		{Option: OptVersions}, {Option: OptAskQueue, Extra: []byte{1}}, {Option: OptBitmap, Extra: []byte{1}}, {Option: OptReset}, {Option: OptRedirectAll, Extra: make([]byte, 6)}, {Option: 99},
		{Header: 7, Seq: 300}, {Header: 5, Seq: 1}, {Header: 7, Seq: 2, Total: 1}, {Header: 11, Wait: 30}, {Header: 31, Extra: make([]byte, 18)}, {Header: 1}, {Option: OptForwarded}, {Flags: FlagAddress}, {Flags: FlagPriority},
	} {
		d := p.Append(nil)
		two := append([]byte{0, byte(len(d)), 1}, d...)
		f.Add(append(two, two...), false)
	}
	one, other := (&Packet{Header: 7, Seq: 1, Data: []byte("a")}).Append(nil), (&Packet{Header: 7, Seq: 1, Data: []byte("b")}).Append(nil)
	f.Add(slices.Concat([]byte{0, 8, 1}, one, []byte{0, 8, 1}, one, []byte{0, 8, 1}, other), false)
	late := (&Packet{Header: 7, Seq: 2, Data: []byte("a")}).Append(nil)
	f.Add(slices.Concat([]byte{0, 8, 1}, late, []byte{0, 8, 1}, late, []byte{0, 7, 1}, late[:7]), false)
	total := (&Packet{Header: 7, Seq: 1, Total: 1}).Append(nil)
	f.Add(slices.Concat([]byte{0, 8, 1}, late, []byte{0, 7, 1}, total), false)
	f.Add(slices.Concat([]byte{0, 8, 1}, one, []byte{0, 19, 1}, (&Packet{Option: OptRedirect, Extra: make([]byte, 6)}).Append(nil)), false)
	for _, d := range []string{"", "\x00", "\x81", "VERSION 5\n", "\x02\x00", "\x1f", "\x01", "\x09\x00"} {
		f.Add(append([]byte{0, byte(len(d)), 0}, d...), false)
	}
	flood := slices.Repeat([]byte{0, 8, 1, 7, 0, 7, 0, 200, 0, 0, 'x'}, 2)
	for range 120 {
		flood = append(flood, slices.Concat([]byte{0, 30, 0}, []byte{3, 0, 0}, make([]byte, 27))...)
	}
	f.Add(flood, false)
	f.Add(bytes.Repeat([]byte("0123456789"), 500), false)
	f.Add(slices.Concat([]byte{0, 7, 1}, (&Packet{Header: 7, Seq: 9}).Append(nil), []byte{0, 7, 1}, (&Packet{Header: 7, Seq: 1, Total: 2}).Append(nil)), false)
	f.Add(slices.Concat([]byte{0, 12, 1}, one, []byte("45x\x00"), []byte{0, 11, 1}, (&Packet{Header: 9, Seq: 0, Received: 1}).Append(nil)), false)
	f.Add(slices.Concat([]byte{0, 11, 1}, (&Packet{Header: 11, Wait: 5}).Append(nil), []byte{0, 11, 1}, (&Packet{Header: 11}).Append(nil), []byte{0, 9, 1}, (&Packet{Header: 9, Received: 1}).Append(nil)), false)
	f.Add(slices.Concat([]byte{0, 9, 1}, one, []byte{0}, []byte{0, 9, 1}, (&Packet{Header: 7, Seq: 2, Total: 2, Data: []byte("b\x00")}).Append(nil)), false)
	f.Add(slices.Concat([]byte{0, 8, 1}, one, []byte{0, 8, 1}, late, []byte{0, 8, 1}, (&Packet{Header: 7, Seq: 1, Total: 1, Data: []byte("a")}).Append(nil)), false)
	f.Add(slices.Concat([]byte{0, 16, 1}, one, []byte("12345678")), false)
	f.Fuzz(func(t *testing.T, sequence []byte, anyID bool) {
		synctest.Test(t, func(t *testing.T) {
			socket, conn := pipe(t)
			var ours []byte // data of the packets with the right id
			most := 2000
			if anyID {
				most = 0
			}
			x, err := Start(t.Context(), conn, []byte("LIST\n"), Config{ID: 0x1738, AnyID: anyID, MaxIgnored: most, Note: func(string) {}, Sent: func([]byte) {}, TrimNUL: func(first []byte) bool { return len(first) == 9 }})
			if err != nil {
				t.Fatal(err)
			}
			x.SetLimit(time.Hour)
			x.SetLimit(time.Minute)
			checkSplit(t, sequence)
			for n := 0; len(sequence) >= 3 && n < 200; n++ {
				length := min(int(sequence[0])<<8|int(sequence[1]), len(sequence)-3)
				d := slices.Clone(sequence[3 : 3+length])
				if len(d) >= 3 && sequence[2]&1 != 0 && d[0] >= 3 {
					d[1], d[2] = 0x17, 0x38
				}
				sequence = sequence[3+length:]
				if p, err := Decode(d); err == nil {
					if got := p.Append(nil); !bytes.Equal(got, d) {
						t.Fatalf("%x is encoded as %x", d, got)
					}
					checkFields(t, p)
					ours = append(ours, p.Data...)
				}
				if len(Annotate(d)) == 0 {
					t.Fatalf("%x has no annotation", d)
				}
				socket.WriteTo(d, conn.LocalAddr())
			}
			text, err := io.ReadAll(x)
			if err != nil && err.Error() == "" {
				t.Fatalf("%T has no text", err)
			}
			if err == nil && !x.answer.Complete() || len(text) > len(ours) {
				t.Fatalf("%d bytes of %d, %v", len(text), len(ours), err)
			}
			x.Close()
		})
	})
}

// checkFields encodes the fields of a packet in the shortest header and decodes them again.
func checkFields(t *testing.T, p *Packet) {
	short := *p
	short.Header = 0
	again, err := Decode(short.Append(nil))
	if short.needed() > maxHeader {
		return
	}
	if err != nil || again.ID != p.ID || again.Received != p.Received || again.Wait != p.Wait || !bytes.Equal(again.Data, p.Data) {
		t.Fatalf("%+v is read again as %+v, %v", p, again, err)
	}
	if q, ok := p.Queue(); ok {
		if got, ok := (&Packet{Option: OptQueue, Extra: QueueExtra(q)}).Queue(); !ok || got != q {
			t.Fatalf("queue %+v is %+v", q, got)
		}
	}
	if to, ok := p.Redirect(); ok {
		extra, _ := RedirectExtra(to)
		if got, ok := (&Packet{Option: OptRedirect, Extra: extra}).Redirect(); !ok || got != to {
			t.Fatalf("%v is %v", to, got)
		}
	}
	if w := p.WindowWanted(); w < 0 || w > 65535 {
		t.Fatalf("a window of %d", w)
	}
}

// checkSplit splits a message and assembles it again.
func checkSplit(t *testing.T, message []byte) {
	packets, ok := Split(NewID(), message)
	var a Assembly
	for _, p := range slices.Backward(packets) {
		if v, err := a.Add(p); err != nil || v == Duplicate {
			t.Fatal(v, err)
		}
	}
	if !ok || len(packets) <= maxAhead && !bytes.Equal(drain(&a), message) {
		t.Fatalf("%d bytes in %d packets", len(message), len(packets))
	}
}
