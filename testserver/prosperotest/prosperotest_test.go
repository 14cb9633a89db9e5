package prosperotest_test

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/internal/codec/ardp"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/internal/testclient"
	"github.com/fetch1738/fetch1738/testserver/prosperotest"
)

// askProspero sends a request and returns the text of the answer.
func askProspero(t *testing.T, srv *prosperotest.Server, text string) string {
	t.Helper()
	nc, err := srv.Dial(t.Context(), "udp", srv.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	var a ardp.Assembly
	packets, _ := ardp.Split(7, []byte(text))
	for _, p := range packets {
		nc.Write(p.Append(nil))
	}
	for {
		heard := hear(t, nc)
		for _, p := range heard {
			if p.Seq > 0 {
				if _, err := a.Add(p); err != nil {
					t.Fatal(err)
				}
			}
		}
		if a.Complete() || len(heard) == 0 {
			break
		}
		nc.Write((&ardp.Packet{Header: 9, ID: 7, Received: a.Through()}).Append(nil))
	}
	var b strings.Builder
	for data, ok := a.Next(); ok; data, ok = a.Next() {
		b.Write(data)
	}
	return b.String()
}

// TestProsperoCommands tests requests that no recorded client sent.
func TestProsperoCommands(t *testing.T) {
	testclient.InBubble(t, "", func(t *testing.T) {
		srv := prosperotest.New(t, func(s *prosperotest.Server) {
			s.Content, s.InMemory, s.Site = testclient.Content(), true, "ftp.example.org"
			s.Forbidden = []string{"secret"}
			s.Links = map[string][]prosperotest.Link{"pub": {{Kind: "U", Target: "DIRECTORY", Name: "more", HSOName: "/other"}}}
		})
		names := func(answer string) string {
			var list []string
			for line := range strings.Lines(answer) {
				if f := strings.Fields(line); f[0] == "LINK" {
					list = append(list, f[3])
				} else {
					list = append(list, strings.Join(f, " "))
				}
			}
			return strings.Join(list, ";")
		}
		for request, want := range map[string]string{
			"DIRECTORY ASCII /\nLIST '' COMPONENTS m*\n":                     "motd.txt",
			"DIRECTORY ASCII /\nLIST '' COMPONENTS dot?.txt\n":               "dots.txt",
			"DIRECTORY ASCII /\nLIST '' COMPONENTS (^c.l)\n":                 "crlf.txt",
			"DIRECTORY ASCII /\nLIST '' COMPONENTS (\n":                      "NONE-FOUND",
			"DIRECTORY ASCII /\nLIST '' COMPONENTS pub sub deep.txt\n":       "deep.txt",
			"DIRECTORY ASCII /\nLIST '' COMPONENTS nothing x\n":              "NONE-FOUND",
			"DIRECTORY ASCII pub\nLIST '' COMPONENTS missing\n":              "more",
			"DIRECTORY ASCII pub\nLIST '' COMPONENTS missing x\n":            "more;UNRESOLVED x",
			"DIRECTORY ASCII pub\nLIST\n":                                    "a.txt;sub;more",
			"DIRECTORY ASCII secret\nLIST\n":                                 "FAILURE NOT-AUTHORIZED",
			"DIRECTORY ASCII motd.txt\nLIST\n":                               "FAILURE NOT-A-DIRECTORY",
			"DIRECTORY OTHER x\nLIST\n":                                      "ERROR Malformed input line: DIRECTORY",
			"GET-OBJECT-INFO x\n":                                            "ERROR Malformed input line: GET-OBJECT-INFO",
			"GET-OBJECT-INFO NOTHING ASCII motd.txt 0\n":                     "NONE-FOUND",
			"GET-OBJECT-INFO SIZE ASCII secret/key.txt 0\n":                  "FAILURE NOT-AUTHORIZED",
			"GET-OBJECT-INFO SIZE ASCII secret 0\n":                          "FAILURE NOT-AUTHORIZED",
			"GET-OBJECT-INFO CONTENTS ASCII pub/a.txt 0\n":                   "ATTRIBUTE OBJECT INTRINSIC CONTENTS SEQUENCE DATA a",
			"GET-OBJECT-INFO CONTENTS ASCII pub 0\n":                         "FAILURE NOT-FOUND",
			"PARAMETER GET MOTD\n":                                           "PARAMETER NOTSET MOTD",
			"LIST-ACL ''\n":                                                  "FAILURE UNIMPLEMENTED",
			"DIRECTORY ASCII ARCHIE/MATCH(9,0,C)/otd\nLIST\n":                "motd.txt;ATTRIBUTE CACHED FIELD ACCESS-METHOD AFTP '' '' '' '' BINARY;ATTRIBUTE CACHED APPLICATION AR_H_IP_ADDR SEQUENCE 192.0.2.7;ATTRIBUTE CACHED INTRINSIC SIZE SEQUENCE 12' bytes';ATTRIBUTE CACHED INTRINSIC UNIX-MODES SEQUENCE -rw-r--r--;ATTRIBUTE CACHED INTRINSIC LAST-MODIFIED SEQUENCE 19950304050607Z",
			"DIRECTORY ASCII ARCHIE/MATCH(9,0,=)\nLIST '' COMPONENTS none\n": "NONE-FOUND",
			"DIRECTORY ASCII ARCHIE/MATCH(9,0,R)/(\nLIST\n":                  "NONE-FOUND",
			"DIRECTORY ASCII ARCHIE/MATCH(9,0,?)/x\nLIST\n":                  "NONE-FOUND",
			"DIRECTORY ASCII ARCHIE/MATCH(9,0,k)/OTD\nLIST\n":                "NONE-FOUND",
			"DIRECTORY ASCII ARCHIE/HOST/x/nothing\nLIST\n":                  "FAILURE NOT-A-DIRECTORY",
		} {
			if got := names(askProspero(t, srv, request)); got != want {
				t.Errorf("%q: %s, want %s", request, got, want)
			}
		}
		if got := askProspero(t, srv, "STATUS\n"); !strings.HasPrefix(got, "Prospero server (fetch1738-testserver) 127.0.0.1\n") {
			t.Errorf("STATUS: %q", got)
		}
		if got := askProspero(t, srv, "DIRECTORY ASCII /"+strings.Repeat("x", 2<<20)+"\nLIST\n"); got != "" {
			t.Errorf("a request of 2 MiB is answered: %q", got)
		}
	})
}

// TestProsperoFaults tests the faults of datagrams.
func TestProsperoFaults(t *testing.T) {
	testclient.InBubble(t, "", func(t *testing.T) {
		srv := prosperotest.New(t, func(s *prosperotest.Server) { s.Content, s.InMemory = testclient.Content(), true })
		nc, err := srv.Dial(t.Context(), "udp", srv.Addr)
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		request := (&ardp.Packet{Header: 9, ID: 7, Seq: 1, Total: 1, Data: []byte("VERSION\n")}).Append(nil)
		heard := func(id byte, faults ...prosperotest.Fault) string {
			srv.ResetFaults()
			srv.On("PACKET", 0, faults...)
			request[2] = id
			nc.Write(request)
			var list []string
			for _, p := range hear(t, nc) {
				list = append(list, fmt.Sprintf("%d %q", p.Seq, p.Data))
			}
			return strings.Join(list, ", ")
		}
		answer := `1 "VERSION 5 fetch1738-testserver\n"`
		for i, tc := range []struct {
			fault prosperotest.Fault
			want  string
		}{
			{prosperotest.Lose(), ""}, {prosperotest.Duplicate(), answer + ", " + answer}, {testserver.Truncate(10), `1 "VERSION"`},
			{testserver.Garble(3, "v"), `1 "vERSION 5 fetch1738-testserver\n"`}, {testserver.Data("\x01x"), `1 "x"`}, {prosperotest.Loss(100, 1), ""}, {prosperotest.Loss(0, 1), answer},
		} {
			if got := heard(byte(10+i), tc.fault); got != tc.want {
				t.Errorf("%v: %s, want %s", tc.fault, got, tc.want)
			}
		}
		if got := heard(30, prosperotest.Reorder()); got != "" {
			t.Errorf("a datagram held back: %s", got)
		}
		if got := heard(31); got != answer+", "+answer {
			t.Errorf("and after the next: %s", got)
		}
	})
	for want, f := range map[string]prosperotest.Fault{
		"Lose()": prosperotest.Lose(), "Loss(10, 1)": prosperotest.Loss(10, 1), "Duplicate()": prosperotest.Duplicate(), "Reorder()": prosperotest.Reorder(),
		"Wait(3s, 2)": prosperotest.Wait(3*time.Second, 2), `SendTo("127.0.0.1:9")`: prosperotest.SendTo("127.0.0.1:9"), "Refuse()": prosperotest.Refuse(),
	} {
		if f.String() != want {
			t.Errorf("%s, want %s", f, want)
		}
	}
}

// TestProsperoCallUnderWay begins more exchanges than the server keeps while an answer is being
// fetched. That answer must be complete anyway. A request for which there is no room is answered
// when it is repeated.
func TestProsperoCallUnderWay(t *testing.T) {
	testclient.InBubble(t, "", func(t *testing.T) {
		srv := prosperotest.New(t, func(s *prosperotest.Server) {
			s.Content, s.InMemory = fstest.MapFS{"large": testclient.NewFile(strings.Repeat("x", 100<<10))}, true
		})
		dial := func() net.Conn {
			nc, err := srv.Dial(t.Context(), "udp", srv.Addr)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { nc.Close() })
			return nc
		}
		large := []byte("GET-OBJECT-INFO CONTENTS ASCII large 0\n")
		first, err := ardp.Start(t.Context(), dial(), large, ardp.Config{ID: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer first.Close()
		if _, err := first.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		for range 300 {
			if text := askProspero(t, srv, "VERSION\n"); !strings.HasPrefix(text, "VERSION 5") {
				t.Fatalf("a small request is answered by %q", text)
			}
		}
		start := time.Now()
		text, err := io.ReadAll(first)
		if err != nil || strings.Count(string(text), "x") < 100<<10 {
			t.Errorf("received %d bytes of the answer, %v", len(text), err)
		}
		if took := time.Since(start); took > 0 {
			t.Errorf("the rest of the answer took %v", took)
		}

		// Exchanges under way fill the server's table.
		var idle []net.Conn
		for i := range 256 {
			nc := dial()
			nc.Write((&ardp.Packet{Header: 9, ID: uint16(i + 1), Seq: 1, Total: 2, Data: []byte("VERSION")}).Append(nil))
			hear(t, nc)
			idle = append(idle, nc)
		}
		if text := askProspero(t, srv, "VERSION\n"); text != "" {
			t.Errorf("a request was answered although the table is full: %q", text)
		}
		idle[0].Write((&ardp.Packet{Header: 9, ID: 1, Seq: 2, Total: 2, Data: []byte("\n")}).Append(nil))
		if answer := hear(t, idle[0]); len(answer) != 1 || !strings.HasPrefix(string(answer[0].Data), "VERSION 5") {
			t.Errorf("an exchange under way ended with %v", answer)
		}
		if text := askProspero(t, srv, "VERSION\n"); !strings.HasPrefix(text, "VERSION 5") {
			t.Errorf("after another exchange has ended a request is answered by %q", text)
		}
		time.Sleep(4 * time.Minute)
		if text := askProspero(t, srv, "VERSION\n"); !strings.HasPrefix(text, "VERSION 5") {
			t.Errorf("after others were given up a request is answered by %q", text)
		}
	})
}

// TestProsperoOnLoopback uses real sockets, and ends the server.
func TestProsperoOnLoopback(t *testing.T) {
	srv := prosperotest.New(t, func(s *prosperotest.Server) { s.Content = testclient.Content() })
	nc, err := srv.Dial(t.Context(), "udp", srv.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	nc.Write((&ardp.Packet{Header: 9, ID: 7, Seq: 1, Total: 1, Data: []byte("VERSION\n")}).Append(nil))
	buf := make([]byte, 2000)
	if n, err := nc.Read(buf); err != nil || !strings.Contains(string(buf[:n]), "VERSION 5") {
		t.Errorf("%q, %v", buf[:n], err)
	}
	if err := srv.Close(); err != nil {
		t.Error(err)
	}
	srv.Wait()
}

// FuzzProsperoRequest sends arbitrary datagrams; the next client must be served.
func FuzzProsperoRequest(f *testing.F) {
	f.Add([]byte("VERSION 5 x\nDIRECTORY ASCII AFTP'/pub' 0\nLIST ATTRIBUTES+EXPAND COMPONENTS\n"), byte(0))
	f.Add([]byte("VERSION 1 x\nDIRECTORY ASCII ARCHIE/MATCH(3,0,S)/o\nLIST ATTRIBUTES COMPONENTS \n"), byte(0))
	f.Add([]byte("GET-OBJECT-INFO #ALL+CONTENTS ASCII '/motd.txt' 0\nLIST '' COMPONENTS (*\nFILTER x\n"), byte(1))
	f.Add([]byte("\x0d\x00\x07\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x09\x00\x07\x00\x02\x00\x03\x00\x00"), byte(2))
	f.Add([]byte("ERROR x\n\n'\r"), byte(0))
	f.Fuzz(func(t *testing.T, octets []byte, way byte) {
		synctest.Test(t, func(t *testing.T) {
			srv := prosperotest.New(t, func(s *prosperotest.Server) {
				s.Content, s.InMemory, s.Site, s.OnlyVersion1 = testclient.Content(), true, "h", way&4 != 0
			})
			nc, err := srv.Dial(t.Context(), "udp", srv.Addr)
			if err != nil {
				t.Fatal(err)
			}
			defer nc.Close()
			sent := len(octets)
			switch way & 3 {
			case 0:
				packets, _ := ardp.Split(7, octets)
				for _, p := range packets {
					nc.Write(p.Append(nil))
				}
			case 1:
				nc.Write((&ardp.Packet{Header: 15, ID: 7, Seq: 1, Total: 1, Flags: ardp.FlagWindow, Extra: []byte{0, 40}, Data: octets}).Append(nil))
			default:
				for len(octets) > 0 {
					n := min(len(octets), int(way)/4+1)
					nc.Write(octets[:n])
					octets = octets[n:]
				}
			}
			nc.Write((&ardp.Packet{Header: 9, ID: 7, Received: 1}).Append(nil))
			synctest.Wait()
			time.Sleep(time.Hour)
			if heard := hearAnything(nc); heard > 300+sent {
				t.Errorf("%d datagrams came", heard)
			}
			srv.ResetFaults()
			if got := askProspero(t, srv, "DIRECTORY ASCII /\nLIST '' COMPONENTS motd.txt\n"); !srv.OnlyVersion1 && !strings.HasPrefix(got, "LINK  L FILE motd.txt ") {
				t.Errorf("the next client got %q", got)
			}
		})
	})
}

// hearAnything counts the datagrams received.
func hearAnything(nc interface {
	Read([]byte) (int, error)
	SetReadDeadline(time.Time) error
}) (n int) {
	buf := make([]byte, 1<<16)
	for {
		nc.SetReadDeadline(time.Now().Add(time.Millisecond))
		if _, err := nc.Read(buf); err != nil {
			return n
		}
		n++
	}
}
