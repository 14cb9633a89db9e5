package prospero

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/file"
	"github.com/fetch1738/fetch1738/internal/codec/ardp"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/policy"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/prosperotest"
)

// TestLargeDirectory lists 10,000 links over many packets, of which one in ten
// is lost in either direction.
func TestLargeDirectory(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		content := make(fstest.MapFS)
		for i := range 10_000 {
			content[fmt.Sprintf("big/file-%05d.txt", i)] = &fstest.MapFile{}
		}
		w := newFixture(t, func(s *prosperotest.Server) { s.Content = content })
		w.srv.On("PACKET", 0, prosperotest.Loss(10, 1))
		w.srv.On("INCOMING", 0, prosperotest.Loss(10, 2))
		start := time.Now()
		items, err := w.items("/big")
		if err != nil || len(items) != 10_000 {
			t.Fatalf("%d links, %v", len(items), err)
		}
		for i, it := range items {
			if want := fmt.Sprintf("file-%05d.txt", i); it.Name != want {
				t.Fatalf("link %d is %s", i, it.Name)
			}
		}
		if took := time.Since(start); took > 2*time.Minute { // 6m36s without early acknowledgements
			t.Errorf("took %v of the fake clock, which is too long", took)
		}
	})
}

// TestLossTakesLittleTime fetches a document of 1019 packets, of which one in ten is lost. The client
// must wait about as long as the server's own pause, a second, and packets must not be repeated
// needlessly. The clock is fake.
func TestLossTakesLittleTime(t *testing.T) {
	const packets = 1019
	big := bytes.Repeat([]byte("0123456789"), packets*ardp.MaxData/10-20)
	for seed := range uint64(4) {
		bubble(t, fmt.Sprint(seed), func(t *testing.T) {
			w := newFixture(t, func(s *prosperotest.Server) { s.Content = fstest.MapFS{"big": {Data: big}} })
			w.srv.On("PACKET", 0, prosperotest.Loss(10, seed))
			received := 0
			ctx := fetch.WithTrace(t.Context(), &fetch.Trace{Received: func([]byte) { received++ }})
			start := time.Now()
			got, err := read(ctx, &w.env, parse(t, "prospero://127.0.0.1//big"))
			if got != string(big) || err != nil {
				t.Fatalf("%d bytes, %v", len(got), err)
			}
			if took := time.Since(start); took > 25*time.Second {
				t.Errorf("took %v, which is too long", took)
			}
			if received > 2*packets*9/10 {
				t.Errorf("received %d packets, which is too many", received)
			}
		})
	}
}

// TestDisorder checks the body when datagrams arrive twice, late, or in another order.
func TestDisorder(t *testing.T) {
	noise := make([]byte, 200_000)
	rand.NewChaCha8([32]byte{}).Read(noise)
	for name, faults := range map[string][]prosperotest.Fault{
		"duplicate": {prosperotest.Duplicate()}, "loss": {prosperotest.Loss(20, 3)}, "both": {prosperotest.Duplicate(), prosperotest.Loss(20, 4)},
	} {
		bubble(t, name, func(t *testing.T) {
			w := newFixture(t, func(s *prosperotest.Server) { s.Content = fstest.MapFS{"x": {Data: noise}} })
			w.srv.On("PACKET", 0, faults...)
			got, err := read(t.Context(), &w.env, parse(t, "prospero://127.0.0.1//x"))
			if err != nil || got != string(noise) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
		})
	}
	bubble(t, "reorder", func(t *testing.T) {
		w := newFixture(t, func(s *prosperotest.Server) { s.Content = fstest.MapFS{"x": {Data: noise}} })
		for n := 1; n < 200; n += 3 {
			w.srv.On("PACKET", n, prosperotest.Reorder())
		}
		got, err := read(t.Context(), &w.env, parse(t, "prospero://127.0.0.1//x"))
		if err != nil || got != string(noise) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
	})
}

// heap returns how much memory f still holds at its end, after a garbage collection.
func heap(f func()) int64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	f()
	runtime.GC()
	runtime.ReadMemStats(&after)
	return int64(after.HeapAlloc) - int64(before.HeapAlloc)
}

// TestAnnouncedPackets checks many concurrent fetches whose servers announce 65,535 packets and send
// few (the class of CVE-2018-5391).
func TestAnnouncedPackets(t *testing.T) {
	for name, tc := range map[string]struct {
		fetches, packets, octets int
		most                     int64
	}{
		"one packet of a thousand fetches": {1000, 1, 1000, 100 << 20}, // of which 64 KiB each are for the datagram
		"every second packet":              {1, 65535, 1000, 8 << 20},
		"large datagrams":                  {1, 300, 60000, 8 << 20},
	} {
		bubble(t, name, func(t *testing.T) {
			p := newRogue(t, func(p *rogue, q *ardp.Packet, from net.Addr) {
				if q.Seq != 1 || q.Received > 0 {
					return
				}
				for n := range min(tc.packets, 500) {
					p.say(from, &ardp.Packet{Header: 9, ID: q.ID, Seq: uint16(2*n + 2), Total: 65535, Data: make([]byte, tc.octets)})
				}
			})
			var wg sync.WaitGroup
			grown := heap(func() {
				for range tc.fetches {
					wg.Go(func() {
						_, err := read(t.Context(), p.env(), parse(t, "prospero://h/x"))
						if kind := fetch.KindOf(err); kind != fetch.ErrTimeout && kind != fetch.ErrProtocol {
							t.Errorf("%v", err)
						}
					})
				}
				time.Sleep(30 * time.Second) // of the bubble's clock: all is held now
			})
			if grown > tc.most {
				t.Errorf("the fetches hold %d bytes of memory, which is too much", grown)
			}
			wg.Wait()
		})
	}
}

// TestSpoofedPackets checks that connection ids and ports cannot be guessed. An attacker who guesses
// them could send answers instead of the server (CVE-2008-1447, CVE-2008-3905).
func TestSpoofedPackets(t *testing.T) {
	bubble(t, "ignored", func(t *testing.T) {
		true_ := "VERSION 5 x\nLINK  L FILE right INTERNET-D h ASCII x 0\n"
		false_ := []byte("VERSION 5 x\nLINK  L FILE wrong INTERNET-D h ASCII x 0\n")
		p := newRogue(t, func(p *rogue, q *ardp.Packet, from net.Addr) {
			if q.Seq != 1 {
				return
			}
			other, err := p.network.ListenPacket(t.Context(), "udp", "127.0.0.1:0")
			if err != nil {
				t.Error(err)
				return
			}
			defer other.Close()
			other.WriteTo((&ardp.Packet{ID: q.ID, Seq: 1, Total: 1, Data: false_}).Append(nil), from) // another port
			for _, forged := range []*ardp.Packet{
				{ID: q.ID + 1, Seq: 1, Total: 1, Data: false_},           // another id
				{ID: 0, Seq: 1, Total: 1, Data: false_},                  // none
				{Header: 7, ID: q.ID, Seq: 9999, Total: 0, Data: false_}, // beyond the window
				{Header: 13, ID: q.ID + 1, Option: ardp.OptCancel},       // refuse another
				{Header: 9, ID: q.ID, Seq: 0, Data: false_},              // control has no data
				{Header: 12, ID: q.ID, Seq: 0, Received: 60000, Wait: 0}, // acknowledges what was not sent
			} {
				p.say(from, forged)
			}
			p.say(from, &ardp.Packet{ID: q.ID, Seq: 1, Total: 1, Data: []byte(true_)})
		})
		w := &fixture{T: t, env: *p.env()}
		res, err := w.fetch("x")
		if err != nil {
			t.Fatal(err)
		}
		if items, err := collect(res); err != nil || names(items) != "right" {
			t.Errorf("%s, %v", names(items), err)
		}
		res.Close()
		w.noted("3 datagrams were ignored")
	})
	t.Run("ids", func(t *testing.T) {
		// Chi-square of the high and the low octet over 100,000 ids.
		const n = 100_000
		var counts [2][256]int
		for range n {
			id := ardp.NewID()
			counts[0][id>>8]++
			counts[1][id&0xFF]++
		}
		for i, c := range counts {
			chi := 0.0
			for _, k := range c {
				d := float64(k) - n/256.0
				chi += d * d / (n / 256.0)
			}
			if chi > 377 { // 255 degrees of freedom, p = 0.000001
				t.Errorf("octet %d of the connection ids is not uniformly distributed: chi-square %f", i, chi)
			}
		}
	})
	t.Run("ports", func(t *testing.T) {
		srv := prosperotest.New(t, func(s *prosperotest.Server) { s.Content = files() })
		ports := make(map[string]bool)
		ctx := fetch.WithTrace(t.Context(), &fetch.Trace{Connected: func(c fetch.Connection) { ports[c.Local.String()] = true }})
		for range 10 {
			if _, err := read(ctx, &fetch.Env{}, parse(t, srv.URL+"//pub/motd.txt")); err != nil {
				t.Fatal(err)
			}
		}
		if len(ports) < 25 {
			t.Errorf("30 requests came from %d ports only", len(ports))
		}
	})
}

// TestFloods checks that useless datagrams are counted. Otherwise a fetch could be kept alive forever
// (CVE-2026-11352).
func TestFloods(t *testing.T) {
	for name, datagram := range map[string]string{
		"empty": "", "one octet": "\x01", "wrong id": "\x03\x00\x00x", "wrong id, long": "\x03\x00\x00" + strings.Repeat("x", 60000),
	} {
		bubble(t, name, func(t *testing.T) {
			var flooding atomic.Bool
			p := newRogue(t, func(p *rogue, q *ardp.Packet, from net.Addr) {
				if q.Seq != 1 || flooding.Swap(true) {
					return
				}
				for i := range 20_000 {
					if _, err := p.WriteTo([]byte(datagram), from); err != nil {
						return
					}
					if i%50 == 0 {
						time.Sleep(500 * time.Microsecond) // 10^5 a second
					}
				}
			})
			start := time.Now()
			_, err := read(t.Context(), p.env(), parse(t, "prospero://h/x"))
			var e *fetch.Error
			if !errors.As(err, &e) || e.Kind != fetch.ErrProtocol && e.Kind != fetch.ErrTimeout {
				t.Errorf("%v", err)
			}
			if took := time.Since(start); took > 2*time.Minute { // 6m36s without early acknowledgements
				t.Errorf("took %v, which is too long", took)
			}
		})
	}
	bubble(t, "waits", func(t *testing.T) {
		p := newRogue(t, func(p *rogue, q *ardp.Packet, from net.Addr) {
			if q.Seq != 1 {
				return
			}
			for {
				if _, err := p.WriteTo((&ardp.Packet{Header: 11, ID: q.ID, Wait: 100}).Append(nil), from); err != nil {
					return
				}
				time.Sleep(50 * time.Second)
			}
		})
		start := time.Now()
		_, err := read(t.Context(), p.env(), parse(t, "prospero://h/x"))
		wantKind(t, err, fetch.ErrTimeout, "")
		if took := time.Since(start); took > 17*time.Minute {
			t.Errorf("a server kept the client waiting for %v, which is too long", took)
		}
		p.Close()
		synctest.Wait()
	})
}

// TestServersDoNotTalk checks that two servers do not answer each other's errors forever
// (CVE-2024-2169).
func TestServersDoNotTalk(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		w := newFixture(t, usual)
		other := prosperotest.New(t, func(s *prosperotest.Server) { usual(s); s.Network = w.srv.Network })
		for _, first := range []string{"ERROR x\n", "FAILURE NOT-FOUND\n", "VERSION 5 x\nERROR no\n", "NONE-FOUND\n", "BOGUS\n", ""} {
			// A relay stands for two addresses that were forged into each other.
			a, err := w.srv.Network.Dial(t.Context(), "udp", w.srv.Addr)
			if err != nil {
				t.Fatal(err)
			}
			b, err := w.srv.Network.Dial(t.Context(), "udp", other.Addr)
			if err != nil {
				t.Fatal(err)
			}
			passed := 0
			buf := make([]byte, 1<<16)
			a.Write((&ardp.Packet{ID: 7, Seq: 1, Total: 1, Data: []byte(first)}).Append(nil))
			for ; passed < 10; passed++ {
				from, to := a, b
				if passed%2 == 1 {
					from, to = b, a
				}
				synctest.Wait()
				from.SetReadDeadline(time.Now().Add(time.Hour))
				n, err := from.Read(buf)
				if err != nil {
					break
				}
				to.Write(buf[:n])
			}
			if passed > 2 {
				t.Errorf("%q caused %d datagrams between the servers", first, passed)
			}
			a.Close()
			b.Close()
		}
	})
}

// TestAmplification checks against the class of CVE-2013-5211, in which a small request with a forged
// address sends a large answer to a victim. The test server accepts datagrams from this computer
// only. The client sends a request at most four times.
func TestAmplification(t *testing.T) {
	bubble(t, "client", func(t *testing.T) {
		p := newRogue(t, func(*rogue, *ardp.Packet, net.Addr) {})
		_, err := read(t.Context(), p.env(), parse(t, "prospero://h/x"))
		wantKind(t, err, fetch.ErrTimeout, "")
		synctest.Wait()
		if p.heard != 5 { // with the cancel
			t.Errorf("the client sent %d datagrams, which is too many", p.heard)
		}
	})
	bubble(t, "one for one", func(t *testing.T) {
		// A packet that asks for an acknowledgement gets one, however often it comes.
		said := 0
		p := newRogue(t, func(p *rogue, q *ardp.Packet, from net.Addr) {
			if q.Seq == 1 {
				for range 50 {
					p.say(from, &ardp.Packet{Header: 12, ID: q.ID, Seq: 2, Total: 2, Flags: ardp.FlagAck, Data: []byte("x")})
					said++
				}
			}
		})
		read(t.Context(), p.env(), parse(t, "prospero://h/x"))
		synctest.Wait()
		if p.heard > said+7 { // the request, five repeated acknowledgements, the cancel
			t.Errorf("the client sent %d datagrams in reply to %d", p.heard, said)
		}
	})
}

// TestDatagramSizes checks datagrams of unexpected sizes (CVE-2006-1061, CVE-2019-5436, CVE-2019-5482
// and CVE-2017-1000100).
func TestDatagramSizes(t *testing.T) {
	link := "LINK  L FILE x INTERNET-D h ASCII x 0\n"
	for name, tc := range map[string]struct {
		datagram func(id uint16) []byte
		kind     fetch.ErrorKind // Other: none
	}{
		"header longer than the datagram": {func(id uint16) []byte { return []byte{31, byte(id >> 8), byte(id), 0, 1} }, fetch.ErrProtocol},
		"half a field":                    {func(id uint16) []byte { return []byte{4, byte(id >> 8), byte(id), 0} }, fetch.ErrProtocol},
		"header only":                     {func(id uint16) []byte { return (&ardp.Packet{ID: id, Seq: 1, Total: 1}).Append(nil) }, fetch.ErrProtocol},
		"no packet":                       {func(uint16) []byte { return []byte("MULTI-PACKET 1 OF 2\n") }, fetch.ErrProtocol},
		"version 1":                       {func(uint16) []byte { return []byte{0x81, 0, 0} }, fetch.ErrProtocol},
		"1400 octets": {func(id uint16) []byte {
			return (&ardp.Packet{ID: id, Seq: 1, Total: 1, Data: []byte(strings.Repeat(link, 1397/len(link)))}).Append(nil)
		}, fetch.ErrOther},
		"65507 octets": {func(id uint16) []byte {
			return (&ardp.Packet{ID: id, Seq: 1, Total: 1, Data: []byte(strings.Repeat(link, 65504/len(link)))}).Append(nil)
		}, fetch.ErrOther},
		"conflicting fragments": {func(id uint16) []byte { return nil }, fetch.ErrProtocol},
	} {
		bubble(t, name, func(t *testing.T) {
			p := newRogue(t, func(p *rogue, q *ardp.Packet, from net.Addr) {
				if q.Seq != 1 {
					return
				}
				if d := tc.datagram(q.ID); d != nil {
					p.WriteTo(d, from)
					return
				}
				for _, text := range []string{"one", "two"} {
					p.say(from, &ardp.Packet{Header: 7, ID: q.ID, Seq: 2, Data: []byte(text)})
				}
			})
			_, err := read(t.Context(), p.env(), parse(t, "prospero://h/x"))
			if tc.kind == fetch.ErrOther {
				if err != nil {
					t.Error(err)
				}
				return
			}
			wantKind(t, err, tc.kind, "")
		})
	}
	bubble(t, "a long request", func(t *testing.T) {
		// It is cut into packets, and none of it is left out.
		w := newFixture(t, usual)
		long := strings.Repeat("0123456789", 5000)
		_, err := w.fetch(long)
		wantKind(t, err, fetch.ErrNotFound, "")
		if !w.srv.Transcript().Has(testserver.FromClient, "DIRECTORY ASCII "+long) {
			t.Error("the server did not receive the whole request")
		}
	})
}

// TestLocalMethods checks that links to files of this computer are shown and never opened.
func TestLocalMethods(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		method := func(name, hsoname string) []prosperotest.Method {
			return []prosperotest.Method{{Name: name, HSOName: hsoname}}
		}
		w := newFixture(t, func(s *prosperotest.Server) {
			s.Links = map[string][]prosperotest.Link{"trap": {
				{Target: "EXTERNAL", Name: "local", Host: "localhost", HSOName: "x", Methods: method("LOCAL", "/etc/passwd")},
				{Target: "EXTERNAL", Name: "afs", Host: "localhost", HSOName: "x", Methods: method("AFS", "/../etc/passwd")},
				{Target: "EXTERNAL", Name: "nfs", Host: "localhost", HSOName: "etc/passwd", Methods: []prosperotest.Method{{Name: "NFS", Args: []string{"/"}}}},
				{Target: "EXTERNAL", Name: "relative", Host: "localhost", HSOName: "AFTP/x", Methods: method("LOCAL", "")},
			}}
		})
		res, err := w.fetch("/trap")
		if err != nil {
			t.Fatal(err)
		}
		items, err := collect(res)
		if err != nil || len(items) != 4 {
			t.Fatalf("%+v, %v", items, err)
		}
		opener := &file.Fetcher{Env: &fetch.Env{Allow: policy.User}}
		for _, it := range items {
			switch l := it.Locator.(type) {
			case *locator.File:
				_, err := opener.Fetch(context.Background(), &fetch.Request{Locator: l, From: res.Origin()})
				var denied *policy.Denied
				if !errors.As(err, &denied) || denied.Rule != "remote-to-local" {
					t.Errorf("%s leads to %v: %v", it.Name, l, err)
				}
			case *locator.Opaque:
				if l.Name != "nfs" {
					t.Errorf("%s leads to %v", it.Name, l)
				}
			case nil:
				if it.Name != "relative" {
					t.Errorf("%s has no locator: %+v", it.Name, it.Header)
				}
			default:
				t.Errorf("%s leads to %v", it.Name, l)
			}
		}
	})
}

// TestHostileText checks links that cannot be written in a URL, and endless answers.
func TestHostileText(t *testing.T) {
	bubble(t, "links", func(t *testing.T) {
		w := newFixture(t, func(*prosperotest.Server) {})
		var text strings.Builder
		for _, host := range []string{"", "a b", "h/../x", "h:25", "h(25", "h(99999)", "u@h", "h\n", "\x00", "127.1", "[::1]", strings.Repeat("h", 300), "h%41"} {
			fmt.Fprintf(&text, "LINK  L FILE f INTERNET-D '%s' ASCII x 0\nLINK  L EXTERNAL f INTERNET-D '%s' ASCII x 0\nATTRIBUTE CACHED FIELD ACCESS-METHOD AFTP '' '' '' '' BINARY\n", host, host)
		}
		text.WriteString("LINK  L FILE f INTERNET-D h ASCII 'a\nb' 0\nLINK  L FILE f OTHER h ASCII x 0\nLINK  L EXTERNAL f INTERNET-D h ASCII x 0\nLINK L NULL NULL NULL NULL NULL NULL NULL\n")
		w.srv.On("LIST", 0, testserver.Reply(text.String()))
		items, err := w.items("x")
		if err != nil || len(items) != 30 {
			t.Fatalf("%d items, %v", len(items), err)
		}
		for _, it := range items {
			if it.Locator != nil {
				t.Errorf("%+v leads to %v", it, it.Locator)
			}
			if h := it.Header[len(it.Header)-1]; h.Name != HeaderFault || h.Value == "" {
				t.Errorf("the header has no fault: %+v", it.Header)
			}
		}
	})
	for name, text := range map[string]string{
		"long line":       "LINK  L FILE '" + strings.Repeat("x", 100_000),
		"many attributes": "LINK  L FILE f INTERNET-D h ASCII x 0\n" + strings.Repeat("ATTRIBUTE OBJECT INTRINSIC X SEQUENCE y\n", 20_000),
		"many remarks":    strings.Repeat("WARNING MESSAGE x\n", 40_000),
	} {
		bubble(t, name, func(t *testing.T) {
			w := newFixture(t, func(*prosperotest.Server) {})
			w.srv.On("LIST", 0, testserver.Reply(text))
			res, err := w.fetch("x")
			if err == nil {
				_, err = collect(res)
			}
			wantKind(t, err, fetch.ErrTooLarge, "")
		})
	}
	bubble(t, "attributes of an object", func(t *testing.T) {
		w := newFixture(t, func(*prosperotest.Server) {})
		w.srv.On("GET-OBJECT-INFO", 0, testserver.Reply(strings.Repeat("ATTRIBUTE OBJECT INTRINSIC X SEQUENCE y\n", 20_000)))
		_, err := w.fetch("x")
		wantKind(t, err, fetch.ErrTooLarge, "bytes of attributes")
	})
	bubble(t, "body limit", func(t *testing.T) {
		w := newFixture(t, usual)
		w.env.Limits.Body = 6
		if got, err := read(t.Context(), &w.env, parse(t, "prospero://127.0.0.1//pub/motd.txt")); got != "hello\n" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
		w.env.Limits.Body = 5
		got, err := read(t.Context(), &w.env, parse(t, "prospero://127.0.0.1//pub/motd.txt"))
		wantKind(t, err, fetch.ErrTooLarge, "")
		if got != "hello" {
			t.Errorf("%q", got)
		}
	})
}

// FuzzProsperoSession checks that Fetch ends for any answers of a server, with a Resource or an error
// that has a kind, and that links have locators that can be fetched.
func FuzzProsperoSession(f *testing.F) {
	for _, trace := range []string{"virtual-links", "virtual-links-v1", "archie-v1", "dirlist-attributes", "notadir", "forwarded", "unresolved", "version-unsupported", "contents-binary", "goi-access-method", "archie-v5-toomany", "bad-quote"} {
		f.Add([]byte(recorded(f, trace)), []byte(recorded(f, "goi-all")), []byte(recorded(f, "contents-text")))
	}
	f.Add([]byte("VERSION-NOT-SUPPORTED TRY 1-1"), []byte("LINK L EXTERNAL(AFTP,BINARY) x INTERNET-D h ASCII x 0 0\nLINK-INFO CACHED SIZE ASCII 1\n"), []byte(""))
	f.Add([]byte("FAILURE NOT-A-DIRECTORY\n"), []byte(recorded(f, "goi-access-method")), []byte("ATTRIBUTE OBJECT INTRINSIC CONTENTS SEQUENCE TAGGED a b\n"))
	f.Add([]byte("FORWARDED\n"), []byte(""), []byte(""))
	f.Add([]byte("LINK  U DIRECTORY u INTERNET-D 127.0.0.1 ASCII y 0\n"), []byte("LINK  L FILE f INTERNET-D h ASCII z 0\n"), []byte(""))
	f.Fuzz(func(t *testing.T, one, two, three []byte) {
		synctest.Test(t, func(t *testing.T) {
			answers := [][]byte{one, two, three}
			n := 0
			p := newRogue(t, func(p *rogue, q *ardp.Packet, from net.Addr) {
				if q.Seq != 1 || q.Received != 0 {
					return
				}
				packets, _ := ardp.Split(q.ID, answers[min(n, 2)])
				for _, answer := range packets {
					p.say(from, answer)
				}
				n++
			})
			res, err := (&Fetcher{Env: p.env()}).Fetch(t.Context(), &fetch.Request{Locator: &locator.Prospero{HostPort: locator.HostPort{Host: "127.0.0.1"}, HSOName: "x"}})
			if err != nil {
				checkFuzzed(t, err)
				return
			}
			defer res.Close()
			if res.Kind != fetch.KindMenu {
				if _, err := io.Copy(io.Discard, res.Body); err != nil {
					checkFuzzed(t, err)
				}
				return
			}
			for it, err := range res.Items {
				if err != nil {
					checkFuzzed(t, err)
				} else if it.Locator != nil && driver.CheckOctets(it.Locator) != nil {
					t.Errorf("%v cannot be fetched", it.Locator)
				}
			}
		})
	})
}

func checkFuzzed(t *testing.T, err error) {
	var e *fetch.Error
	if !errors.As(err, &e) || e.Kind == fetch.ErrOther {
		t.Errorf("the error has no kind: %v", err)
	}
}
