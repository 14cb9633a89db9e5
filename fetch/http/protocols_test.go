package http

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
)

// versions returns the Protocols with these versions.
func versions(set ...func(*http.Protocols, bool)) *http.Protocols {
	p := new(http.Protocols)
	for _, s := range set {
		s(p, true)
	}
	return p
}

var (
	onlyHTTP1 = versions((*http.Protocols).SetHTTP1)
	onlyHTTP2 = versions((*http.Protocols).SetHTTP2, (*http.Protocols).SetUnencryptedHTTP2)
)

// startVersions starts a server whose documents are the version and the target of the request, and its
// header fields without those of every request. spoken are the versions that it speaks.
func startVersions(t *testing.T, secure bool, spoken *http.Protocols) string {
	t.Helper()
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, name := range []string{"User-Agent", "Accept", "Accept-Encoding"} {
			r.Header.Del(name)
		}
		fmt.Fprintf(w, "%s %s %s", r.Proto, r.RequestURI, r.Host)
		if err := r.Header.Write(w); err != nil {
			t.Error(err)
		}
	}))
	srv.Config.ErrorLog, srv.Config.Protocols, srv.EnableHTTP2 = quiet, spoken, spoken.HTTP2()
	if secure {
		srv.StartTLS()
	} else {
		srv.Start()
	}
	t.Cleanup(srv.Close)
	return srv.URL
}

// TestVersions checks which version a request is sent by. One that has no form in HTTP/2 is sent by
// HTTP/1.1, also to a server that speaks both.
func TestVersions(t *testing.T) {
	both := versions((*http.Protocols).SetHTTP1, (*http.Protocols).SetHTTP2, (*http.Protocols).SetUnencryptedHTTP2)
	servers := map[string]string{
		"https": startVersions(t, true, both), "http": startVersions(t, false, both),
		"https1": startVersions(t, true, onlyHTTP1), "http1": startVersions(t, false, onlyHTTP1),
	}
	for _, tc := range []struct {
		server  string
		offered *http.Protocols
		opt     *Options
		want    string // of the document; HOST is the server's
	}{
		{"https", nil, nil, "HTTP/2.0 /a HOST"},
		{"https", both, nil, "HTTP/2.0 /a HOST"},
		{"https", onlyHTTP1, nil, "HTTP/1.1 /a HOST"},
		{"https", onlyHTTP2, nil, "HTTP/2.0 /a HOST"},
		{"https1", nil, nil, "HTTP/1.1 /a HOST"},
		{"http", nil, nil, "HTTP/1.1 /a HOST"},
		{"http", both, nil, "HTTP/1.1 /a HOST"},
		{"http", onlyHTTP2, nil, "HTTP/2.0 /a HOST"},
		{"https", nil, &Options{HTTP10: true}, "HTTP/1.0 /a HOSTConnection: close\r\n"},
		{"http", onlyHTTP2, &Options{HTTP10: true}, "HTTP/1.0 /a HOSTConnection: close\r\n"},
		{"https", nil, &Options{Target: "/b?c"}, "HTTP/2.0 /b?c HOST"},
		{"https", nil, &Options{Target: "http://o.example/b"}, "HTTP/1.1 http://o.example/b o.example"},
		{"https", nil, &Options{Proxied: parse(t, "ftp://o.example/b")}, "HTTP/1.1 ftp://o.example/b o.example"},
		{"https", nil, &Options{Header: http.Header{"Host": {"o.example"}}}, "HTTP/2.0 /a o.example"},
	} {
		w := newNetwork(t, nil)
		f := w.fetcher(func(f *Fetcher) { f.Env.Dial, f.Protocols = nil, tc.offered })
		at := servers[tc.server]
		_, host, _ := strings.Cut(at, "//")
		want := strings.Replace(tc.want, "HOST", host, 1)
		for range 2 { // by a new connection, and by one that may be kept
			body, res, err := get(t, f, at+"/a", tc.opt)
			if err != nil || body != want {
				t.Errorf("%s, %v, %+v: %q, %v; want %q", tc.server, tc.offered, tc.opt, body, err, want)
				break
			}
			if proto := res.Info.(*Info).Proto; proto == "HTTP/2.0" != strings.HasPrefix(want, "HTTP/2.0") {
				t.Errorf("%s, %v, %+v: response of %s", tc.server, tc.offered, tc.opt, proto)
			}
		}
	}
}

// TestNoHTTP2 checks that a server that does not speak the only version that may be used is an error.
func TestNoHTTP2(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	noALPN := http.Server{Handler: http.NotFoundHandler(), ErrorLog: quiet}
	go noALPN.Serve(tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{certificate(t)}}))
	defer noALPN.Close()
	for url, kind := range map[string]fetch.ErrorKind{
		startVersions(t, true, onlyHTTP1) + "/":     fetch.ErrConnectionFailed,
		"https://" + listener.Addr().String() + "/": fetch.ErrUnreachable,
		startVersions(t, false, onlyHTTP1) + "/":    fetch.ErrProtocol,
	} {
		f := newNetwork(t, nil).fetcher(func(f *Fetcher) { f.Env.Dial, f.Protocols = nil, onlyHTTP2 })
		_, _, err := get(t, f, url, nil)
		said := "does not speak HTTP/2"
		if kind == fetch.ErrConnectionFailed {
			said = "no application protocol" // the server says so
		}
		if fetch.KindOf(err) != kind || !strings.Contains(fmt.Sprint(err), said) {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// TestConnectionFields checks that fields about the connection, which HTTP/2 has not, are ignored as by
// HTTP/1.1 (RFC 9113 §8.2.2).
func TestConnectionFields(t *testing.T) {
	at := startVersions(t, true, versions((*http.Protocols).SetHTTP1, (*http.Protocols).SetHTTP2))
	f := newNetwork(t, nil).fetcher(func(f *Fetcher) { f.Env.Dial = nil })
	for _, name := range []string{"Connection", "Upgrade", "Keep-Alive", "TE", "Proxy-Connection", "Transfer-Encoding", "HTTP2-Settings"} {
		body, _, err := get(t, f, at+"/", &Options{Header: http.Header{name: {"close"}, "X-Other": {"1"}}})
		want := "X-Other: 1\r\n"
		if name == "HTTP2-Settings" { // an ordinary field
			want = "Http2-Settings: close\r\n" + want
		}
		if !strings.HasPrefix(body, "HTTP/2.0 ") || !strings.HasSuffix(body, strings.TrimPrefix(at, "https://")+want) {
			t.Errorf("%s: %q, %v", name, body, err)
		}
	}
	body, _, err := get(t, f, at+"/", &Options{Body: io.MultiReader(strings.NewReader("b")), Header: http.Header{"Transfer-Encoding": {"chunked"}}})
	if err != nil || !strings.HasPrefix(body, "HTTP/2.0 ") || strings.Contains(body, "chunked") {
		t.Errorf("a body: %q, %v", body, err)
	}
}

// TestExplainVersions checks which versions Explain names, and that it shows the head that is sent.
func TestExplainVersions(t *testing.T) {
	for _, tc := range []struct {
		url     string
		offered *http.Protocols
		opt     *Options
		want    []string // the beginnings of the steps
	}{
		{"https://h.example/", nil, nil, []string{"TLS handshake with h.example, offering HTTP/2 and HTTP/1.1", "GET / HTTP/1.1\r\nHost: h.example\r\n"}},
		{"https://h.example/", onlyHTTP1, nil, []string{"TLS handshake with h.example, offering HTTP/1.1", "GET / HTTP/1.1\r\n"}},
		{"https://h.example/", onlyHTTP2, nil, []string{"TLS handshake with h.example, offering HTTP/2", "GET / HTTP/2\r\nHost: h.example\r\n"}},
		{"https://h.example/", nil, &Options{HTTP10: true}, []string{"TLS handshake with h.example, offering HTTP/1.1", "GET / HTTP/1.0\r\n"}},
		{"https://h.example/", nil, &Options{Target: "x"}, []string{"TLS handshake with h.example, offering HTTP/1.1", "GET x HTTP/1.1\r\n"}},
		{"http://h.example/", nil, nil, []string{"GET / HTTP/1.1\r\n"}},
		{"http://h.example/", onlyHTTP2, nil, []string{"GET / HTTP/2\r\n"}},
	} {
		explained, err := (&Fetcher{Protocols: tc.offered}).Explain(&fetch.Request{Locator: parse(t, tc.url), Options: tc.opt})
		if err != nil || len(explained.Steps) != len(tc.want) {
			t.Errorf("%s, %v: %+v, %v", tc.url, tc.offered, explained, err)
			continue
		}
		for i, step := range explained.Steps {
			if step.Send == "" && step.Do != tc.want[i] || !strings.HasPrefix(step.Do+step.Send, tc.want[i]) {
				t.Errorf("%s, %v: step %d is %+v, want %q", tc.url, tc.offered, i, step, tc.want[i])
			}
		}
	}
}

// TestFrames checks that a frame is reported to the operation that it belongs to, and what the heads
// of HTTP/2 look like to a Trace, without secrets.
func TestFrames(t *testing.T) {
	at := startVersions(t, true, versions((*http.Protocols).SetHTTP1, (*http.Protocols).SetHTTP2))
	f := newNetwork(t, nil).fetcher(func(f *Fetcher) { f.Env.Dial = nil })
	var frames [2][]string
	var sent, received bytes.Buffer
	for i := range frames {
		traced := fetch.WithTrace(t.Context(), &fetch.Trace{
			Frame: func(out bool, text string) {
				if kind, _, _ := strings.Cut(text, ","); kind == "HEADERS" || kind == "DATA" || kind == "SETTINGS" && out {
					frames[i] = append(frames[i], fmt.Sprint(out, " ", text))
				}
			},
			Sent:     func(octets []byte) { sent.Write(octets) },
			Received: func(octets []byte) { received.Write(octets) },
		})
		req := &fetch.Request{Locator: parse(t, at+"/"), Options: &Options{Header: http.Header{"Cookie": {"canary"}}}}
		if _, _, err := do(traced, f, req); err != nil {
			t.Fatal(err)
		}
	}
	for i, stream := range []string{", stream 1, ", ", stream 3, "} {
		own := slices.DeleteFunc(slices.Clone(frames[i]), func(text string) bool { return strings.Contains(text, "SETTINGS") })
		if len(own) != 3 || !strings.HasPrefix(own[0], "true HEADERS"+stream) || !strings.HasSuffix(own[0], " bytes, END_STREAM") ||
			!strings.HasPrefix(own[1], "false HEADERS"+stream) || !strings.HasPrefix(own[2], "false DATA"+stream) {
			t.Errorf("operation %d: %q", i, frames[i])
		}
	}
	if len(frames[0]) < 4 || !strings.HasPrefix(frames[0][0], "true SETTINGS, ") {
		t.Errorf("the operation that connected: %q", frames[0])
	}
	head := "GET / HTTP/2\r\nHost: " + strings.TrimPrefix(at, "https://") + "\r\nUser-Agent: fetch1738\r\nAccept: */*\r\nAccept-Encoding: identity\r\nCookie: ****\r\n\r\n"
	if sent.String() != head+head {
		t.Errorf("sent %q", sent.String())
	}
	if !strings.HasPrefix(received.String(), "HTTP/2 200 \r\ncontent-type: text/plain") {
		t.Errorf("received %q", received.String())
	}
}
