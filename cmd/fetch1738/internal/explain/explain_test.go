package explain

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/policy"
)

// An oracle gives the same Explanation for everything.
type oracle struct {
	would *fetch.Explanation
	err   error
}

func (oracle) Fetch(context.Context, *fetch.Request) (*fetch.Resource, error) {
	return nil, errors.New("explaining is not fetching")
}

func (p oracle) Explain(*fetch.Request) (*fetch.Explanation, error) { return p.would, p.err }

// mute is a Fetcher that cannot explain.
type mute struct{ driver.Fetcher }

func explaining(would *fetch.Explanation) *explainer {
	rules := policy.Rules{AnyHTTPPort: true}
	return &explainer{op: &plan.Operation{Reading: plan.Reading{Strict: true}}, resolver: &fetch1738.Resolver{
		Env: fetch.Env{Allow: rules.Allow},
		Schemes: []fetch1738.Scheme{
			{Names: []string{"ftp", "file"}, New: func(*fetch.Env) driver.Fetcher { return oracle{would: would} }},
			{Names: []string{"gopher"}, New: func(*fetch.Env) driver.Fetcher { return mute{} }},
		},
	}}
}

func TestExplainLayout(t *testing.T) {
	x := explaining(&fetch.Explanation{
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
  policy  allowed; checked again by address after the name is looked up
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
	x := explaining(&fetch.Explanation{
		Network: "tcp", Host: "host.example", Port: 2121,
		Steps: []fetch.Step{{Send: "CWD \xe9\r\n"}, {Do: "wait", When: "sometimes"}},
	})
	var out strings.Builder
	if err := explainJSON(&out, x.explain(t.Context(), "ftp://lab:s3cret@host.example:2121/x")); err != nil {
		t.Fatal(err)
	}
	want := `{"url":"ftp://lab:***@host.example:2121/x","ok":true,"scheme":"ftp","network":"tcp","host":"host.example","port":2121,` +
		`"policy":"allowed; checked again by address after the name is looked up",` +
		`"steps":[{"send":"CWD \u00e9\r\n","when":null},{"do":"wait","when":"sometimes"}],"notes":[]}` + "\n"
	if out.String() != want {
		t.Errorf("got  %swant %s", out.String(), want)
	}

	x = explaining(&fetch.Explanation{Steps: []fetch.Step{{Do: "open /x"}}})
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
	x := explaining(&fetch.Explanation{Network: "tcp", Host: "h", Port: 25})
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
	x := explaining(&fetch.Explanation{Network: "tcp", Host: "10.0.0.5", Port: 21})
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
