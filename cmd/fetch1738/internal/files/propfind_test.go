package files

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// multistatus returns the reply to PROPFIND that has hrefs; those that end in a slash are directories.
func multistatusOf(hrefs ...string) string {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0"?><d:multistatus xmlns:d="DAV:">`)
	for _, href := range hrefs {
		kind := "<d:getcontentlength>7</d:getcontentlength>"
		if strings.HasSuffix(href, "/") {
			kind = "<d:resourcetype><d:collection/></d:resourcetype>"
		}
		fmt.Fprintf(&b, "<d:response><d:href>%s</d:href><d:propstat><d:prop>%s</d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>", href, kind)
	}
	return b.String() + "</d:multistatus>"
}

// ls, du and stat use PROPFIND. What a listing must not have is an error, beside the names that it may.
func TestListWeb(t *testing.T) {
	replies := map[string]string{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		reply, ok := replies[req.URL.EscapedPath()]
		switch {
		case req.Method != "PROPFIND":
			w.WriteHeader(http.StatusMethodNotAllowed)
		case !ok:
			w.WriteHeader(http.StatusNotFound)
		case req.Header.Get("Depth") == "1":
			w.WriteHeader(http.StatusMultiStatus)
			_, _ = w.Write([]byte(reply))
		case req.Header.Get("Depth") == "0":
			w.WriteHeader(http.StatusMultiStatus)
			_, _ = w.Write([]byte(multistatusOf(req.URL.EscapedPath())))
		}
	}))
	defer srv.Close()
	for path, hrefs := range map[string][]string{
		"/dav/":          {"/dav/", "/dav/f", "/dav/a%20b%23/", "/dav/.h"},
		"/dav/a%20b%23/": {srv.URL + "/dav/a%20b%23/", srv.URL + "/dav/a%20b%23/%C3%A4"},
		"/file/":         {"/file"},
		"/elsewhere/":    {"/elsewhere/", "/elsewhere/f", "http://other.example/elsewhere/x"},
		"/above/":        {"/above/", "/above/f", "/x"},
		"/dots/":         {"/dots/", "/dots/f", "/dots/../x"},
		"/encoded/":      {"/encoded/", "/encoded/f", "/encoded/%2e%2e/"},
		"/slash/":        {"/slash/", "/slash/f", "/slash/a%2Fb"},
		"/deep/":         {"/deep/", "/deep/f", "/deep/a/b"},
		"/line/":         {"/line/", "/line/f", "/line/a%0Ab"},
		"/lacksself/":    {"/lacksself/f"},
		"/loop/":         {"/loop/", "/loop/f", "/loop/l/"},
		"/loop/l/":       {"/loop/l/", "/loop/l/f", "/loop/l/l/"},
	} {
		replies[path] = multistatusOf(hrefs...)
	}
	replies["/cut/"] = replies["/dav/"][:200]
	replies["/page/"] = "<html></html>"
	for _, tc := range []struct {
		code int
		args string
		out  string
		says string
	}{
		{0, "ls /dav/", "a b#/\nf\n", ""},
		{0, "ls /dav", "a b#/\nf\n", ""},
		{0, "ls -aR /dav", ".h\na b#/\na b#/ä\nf\n", ""},
		{0, "ls /dav/f", "f\n", ""},
		{0, "du -s /dav", "21\tURL/dav/\n", ""},
		{0, "stat /dav", "URL/dav/\n  kind      directory\n", ""},
		{78, "ls /file/", "", "not a directory, although the URL ends with a slash"},
		{78, "ls /none", "", "no such file or directory"},
		{3, "ls /dav/?x", "", "has a query"},
		{8, "ls /elsewhere/", "f\n", "on another server"},
		{8, "ls /above/", "f\n", "not in the directory"},
		{8, "ls /dots/", "f\n", "which is no name in the directory"},
		{8, "ls /encoded/", "f\n", "which is no name in the directory"},
		{8, "ls /slash/", "f\n", "which is no name in the directory"},
		{8, "ls /deep/", "f\n", "which is no name in the directory"},
		{8, "ls /line/", "f\n", "which is no name in the directory"},
		{8, "ls /lacksself/", "f\n", "does not have the directory itself"},
		{8, "ls /cut/", "", "multistatus"},
		{8, "ls /page/", "", "not a multistatus"},
		{8, "ls -R /loop/", "f\nl/\n", "lists the same as"},
	} {
		args := strings.Fields(tc.args)
		last := len(args) - 1
		args[last] = srv.URL + args[last]
		code, out, complaint := perform(t, args...)
		if code != tc.code || out != strings.ReplaceAll(tc.out, "URL", srv.URL) || !strings.Contains(complaint, tc.says) {
			t.Errorf("%s: exit code %d: %q %s", tc.args, code, out, complaint)
		}
	}
}
