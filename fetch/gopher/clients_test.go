package gopher

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
)

// A departure is a URL for which other bytes are sent than by curl or lynx.
type departure struct {
	sent  string // "" is nothing
	exact string // with Fetcher.Exact
	why   string
}

// departures are all URLs of curl-lynx-bytes.txt for which the three clients differ.
var departures = map[string]departure{
	"gopher://h/7/q?a+b":                      {"/q\ta b\r\n", "", searches},
	"gopher://h/7/q?a%20b":                    {"/q\ta b\r\n", "", searches},
	"gopher://h/7/q%3Fx?a":                    {"/q\tx?a\r\n", "", searches + `; no character is reserved in a gopher-path (§3.4.1), so "%3F" is the same as "?", and the first one counts`},
	"gopher://h/7/q":                          {"", "", "a search without words is a question to the user, as with lynx"},
	"gopher://h/7/q%09a%20b%09+":              {"/q\ta b\t+\r\n", "/q\ta b\t+\r\n", "as curl; lynx loses the Gopher+ string"},
	"gopher://h/0/about.txt%09%09+":           {"/about.txt\t+\r\n", "/about.txt\t\t+\r\n", oneTAB},
	"gopher://h/0/about.txt%09%09%2B":         {"/about.txt\t+\r\n", "/about.txt\t\t+\r\n", oneTAB},
	"gopher://h/0/about.txt%09%09!":           {"/about.txt\t!\r\n", "/about.txt\t\t!\r\n", oneTAB},
	"gopher://h/1/%09%09$":                    {"/\t$\r\n", "/\t\t$\r\n", oneTAB},
	"gopher://h/0/x%09%09+text/plain%20En_US": {"/x\t+text/plain En_US\r\n", "/x\t\t+text/plain En_US\r\n", oneTAB},
	"gopher://h/0/x%09%09+%091":               {"", "", "a form without its answers, which a server would wait for"},
	"gopher://h/0/%0d%0aDELETE":               {"", "", "a second line is a second command (§6)"},
	"gopher://h/0/%00x":                       {"", "", "no selector has a NUL; curl refuses it too, lynx cuts there"},
	"gopher://h/hURL:http://example.org/":     {"", "", "it is a link to a web page: a Referral"},
}

const (
	searches = "people write searches so, and servers want a TAB, which lynx sends; with Exact they belong to the selector, and there are no words to search for"
	oneTAB   = "gopherd refuses a second TAB before a Gopher+ string; it is sent with Exact (§3.4.3)"
)

// TestOtherClients compares requests with those recorded from curl and lynx.
func TestOtherClients(t *testing.T) {
	file, err := os.Open("testdata/traces/clients/curl-lynx-bytes.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, departed := 0, 0
	for in := bufio.NewScanner(file); in.Scan(); {
		fields := strings.Split(in.Text(), " | ")
		url, isRow := strings.CutPrefix(fields[0], "gopher://H")
		if !isRow {
			continue
		}
		rows++
		url = "gopher://h" + url
		curl, lynx := sentBy(t, fields[1]), sentBy(t, fields[2])
		sent, exact := sentFor(t, url, false), sentFor(t, url, true)
		want := departure{sent: curl, exact: curl}
		if d, ok := departures[url]; ok {
			want = d
			departed++
			if d.why == "" || d.sent == curl && d.exact == curl && curl == lynx {
				t.Errorf("%s: in the list of departures, but the clients agree", url)
			}
		} else if curl != lynx {
			t.Errorf("%s: curl sends %q, lynx %q", url, curl, lynx)
		}
		if sent != want.sent || exact != want.exact {
			t.Errorf("%s: sends %q, exactly %q; want %q, %q; curl %q lynx %q", url, sent, exact, want.sent, want.exact, curl, lynx)
		}
	}
	if rows != 29 || departed != len(departures) {
		t.Errorf("%d rows, want 29; %d departures, want %d", rows, departed, len(departures))
	}
}

// sentFor returns the first request for a URL, if there is one.
func sentFor(t *testing.T, url string, exact bool) string {
	t.Helper()
	requests := make(chan []byte, 2)
	f := &Fetcher{Env: answering([]byte("x"), requests), Exact: exact}
	if res, err := f.Fetch(t.Context(), &fetch.Request{Locator: parse(t, url)}); err == nil {
		res.Close()
	}
	if len(requests) == 0 {
		return ""
	}
	return string(<-requests)
}

// sentBy parses the second part of a column of curl-lynx-bytes.txt: an exit code, and the data
// sent, one quoted string for each read.
func sentBy(t *testing.T, column string) string {
	t.Helper()
	_, quoted, _ := strings.Cut(column, " ")
	quoted = strings.ReplaceAll(quoted, "' '", "")
	quoted = strings.Trim(strings.TrimSpace(quoted), "'")
	sent, err := strconv.Unquote(`"` + quoted + `"`)
	if err != nil {
		t.Fatal(column, err)
	}
	return sent
}
