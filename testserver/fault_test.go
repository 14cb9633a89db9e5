package testserver_test

import (
	"encoding/json"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/csotest"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
	"github.com/fetch1738/fetch1738/testserver/internal/testclient"
	"github.com/fetch1738/fetch1738/testserver/nntptest"
	"github.com/fetch1738/fetch1738/testserver/prosperotest"
	"github.com/fetch1738/fetch1738/testserver/smtptest"
	"github.com/fetch1738/fetch1738/testserver/telnettest"
	"github.com/fetch1738/fetch1738/testserver/waistest"
	"github.com/fetch1738/fetch1738/testserver/webtest"
)

// Over loopback an orderly end stays orderly even when the client has sent more than was read. A
// plain close would then cause a reset.
func TestOrderlyEndOverLoopback(t *testing.T) {
	for _, fault := range []telnettest.Fault{testserver.Truncate(3), testserver.Truncate(0), testserver.Close()} {
		srv := telnettest.New(t, func(s *telnettest.Server) {
			s.Dialogue = []telnettest.Step{{Hear: "go"}, {Say: "login: "}}
		})
		srv.On("SAY", 1, fault)
		nc := testclient.Dial(t, srv, srv.Addr)
		if _, err := io.WriteString(nc, "go"+strings.Repeat("x", 64<<10)); err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(nc); !strings.HasPrefix("log", string(got)) || err != nil {
			t.Errorf("%v: %q, %v", fault, got, err)
		}
	}
}

func TestServersShareANetwork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := new(testserver.Network)
		ftp := ftptest.New(t, func(s *ftptest.Server) { s.Network = network })
		second := ftptest.New(t, func(s *ftptest.Server) { s.Network = network })
		web := webtest.New(t, func(s *webtest.Server) { s.Network = network })
		site := gophertest.New(t, func(s *gophertest.Server) { s.Network = network })
		if ftp.URL != "ftp://127.0.0.1:21" || web.URL != "http://127.0.0.1:80" || site.URL != "gopher://127.0.0.1:70" {
			t.Errorf("URLs %s %s %s", ftp.URL, web.URL, site.URL)
		}
		if second.Addr == ftp.Addr {
			t.Errorf("two servers on %s", ftp.Addr)
		}
		var nc net.Conn = testclient.Dial(t, web, second.Addr)
		if line := make([]byte, 3); true {
			io.ReadFull(nc, line)
			if string(line) != "220" {
				t.Errorf("greeting %q", line)
			}
		}
	})
}

// TestWhereFaultsAct tests that a fault which cannot act is refused when it is armed.
func TestWhereFaultsAct(t *testing.T) {
	all := servers(t)
	for _, tt := range []struct{ server, stages, faults string }{
		{"ftptest", "NOOP GREETING CONNECT REST", "NoFinalReply Data:x Stall:1,550"},
		{"ftptest", "STOR STOU APPE", "Data:x Garble:1,x"},
		{"ftptest", "DATA", "Reply:226 Gather:2 ExtraReply: NoFinalReply FromStart"},
		{"ftptest", "RETR", "FromStart NoDot Status:500"},
		{"webtest", "CONNECT", "Data:x Status:500 Header:a,b ContentLength:1 Chunked EndlessHeaders"},
		{"webtest", "CONNECT", "ResetStream:1,CANCEL EndStream:1 GoAway:1,CANCEL NoWindow LateData:x Frame:DATA,x Flood:PING HeaderBomb:1 Trailers:a,b Interim:103 Setting:NOTHING,1 Setting:ENABLE_PUSH,-1 Setting:65536,1 Setting:1,4294967296"},
		{"webtest", "GET", "Setting:ENABLE_PUSH,1 ResetStream:1,NOTHING GoAway:1,4294967296 GoAway:2147483648,CANCEL Frame:NOTHING,x Frame:256,x Flood:GOAWAY HeaderBomb:0 HeaderBomb:1073741825 Interim:200"},
		{"webtest", "PUT HEAD CONNECT", "FromStart"},
		{"webtest", "GET", "ExtraReply: NoDot Status:1 Lose"},
		{"gophertest", "BINARY", "NoDot LoneDot NoStuffing BareLF NoColon PlusError:1,x"},
		{"gophertest", "TEXT MENU SEARCH", "NoColon PlusError:1,x"},
		{"gophertest", "CONNECT", "Data:x Trailer:x PlusHeader:x NoDot"},
		{"gophertest", "RETR GREETING", "Close"},
		{"nntptest", "DATE GROUP STAT POST END GREETING", "Data:x NoDot LoneDot NoStuffing BareLF"},
		{"nntptest", "CONNECT", "ExtraReply:"},
		{"nntptest", "BODY", "NoFinalReply"},
		{"waistest", "CONNECT", "Data:x EmptyAnswer Announce:x Diagnostic:a,b"},
		{"waistest", "SEARCH", "Lose ExtraReply:"},
		{"waistest", "QUERY", "Close"},
		{"prosperotest", "PACKET", "Split:1 Wait:1s,1 Reply:x Delay:1s Refuse"},
		{"prosperotest", "INCOMING", "Data:x Garble:0,x Truncate:1 Duplicate Reorder Close"},
		{"prosperotest", "LIST", "Lose Data:x SendTo:host:1 Loss:200,1"},
		{"csotest", "query", "Data:x NoDot"},
		{"csotest", "CONNECT", "ExtraReply:"},
		{"telnettest", "HEAR", "Reply:x Truncate:1 Reset:1 Data:x Split:1 Garble:0,x Drip:1,1s"},
		{"telnettest", "SAY", "ExtraReply:"},
		{"telnettest", "RETR", "Close"},
		{"smtptest", "DATA", "BareLF Data:x"},
		{"smtptest", "NOOP", "Truncate:-1 Drip:0,1s Delay:-1s Gather:0 Reset:-1 Split:0 Garble:-1,x"},
	} {
		testclient.Refuses(t, all[tt.server], map[string]string{strings.ReplaceAll(tt.stages, " ", ","): tt.faults})
	}
}

// TestNamedFaults tests that a fault by its name is the one of the constructor.
func TestNamedFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := ftptest.New(t, inMemory)
		var rules []struct {
			Stage  string             `json:"stage"`
			N      int                `json:"n"`
			Faults []testserver.Named `json:"faults"`
		}
		err := json.Unmarshal([]byte(`[
			{"stage":"NOOP","n":1,"faults":[{"fault":"Delay","d":"1m"},{"fault":"Reply","text":"200 fine"}]},
			{"stage":"NOOP","n":2,"faults":[{"fault":"Garble","n":4,"octets":"AP8="}]}]`), &rules)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rules {
			var faults []testserver.Fault
			for _, f := range r.Faults {
				faults = append(faults, f)
			}
			if err := srv.Arm(r.Stage, r.N, faults...); err != nil {
				t.Error(err)
			}
		}
		c := testclient.LoginFTP(t, srv)
		start := time.Now()
		c.Expect("NOOP", "200 fine")
		if took := time.Since(start); took != time.Minute {
			t.Errorf("took %v", took)
		}
		c.Expect("NOOP", "200 \x00\xff")
		for _, wrong := range []testserver.Named{{Name: "Truncate", N: 1, Text: "x"}, {Name: "Nothing"}, {Name: "Silence", D: 1}} {
			if err := srv.Arm("NOOP", 1, wrong); err == nil {
				t.Errorf("%v is accepted", wrong)
			}
		}
		if text, err := json.Marshal(testserver.Named{Name: "Drip", N: 1, D: testserver.Duration(time.Second)}); string(text) != `{"fault":"Drip","n":1,"d":"1s"}` || err != nil {
			t.Errorf("%s, %v", text, err)
		}
	})
}

// TestArmNothing tests that an error leaves nothing armed, and what it says.
func TestArmNothing(t *testing.T) {
	srv := gophertest.New(t)
	err := srv.Arm("BINARY", 1, testserver.Close(), testserver.NoDot())
	if err == nil || !strings.Contains(err.Error(), `On("BINARY", 1): NoDot cannot act at BINARY of the Gopher server`) {
		t.Errorf("error %v", err)
	}
	if err := srv.PendingFaults(); err != nil {
		t.Errorf("armed: %v", err)
	}
	for stage, want := range map[string]string{"RETR": "no stage RETR; it has CONNECT, REQUEST, MENU", "TEXT /a": `no argument "/a"`} {
		if err := srv.Arm(stage, 1, testserver.Close()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// TestOnFailsTheTest tests that On fails a test, and panics outside of one.
func TestOnFailsTheTest(t *testing.T) {
	tb := &testclient.Failing{T: t}
	srv := ftptest.New(tb, inMemory)
	done := make(chan bool)
	go func() {
		defer close(done)
		srv.On("NOOP", 1, ftptest.NoFinalReply())
		done <- true
	}()
	if <-done {
		t.Error("the test continues after Fatalf")
	}
	if tb.End(); !strings.Contains(tb.Errors, "NoFinalReply cannot act at NOOP") {
		t.Errorf("the test failed with %q", tb.Errors)
	}
	outside, err := ftptest.Start(t.Context(), "", inMemory)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if outside.Close(); recover() == nil {
			t.Error("no panic outside of a test")
		}
	}()
	outside.On("NOOP", 1, ftptest.NoFinalReply())
}

// is reports whether a fault may be armed at the servers whose interface Fault F is.
func is[F testserver.Fault](f testserver.Fault) bool {
	_, ok := f.(F)
	return ok
}

// TestForeignFaults tests that a fault that a server does not have does not compile as one of its faults.
func TestForeignFaults(t *testing.T) {
	for name, foreign := range map[string]bool{
		"no dots in FTP":         is[ftptest.Fault](testserver.NoDot()),
		"no losses in FTP":       is[ftptest.Fault](prosperotest.Lose()),
		"no status in Gopher":    is[gophertest.Fault](webtest.Status(500)),
		"no final reply in news": is[nntptest.Fault](ftptest.NoFinalReply()),
		"no streams in ARDP":     is[prosperotest.Fault](testserver.Split(1)),
		"no loss in WAIS":        is[waistest.Fault](prosperotest.Lose()),
		"no menus by SMTP":       is[smtptest.Fault](testserver.BareLF()),
		"no replies in telnet":   is[telnettest.Fault](testserver.ExtraReply("")),
		"no data in CSO":         is[csotest.Fault](testserver.Data("x")),
		"no REST in Gopher":      is[gophertest.Fault](testserver.FromStart()),
		"no names at all":        is[webtest.Fault](testserver.Named{Name: "Close"}),
	} {
		if foreign {
			t.Errorf("%s: it compiles", name)
		}
	}
	for name, own := range map[string]bool{
		"Close": is[prosperotest.Fault](testserver.Close()), "Split": is[smtptest.Fault](testserver.Split(1)), "NoDot": is[nntptest.Fault](testserver.NoDot()),
		"ExtraReply": is[csotest.Fault](testserver.ExtraReply("")), "Data": is[telnettest.Fault](testserver.Data("")), "FromStart": is[webtest.Fault](testserver.FromStart()),
		"RedirectTo": is[webtest.Fault](webtest.RedirectTo("/", 0)), "Refuse": is[prosperotest.Fault](prosperotest.Refuse()),
	} {
		if !own {
			t.Errorf("%s does not compile", name)
		}
	}
}
