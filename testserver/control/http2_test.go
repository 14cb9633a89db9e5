package control_test

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/testserver/control"
)

// TestHTTP2 tests the settings and faults of HTTP/2, as JSON.
func TestHTTP2(t *testing.T) {
	c := start(t, control.Config{})
	for _, tt := range []struct {
		settings object
		faults   []object
		want     string // the version and the body, or a part of the error
	}{
		{object{}, nil, "HTTP/2.0 hello"},
		{object{"http1": true}, nil, "HTTP/1.1 hello"},
		{object{"maxStreams": 1}, []object{{"fault": "Interim", "n": 103}, {"fault": "Trailers", "field": "X-A", "text": "x"}}, "HTTP/2.0 hello"},
		{object{}, []object{{"fault": "ResetStream", "n": 2, "text": "ENHANCE_YOUR_CALM"}}, "ENHANCE_YOUR_CALM"},
	} {
		s := c.create(object{"protocol": "http", "tls": "implicit", "files": object{"a": "hello"}, "settings": tt.settings})
		if tt.faults != nil {
			c.do("POST", "/v1/servers/"+s.ID+"/faults", object{"stage": "GET", "n": 1, "faults": tt.faults}, nil)
		}
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM([]byte(s.CA))
		tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}
		got := ""
		res, err := (&http.Client{Transport: tr}).Get(s.URL + "/a")
		if err == nil {
			var body []byte
			body, err = io.ReadAll(res.Body)
			res.Body.Close()
			got = res.Proto + " " + string(body)
		}
		if err != nil {
			got = err.Error()
		}
		if tr.CloseIdleConnections(); !strings.Contains(got, tt.want) {
			t.Errorf("%v %v: %q, want %q", tt.settings, tt.faults, got, tt.want)
		}
		if text := string(second(c.send("GET", "/v1/servers/"+s.ID+"/transcript", nil, "Accept", "text/plain"))); strings.Contains(text, "C: GET /a HTTP/2\n") != (tt.settings["http1"] == nil) {
			t.Errorf("transcript\n%s", text)
		}
	}
	s := c.create(object{"protocol": "http"})
	for _, wrong := range []object{{"fault": "ResetStream", "n": 2, "text": "NOTHING"}, {"fault": "Flood", "text": "GOAWAY"}, {"fault": "Interim", "n": 200}, {"fault": "Setting", "field": "MAX_FRAME_SIZE", "n": 1}} {
		if status, got := c.send("POST", "/v1/servers/"+s.ID+"/faults", object{"stage": "GET", "n": 1, "faults": []object{wrong}}); status != 400 {
			t.Errorf("%v: %d %s", wrong, status, got)
		}
	}
}

func second[A, B any](_ A, b B) B { return b }
