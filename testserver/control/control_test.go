package control_test

import (
	"archive/tar"
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/testserver/control"
	"github.com/fetch1738/fetch1738/testserver/internal/testclient"
)

// client is a client of the control API.
type client struct {
	t    *testing.T
	base string
	api  *control.API
}

// info is a server as the API returns it.
type info struct {
	ID, Protocol, Personality, URL, Host, CA string
	Port                                     int
	DataPorts                                []int
}

func start(t *testing.T, c control.Config) *client {
	t.Helper()
	api := control.New(c)
	srv := httptest.NewServer(api)
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		srv.Close()
		_ = api.Close()
	})
	return &client{t, srv.URL, api}
}

// send sends a request and returns the status and the body of the response. A body that is not bytes is
// sent as JSON.
func (c *client) send(method, path string, body any, header ...string) (int, []byte) {
	c.t.Helper()
	data, raw := body.([]byte)
	if !raw && body != nil {
		data, _ = json.Marshal(body)
	}
	r, err := http.NewRequestWithContext(c.t.Context(), method, c.base+path, bytes.NewReader(data))
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+c.api.Token())
	if body != nil && !raw {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		if r.Header.Set(header[i], header[i+1]); header[i] == "Host" {
			r.Host = header[i+1]
		}
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	c.keep(r, data, res, got)
	return res.StatusCode, got
}

// keep appends a request and its response to the file that OPENAPI_EXCHANGES names, for the tests in
// openapitest, which compare them with openapi.yaml.
func (c *client) keep(r *http.Request, sent []byte, res *http.Response, got []byte) {
	name := os.Getenv("OPENAPI_EXCHANGES")
	if name == "" || len(sent) > 1<<20 {
		return
	}
	line, err := json.Marshal(object{"method": r.Method, "path": r.URL.RequestURI(), "header": r.Header, "sent": sent, "status": res.StatusCode, "type": res.Header.Get("Content-Type"), "got": got})
	if err != nil {
		c.t.Fatal(err)
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		c.t.Fatal(err)
	}
	if _, err := f.Write(append(line, '\n')); err != nil {
		c.t.Fatal(err)
	}
	f.Close()
}

// do sends a request that must succeed, and decodes the response into into unless that is nil.
func (c *client) do(method, path string, body, into any) {
	c.t.Helper()
	status, got := c.send(method, path, body)
	if status/100 != 2 {
		c.t.Fatalf("%s %s: %d %s", method, path, status, got)
	}
	if into != nil {
		if err := json.Unmarshal(got, into); err != nil {
			c.t.Fatalf("%s %s: %v in %s", method, path, err, got)
		}
	}
}

type object = map[string]any

// create starts a server.
func (c *client) create(settings object) info {
	c.t.Helper()
	var s info
	c.do("POST", "/v1/servers", settings, &s)
	return s
}

// transcript returns the texts of the lines of one side.
func (c *client) transcript(s info, from string) (texts []string) {
	c.t.Helper()
	var got struct{ Lines []struct{ From, Text string } }
	c.do("GET", "/v1/servers/"+s.ID+"/transcript", nil, &got)
	for _, l := range got.Lines {
		if l.From == from {
			texts = append(texts, l.Text)
		}
	}
	return texts
}

// dialogue connects to a server, sends lines, and returns what it has sent until it closes.
func dialogue(t *testing.T, addr string, lines ...string) string {
	t.Helper()
	got, _ := testclient.Ask(t, testclient.Host{}, addr, strings.Join(lines, ""))
	return got
}

func (s info) addr() string { return fmt.Sprintf("%s:%d", s.Host, s.Port) }

// Each protocol has a server that answers, whose transcript has the request, and which is gone after
// DELETE.
func TestProtocols(t *testing.T) {
	c := start(t, control.Config{Version: "1.2.3"})
	files := object{"pub/motd.txt": "hello\n", "local/test/1": "Subject: x\n\nhello\n"}
	for protocol, how := range map[string]struct {
		more    object
		request string
		answer  string
	}{
		"ftp":    {nil, "USER anonymous\r\nPASS x\r\nTYPE I\r\nSIZE pub/motd.txt\r\nQUIT\r\n", "213 6"},
		"gopher": {nil, "/pub/motd.txt\r\n", "hello"},
		"http":   {nil, "GET /pub/motd.txt HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "hello"},
		"nntp":   {nil, "GROUP local.test\r\nBODY 1\r\nQUIT\r\n", "hello"},
		"smtp":   {object{"settings": object{"unknown": []string{"bob@x"}}}, "HELO x\r\nMAIL FROM:<a@x>\r\nRCPT TO:<bob@x>\r\nQUIT\r\n", "550"},
		"telnet": {object{"settings": object{"dialogue": []object{{"say": "login: ", "hear": "lab"}, {"command": "//Y=", "say": "bye"}}}}, "lab\r\n", "login: \xff\xf6bye"},
		"cso":    {object{"settings": object{"entries": [][]object{{{"name": "name", "value": "Ann"}}}}}, "query Ann\r\nquit\r\n", "Ann"},
	} {
		settings := object{"protocol": protocol, "files": files}
		for k, v := range how.more {
			settings[k] = v
		}
		s := c.create(settings)
		if got := dialogue(t, s.addr(), how.request); !strings.Contains(got, how.answer) {
			t.Errorf("%s: %q", protocol, got)
		}
		if !strings.HasPrefix(s.URL, protocol) && protocol != "cso" || !strings.Contains(s.URL, s.addr()) {
			t.Errorf("%s has the URL %s", protocol, s.URL)
		}
		if len(c.transcript(s, "client")) == 0 {
			t.Errorf("%s has no transcript", protocol)
		}
		var again info
		if c.do("GET", "/v1/servers/"+s.ID, nil, &again); again.URL != s.URL {
			t.Errorf("%s is at %s, not %s", protocol, again.URL, s.URL)
		}
		open, err := net.Dial("tcp", s.addr())
		if err != nil {
			t.Fatal(err)
		}
		c.do("DELETE", "/v1/servers/"+s.ID, nil, nil)
		_, _ = io.Copy(io.Discard, open) // ends with the server
		open.Close()
		if status, _ := c.send("GET", "/v1/servers/"+s.ID, nil); status != http.StatusNotFound {
			t.Errorf("%s: %d after DELETE", protocol, status)
		}
	}
	for _, protocol := range []string{"wais", "prospero"} {
		c.create(object{"protocol": protocol, "files": files})
	}
	var list struct{ Servers []info }
	if c.do("GET", "/v1/servers", nil, &list); len(list.Servers) != 2 || list.Servers[0].ID != "wais-8" || list.Servers[1].ID != "prospero-9" {
		t.Errorf("%+v", list.Servers)
	}
	c.do("DELETE", "/v1/servers", nil, nil)
	if c.do("GET", "/v1/servers", nil, &list); len(list.Servers) != 0 {
		t.Errorf("%+v", list.Servers)
	}
	var health map[string]string
	if c.do("GET", "/v1/health", nil, &health); health["version"] != "1.2.3" {
		t.Errorf("%v", health)
	}
}

// Users have a password, rights and files of their own.
func TestUsers(t *testing.T) {
	c := start(t, control.Config{})
	s := c.create(object{"protocol": "ftp", "files": object{"a": "of all"}, "settings": object{"anonymous": false}, "users": object{
		"lab":  object{"password": "secret", "files": object{"a": "of lab"}},
		"read": object{"password": "r", "rights": []string{"read", "list"}},
	}})
	login := func(user, password string) *testclient.FTP {
		f := testclient.DialAddr(t, s.addr())
		f.Expect("USER "+user, "331")
		f.Expect("PASS "+password, "")
		return f
	}
	login("anonymous", "x").Expect("PWD", "530")
	lab, reader := login("lab", "secret"), login("read", "r")
	lab.Expect("SIZE a", "213 6")
	if got := lab.Put("STOR b", "new"); !strings.HasPrefix(got, "226") {
		t.Errorf("an upload: %s", got)
	}
	reader.Expect("PASV", "227")
	reader.Expect("STOR b", "550")
	reader.Expect("DELE a", "550")
	for path, want := range map[string]string{"/files/a": "of all", "/files/a?user=lab": "of lab", "/files/b?user=lab": "new"} {
		if status, got := c.send("GET", "/v1/servers/"+s.ID+path, nil); status != 200 || string(got) != want {
			t.Errorf("%s: %d %s", path, status, got)
		}
	}
	var uploads struct{ Uploads []struct{ Name, Path string } }
	if c.do("GET", "/v1/servers/"+s.ID+"/uploads?user=lab", nil, &uploads); len(uploads.Uploads) != 1 || uploads.Uploads[0].Name != "b" {
		t.Errorf("%+v", uploads)
	} else if _, got := c.send("GET", uploads.Uploads[0].Path, nil); string(got) != "new" {
		t.Errorf("%s has %q", uploads.Uploads[0].Path, got)
	}
	if status, _ := c.send("GET", "/v1/servers/"+s.ID+"/files/b", nil); status != http.StatusNotFound {
		t.Error("an upload of a user with files of its own is in those of all")
	}
}

// Reset undoes what clients did, arms the first faults again, and closes connections; what the API
// has put stays, and so does the port.
func TestReset(t *testing.T) {
	c := start(t, control.Config{})
	s := c.create(object{"protocol": "ftp", "files": object{"a": "1", "b": "2"},
		"faults": []object{{"stage": "NOOP", "n": 1, "faults": []object{{"fault": "Reply", "text": "500 first"}}}}})
	at := "/v1/servers/" + s.ID
	for range 2 {
		f := testclient.DialAddr(t, s.addr())
		f.Expect("USER anonymous", "331")
		f.Expect("PASS x", "230")
		f.Expect("NOOP", "500 first")
		f.Expect("NOOP", "200")
		f.Expect("DELE a", "250")
		f.Expect("DELE late", map[bool]string{true: "250", false: "550"}[c.exists(s, "late")])
		for _, name := range []string{"b", "c"} {
			if got := f.Put("STOR "+name, "changed"); !strings.HasPrefix(got, "226") {
				t.Fatal(got)
			}
		}
		c.do("PUT", at+"/files/late", []byte("put"), nil)
		c.do("POST", at+"/faults", object{"stage": "NOOP", "faults": []object{{"fault": "Silence"}}}, nil)
		c.do("POST", at+"/reset", nil, nil)
		if got := f.Reply(); !strings.Contains(got, "!") {
			t.Errorf("the connection is still there: %q", got)
		}
		for name, want := range map[string]string{"a": "1", "b": "2", "c": "", "late": "put"} {
			status, got := c.send("GET", at+"/files/"+name, nil)
			if want == "" && status != http.StatusNotFound || want != "" && string(got) != want {
				t.Errorf("%s: %d %q", name, status, got)
			}
		}
		if lines := c.transcript(s, "client"); len(lines) > 0 {
			t.Errorf("%q", lines)
		}
	}
	var pending struct{ Pending []string }
	if c.do("GET", at+"/faults", nil, &pending); len(pending.Pending) != 1 || !strings.Contains(pending.Pending[0], "500 first") {
		t.Errorf("%q", pending.Pending)
	}
	c.do("DELETE", at+"/faults", nil, nil)
	if c.do("DELETE", at, nil, &pending); len(pending.Pending) != 0 {
		t.Errorf("%q", pending.Pending)
	}
}

func (c *client) exists(s info, name string) bool {
	status, _ := c.send("GET", "/v1/servers/"+s.ID+"/files/"+name, nil)
	return status == http.StatusOK
}

// Posted articles and mails are listed, and forgotten by a reset.
func TestReceived(t *testing.T) {
	c := start(t, control.Config{})
	news := c.create(object{"protocol": "nntp", "settings": object{"groups": object{"local.test": []string{}}}})
	mail := c.create(object{"protocol": "smtp"})
	for range 2 {
		dialogue(t, news.addr(), "POST\r\n", "Newsgroups: local.test\r\nSubject: s\r\nFrom: a@x\r\n\r\n..dot\xff\r\n.\r\n", "QUIT\r\n")
		dialogue(t, mail.addr(), "HELO x\r\nMAIL FROM:<a@x>\r\nRCPT TO:<b@x>\r\nDATA\r\n", "hello\r\n.\r\n", "QUIT\r\n")
		var articles struct{ Articles []struct{ Octets []byte } }
		if c.do("GET", "/v1/servers/"+news.ID+"/articles", nil, &articles); len(articles.Articles) != 1 || !bytes.Contains(articles.Articles[0].Octets, []byte("\r\n.dot\xff\r\n")) {
			t.Errorf("%q", articles)
		}
		var mails struct {
			Mails []struct {
				From string
				To   []string
				Text string
			}
		}
		if c.do("GET", "/v1/servers/"+mail.ID+"/mails", nil, &mails); len(mails.Mails) != 1 || mails.Mails[0].From != "a@x" || mails.Mails[0].Text != "hello\r\n" {
			t.Errorf("%+v", mails)
		}
		c.do("POST", "/v1/servers/"+news.ID+"/reset", nil, nil)
		c.do("POST", "/v1/servers/"+mail.ID+"/reset", nil, nil)
	}
}

// The lines of a transcript come as events while they happen, and from where a client stopped.
func TestEvents(t *testing.T) {
	c := start(t, control.Config{})
	s := c.create(object{"protocol": "ftp"})
	watch := func(header string) *bufio.Reader {
		r, _ := http.NewRequestWithContext(t.Context(), "GET", c.base+"/v1/servers/"+s.ID+"/transcript", nil)
		r.Header.Set("Authorization", "Bearer "+c.api.Token())
		r.Header.Set("Accept", "text/event-stream")
		if header != "" {
			r.Header.Set("Last-Event-ID", header)
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = res.Body.Close() })
		return bufio.NewReader(res.Body)
	}
	next := func(r *bufio.Reader) string {
		fields, _ := textproto.NewReader(r).ReadMIMEHeader()
		var l struct{ Text string }
		_ = json.Unmarshal([]byte(fields.Get("data")), &l)
		return fields.Get("id") + " " + l.Text
	}
	events := watch("")
	f := testclient.DialAddr(t, s.addr())
	if got := next(events); got != "0 220 testserver ready" {
		t.Errorf("%q", got)
	}
	f.Expect("USER anonymous", "331")
	if got := next(events); got != "1 USER anonymous" {
		t.Errorf("%q", got)
	}
	if got := next(watch("1")); !strings.HasPrefix(got, "2 331") {
		t.Errorf("%q", got)
	}
	next(events)
	c.do("DELETE", "/v1/servers/"+s.ID, nil, nil)
	if rest, err := io.ReadAll(events); err != nil || strings.Contains(string(rest), "data") {
		t.Errorf("%q, %v", rest, err)
	}
}

// TLS with the certificate that the API returns, for names that were told.
func TestTLS(t *testing.T) {
	c := start(t, control.Config{})
	for _, s := range []info{
		c.create(object{"protocol": "http", "tls": "implicit", "hosts": []string{"files.test"}, "files": object{"a": "hello"}}),
		c.create(object{"protocol": "gopher", "tls": "implicit", "hosts": []string{"files.test"}, "files": object{"a.txt": "hello"}}),
	} {
		roots := x509.NewCertPool()
		if !roots.AppendCertsFromPEM([]byte(s.CA)) {
			t.Fatalf("no certificate in %q", s.CA)
		}
		conn, err := tls.Dial("tcp", s.addr(), &tls.Config{RootCAs: roots, ServerName: "files.test"})
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
	}
	for protocol, mode := range map[string]string{"http": "explicit", "prospero": "implicit", "ftp": "both"} {
		if status, got := c.send("POST", "/v1/servers", object{"protocol": protocol, "tls": mode}); status != 400 || !strings.Contains(string(got), `"field":"tls"`) {
			t.Errorf("%s: %d %s", protocol, status, got)
		}
	}
}

// TestFileForms stores files in all forms that JSON has for them, and replies with texts in these forms.
func TestFileForms(t *testing.T) {
	c := start(t, control.Config{})
	s := c.create(object{"protocol": "http", "files": object{
		"lines":  object{"lines": []string{"a", ""}},
		"latin1": object{"latin1": "caf\u00e9"},
		"all":    object{"latin1": "\u00ff", "text": "\u00e9", "lines": []string{"x"}, "octets": "AA=="},
		"size":   object{"size": 70000},
		"repeat": object{"text": "ab", "repeat": 3},
	}})
	for name, want := range map[string]string{"lines": "a\r\n\r\n", "latin1": "caf\xe9", "repeat": "ababab", "all": "x\r\n\u00e9\xff\x00"} {
		if status, got := c.send("GET", "/v1/servers/"+s.ID+"/files/"+name, nil); status != 200 || string(got) != want {
			t.Errorf("%s: %d %q", name, status, got)
		}
	}
	if status, got := c.send("GET", "/v1/servers/"+s.ID+"/files/size", nil); status != 200 || len(got) != 70000 {
		t.Errorf("%d, %d bytes", status, len(got))
	}
	for _, wrong := range []object{{"size": -1}, {"size": 1 << 40}, {"latin1": "\u20ac"}} {
		if status, _ := c.send("POST", "/v1/servers", object{"protocol": "http", "files": object{"a": wrong}}); status != 400 {
			t.Errorf("%v: %d", wrong, status)
		}
	}
	rule := object{"stage": "GET", "n": 1, "faults": []object{{"fault": "Octets", "lines": []string{"HTTP/1.1 200 OK", "Content-Length: 1", ""}, "latin1": "\u00e9"}, {"fault": "Hangup"}}}
	if status, got := c.send("POST", "/v1/servers/"+s.ID+"/faults", rule); status != 204 {
		t.Errorf("%d %s", status, got)
	}
	resp, err := http.Get(s.URL + "/lines")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if got, err := io.ReadAll(resp.Body); string(got) != "\xe9" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

// A tree is stored from an archive, with its times; folders are served from below Root only.
func TestContent(t *testing.T) {
	dir := t.TempDir()
	for name, data := range map[string]string{"site/index.txt": "of the folder", "secret.txt": "secret"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(dir, "secret.txt"), filepath.Join(dir, "site/link.txt")); err != nil {
		t.Skip(err)
	}
	root, err := os.OpenRoot(filepath.Join(dir, "site"))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	c := start(t, control.Config{Root: root})
	s := c.create(object{"protocol": "ftp", "folder": ".", "files": object{"b": object{"octets": "/w==", "modified": "2001-02-03T04:05:06Z"}}})
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	for _, h := range []tar.Header{
		{Typeflag: tar.TypeDir, Name: "pub/"},
		{Typeflag: tar.TypeReg, Name: "pub/a", Size: 3, ModTime: time.Date(1994, 12, 1, 0, 0, 0, 0, time.UTC)},
		{Typeflag: tar.TypeReg, Name: "../../out", Size: 3},
	} {
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(w, "tar"[:h.Size])
	}
	w.Close()
	at := "/v1/servers/" + s.ID
	c.do("PUT", at+"/tree", archive.Bytes(), nil)
	for name, want := range map[string]string{"pub/a": "tar", "out": "tar", "index.txt": "of the folder", "b": "\xff", "link.txt": "", "../secret.txt": ""} {
		if _, got := c.send("GET", at+"/files/"+strings.ReplaceAll(name, "/", "%2F"), nil); string(got) != want && want != "" || want == "" && !strings.Contains(string(got), "there is no file") {
			t.Errorf("%s: %q", name, got)
		}
	}
	f := testclient.DialAddr(t, s.addr())
	f.Expect("USER anonymous", "331")
	f.Expect("PASS x", "230")
	f.Expect("MDTM pub/a", "213 19941201000000")
	f.Expect("MDTM b", "213 20010203040506")
	f.Expect("SIZE link.txt", "451")
	for _, folder := range []string{"..", "../site", "/etc", "index.txt", "none"} {
		if status, got := c.send("POST", "/v1/servers", object{"protocol": "ftp", "folder": folder}); status != 400 || !strings.Contains(string(got), `"field":"folder"`) {
			t.Errorf("%s: %d %s", folder, status, got)
		}
	}
	c.do("DELETE", at+"/files/pub", nil, nil)
	if c.exists(s, "pub/a") {
		t.Error("pub is still there")
	}
}

// Uploads on the disk have their names there, and are gone after a reset.
func TestStore(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	c := start(t, control.Config{Store: root})
	var s struct {
		info
		Store string
	}
	c.do("POST", "/v1/servers", object{"protocol": "ftp", "store": "disk", "files": object{"pub/a": "of the server"}}, &s)
	f := testclient.DialAddr(t, s.addr())
	f.Expect("USER anonymous", "331")
	f.Expect("PASS x", "230")
	at := "/v1/servers/" + s.ID
	for range 2 {
		read := func(name, want string) {
			t.Helper()
			if got, err := os.ReadFile(filepath.Join(s.Store, name)); string(got) != want || (err == nil) != (want != "") {
				t.Errorf("%s on the disk: %q, %v", name, got, err)
			}
			if status, got := c.send("GET", at+"/files/"+name, nil); want != "" && (status != 200 || string(got) != want) {
				t.Errorf("%s: %d %q", name, status, got)
			}
		}
		f.Put("STOR pub/b", "hello")
		f.Put("APPE pub/b", " world")
		f.Put("STOR ../../outside", "inside")
		read("pub/b", "hello world")
		read("outside", "inside")
		f.Expect("MKD new", "257")
		f.Expect("RNFR pub", "350")
		f.Expect("RNTO new/pub", "250")
		read("new/pub/a", "")
		read("new/pub/b", "hello world")
		read("pub/b", "")
		f.Expect("DELE outside", "250")
		read("outside", "")
		var uploads struct{ Uploads []struct{ Name string } }
		if c.do("GET", at+"/uploads", nil, &uploads); len(uploads.Uploads) != 1 || uploads.Uploads[0].Name != "new/pub/b" {
			t.Errorf("%v", uploads)
		}
		c.do("POST", at+"/reset", nil, nil)
		read("new/pub/b", "")
		f = testclient.DialAddr(t, s.addr())
		f.Expect("USER anonymous", "331")
		f.Expect("PASS x", "230")
		f.Expect("SIZE pub/a", "213 13")
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
}

// All faults of all protocols can be armed by name, at a stage where they can act.
func TestFaults(t *testing.T) {
	c := start(t, control.Config{})
	var all struct {
		Protocols map[string]struct {
			Stages []string
			Faults []struct {
				Name            string
				Params, At, Not []string
			}
		}
	}
	c.do("GET", "/v1/protocols", nil, &all)
	if len(all.Protocols) < 9 {
		t.Errorf("%d protocols", len(all.Protocols))
	}
	arguments := object{"n": 7, "d": "10ms", "field": "X-A", "text": "x", "seed": 5}
	for protocol, p := range all.Protocols {
		s := c.create(object{"protocol": protocol})
		for _, f := range p.Faults {
			fault := object{"fault": f.Name}
			for _, param := range f.Params {
				fault[param] = arguments[param]
			}
			switch f.Name {
			case "SendTo":
				fault["text"] = "127.0.0.1:1525"
			case "Status":
				fault["n"] = 404
			case "RedirectTo":
				fault["n"] = 302
			case "Interim":
				fault["n"] = 103
			case "ResetStream", "GoAway":
				fault["text"] = "CANCEL"
			case "Flood":
				fault["text"] = "PING"
			case "Frame":
				fault["field"] = "DATA"
			case "Setting":
				fault["field"] = "INITIAL_WINDOW_SIZE"
			case "Announce":
				fault["text"] = "0000000000"
			}
			stages := f.At
			if stages == nil {
				stages = slices.DeleteFunc(slices.Clone(p.Stages), func(stage string) bool { return slices.Contains(f.Not, stage) })
			}
			stage := strings.ReplaceAll(stages[len(stages)-1], "*", "ANY")
			faults := []object{fault}
			switch f.Name {
			case "After", "Until":
				fault["text"] = stage
				fallthrough
			case "Connection", "From", "Matching": // conditions need a fault
				faults = append(faults, object{"fault": "Close"})
			}
			if status, got := c.send("POST", "/v1/servers/"+s.ID+"/faults", object{"stage": stage, "n": 1, "faults": faults}); status != http.StatusNoContent {
				t.Errorf("%s %s at %s: %d %s", protocol, f.Name, stage, status, got)
			}
		}
	}
}

// Clients are told the ports of a mapping.
func TestPublic(t *testing.T) {
	c := start(t, control.Config{})
	s := c.create(object{"protocol": "ftp", "settings": object{"dataPorts": 2}})
	if len(s.DataPorts) != 2 {
		t.Fatalf("%+v", s)
	}
	body := object{"host": "10.0.0.5", "ports": object{fmt.Sprint(s.Port): 49153, fmt.Sprint(s.DataPorts[0]): 258, fmt.Sprint(s.DataPorts[1]): 258}}
	var now info
	if c.do("PUT", "/v1/servers/"+s.ID+"/public", body, &now); now.URL != "ftp://10.0.0.5:49153" {
		t.Errorf("%s", now.URL)
	}
	f := testclient.DialAddr(t, s.addr())
	f.Expect("USER anonymous", "331")
	f.Expect("PASS x", "230")
	f.Expect("PASV", "227 Entering Passive Mode (10,0,0,5,1,2).")
	g := c.create(object{"protocol": "gopher", "files": object{"a.txt": "x"}})
	c.do("PUT", "/v1/servers/"+g.ID+"/public", object{"host": "files.test", "ports": object{fmt.Sprint(g.Port): 7071}}, nil)
	if got := dialogue(t, g.addr(), "\r\n"); !strings.Contains(got, "\tfiles.test\t7071\r\n") {
		t.Errorf("%q", got)
	}
}

// Settings that are choices have the names of their constants in Go.
func TestChoices(t *testing.T) {
	c := start(t, control.Config{})
	for protocol, settings := range map[string][]object{
		"ftp":    {{"ahead": "AheadKept"}, {"ahead": "AheadLost"}, {"ahead": "AheadOutOfTurn"}, {"ahead": "AheadCloses"}, {"sizeInASCII": "SizeConverted"}, {"sizeInASCII": "SizeRefused"}, {"passive": "PassiveUnaccepted"}, {"passive": "PassiveRefused"}},
		"gopher": {{"dialect": "UMNGopher"}, {"dialect": "DeafGopher"}},
	} {
		for _, one := range settings {
			c.create(object{"protocol": protocol, "settings": one})
			for name := range one {
				if status, got := c.send("POST", "/v1/servers", object{"protocol": protocol, "settings": object{name: "None"}}); status != 400 || !strings.Contains(string(got), "is not one of") || !strings.Contains(string(got), "settings."+name) {
					t.Errorf("%d %s", status, got)
				}
			}
		}
	}
	s := c.create(object{"protocol": "ftp", "files": object{"a": "x\ny"}, "settings": object{"sizeInASCII": "SizeRaw"}})
	f := testclient.DialAddr(t, s.addr())
	f.Expect("USER anonymous", "331")
	f.Expect("PASS x", "230")
	f.Expect("SIZE a", "213 3")
	if status, got := c.send("POST", "/v1/servers", object{"protocol": "gopher", "settings": object{"search": "x"}}); status != 400 {
		t.Errorf("a function: %d %s", status, got)
	}
}

// wait returns when the clients have gone, and not before.
func TestWait(t *testing.T) {
	c := start(t, control.Config{})
	s := c.create(object{"protocol": "ftp"})
	f := testclient.DialAddr(t, s.addr())
	if status, _ := c.send("POST", "/v1/servers/"+s.ID+"/wait?timeout=20ms", nil); status != http.StatusConflict {
		t.Errorf("%d while a client is there", status)
	}
	f.Close()
	c.do("POST", "/v1/servers/"+s.ID+"/wait", nil, nil)
}

var update = flag.Bool("update", false, "write the faults into docs/serve.md")

// docs/serve.md lists the faults that the protocols have.
func TestPageListsFaults(t *testing.T) {
	c := start(t, control.Config{})
	var all struct {
		Protocols map[string]struct {
			Faults []struct {
				Name   string
				Params []string
			}
		}
	}
	c.do("GET", "/v1/protocols", nil, &all)
	type row struct{ params, protocols []string }
	rows := make(map[string]row)
	for _, protocol := range slices.Sorted(maps.Keys(all.Protocols)) {
		for _, f := range all.Protocols[protocol].Faults {
			rows[f.Name] = row{f.Params, append(rows[f.Name].protocols, protocol)}
		}
	}
	table := "| fault | arguments | protocols |\n| --- | --- | --- |\n"
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		r := rows[name]
		protocols := strings.Join(r.protocols, ", ")
		if len(r.protocols) == len(all.Protocols) {
			protocols = "all"
		} else if len(r.protocols) == len(all.Protocols)-1 && !slices.Contains(r.protocols, "prospero") {
			protocols = "all but prospero"
		}
		table += fmt.Sprintf("| %s | %s | %s |\n", name, strings.Join(r.params, ", "), protocols)
	}
	const page, begin, end = "../../docs/serve.md", "<!-- faults: TestPageListsFaults -update writes this table -->\n\n", "\n<!-- end of faults -->"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	now, after, ok2 := strings.Cut(rest, end)
	switch {
	case !ok || !ok2:
		t.Fatal("docs/serve.md has no place for the table")
	case now == table:
	case *update:
		if err := os.WriteFile(page, []byte(before+begin+table+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("docs/serve.md has another table (-update writes it):\n%s", table)
	}
}
