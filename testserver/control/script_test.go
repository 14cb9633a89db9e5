package control_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/testserver/control"
	"github.com/fetch1738/fetch1738/testserver/internal/testclient"
)

func (c *client) script(text string) (int, []byte) {
	c.t.Helper()
	return c.send("POST", "/v1/scripts", []byte(text), "Content-Type", "text/x-txtar")
}

// The sample script starts two servers with its files, users and faults.
func TestScript(t *testing.T) {
	c := start(t, control.Config{})
	text, err := os.ReadFile("testdata/site.txtar")
	if err != nil {
		t.Fatal(err)
	}
	status, got := c.script(string(text))
	var started, list struct{ Servers []info }
	if err := json.Unmarshal(got, &started); err != nil || status != http.StatusCreated || len(started.Servers) != 2 {
		t.Fatalf("%d %s", status, got)
	}
	if c.do("GET", "/v1/servers", nil, &list); fmt.Sprint(list) != fmt.Sprint(started) {
		t.Errorf("listed: %+v\nstarted: %+v", list, started)
	}
	ftp, web := started.Servers[0], started.Servers[1]
	if ftp.ID != "ftp-1" || web.ID != "http-2" {
		t.Errorf("%+v", started)
	}
	for path, want := range map[string]string{
		ftp.ID + "/files/pub/motd.txt":            "hello, world\n",
		web.ID + "/files/pub/motd.txt":            "hello, world\n",
		ftp.ID + "/files/notes.txt?user=lab":      "only for the user lab\n",
		ftp.ID + "/files/notes.txt":               "",
		ftp.ID + "/files/@lab/notes.txt":          "",
		web.ID + "/files/@lab/notes.txt":          "",
		ftp.ID + "/files/pub/motd.txt?user=lab":   "",
		ftp.ID + "/files/pub/motd.txt?user=guest": "",
	} {
		if status, got := c.send("GET", "/v1/servers/"+path, nil); (status == 200) != (want != "") || want != "" && string(got) != want {
			t.Errorf("%s: %d %q, want %q", path, status, got, want)
		}
	}
	f := testclient.DialAddr(t, ftp.addr())
	f.Expect("USER guest", "331")
	f.Expect("PASS x", "230")
	f.Expect("TYPE I", "200")
	for _, want := range []string{"he 426 aborted", "hello, world\n 226"} {
		data, _, last, _ := f.Get("RETR pub/motd.txt")
		if got := data + " " + last; !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A script with a mistake starts nothing, and the problem says where it is.
func TestScriptProblems(t *testing.T) {
	c := start(t, control.Config{})
	s := c.create(object{"protocol": "ftp"})
	many := strings.Repeat("{\"protocol\":\"smtp\"}\n", 999)
	for name, tc := range map[string]struct {
		script, field, detail string
		status                int
	}{
		"nothing":                {"", "", "has no server", 400},
		"comments only":          {"# {\"protocol\":\"ftp\"}\n", "", "has no server", 400},
		"files only":             {"-- a --\nx\n", "", "has no server", 400},
		"no JSON":                {"protocol: ftp\n", "servers.0", "not JSON", 400},
		"binary":                 {"\x00\xff\xfe{}\x80", "servers.0", "not JSON", 400},
		"JSON that breaks off":   {`{"protocol":"ftp",`, "servers.0", "not JSON", 400},
		"a file inside of JSON":  {"{\"protocol\":\n-- a --\n\"ftp\"}\n", "servers.0", "not JSON", 400},
		"not an object":          {`{"protocol":"ftp"} 5`, "servers.1", "object", 400},
		"an unknown field":       {`{"protocol":"ftp","x":1}`, "servers.0.x", "unknown", 400},
		"a bad setting":          {`{"protocol":"http"} {"protocol":"ftp","settings":{"hide":5}}`, "servers.1.settings.hide", "", 400},
		"a bad fault":            {`{"protocol":"ftp","faults":[{"stage":"RETR","faults":[{"fault":"X"}]}]}`, "servers.0.faults.0.faults", "has no fault X", 400},
		"a port that is taken":   {fmt.Sprintf(`{"protocol":"ftp"} {"protocol":"ftp","port":%d}`, s.Port), "servers.1.port", "", 409},
		"a folder":               {`{"protocol":"ftp","folder":"/etc"}`, "servers.0.folder", "no folder", 400},
		"a file of a stranger":   {"{\"protocol\":\"ftp\"}\n-- @lab/a --\nx\n", "@lab/a", "no server with this user", 400},
		"a file of no user":      {"{\"protocol\":\"ftp\"}\n-- @ --\nx\n", "@", "no server with this user", 400},
		"no name in a user":      {"{\"protocol\":\"ftp\",\"users\":{\"lab\":{}}}\n-- @lab/ --\nx\n", "servers.0.users.lab.files", "cannot store", 400},
		"a file twice":           {"{\"protocol\":\"ftp\"}\n-- a --\nx\n-- a --\ny\n", "servers.0.a", "twice", 400},
		"a file in JSON too":     {"{\"protocol\":\"ftp\",\"files\":{\"a\":\"x\"}}\n-- a --\ny\n", "servers.0.a", "twice", 400},
		"a file below a file":    {"{\"protocol\":\"ftp\"}\n-- a --\nx\n-- a/b --\ny\n", "servers.0.files.a/b", "cannot store", 400},
		"a NUL in a name":        {"{\"protocol\":\"ftp\"}\n-- a\x00b --\nx\n", "servers.0.files.a\x00b", "NUL", 400},
		"more servers than fit":  {many + `{"protocol":"smtp"}`, "", "the limit is 1000", 429},
		"millions of servers":    {strings.Repeat("{}\n", 1<<21), "", "more than 1000 servers", 400},
		"millions of files":      {"{\"protocol\":\"ftp\"}\n" + strings.Repeat("-- a --\n", 1<<21), "", "together they may have 100000", 400},
		"files of many servers":  {many + strings.Repeat("-- a --\n", 101), "", "together they may have 100000", 400},
		"more bytes than a JSON": {strings.Repeat("#", 64<<20+1), "", "the body has more than", 413},
		"JSON in JSON in JSON":   {strings.Repeat(`{"files":`, 1<<20), "servers.0", "not JSON", 400},
	} {
		status, got := c.script(tc.script)
		var p struct{ Detail, Field string }
		if err := json.Unmarshal(got, &p); err != nil || status != tc.status || p.Field != tc.field || !strings.Contains(p.Detail, tc.detail) {
			t.Errorf("%s: %d %s, want %d, field %q and %q", name, status, got, tc.status, tc.field, tc.detail)
		}
	}
	for _, kind := range []string{"", "text/plain", "application/json", "application/x-www-form-urlencoded"} {
		if status, _ := c.send("POST", "/v1/scripts", []byte(`{"protocol":"ftp"}`), "Content-Type", kind); status != http.StatusUnsupportedMediaType {
			t.Errorf("a page of another site can send %q: %d", kind, status)
		}
	}
	var list struct{ Servers []info }
	if c.do("GET", "/v1/servers", nil, &list); len(list.Servers) != 1 {
		t.Errorf("%d servers were started by mistakes", len(list.Servers)-1)
	}
}

// Content is taken byte for byte, and names stay inside.
func TestScriptContent(t *testing.T) {
	c := start(t, control.Config{})
	status, got := c.script("{\"protocol\":\"ftp\",\"users\":{\"lab\":{\"password\":\"x\"}}}\r\n" +
		"-- ../../a --\nof all\n-- @lab/../b --\nof lab\n-- c --\r\n\x00\xff\r\n--  --\n-- -- --\n-- d --\nno end")
	if status != http.StatusCreated {
		t.Fatalf("%d %s", status, got)
	}
	for path, want := range map[string]string{
		"a": "of all\n", "b?user=lab": "of lab\n", "c": "\x00\xff\r\n--  --\n", "--": "", "d": "no end\n", "b": "?", "@lab/b": "?",
	} {
		if status, got := c.send("GET", "/v1/servers/ftp-1/files/"+path, nil); status == 200 && !bytes.Equal(got, []byte(want)) || (status != 200) != (want == "?") {
			t.Errorf("%s: %d %q, want %q", path, status, got, want)
		}
	}
}

// The Go API names the field in its error, and returns the URLs.
func TestStartScript(t *testing.T) {
	api := control.New(control.Config{})
	defer api.Close()
	if _, err := api.StartScript([]byte(`{"protocol":"ftp","settings":{"nope":1}}`)); err == nil || !strings.HasPrefix(err.Error(), "servers.0.settings.nope: ") {
		t.Errorf("%v", err)
	}
	all, err := api.StartScript([]byte(`{"protocol":"ftp"} {"protocol":"gopher"}`))
	if err != nil || len(all) != 2 || !strings.HasPrefix(all[0].URL, "ftp://127.0.0.1:") || !strings.HasPrefix(all[1].URL, "gopher://") {
		t.Errorf("%v, %v", all, err)
	}
}

// FuzzScript starts scripts. No script is an error of the server.
func FuzzScript(f *testing.F) {
	for _, script := range []string{
		"{\"protocol\":\"ftp\"}\n-- a --\nx\n", "# x\n{\"protocol\":\"ftp\",\"users\":{\"u\":{}}}\n-- @u/a --\nx\n",
		"{\"protocol\":\"gopher\"}{\"protocol\":\"http\"}", "-- a --\n", "{}\r\n-- b --\r\n",
	} {
		f.Add([]byte(script))
	}
	api := control.New(control.Config{})
	f.Cleanup(func() { _ = api.Close() })
	f.Fuzz(func(t *testing.T, script []byte) {
		if bytes.Contains(bytes.ToLower(script), []byte(`"port"`)) || bytes.Contains(script, []byte(`\u`)) {
			t.Skip("a port may be taken")
		}
		status, body := request(api, "POST", "/v1/scripts", "text/x-txtar", script)
		if status >= 500 || !json.Valid(body) {
			t.Fatalf("%d %s", status, body)
		}
		if status, body := request(api, "DELETE", "/v1/servers", "", nil); status != http.StatusNoContent {
			t.Fatalf("%d %s", status, body)
		}
	})
}
