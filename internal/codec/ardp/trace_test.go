package ardp

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// recorded is a datagram of the traces. They were recorded from real programs: dirsrv of 1994 with vls
// and archie of the same release, and c-archie.
type recorded struct {
	name   string
	client bool // sent by the client
	octets []byte
}

// traces returns the recorded datagrams of a case, or of all cases for "*", in order.
func traces(t testing.TB, name string) []recorded {
	t.Helper()
	orders, err := filepath.Glob(filepath.Join("testdata", "traces", name+".order"))
	if err != nil || len(orders) == 0 {
		t.Fatalf("no traces %s: %v", name, err)
	}
	var all []recorded
	for _, order := range orders {
		text, err := os.ReadFile(order)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			f := strings.Fields(line)
			file := fmt.Sprintf("%s.%s.%s.bin", strings.TrimSuffix(order, ".order"), f[1], f[2])
			octets, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, recorded{name: filepath.Base(file), client: f[1] == "c2s", octets: octets})
		}
	}
	return all
}

// TestTraces decodes every recorded datagram and encodes it to the same octets. A truncated header
// must be an error.
func TestTraces(t *testing.T) {
	all := traces(t, "*")
	for _, r := range all {
		p, err := Decode(r.octets)
		if err != nil {
			t.Errorf("%s: %v", r.name, err)
			continue
		}
		if got := p.Append(nil); !bytes.Equal(got, r.octets) {
			t.Errorf("%s: encoded as %x, was %x", r.name, got[:min(40, len(got))], r.octets[:min(40, len(r.octets))])
		}
		for n := range p.Header {
			if _, err := Decode(r.octets[:n]); err == nil {
				t.Errorf("%s: %d bytes of a header of %d were accepted", r.name, n, p.Header)
			}
		}
		if lines := Annotate(r.octets); !strings.HasPrefix(lines[0], "byte  0") {
			t.Errorf("%s: annotated as %q", r.name, lines)
		}
	}
	if len(all) != 193 {
		t.Errorf("%d datagrams, want all 193", len(all))
	}
}

// TestTracesAssemble assembles the recorded messages from packets in any order and with any number of
// copies.
func TestTracesAssemble(t *testing.T) {
	for _, tc := range []struct {
		name    string
		client  bool
		octets  int
		packets int
	}{
		{"multipacket", false, 68903, 56}, {"dirlist-attributes", false, 1250 + 763, 2},
		{"multipacket-request", true, 4*1250 + 232, 5}, {"archie-v5-multipacket", false, 0, 19}, {"dirlist", false, 359, 1},
	} {
		var packets []*Packet
		var want []byte
		for _, r := range traces(t, tc.name) {
			if p, err := Decode(r.octets); err == nil && r.client == tc.client && p.Seq > 0 {
				packets = append(packets, p)
				want = append(want, p.Data...)
			}
		}
		if tc.octets != 0 && len(want) != tc.octets || len(packets) != tc.packets {
			t.Errorf("%s: %d bytes in %d packets", tc.name, len(want), len(packets))
		}
		for seed := range uint64(100) {
			r := rand.New(rand.NewPCG(seed, 1))
			shuffled := slices.Concat(packets, packets[:r.IntN(len(packets)+1)])
			r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
			var a Assembly
			for _, p := range shuffled {
				if _, err := a.Add(p); err != nil {
					t.Fatalf("%s, seed %d: %v", tc.name, seed, err)
				}
			}
			if got := drain(&a); !bytes.Equal(got, want) || !a.Complete() || int(a.Through()) != len(packets) {
				t.Fatalf("%s, seed %d: %d bytes of %d", tc.name, seed, len(got), len(want))
			}
		}
	}
}

func drain(a *Assembly) (all []byte) {
	for data, ok := a.Next(); ok; data, ok = a.Next() {
		all = append(all, data...)
	}
	return all
}

func TestDecode(t *testing.T) {
	for in, want := range map[string]error{
		"":                                      ErrEmpty,
		"\x00":                                  ErrVersion,
		"\x00\x00\x01":                          ErrVersion,
		"\x81\x00\x00\x00\x0d":                  ErrVersion,
		"\xff":                                  ErrVersion,
		"VERSION 5\n":                           ErrText,
		"\x80":                                  ErrText,
		"\x20":                                  ErrText,
		"\x01":                                  nil,
		"\x02\x00":                              ErrHeader,
		"\x03\x12\x34":                          nil,
		"\x03\x12":                              ErrHeader,
		"\x1f":                                  ErrHeader,
		"\x04\x12\x34\x00":                      ErrHeader,
		"\x0c\x12\x34" + zeros(8) + "\x02":      ErrHeader, // priority without its field
		"\x0e\x12\x34" + zeros(8) + "\x02\x00x": ErrHeader,
		"\x0f\x12\x34" + zeros(8) + "\x02\x00\xff\xfe":                      nil,
		"\x0d\x12\x34" + zeros(8) + "\x00\x04":                              ErrHeader, // redirect to nowhere
		"\x13\x12\x34" + zeros(8) + "\x00\x04" + "\x7f\x00\x00\x01\x05\xf5": nil,
		"\x0e\x12\x34" + zeros(8) + "\x00\xfe\x01":                          ErrHeader, // a position without octets
		"\x0d\x12\x34" + zeros(8) + "\x00\xfe":                              ErrHeader,
		"\x0d\x12\x34" + zeros(8) + "\x00\xfd":                              ErrHeader,
		"\x0e\x12\x34" + zeros(8) + "\x00\xfe\x00":                          nil,
		"\x0f\x12\x34" + zeros(8) + "\x01\x00\x01\x09":                      ErrHeader, // an address longer than the header
		"\x0d\x12\x34" + zeros(8) + "\x01\x00":                              ErrHeader,
	} {
		p, err := Decode([]byte(in))
		if !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", in, err, want)
		}
		if err == nil && !bytes.Equal(p.Append(nil), []byte(in)) {
			t.Errorf("%q: encoded as %q", in, p.Append(nil))
		}
	}
}

func zeros(n int) string { return strings.Repeat("\x00", n) }

func TestFields(t *testing.T) {
	to := netip.MustParseAddrPort("127.0.0.1:1525")
	extra, ok := RedirectExtra(to)
	p := roundTrip(t, &Packet{ID: 7, Option: OptRedirect, Extra: extra})
	if got, is := p.Redirect(); !ok || !is || got != to {
		t.Errorf("redirected to %v", got)
	}
	if _, ok := RedirectExtra(netip.MustParseAddrPort("[::1]:1")); ok {
		t.Error("an IPv6 address has room in a redirect")
	}
	for _, q := range []Queue{{-1, -1}, {3, -1}, {-1, 77 * time.Second}, {1, 0}} {
		p := roundTrip(t, &Packet{ID: 7, Option: OptQueue, Extra: QueueExtra(q)})
		if got, ok := p.Queue(); !ok || got != q {
			t.Errorf("queue %+v, want %+v", got, q)
		}
	}
	if _, ok := p.Queue(); ok {
		t.Error("a redirect tells of a queue")
	}
	w := roundTrip(t, &Packet{ID: 7, Flags: FlagAddress | FlagPriority | FlagWindow, Extra: []byte{1, 1, 'a', 0xFF, 0xD6, 0, 40}})
	if got := w.WindowWanted(); got != 40 {
		t.Errorf("WindowWanted is %d", got)
	}
	if _, ok := w.Redirect(); ok || p.WindowWanted() != 0 || (&Packet{Flags: FlagWindow}).WindowWanted() != 0 {
		t.Error("fields that are not there")
	}
	if o := (&Packet{Option: OptRedirect, Flags: FlagWindow}).option(); o != nil {
		t.Error("an option behind flags without their fields")
	}
	for want, p := range map[int]*Packet{
		1: {Seq: 1, Total: 1}, 3: {ID: 1, Seq: 1, Total: 1}, 7: {ID: 1, Seq: 2}, 9: {ID: 1}, 11: {Wait: 1}, 12: {Flags: FlagAck}, 13: {Option: OptCancel},
	} {
		if got := int(p.Append(nil)[0]); got != want {
			t.Errorf("a header of %d bytes for %+v, want %d", got, p, want)
		}
	}
}

func roundTrip(t *testing.T, p *Packet) *Packet {
	t.Helper()
	got, err := Decode(p.Append(nil))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestAnnotate(t *testing.T) {
	var got strings.Builder
	for _, d := range [][]byte{
		traces(t, "ardp-slow")[1].octets,
		traces(t, "ardp-redirect")[1].octets,
		(&Packet{ID: 7, Flags: FlagAck | FlagPriority, Extra: []byte{0, 0, 1}, Option: 9, Seq: 1}).Append(nil),
		append(traces(t, "ardp-cancel")[1].octets, "LIST \"x\x1b\"\n\xff"...),
		[]byte("VERSION 5\n"),
	} {
		for _, line := range Annotate(d) {
			got.WriteString(line + "\n")
		}
	}
	want := `byte  0       14        version 0, header of 20 bytes
bytes 1-2     42c0      connection id 17088
bytes 3-4     0000      packet 0: control, outside the sequence
bytes 5-6     0000      of an unknown number
bytes 7-8     0000      received up to 0
bytes 9-10    0009      wait 9 s
byte  11      00        flags: none
byte  12      fe        option 254: queue status
bytes 13-19   0300030000004d position 3, about 1m17s
byte  0       13        version 0, header of 19 bytes
bytes 1-2     6f6e      connection id 28526
bytes 3-4     0000      packet 0: control, outside the sequence
bytes 5-6     0000      of an unknown number
bytes 7-8     0000      received up to 0
bytes 9-10    0000      wait 0 s
byte  11      00        flags: none
byte  12      04        option 4: redirect
bytes 13-18   7f0000013b93 to 127.0.0.1:15251
byte  0       10        version 0, header of 16 bytes
bytes 1-2     0007      connection id 7
bytes 3-4     0001      packet 1
bytes 5-6     0000      of an unknown number
bytes 7-8     0000      received up to 0
bytes 9-10    0000      wait 0 s
byte  11      82        flags: priority please-acknowledge
byte  12      09        option 9
bytes 13-15   000001    fields of flags and option
byte  0       0d        version 0, header of 13 bytes
bytes 1-2     71a0      connection id 29088
bytes 3-4     0000      packet 0: control, outside the sequence
bytes 5-6     0000      of an unknown number
bytes 7-8     0000      received up to 0
bytes 9-10    0000      wait 0 s
byte  11      00        flags: none
byte  12      01        option 1: cancelled or refused
| LIST "x\x1b"\n
| \xff
10 bytes, not a packet: text without a header, as before 1991
`
	if got.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", got.String(), want)
	}
	for o := range 256 {
		if Option(o).String() == "" {
			t.Errorf("option %d has no text", o)
		}
	}
}

func TestSplit(t *testing.T) {
	if p, ok := Split(1, nil); !ok || len(p) != 1 || p[0].Total != 1 {
		t.Error("an empty message is one packet")
	}
	if p, ok := Split(1, make([]byte, MaxData*MaxPackets)); !ok || len(p) != MaxPackets {
		t.Error("the longest message")
	}
	if _, ok := Split(1, make([]byte, MaxData*MaxPackets+1)); ok {
		t.Error("a message of more than 65535 packets")
	}
}

// TestAssemblyConflicts checks that the first copy of a packet counts and that a different copy is an
// error.
func TestAssemblyConflicts(t *testing.T) {
	packet := func(seq, total int, data string) *Packet {
		return &Packet{Header: 9, Seq: uint16(seq), Total: uint16(total), Data: []byte(data)}
	}
	short := &Packet{Header: 3, Seq: 1, Total: 1, Data: []byte("a")}
	control := &Packet{Header: 12, Seq: 2, Flags: FlagSequencedControl, Data: []byte("no data")}
	for name, tc := range map[string]struct {
		packets []*Packet
		want    string
		err     error
	}{
		"in order":           {[]*Packet{packet(1, 0, "a"), packet(2, 2, "b")}, "ab", nil},
		"copies":             {[]*Packet{packet(2, 0, "b"), packet(2, 0, "b"), packet(1, 2, "a"), packet(1, 0, "a"), packet(2, 2, "b")}, "ab", nil},
		"early copy differs": {[]*Packet{packet(2, 0, "b"), packet(2, 0, "x")}, "", ErrConflict},
		"late copy differs":  {[]*Packet{packet(1, 0, "a"), packet(1, 0, "x")}, "a", ErrConflict},
		"two totals":         {[]*Packet{packet(1, 3, "a"), packet(2, 2, "b")}, "a", ErrConflict},
		"beyond the total":   {[]*Packet{packet(1, 2, "a"), packet(3, 0, "c")}, "a", ErrConflict},
		"total too small":    {[]*Packet{packet(3, 0, "c"), packet(1, 2, "a")}, "", ErrConflict},
		"total passed":       {[]*Packet{packet(1, 0, "a"), packet(2, 0, "b"), packet(1, 1, "a")}, "ab", ErrConflict},
		"seq over total":     {[]*Packet{packet(2, 1, "a")}, "", ErrConflict},
		"no fields":          {[]*Packet{short, short}, "a", nil},
		"control counts":     {[]*Packet{packet(1, 0, "a"), control, packet(3, 3, "c")}, "ac", nil},
	} {
		var a Assembly
		var err error
		for _, p := range tc.packets {
			if _, err = a.Add(p); err != nil {
				break
			}
		}
		if got := string(drain(&a)); got != tc.want || !errors.Is(err, tc.err) || err == nil && !a.Complete() {
			t.Errorf("%s: %q, %v, complete: %t", name, got, err, a.Complete())
		}
	}
}

// TestAssemblyIsBounded checks that incomplete messages cannot fill the memory (CVE-2018-5391).
func TestAssemblyIsBounded(t *testing.T) {
	var a Assembly
	kept, beyond := 0, 0
	for seq := 2; seq <= MaxPackets; seq++ {
		v, err := a.Add(&Packet{Header: 9, Seq: uint16(seq), Total: MaxPackets, Data: make([]byte, 60000)})
		if err != nil {
			t.Fatal(err)
		}
		if v == Fresh {
			kept++
		} else {
			beyond++
		}
	}
	if kept*60000 > maxHeld || beyond == 0 {
		t.Errorf("%d packets are kept, which is too many", kept)
	}
}
