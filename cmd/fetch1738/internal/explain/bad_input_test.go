package explain

import (
	"encoding/json"
	"net"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/verbtest"
)

// Nothing is looked up, nothing dialled, no password shown, and there is one
// clear line for what will not be done.
func TestExplainBadInput(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	dialled := make(chan string, 100)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			dialled <- conn.RemoteAddr().String()
			conn.Close()
		}
	}()
	here := listener.Addr().String()

	const secret = "s3cretword"
	for _, tc := range []struct {
		code int
		args []string
	}{
		{3, []string{"ftp://" + here + "/a%0D%0ADELE%20x"}},
		{3, []string{"ftp://lab:" + secret + "%0D%0Ax@" + here + "/a"}},
		{3, []string{"gopher://" + here + "/0a%0D%0Ab"}},
		{120, []string{"gopher://127.0.0.1:25/0x"}},
		{120, []string{"ftp://u:" + secret + "@127.0.0.1:25/x"}},
		{3, []string{"--strict", "http://u:" + secret + "@" + here + "/"}},
		{3, []string{"http://u:" + secret + "@127.0.0.1:0/"}},
		{3, []string{"http://u:" + secret + "@127.0.0.1:99999/"}},
		{3, []string{"http://" + here + "/" + strings.Repeat("a", 1<<20)}},
		{3, []string{"ftp://u:" + secret + "@" + here + "/" + strings.Repeat("a", 1<<20)}},
		{3, []string{"file://other/x"}},
		{3, []string{"--strict", ""}},
		{3, []string{"--strict", "nothing"}},
		{1, []string{"u:" + secret + "@" + here + "/"}},
		{1, []string{"x-db://" + here + "/db"}},
		{120, []string{"telnet://u:" + secret + "@127.0.0.1:25/"}},
		{3, []string{"telnet://u:" + secret + "%FF@" + here + "/"}},
		{3, []string{"mailto:a@b.example?subject=x%0AX"}},
		{1, []string{"x-own:thing"}},
	} {
		for _, mode := range [][]string{nil, {"--json"}} {
			got := verbtest.Run(t, Command(), "", append(mode, tc.args...)...)
			if got.Code != tc.code || got.Err != "" {
				t.Errorf("%.60q: code %d, want %d; %.300s%s", tc.args, got.Code, tc.code, got.Out, got.Err)
			}
			if mode == nil {
				verbtest.OneLine(t, got.Out)
			} else {
				verbtest.OneJSONLine(t, got.Out)
			}
			if strings.Contains(got.Out, secret) {
				t.Errorf("%.60q shows the password: %.300s", tc.args, got.Out)
			}
		}
	}
	for _, url := range []string{"ftp://lab:" + secret + "@" + here + "/x", "http://lab:" + secret + "@" + here + "/", "gopher://" + here + "/0x", "http://no-such-host.invalid/"} {
		for _, mode := range []string{"--strict=false", "--json"} {
			got := verbtest.Run(t, Command(), "", mode, url)
			if got.Code != 0 || strings.Contains(got.Out+got.Err, secret) {
				t.Errorf("%s: %+v", url, got)
			}
		}
	}
	select {
	case peer := <-dialled:
		t.Errorf("explaining connected, from %s", peer)
	default:
	}
}

// URLs that cannot be parsed are distinguished anyway.
func TestExplainUnreadable(t *testing.T) {
	for url, want := range map[string]string{"lab@host.example/x": "lab@host.example/x", "ftp://u:s3cret@h/;type=z": "ftp://u:***@h/;type=z"} {
		got := verbtest.Run(t, Command(), "", "--json", url)
		var line struct{ URL string }
		if err := json.Unmarshal([]byte(got.Out), &line); err != nil || line.URL != want || got.Code != 3 {
			t.Errorf("%s: %v, %+v", url, err, got)
		}
	}
}

// --allow-port permits; several URLs have the exit code of the last failure.
func TestExplainFlags(t *testing.T) {
	got := verbtest.Run(t, Command(), "", "--allow-port", "25", "gopher://127.0.0.1:25/0x")
	if got.Code != 0 || !strings.Contains(got.Out, `"x\r\n"`) {
		t.Errorf("%+v", got)
	}
	got = verbtest.Run(t, Command(), "", "--allow-port", "26", "--allow-port=25", "gopher://127.0.0.1:25/0x", "news:", "http://h/", "x-db://h/d")
	if got.Code != 1 || strings.Count(got.Out, "not fetched: ") != 2 {
		t.Errorf("%+v", got)
	}
	got = verbtest.Run(t, Command(), "", "http://u:p@h:81/")
	if got.Code != 0 {
		t.Errorf("what is typed may have a login and any port: %+v", got)
	}
	got = verbtest.Run(t, Command(), "", "--json", "http://h/", "news:")
	dec := json.NewDecoder(strings.NewReader(got.Out))
	for _, want := range []bool{true, false} {
		var line struct{ OK bool }
		if err := dec.Decode(&line); err != nil || line.OK != want {
			t.Errorf("%v, %v", err, line)
		}
	}
}
