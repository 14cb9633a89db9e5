package webtest_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/internal/testclient"
	"github.com/fetch1738/fetch1738/testserver/webtest"
)

// framesClient is a client that shows the frames that come.
type framesClient struct {
	net.Conn
	t      *testing.T
	out    *http2.Framer
	in     *http2.Framer
	pack   *hpack.Encoder
	block  bytes.Buffer
	unpack *hpack.Decoder
	head   []string // of the head that is received
}

// newFrames connects and sends the preface with settings.
func newFrames(t *testing.T, srv *webtest.Server, settings ...http2.Setting) *framesClient {
	t.Helper()
	c := &framesClient{Conn: testclient.Dial(t, srv, srv.Addr), t: t}
	c.out, c.in = http2.NewFramer(c, nil), http2.NewFramer(nil, bufio.NewReader(c))
	c.out.AllowIllegalWrites, c.in.AllowIllegalReads = true, true
	c.pack = hpack.NewEncoder(&c.block)
	c.unpack = hpack.NewDecoder(4096, func(f hpack.HeaderField) {
		switch f.Name {
		case "accept-ranges", "content-type", "etag", "last-modified":
		default:
			c.head = append(c.head, f.Name+"="+f.Value[:min(len(f.Value), 40)])
		}
	})
	io.WriteString(c, http2.ClientPreface)
	c.out.WriteSettings(settings...)
	return c
}

// request sends a request on a stream: "GET /a.txt", then further fields.
func (c *framesClient) request(id uint32, end bool, line string, fields ...string) {
	c.t.Helper()
	method, path, _ := strings.Cut(line, " ")
	c.block.Reset()
	fields = append([]string{":method", method, ":path", path, ":scheme", "http", ":authority", "h"}, fields...)
	for i := 0; i < len(fields); i += 2 {
		c.pack.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	if err := c.out.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: c.block.Bytes(), EndStream: end, EndHeaders: true}); err != nil {
		c.t.Error(err)
	}
}

// frames returns the next frames except settings and windows, at most n, and how the connection is then.
// Equal frames are shown once, with "…".
func (c *framesClient) frames(n int) string {
	c.SetReadDeadline(time.Now().Add(time.Minute))
	var all []string
	for range n {
		f, err := c.in.ReadFrame()
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return strings.Join(append(all, "open"), "; ")
		case err != nil:
			return strings.Join(append(all, "closed"), "; ")
		}
		text := c.show(f)
		switch last := len(all) - 1; {
		case text == "":
		case last >= 0 && strings.TrimSuffix(all[last], "…") == text:
			all[last] = text + "…"
		default:
			all = append(all, text)
		}
	}
	return strings.Join(all, "; ")
}

func (c *framesClient) show(f http2.Frame) string {
	text := fmt.Sprintf("%d ", f.Header().StreamID)
	switch f := f.(type) {
	case *http2.SettingsFrame:
		if f.NumSettings() > 0 || f.IsAck() {
			return ""
		}
		text += "SETTINGS"
	case *http2.WindowUpdateFrame:
		if f.StreamID == 0 {
			return ""
		}
		text += "WINDOW_UPDATE"
	case *http2.HeadersFrame:
		return text + c.fields("HEADERS", f.HeaderBlockFragment(), f.HeadersEnded(), f.StreamEnded())
	case *http2.ContinuationFrame:
		return text + c.fields("CONTINUATION", f.HeaderBlockFragment(), f.HeadersEnded(), false)
	case *http2.DataFrame:
		text += fmt.Sprintf("DATA %.20q", f.Data())
		if len(f.Data()) > 20 {
			text += fmt.Sprint(len(f.Data()))
		}
		if f.StreamEnded() {
			text += " END"
		}
	case *http2.RSTStreamFrame:
		text += "RST_STREAM " + f.ErrCode.String()
	case *http2.GoAwayFrame:
		text += fmt.Sprintf("GOAWAY %d %v", f.LastStreamID, f.ErrCode)
	default:
		text += f.Header().Type.String()
	}
	return text
}

// fields returns a frame with a part of a head, with the fields if it is the last one.
func (c *framesClient) fields(kind string, block []byte, headEnd, streamEnd bool) string {
	if _, err := c.unpack.Write(block); err != nil {
		return kind + " wrong"
	}
	if !headEnd {
		c.head = nil
		return kind
	}
	text := kind + " " + strings.Join(c.head, " ")
	if len(c.head) > 5 {
		text = fmt.Sprintf("%s %d fields", kind, len(c.head))
	}
	c.head = nil
	if c.unpack.Close() != nil {
		text += " wrong"
	}
	if streamEnd {
		text += " END"
	}
	return text
}

func TestHTTP2Faults(t *testing.T) {
	type faults = []webtest.Fault
	const (
		head  = "1 HEADERS :status=200 content-length=12; "
		whole = head + `1 DATA "hello\nworld\n"; 1 DATA "" END; `
	)
	for _, tt := range []struct {
		name   string
		stage  string
		faults faults
		want   string // of the first 300 frames
	}{
		{"none", "GET", nil, whole + "open"},
		{"not this method", "HEAD", faults{webtest.Status(500)}, whole + "open"},

		// Those of HTTP/1.1.
		{"status", "GET", faults{webtest.Status(421), webtest.Header("Retry-After", "7")}, `1 HEADERS :status=421 content-length=12 retry-after=7; 1 DATA "hello\nworld\n"; 1 DATA "" END; open`},
		{"pseudo-header field", "GET", faults{webtest.Header(":path", "/x")}, `1 HEADERS :status=200 :path=/x content-length=12; 1 DATA "hello\nworld\n"; 1 DATA "" END; open`},
		{"status that is not a number", "GET", faults{webtest.Header(":status", "ok")}, `1 HEADERS :status=ok content-length=12; 1 DATA "hello\nworld\n"; 1 DATA "" END; open`},
		{"connection-specific field", "GET", faults{webtest.Header("Connection", "close")}, `1 HEADERS :status=200 connection=close content-length=12; 1 DATA "hello\nworld\n"; 1 DATA "" END; open`},
		{"too long a length", "GET", faults{webtest.ContentLength(20)}, `1 HEADERS :status=200 content-length=20; 1 DATA "hello\nworld\n"; 1 DATA "" END; open`},
		{"too short a length", "GET", faults{webtest.ContentLength(2)}, `1 HEADERS :status=200 content-length=2; 1 DATA "hello\nworld\n"; 1 DATA "" END; open`},
		{"no length", "GET", faults{webtest.Chunked()}, `1 HEADERS :status=200; 1 DATA "hello\nworld\n"; 1 DATA "" END; open`},
		{"truncated", "GET", faults{testserver.Truncate(5)}, head + `1 DATA "hello"; closed`},
		{"no body at all", "GET", faults{testserver.Truncate(0)}, head + "closed"},
		{"reset", "GET", faults{testserver.Reset(5)}, head + `1 DATA "hello"; closed`},
		{"split", "GET", faults{testserver.Split(7)}, head + `1 DATA "hello\nw"; 1 DATA "orld\n"; 1 DATA "" END; open`},
		{"garble", "GET", faults{testserver.Garble(0, "J")}, head + `1 DATA "Jello\nworld\n"; 1 DATA "" END; open`},
		{"data", "GET", faults{testserver.Data("other")}, `1 HEADERS :status=200 content-length=5; 1 DATA "other"; 1 DATA "" END; open`},
		{"reply", "GET", faults{testserver.Reply("HTTP/1.1 404 Gone away\nContent-Length: 3\nConnection: close\n\nnix")}, `1 HEADERS :status=404 content-length=3; 1 DATA "nix"; 1 DATA "" END; open`},
		{"reply in chunks", "GET", faults{testserver.Reply("HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n3\nabc\n0\n")}, `1 HEADERS :status=200; 1 DATA "abc"; 1 DATA "" END; open`},
		{"another protocol", "GET", faults{testserver.Reply("220 mail.example.com")}, "closed"},
		{"redirect", "GET", faults{webtest.RedirectTo("/x", 0)}, `1 HEADERS :status=302 content-length=0 location=/x; 1 DATA "" END; open`},
		{"close", "GET", faults{testserver.Close()}, "closed"},
		{"silence", "GET", faults{testserver.Silence()}, "open"},
		{"late", "GET", faults{testserver.Delay(30 * time.Second)}, whole + "open"},
		{"slow", "GET", faults{testserver.Drip(10, 29*time.Second)}, head + `1 DATA "hello\nworl"; 1 DATA "d\n"; 1 DATA "" END; open`},
		{"cut in the head", "CONNECT", faults{testserver.Truncate(40)}, "closed"},
		{"head without an end", "GET", faults{webtest.EndlessHeaders()}, "1 HEADERS; 1 CONTINUATION…"},
		{"trailers", "GET", faults{webtest.Trailers("X-Sum", "7")}, head + `1 DATA "hello\nworld\n"; 1 HEADERS x-sum=7 END; open`},
		{"early hints", "GET", faults{webtest.Interim(103), webtest.Interim(102)}, "1 HEADERS :status=103 link=</style.css>; rel=preload; as=style; 1 HEADERS :status=102; " + whole + "open"},

		// Those of HTTP/2 only.
		{"refused", "GET", faults{webtest.ResetStream(-1, "REFUSED_STREAM")}, "1 RST_STREAM REFUSED_STREAM; open"},
		{"reset of the stream", "GET", faults{webtest.ResetStream(5, "INTERNAL_ERROR")}, head + `1 DATA "hello"; 1 RST_STREAM INTERNAL_ERROR; open`},
		{"reset after the head", "GET", faults{webtest.ResetStream(0, "8")}, head + "1 RST_STREAM CANCEL; open"},
		{"reset after the last byte", "GET", faults{webtest.ResetStream(12, "NO_ERROR")}, head + `1 DATA "hello\nworld\n"; 1 RST_STREAM NO_ERROR; open`},
		{"ended early", "GET", faults{webtest.EndStream(5)}, head + `1 DATA "hello"; 1 DATA "" END; open`},
		{"ended by the head", "GET", faults{webtest.EndStream(0)}, "1 HEADERS :status=200 content-length=12 END; open"},
		{"never ended", "GET", faults{webtest.EndStream(-1)}, head + `1 DATA "hello\nworld\n"; open`},
		{"data after the end", "GET", faults{webtest.LateData("more")}, whole + `1 DATA "more"; open`},
		{"data after an early end", "GET", faults{webtest.EndStream(0), webtest.LateData("more")}, `1 HEADERS :status=200 content-length=12 END; 1 DATA "more"; open`},
		{"header bomb", "GET", faults{webtest.HeaderBomb(1 << 20)}, `1 HEADERS 262 fields; 1 DATA "hello\nworld\n"; 1 DATA "" END; open`},
		{"frame too long", "GET", faults{webtest.Frame("DATA", strings.Repeat("x", 20000))}, `1 DATA "xxxxxxxxxxxxxxxxxxxx"20000; ` + whole + "open"},
		{"bad header block", "GET", faults{webtest.Frame("HEADERS", "\x80")}, "1 HEADERS wrong; " + whole + "open"},
		{"promise", "GET", faults{webtest.Frame("PUSH_PROMISE", "\x00\x00\x00\x02\x82\x84\x86\x41\x01h")}, "1 PUSH_PROMISE; " + whole + "open"},
		{"unknown frame", "GET", faults{webtest.Frame("77", "x")}, "1 UNKNOWN_FRAME_TYPE_77; " + whole + "open"},
		{"last request", "GET", faults{webtest.GoAway(-1, "NO_ERROR")}, "0 GOAWAY 1 NO_ERROR; " + whole + "closed"},
		{"request not processed", "GET", faults{webtest.GoAway(0, "ENHANCE_YOUR_CALM")}, "0 GOAWAY 0 ENHANCE_YOUR_CALM; closed"},
		{"gone at once", "GET", faults{webtest.GoAway(-1, "INTERNAL_ERROR"), testserver.Close()}, "0 GOAWAY 1 INTERNAL_ERROR; closed"},
		{"gone in the body", "GET", faults{webtest.GoAway(1, "NO_ERROR"), testserver.Truncate(5)}, "0 GOAWAY 1 NO_ERROR; " + head + `1 DATA "hello"; closed`},
		{"flood of heads", "GET", faults{webtest.Flood("HEADERS")}, "1 HEADERS :status=103…"},
		{"flood of parts of a head", "GET", faults{webtest.Flood("CONTINUATION")}, "1 HEADERS; 1 CONTINUATION…"},
		{"flood of empty data", "GET", faults{webtest.Flood("DATA")}, `1 HEADERS :status=200; 1 DATA ""…`},
		{"flood of pings", "GET", faults{webtest.Flood("PING")}, "0 PING…"},
		{"flood of settings", "GET", faults{webtest.Flood("SETTINGS")}, "0 SETTINGS…"},
		{"flood of resets", "GET", faults{webtest.Flood("RST_STREAM")}, "1 RST_STREAM CANCEL…"},
		{"flood of windows", "GET", faults{webtest.Flood("WINDOW_UPDATE")}, "1 WINDOW_UPDATE…"},
	} {
		testclient.InBubble(t, tt.name, func(t *testing.T) {
			srv := webtest.New(t, webInMemory)
			srv.On(tt.stage, 1, tt.faults...)
			c := newFrames(t, srv)
			c.request(1, true, "GET /motd.txt")
			if got := c.frames(300); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			testclient.Pending(t, srv, tt.name)
			c.Close()
			synctest.Wait()
		})
	}
}

// TestHTTP2Settings tests the settings that the server sends.
func TestHTTP2Settings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := webtest.New(t, webInMemory, func(s *webtest.Server) { s.MaxStreams = 7 })
		srv.On("CONNECT", 1, webtest.Setting("INITIAL_WINDOW_SIZE", 0), webtest.Setting("99", 5))
		f, err := newFrames(t, srv).in.ReadFrame()
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		f.(*http2.SettingsFrame).ForeachSetting(func(s http2.Setting) error { got += s.String(); return nil })
		if want := "[MAX_CONCURRENT_STREAMS = 7][MAX_HEADER_LIST_SIZE = 65536][INITIAL_WINDOW_SIZE = 0][UNKNOWN_SETTING_99 = 5]"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
}

// TestHTTP2Requests tests what the server answers to requests that are not right, or too many.
func TestHTTP2Requests(t *testing.T) {
	for _, tt := range []struct {
		name string
		send func(c *framesClient)
		want string
	}{
		{"idle", func(c *framesClient) { time.Sleep(time.Hour) }, "0 GOAWAY 0 NO_ERROR; closed"},
		{"ping", func(c *framesClient) { c.out.WritePing(false, [8]byte{1}) }, "0 PING; open"},
		{"two streams", func(c *framesClient) {
			c.request(1, true, "HEAD /pub/a.txt")
			synctest.Wait()
			c.request(3, true, "HEAD /motd.txt")
		}, "1 HEADERS :status=200 content-length=1 END; 3 HEADERS :status=200 content-length=12 END; open"},
		{"too many streams", func(c *framesClient) {
			c.request(1, false, "PUT /a")
			c.request(3, false, "PUT /b")
			c.request(5, true, "GET /c")
		}, "5 RST_STREAM REFUSED_STREAM; open"},
		{"upload with trailers", func(c *framesClient) {
			c.request(1, false, "PUT /new")
			c.out.WriteData(1, false, []byte("abc"))
			synctest.Wait()
			c.out.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, EndStream: true, EndHeaders: true})
		}, `1 WINDOW_UPDATE; 1 HEADERS :status=201 content-length=8 location=/new; 1 DATA "created\n"; 1 DATA "" END; open`},
		{"upload that is not wanted", func(c *framesClient) { c.request(1, false, "PUT /pub") }, `1 HEADERS :status=409 content-length=9; 1 DATA "conflict\n"; 1 DATA "" END; 1 RST_STREAM NO_ERROR; open`},
		{"upload shorter than its length", func(c *framesClient) {
			c.request(1, false, "PUT /new", "content-length", "9")
			c.out.WriteData(1, true, []byte("abc"))
		}, "1 RST_STREAM PROTOCOL_ERROR; open"},
		{"upload longer than its length", func(c *framesClient) {
			c.request(1, false, "PUT /new", "content-length", "2")
			c.out.WriteData(1, true, []byte("abc"))
		}, "1 RST_STREAM PROTOCOL_ERROR; open"},
		{"upload without an end that is reset", func(c *framesClient) {
			c.request(1, false, "PUT /new")
			c.out.WriteRSTStream(1, http2.ErrCodeCancel)
		}, "open"},
		{"connection-specific field", func(c *framesClient) { c.request(1, true, "GET /", "connection", "close") }, "1 RST_STREAM PROTOCOL_ERROR; open"},
		{"upper-case field", func(c *framesClient) { c.request(1, true, "GET /", "X-Odd", "x") }, "1 RST_STREAM PROTOCOL_ERROR; open"},
		{"space in the path", func(c *framesClient) { c.request(1, true, "GET /a b") }, "1 HEADERS :status=400 content-length=0; 1 DATA \"\" END; open"},
		{"large head", func(c *framesClient) {
			var fields []string
			for range 40 { // each after the first one is an octet
				fields = append(fields, "x-bomb", strings.Repeat("a", 2000))
			}
			c.request(1, true, "GET /", fields...)
		}, `1 HEADERS :status=431 content-length=0; 1 DATA "" END; open`},
		{"even stream", func(c *framesClient) { c.request(2, true, "GET /") }, "0 GOAWAY 0 PROTOCOL_ERROR; closed"},
		{"data on no stream", func(c *framesClient) { c.out.WriteData(1, true, nil) }, "0 GOAWAY 0 PROTOCOL_ERROR; closed"},
		{"frame too long", func(c *framesClient) { c.out.WriteRawFrame(http2.FrameData, 0, 1, make([]byte, 20000)) }, "0 GOAWAY 0 FRAME_SIZE_ERROR; closed"},
		{"window that is too large", func(c *framesClient) {
			c.out.WriteWindowUpdate(0, 1<<31-1)
		}, "0 GOAWAY 0 FLOW_CONTROL_ERROR; closed"},
		{"promise", func(c *framesClient) {
			c.out.WritePushPromise(http2.PushPromiseParam{StreamID: 1, PromiseID: 2, EndHeaders: true})
		}, "0 GOAWAY 0 PROTOCOL_ERROR; closed"},
	} {
		testclient.InBubble(t, tt.name, func(t *testing.T) {
			srv := webtest.New(t, webInMemory, func(s *webtest.Server) { s.MaxStreams = 2 })
			c := newFrames(t, srv)
			tt.send(c)
			if got := c.frames(100); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// version returns a transport of net/http for the server, with one of the protocols.
type version = func(*http.Protocols, bool)

var byHTTP2 = map[string]version{"ALPN": (*http.Protocols).SetHTTP2, "prior knowledge": (*http.Protocols).SetUnencryptedHTTP2}

// start starts a server whose clients choose HTTP/2 in a way.
func startHTTP2(t *testing.T, way string, configure ...func(*webtest.Server)) *webtest.Server {
	return webtest.New(t, append([]func(*webtest.Server){webInMemory, func(s *webtest.Server) {
		if way == "ALPN" {
			s.TLS, s.ImplicitTLS = testserver.NewTLS(), true
		}
	}}, configure...)...)
}

// TestHTTP2WithGo tests downloads and uploads of Go's client, with what it makes of faults.
func TestHTTP2WithGo(t *testing.T) {
	big := bytes.Repeat([]byte("0123456789abcdef"), 1<<14)
	for way, protocol := range byHTTP2 {
		testclient.InBubble(t, way, func(t *testing.T) {
			srv := startHTTP2(t, way)
			srv.Put("big.bin", big)
			client := webClient(t, srv, protocol)
			client.Transport.(*http.Transport).MaxResponseHeaderBytes = 64 << 10
			do := func(method, path string, body io.Reader) (string, error) {
				req, err := http.NewRequestWithContext(t.Context(), method, srv.URL+path, body)
				if err != nil {
					t.Fatal(err)
				}
				res, err := client.Do(req)
				if err != nil {
					return "", err
				}
				defer res.Body.Close()
				got, err := io.ReadAll(res.Body)
				if res.ProtoMajor != 2 {
					t.Errorf("HTTP/%d", res.ProtoMajor)
				}
				return string(got), err
			}
			var all sync.WaitGroup
			for range 20 {
				all.Go(func() {
					if got, err := do("GET", "/big.bin", nil); got != string(big) || err != nil {
						t.Errorf("%d bytes, %v", len(got), err)
					}
				})
			}
			all.Wait()
			if got, err := do("PUT", "/up.bin", bytes.NewReader(big)); got != "created\n" || err != nil || !bytes.Equal(srv.Uploads()["up.bin"], big) {
				t.Errorf("%q, %v, %d bytes", got, err, len(srv.Uploads()["up.bin"]))
			}
			for fault, want := range map[webtest.Fault]string{
				webtest.ResetStream(5, "CANCEL"):                      "CANCEL",
				webtest.EndStream(5):                                  "unexpected EOF",
				webtest.ContentLength(5):                              "declared Content-Length",
				testserver.Truncate(5):                                "unexpected EOF",
				webtest.HeaderBomb(1 << 20):                           "",
				webtest.Frame("HEADERS", "\x80"):                      "COMPRESSION_ERROR",
				webtest.ResetStream(-1, "INTERNAL_ERROR"):             "INTERNAL_ERROR",
				webtest.Frame("PUSH_PROMISE", "\x00\x00\x00\x02\x82"): "",
				webtest.EndlessHeaders():                              "",
			} {
				srv.On("GET", 1, fault)
				if _, err := do("GET", "/big.bin", nil); err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%v: %v, want %q", fault, err, want)
				}
			}
			srv.On("GET", 1, webtest.ResetStream(-1, "REFUSED_STREAM"))
			if got, err := do("GET", "/pub/a.txt", nil); got != "a" || err != nil {
				t.Errorf("refused once: %q, %v", got, err)
			}
			client.CloseIdleConnections()
		})
	}
}

func TestHTTP2Transcript(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := webtest.New(t, webInMemory)
		srv.On("GET", 1, webtest.Interim(103), webtest.Header("X-Lines", "a\r\nb"))
		c := newFrames(t, srv)
		c.request(1, true, "GET /pub/a.txt?100%", "x-odd", "yes", "accept", "*/*")
		c.frames(10)
		want := `C: GET /pub/a.txt?100% HTTP/2
C: Host: h
C: X-Odd: yes
C: Accept: */*
C: 
S: HTTP/2 103
S: Link: </style.css>; rel=preload; as=style
S: 
S: HTTP/2 200
S: Accept-Ranges: bytes
S: Content-Length: 1
S: Content-Type: text/plain; charset=utf-8
S: Etag: "ae970678cdb8000-1"
S: Last-Modified: Thu, 01 Dec 1994 12:00:00 GMT
S: X-Lines: a??b
S: 
`
		if got := srv.Transcript().String(); got != want {
			t.Errorf("transcript\n%swant\n%s", got, want)
		}
	})
}

// TestVersions tests which version a client gets.
func TestVersions(t *testing.T) {
	for _, tt := range []struct {
		name  string
		tls   bool
		http1 bool
		offer []string // by ALPN
		send  string
		want  string // how the response begins
	}{
		{"h2", true, false, []string{"h2", "http/1.1"}, http2.ClientPreface, "\x00\x00\x0c\x04"},
		{"http/1.1", true, false, []string{"http/1.1"}, "GET / HTTP/1.1\r\nHost: h\r\n\r\n", "HTTP/1.1 200 OK\r\n"},
		{"http/1.0", true, false, []string{"http/1.0"}, "GET / HTTP/1.0\r\n\r\n", "HTTP/1.1 200 OK\r\n"},
		{"no offer", true, false, nil, "GET / HTTP/1.1\r\nHost: h\r\n\r\n", "HTTP/1.1 200 OK\r\n"},
		{"preface without an offer", true, false, nil, http2.ClientPreface, "\x00\x00\x0c\x04"},
		{"h2 without the preface", true, false, []string{"h2"}, "GET / HTTP/1.1\r\nHost: h\r\n\r\n", "\x00\x00\x0c\x04"},
		{"switched off", true, true, []string{"h2", "http/1.1"}, "GET / HTTP/1.1\r\nHost: h\r\n\r\n", "HTTP/1.1 200 OK\r\n"},
		{"plain", false, false, nil, "GET / HTTP/1.1\r\nHost: h\r\n\r\n", "HTTP/1.1 200 OK\r\n"},
		{"prior knowledge", false, false, nil, http2.ClientPreface, "\x00\x00\x0c\x04"},
		{"another preface", false, false, nil, "PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n", "\x00\x00\x0c\x04"},
		{"prior knowledge switched off", false, true, nil, http2.ClientPreface, "HTTP/1.1 405 Method Not Allowed\r\n"},
		{"upgrade", false, false, nil, "GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n", "HTTP/1.1 200 OK\r\n"},
		{"preface later", false, false, nil, "HEAD / HTTP/1.1\r\nHost: h\r\n\r\n" + http2.ClientPreface, "HTTP/1.1 200 OK\r\n"},
	} {
		testclient.InBubble(t, tt.name, func(t *testing.T) {
			srv := webtest.New(t, webInMemory, func(s *webtest.Server) {
				if s.HTTP1 = tt.http1; tt.tls {
					s.TLS, s.ImplicitTLS = testserver.NewTLS(), true
				}
			})
			nc := testclient.Dial(t, srv, srv.Addr)
			if tt.tls {
				nc = tls.Client(nc, &tls.Config{RootCAs: srv.Roots(), ServerName: "localhost", NextProtos: tt.offer})
			}
			if _, err := io.WriteString(nc, tt.send); err != nil {
				t.Fatal(err)
			}
			got := make([]byte, len(tt.want))
			if _, err := io.ReadFull(nc, got); string(got) != tt.want || err != nil {
				t.Errorf("%q, %v; want %q", got, err, tt.want)
			}
			nc.Close()
		})
	}
}

// TestHTTP2Streams tests that streams do not wait for each other.
func TestHTTP2Streams(t *testing.T) {
	const (
		head = ` HEADERS :status=200 content-length=1; `
		body = ` DATA "a"; `
	)
	for _, tt := range []struct {
		name  string
		first []webtest.Fault
		then  []webtest.Fault // of the second request
		want  string
	}{
		{"late", []webtest.Fault{testserver.Delay(time.Second)}, nil, "3" + head + "3" + body + `3 DATA "" END; 1` + head + "1" + body + `1 DATA "" END; open`},
		{"silent", []webtest.Fault{testserver.Silence()}, nil, "3" + head + "3" + body + `3 DATA "" END; open`},
		{"goodbye", []webtest.Fault{testserver.Delay(time.Second)}, []webtest.Fault{webtest.GoAway(1, "NO_ERROR")}, "0 GOAWAY 1 NO_ERROR; 1" + head + "1" + body + `1 DATA "" END; closed`},
		{"goodbye, later", []webtest.Fault{webtest.GoAway(-1, "NO_ERROR"), testserver.Delay(time.Second)}, nil, "0 GOAWAY 1 NO_ERROR; 1" + head + "1" + body + `1 DATA "" END; closed`},
		{"given up", []webtest.Fault{testserver.Delay(time.Second)}, []webtest.Fault{webtest.GoAway(0, "NO_ERROR")}, "0 GOAWAY 0 NO_ERROR; closed"},
		{"broken", []webtest.Fault{testserver.Delay(time.Second)}, []webtest.Fault{testserver.Close()}, "closed"},
		{"reset", []webtest.Fault{testserver.Delay(time.Second)}, []webtest.Fault{webtest.ResetStream(-1, "CANCEL")}, "3 RST_STREAM CANCEL; 1" + head + "1" + body + `1 DATA "" END; open`},
	} {
		testclient.InBubble(t, tt.name, func(t *testing.T) {
			srv := webtest.New(t, webInMemory)
			srv.On("GET", 1, tt.first...)
			srv.On("GET", 2, tt.then...)
			c := newFrames(t, srv)
			c.request(1, true, "GET /pub/a.txt")
			synctest.Wait()
			c.request(3, true, "GET /pub/a.txt")
			if got := c.frames(100); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			srv.ResetFaults()
		})
	}
}

// TestHTTP2Together tests that a server can hold requests until several have come on one connection.
func TestHTTP2Together(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := webtest.New(t, webInMemory)
		client := webClient(t, srv, (*http.Protocols).SetUnencryptedHTTP2)
		get := func() {
			if res, err := client.Get(srv.URL + "/pub/a.txt"); err != nil {
				t.Error(err)
			} else {
				res.Body.Close()
			}
		}
		get() // so that there is a connection
		srv.On("GET", 0, testserver.Gather(3))
		var all sync.WaitGroup
		for range 3 {
			all.Go(get)
		}
		all.Wait()
		if slices.ContainsFunc(srv.Transcript(), func(l testserver.Line) bool { return l.Conn != 1 }) {
			t.Errorf("transcript\n%s", srv.Transcript())
		}
	})
}

// TestHTTP2Windows tests that neither side sends more than the other allows.
func TestHTTP2Windows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := webtest.New(t, webInMemory)
		srv.On("PUT", 1, webtest.NoWindow())
		client := webClient(t, srv, (*http.Protocols).SetUnencryptedHTTP2)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start := time.Now()
		req, _ := http.NewRequestWithContext(ctx, "PUT", srv.URL+"/up", strings.NewReader(strings.Repeat("x", 100_000)))
		if _, err := client.Do(req); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Minute {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
		srv.Put("big", make([]byte, 100_000))
		c := newFrames(t, srv, http2.Setting{ID: http2.SettingInitialWindowSize, Val: 10})
		c.request(1, true, "GET /big")
		got := c.frames(100)
		c.out.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 15})
		got += "; " + c.frames(100)
		c.out.WriteWindowUpdate(1, 200_000)
		got += "; " + c.frames(100)
		c.out.WriteWindowUpdate(0, 200_000)
		got = strings.ReplaceAll(got+"; "+c.frames(100), `"\x00\x00\x00\x00\x00"`, "5")
		if want := `1 HEADERS :status=200 content-length=100000; 1 DATA "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"; open; 1 DATA 5; open; 1 DATA`; !strings.HasPrefix(got, want) {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if n := strings.Count(got, "16384"); n == 0 || !strings.HasSuffix(got, `1 DATA "" END; open`) || strings.Count(got, "open") != 4 {
			t.Errorf("got  %s", got)
		}
	})
}

// TestHTTP2Handler tests that a response that a Handler does not complete is reset.
func TestHTTP2Handler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := webtest.New(t, webInMemory, func(s *webtest.Server) {
			s.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Connection", "close")
				if r.URL.Path != "/open" {
					w.Header().Set("Content-Length", "9")
				}
				io.WriteString(w, "four")
				if r.URL.Path == "/abort" {
					panic(http.ErrAbortHandler)
				}
			})
		})
		for path, want := range map[string]string{
			"/short": `1 HEADERS :status=200 content-length=9; 1 DATA "four"; 1 RST_STREAM INTERNAL_ERROR; open`,
			"/abort": `1 HEADERS :status=200 content-length=9; 1 DATA "four"; 1 RST_STREAM INTERNAL_ERROR; open`,
			"/open":  `1 HEADERS :status=200; 1 DATA "four"; 1 DATA "" END; open`,
		} {
			c := newFrames(t, srv)
			if c.request(1, true, "GET "+path); true {
				if got := c.frames(10); got != want {
					t.Errorf("%s: %s\nwant %s", path, got, want)
				}
			}
		}
	})
}

// TestHTTP2Ends tests that the server can end and be reset whatever its streams do.
func TestHTTP2Ends(t *testing.T) {
	for way := range byHTTP2 {
		for _, end := range []func(*webtest.Server) error{(*webtest.Server).Reset, (*webtest.Server).Close} {
			testclient.InBubble(t, way, func(t *testing.T) {
				srv := startHTTP2(t, way)
				srv.Put("big", make([]byte, 1<<20))
				srv.On("GET /big", 1, testserver.Drip(1, time.Hour))
				srv.On("GET /motd.txt", 1, webtest.EndStream(-1))
				client := webClient(t, srv, byHTTP2[way])
				var all sync.WaitGroup
				for _, path := range []string{"/big", "/big", "/motd.txt", "/up"} {
					all.Go(func() {
						method, body := "GET", io.Reader(nil)
						if path == "/up" {
							up, _ := io.Pipe()
							method, body = "PUT", up
						}
						req, _ := http.NewRequest(method, srv.URL+path, body)
						if res, err := client.Do(req); err == nil {
							time.Sleep(2 * time.Second) // without reading
							io.Copy(io.Discard, res.Body)
							res.Body.Close()
						}
					})
				}
				time.Sleep(time.Second)
				if err := end(srv); err != nil {
					t.Error(err)
				}
				all.Wait()
			})
		}
	}
}
