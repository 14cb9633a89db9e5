package main

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/policy"
)

// planner explains everything by the same plan.
type planner struct {
	plan *fetch.Plan
	err  error
}

func (planner) Fetch(context.Context, *fetch.Request) (*fetch.Resource, error) {
	return nil, errors.New("explaining is not fetching")
}

func (p planner) Explain(*fetch.Request) (*fetch.Plan, error) { return p.plan, p.err }

// mute is a Fetcher that cannot explain.
type mute struct{ fetch.Fetcher }

func explaining(plan *fetch.Plan) *explainer {
	rules := policy.Rules{AnyHTTPPort: true}
	return &explainer{op: &plan.Operation{strict: true}, resolver: &fetch1738.Resolver{
		Env: fetch.Env{Allow: rules.Allow},
		Schemes: []fetch1738.Scheme{
			{Names: []string{"ftp", "file"}, New: func(*fetch.Env) fetch.Fetcher { return planner{plan: plan} }},
			{Names: []string{"gopher"}, New: func(*fetch.Env) fetch.Fetcher { return mute{} }},
		},
	}}
}

func TestExplainLayout(t *testing.T) {
	x := explaining(&fetch.Plan{
		Network: "tcp", Host: "host.example", Port: 21,
		Steps: []fetch.Step{
			{Send: "USER lab\r\n"},
			{Send: "PASS ****\r\n", When: "when the server asks for a password"},
			{Send: "CWD \xe9\"\x00\r\n", When: "always"},
			{Do: "connect to the port that the server names, at the address of the control connection", When: ""},
			{Send: "HEAD\r\nBODY\r\n\r\n"},
		},
		Notes: []string{"short", strings.Repeat("long ", 20) + "end"},
	})
	var out strings.Builder
	if err := explainText(&out, x.explain(t.Context(), "ftp://lab:s3cret@host.example/x")); err != nil {
		t.Fatal(err)
	}
	want := `ftp://lab:***@host.example/x
  server  host.example, port 21 (tcp)
  policy  allowed; judged again by its address once the name is looked up
  1       "USER lab\r\n"
  2       "PASS ****\r\n"       when the server asks for a password
  3       "CWD \xe9\"\x00\r\n"  always
  4       connect to the port that the server names, at the address of the
          control connection
  5       "HEAD\r\n"
          "BODY\r\n"
          "\r\n"
  note    short
  note    long long long long long long long long long long long long long long
          long long long long long long end
`
	if got := out.String(); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestExplainJSON(t *testing.T) {
	x := explaining(&fetch.Plan{
		Network: "tcp", Host: "host.example", Port: 2121,
		Steps: []fetch.Step{{Send: "CWD \xe9\r\n"}, {Do: "wait", When: "sometimes"}},
	})
	var out strings.Builder
	if err := explainJSON(&out, x.explain(t.Context(), "ftp://lab:s3cret@host.example:2121/x")); err != nil {
		t.Fatal(err)
	}
	want := `{"url":"ftp://lab:***@host.example:2121/x","ok":true,"scheme":"ftp","network":"tcp","host":"host.example","port":2121,` +
		`"policy":"allowed; judged again by its address once the name is looked up",` +
		`"steps":[{"send":"CWD \u00e9\r\n","when":null},{"do":"wait","when":"sometimes"}],"notes":[]}` + "\n"
	if out.String() != want {
		t.Errorf("got  %swant %s", out.String(), want)
	}

	x = explaining(&fetch.Plan{Steps: []fetch.Step{{Do: "open /x"}}})
	out.Reset()
	if err := explainJSON(&out, x.explain(t.Context(), "file:///x")); err != nil {
		t.Fatal(err)
	}
	want = `{"url":"file:///x","ok":true,"scheme":"file","network":null,"host":null,"port":null,"policy":"allowed",` +
		`"steps":[{"do":"open /x","when":null}],"notes":[]}` + "\n"
	if out.String() != want {
		t.Errorf("got  %swant %s", out.String(), want)
	}
}

func TestExplainCodes(t *testing.T) {
	x := explaining(&fetch.Plan{Network: "tcp", Host: "h", Port: 25})
	for url, code := range map[string]int{
		"nothing": 3, "ftp://h/a%0D%0ADELE%20x": 3, "ftp://h:25/": 120, "gopher://h/": 1, "x-db://h/db": 1, "x-own:y": 1,
	} {
		if e := x.explain(t.Context(), url); e.err == nil || e.code() != code {
			t.Errorf("%s: code %d, %v", url, e.code(), e.err)
		}
	}
}

// The policy is asked about the address where the URL tells it.
func TestExplainJudgesLiterals(t *testing.T) {
	var mu sync.Mutex
	var asked []netip.AddrPort
	x := explaining(&fetch.Plan{Network: "tcp", Host: "10.0.0.5", Port: 21})
	x.resolver.Env = fetch.Env{Allow: func(_ context.Context, target fetch.Target) error {
		mu.Lock()
		defer mu.Unlock()
		if asked = append(asked, target.Addr); target.Addr.IsValid() {
			return errors.New("not there")
		}
		return nil
	}}
	e := x.explain(t.Context(), "ftp://10.0.0.5/")
	if e.code() != 120 || len(asked) != 2 || asked[1].String() != "10.0.0.5:21" {
		t.Errorf("%v, asked about %v", e.err, asked)
	}
}

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
			got := runVerb(t, "explain", "", append(mode, tc.args...)...)
			if got.code != tc.code || got.err != "" {
				t.Errorf("%.60q: code %d, want %d; %.300s%s", tc.args, got.code, tc.code, got.out, got.err)
			}
			if mode == nil {
				oneLine(t, got.out)
			} else {
				oneJSONLine(t, got.out)
			}
			if strings.Contains(got.out, secret) {
				t.Errorf("%.60q shows the password: %.300s", tc.args, got.out)
			}
		}
	}
	for _, url := range []string{"ftp://lab:" + secret + "@" + here + "/x", "http://lab:" + secret + "@" + here + "/", "gopher://" + here + "/0x", "http://no-such-host.invalid/"} {
		for _, mode := range []string{"--strict=false", "--json"} {
			got := runVerb(t, "explain", "", mode, url)
			if got.code != 0 || strings.Contains(got.out+got.err, secret) {
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

// What cannot be read is told apart all the same.
func TestExplainUnreadable(t *testing.T) {
	for url, want := range map[string]string{"lab@host.example/x": "lab@host.example/x", "ftp://u:s3cret@h/;type=z": "ftp://u:***@h/;type=z"} {
		got := runVerb(t, "explain", "", "--json", url)
		var line struct{ URL string }
		if err := json.Unmarshal([]byte(got.out), &line); err != nil || line.URL != want || got.code != 3 {
			t.Errorf("%s: %v, %+v", url, err, got)
		}
	}
}

// --allow-port permits; several URLs have the exit code of the last failure.
func TestExplainFlags(t *testing.T) {
	got := runVerb(t, "explain", "", "--allow-port", "25", "gopher://127.0.0.1:25/0x")
	if got.code != 0 || !strings.Contains(got.out, `"x\r\n"`) {
		t.Errorf("%+v", got)
	}
	got = runVerb(t, "explain", "", "--allow-port", "26", "--allow-port=25", "gopher://127.0.0.1:25/0x", "news:", "http://h/", "x-db://h/d")
	if got.code != 1 || strings.Count(got.out, "not fetched: ") != 2 {
		t.Errorf("%+v", got)
	}
	got = runVerb(t, "explain", "", "http://u:p@h:81/")
	if got.code != 0 {
		t.Errorf("what is typed may have a login and any port: %+v", got)
	}
	got = runVerb(t, "explain", "", "--json", "http://h/", "news:")
	dec := json.NewDecoder(strings.NewReader(got.out))
	for _, want := range []bool{true, false} {
		var line struct{ OK bool }
		if err := dec.Decode(&line); err != nil || line.OK != want {
			t.Errorf("%v, %v", err, line)
		}
	}
}
