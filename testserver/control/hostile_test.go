package control_test

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/testserver/control"
)

// What a page of another site can make a browser send is refused, and so is what lacks the token.
func TestRefused(t *testing.T) {
	c := start(t, control.Config{Hosts: []string{"tests.example"}})
	create := object{"protocol": "ftp"}
	for name, tc := range map[string]struct {
		header []string
		want   int
	}{
		"as it should be":           {nil, 201},
		"a host that was told":      {[]string{"Host", "Tests.Example:80"}, 201},
		"localhost":                 {[]string{"Host", "localhost:1"}, 201},
		"an address of loopback":    {[]string{"Host", "[::1]:1"}, 201},
		"a rebound name":            {[]string{"Host", "evil.example"}, 421},
		"another address":           {[]string{"Host", "10.0.0.5:80"}, 421},
		"a name like that":          {[]string{"Host", "localhost.evil.example"}, 421},
		"a page of another site":    {[]string{"Origin", "http://evil.example"}, 403},
		"a page of its own":         {[]string{"Origin", "null"}, 403},
		"no token":                  {[]string{"Authorization", ""}, 401},
		"another token":             {[]string{"Authorization", "Bearer x"}, 401},
		"a form":                    {[]string{"Content-Type", "text/plain"}, 415},
		"a form with JSON in it":    {[]string{"Content-Type", "application/x-www-form-urlencoded"}, 415},
		"no type":                   {[]string{"Content-Type", ""}, 415},
		"a type with its charset":   {[]string{"Content-Type", "application/json; charset=utf-8"}, 201},
		"another site, the health":  {[]string{"Host", "evil.example"}, 421},
		"a token in another scheme": {[]string{"Authorization", "Basic " + c.api.Token()}, 401},
	} {
		if status, got := c.send("POST", "/v1/servers", create, tc.header...); status != tc.want {
			t.Errorf("%s: %d %s, want %d", name, status, got, tc.want)
		}
	}
	for _, path := range []string{"/v1/health", "/v1/openapi.yaml"} {
		if status, _ := c.send("GET", path, nil, "Authorization", ""); status != 200 {
			t.Errorf("%s without a token: %d", path, status)
		}
		if status, _ := c.send("GET", path, nil, "Host", "evil.example"); status != 421 {
			t.Errorf("%s of another site: %d", path, status)
		}
	}
	r := httptest.NewRequest("OPTIONS", c.base+"/v1/servers", nil)
	w := httptest.NewRecorder()
	c.api.ServeHTTP(w, r)
	for name := range w.Header() {
		if strings.HasPrefix(name, "Access-Control-") {
			t.Errorf("a page may read the response: %s", name)
		}
	}
}

// Each mistake is a problem that names the field.
func TestProblems(t *testing.T) {
	c := start(t, control.Config{})
	s := c.create(object{"protocol": "ftp"})
	at := "/v1/servers/" + s.ID
	link := archiveOf(t, tar.Header{Typeflag: tar.TypeSymlink, Name: "l", Linkname: "/etc/passwd"})
	hard := archiveOf(t, tar.Header{Typeflag: tar.TypeLink, Name: "h", Linkname: "../x"})
	device := archiveOf(t, tar.Header{Typeflag: tar.TypeChar, Name: "d"})
	rules := func(fault object) object { return object{"stage": "RETR", "n": 1, "faults": []object{fault}} }
	for _, tc := range []struct {
		method, path string
		body         any
		status       int
		field        string
	}{
		{"POST", "/v1/servers", object{}, 400, "protocol"},
		{"POST", "/v1/servers", object{"protocol": "ssh"}, 400, "protocol"},
		{"POST", "/v1/servers", object{"protocol": 5}, 400, "protocol"},
		{"POST", "/v1/servers", object{"protocol": "ftp", "port": 70000}, 400, "port"},
		{"POST", "/v1/servers", object{"protocol": "ftp", "port": s.Port}, 409, "port"},
		{"POST", "/v1/servers", object{"protocol": "ftp", "portt": 1}, 400, "portt"},
		{"POST", "/v1/servers", object{"protocol": "ftp", "personality": "x"}, 400, "personality"},
		{"POST", "/v1/servers", object{"protocol": "smtp", "personality": "x"}, 400, "personality"},
		{"POST", "/v1/servers", object{"protocol": "ftp", "settings": object{"hide": 5}}, 400, "settings.hide"},
		{"POST", "/v1/servers", object{"protocol": "ftp", "settings": object{"nope": 5}}, 400, "settings.nope"},
		{"POST", "/v1/servers", object{"protocol": "ftp", "settings": object{"network": object{}}}, 400, "settings.network"},
		{"POST", "/v1/servers", object{"protocol": "ftp", "settings": object{"url": "x"}}, 400, "settings.url"},
		{"POST", "/v1/servers", object{"protocol": "ftp", "settings": object{"users": object{}}}, 400, "settings.users"},
		{"POST", "/v1/servers", object{"protocol": "ftp", "settings": object{"dataPorts": -1}}, 400, "settings"},
		{"POST", "/v1/servers", object{"protocol": "ftp", "settings": object{"dataPorts": 1e6}}, 400, "settings"},
		{"POST", "/v1/servers", object{"protocol": "telnet", "settings": object{"dialogue": []object{{"command": "?"}}}}, 400, "settings.dialogue"},
		{"POST", "/v1/servers", object{"protocol": "ftp", "users": object{"lab": object{"rights": []string{"fly"}}}}, 400, "users.lab.rights"},
		{"POST", "/v1/servers", object{"protocol": "ftp", "users": object{"lab": object{"folder": "x"}}}, 400, "users.lab.folder"},
		{"POST", "/v1/servers", object{"protocol": "ftp", "files": object{"": "x"}}, 400, "files."},
		{"POST", "/v1/servers", object{"protocol": "ftp", "files": object{"a": 5}}, 400, "files"},
		{"POST", "/v1/servers", object{"protocol": "ftp", "files": object{"a": "x", "a/b": "y"}}, 400, "files.a/b"},
		{"POST", "/v1/servers", object{"protocol": "ftp", "idleTimeout": "soon"}, 400, "idleTimeout"},
		{"POST", "/v1/servers", object{"protocol": "ftp", "store": "disk"}, 400, "store"},
		{"POST", "/v1/servers", object{"protocol": "ftp", "store": "tape"}, 400, "store"},
		{"POST", "/v1/servers", object{"protocol": "ftp", "maxConns": -1}, 400, "maxConns"},
		{"POST", "/v1/servers", object{"protocol": "ftp", "maxUpload": -1}, 400, "maxUpload"},
		{"POST", "/v1/servers", object{"protocol": "ftp", "faults": []object{rules(object{"fault": "Truncate", "n": 1}), rules(object{"fault": "X"})}}, 400, "faults.1.faults"},
		{"POST", at + "/faults", rules(object{"fault": "Truncate", "n": -1}), 400, "faults"},
		{"POST", at + "/faults", rules(object{"fault": "Drip", "n": 1, "d": "x"}), 400, "faults"},
		{"POST", at + "/faults", rules(object{"fault": "NoDot"}), 400, "faults"},
		{"POST", at + "/faults", object{"stage": "RETR"}, 400, "faults"},
		{"POST", at + "/faults", object{"faults": []object{{"fault": "Silence"}}}, 400, "stage"},
		{"POST", at + "/faults", object{"stage": "RETR", "n": -1, "faults": []object{{"fault": "Silence"}}}, 400, "n"},
		{"POST", at + "/faults", "text", 400, ""},
		{"GET", at + "/transcript?since=x", nil, 400, "since"},
		{"GET", at + "/files/none", nil, 404, "name"},
		{"GET", at + "/files/", nil, 404, "name"},
		{"GET", at + "/files/a?user=none", nil, 404, "user"},
		{"GET", at + "/uploads?user=none", nil, 404, "user"},
		{"DELETE", at + "/files/none", nil, 404, "name"},
		{"PUT", at + "/files/", []byte("x"), 400, "name"},
		{"PUT", at + "/files/a%00b", []byte("x"), 400, "name"},
		{"PUT", at + "/files/a?modified=now", []byte("x"), 400, "modified"},
		{"PUT", at + "/tree", []byte("this is no archive, not at all, however long it is"), 400, ""},
		{"PUT", at + "/tree", link, 400, "l"},
		{"PUT", at + "/tree", hard, 400, "h"},
		{"PUT", at + "/tree", device, 400, "d"},
		{"PUT", at + "/public", object{"host": "a b"}, 400, "host"},
		{"PUT", at + "/public", object{"host": "x\r\n226 y"}, 400, "host"},
		{"PUT", at + "/public", object{"ports": object{"x": 1}}, 400, "ports.x"},
		{"PUT", at + "/public", object{"ports": object{"21": 0}}, 400, "ports.21"},
		{"PUT", at + "/public", object{"ports": object{"21": 65536}}, 400, "ports"},
		{"POST", at + "/wait?timeout=1h", nil, 400, "timeout"},
		{"GET", at + "/articles", nil, 404, ""},
		{"GET", at + "/mails", nil, 404, ""},
		{"GET", "/v1/servers/ftp-99", nil, 404, ""},
		{"PATCH", "/v1/servers", nil, 405, ""},
		{"GET", "/v1/servers/" + s.ID + "/reset", nil, 405, ""},
		{"GET", "/", nil, 404, ""},
	} {
		status, got := c.send(tc.method, tc.path, tc.body)
		var p struct {
			Title, Detail, Field string
			Status               int
		}
		if err := json.Unmarshal(got, &p); err != nil || status != tc.status || p.Status != status || p.Title == "" || p.Detail == "" || p.Field != tc.field {
			t.Errorf("%s %s %v: %d %s, want %d and field %q", tc.method, tc.path, tc.body, status, got, tc.status, tc.field)
		}
	}
	if status, got := c.send("POST", "/v1/servers", []byte(`{"protocol":"ftp"} {}`), "Content-Type", "application/json"); status != 400 {
		t.Errorf("two documents: %d %s", status, got)
	}
	var list struct{ Servers []info }
	if c.do("GET", "/v1/servers", nil, &list); len(list.Servers) != 1 {
		t.Errorf("%d servers were started by mistakes", len(list.Servers)-1)
	}
}

func archiveOf(t *testing.T, h tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := w.WriteHeader(&h); err != nil {
		t.Fatal(err)
	}
	w.Close()
	return b.Bytes()
}

// There is a limit to the servers, and to the bytes of a document.
func TestLimits(t *testing.T) {
	c := start(t, control.Config{})
	for range 1000 {
		c.create(object{"protocol": "smtp"})
	}
	if status, got := c.send("POST", "/v1/servers", object{"protocol": "ftp"}); status != http.StatusTooManyRequests {
		t.Errorf("%d %s", status, got)
	}
	c.do("DELETE", "/v1/servers", nil, nil)
	s := c.create(object{"protocol": "ftp"})
	for path, body := range map[string][]byte{"/faults": make([]byte, 64<<20+1), "/files/a": make([]byte, 256<<20+1)} {
		method := map[bool]string{true: "POST", false: "PUT"}[path == "/faults"]
		if status, got := c.send(method, "/v1/servers/"+s.ID+path, body, "Content-Type", "application/json"); status != http.StatusRequestEntityTooLarge {
			t.Errorf("%s: %d %s", path, status, got)
		}
	}
}

// The description has the routes of the API, and no others.
func TestRoutes(t *testing.T) {
	c := start(t, control.Config{})
	_, text := c.send("GET", "/v1/openapi.yaml", nil)
	var described []string
	path := ""
	for line := range strings.Lines(string(text)) {
		if m := regexp.MustCompile(`^  (/v1\S*):`).FindStringSubmatch(line); m != nil {
			path = m[1]
		}
		if m := regexp.MustCompile(`^    (get|put|post|delete):`).FindStringSubmatch(line); m != nil && path != "" {
			described = append(described, strings.ToUpper(m[1])+" "+path)
		}
		if strings.HasPrefix(line, "components:") {
			break
		}
	}
	slices.Sort(described)
	if routes := control.Routes(c.api); !slices.Equal(routes, described) {
		t.Errorf("routes\n%s\nopenapi.yaml\n%s", strings.Join(routes, "\n"), strings.Join(described, "\n"))
	}
}

// FuzzCreate sends bodies to the route that does most. None is an error of the server, and what is
// started is ended.
func FuzzCreate(f *testing.F) {
	for _, body := range []string{
		`{"protocol":"ftp"}`, `{"protocol":"gopher","files":{"a":"b","c":{"octets":"/w=="}}}`, `{"protocol":"ftp","users":{"x":{"files":{}}}}`,
		`{"protocol":"nntp","settings":{"groups":{"a":["x"]}},"faults":[{"stage":"GROUP","faults":[{"fault":"Reply","text":"x"}]}]}`,
		`{"protocol":"ftp","settings":{"passivePorts":[1,2],"onePort":true,"dataPorts":3}}`, `{"protocol":"wais","settings":{"databases":[{"name":"x"}]}}`,
	} {
		f.Add([]byte(body))
	}
	api := control.New(control.Config{})
	f.Cleanup(func() { _ = api.Close() })
	f.Fuzz(func(t *testing.T, body []byte) {
		if regexp.MustCompile(`(?i)"port"`).Match(body) {
			t.Skip("a port may be taken")
		}
		r := httptest.NewRequest("POST", "http://127.0.0.1/v1/servers", bytes.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+api.Token())
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		api.ServeHTTP(w, r)
		if w.Code >= 500 || !json.Valid(w.Body.Bytes()) {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		r = httptest.NewRequest("DELETE", "http://127.0.0.1/v1/servers", nil)
		r.Header.Set("Authorization", "Bearer "+api.Token())
		if w := httptest.NewRecorder(); true {
			if api.ServeHTTP(w, r); w.Code != http.StatusNoContent {
				t.Fatal(fmt.Sprint(w.Code))
			}
		}
	})
}
