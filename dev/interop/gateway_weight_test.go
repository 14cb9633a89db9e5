package interop

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/fetch1738/fetch1738/testserver/nntptest"
)

// TestGatewayWeight tests the weight of the largest pages: a folder, and the articles of a newsgroup as
// a list and as threads. Texts and articles are as large as they are.
func TestGatewayWeight(t *testing.T) {
	t.Parallel()
	gw := newWorld(t).gateway(t)
	checkWeight(t, gw, "/ftp/ftp.example.org/many/", fetched(t, gw+"/ftp/ftp.example.org/many/"))
	articles := make([]string, 1000)
	for i := range articles {
		references := ""
		if i%4 > 0 {
			references = fmt.Sprintf("References: <%x.keeper@news%d.example.org>\r\n", (i-i%4)*7919, (i-i%4)%7)
		}
		articles[i] = fmt.Sprintf("From: Keeper %d <keeper%d@light%d.example.org>\r\nNewsgroups: comp.large\r\nSubject: The lamp, its oil and its wick: question %d\r\n"+
			"Date: Fri, 4 Mar 1994 %02d:%02d:00 GMT\r\nMessage-ID: <%x.keeper@news%d.example.org>\r\n%s\r\nText\r\n",
			i%83, i%83, i%19, i-i%4, i/60%24, i%60, i*7919, i%7, references)
	}
	w := &world{}
	nntptest.New(t, func(s *nntptest.Server) {
		s.Network, s.ReadOnly, s.Groups = &w.net, true, map[string][]string{"comp.large": articles}
	})
	gw = w.gateway(t)
	for _, query := range []string{"", "?threads"} {
		path := "/nntp/news.example.org/comp.large" + query
		checkWeight(t, gw, path, fetched(t, gw+path))
	}
}

// checkWeight checks that a page and what it loads, without pictures, is not too large for a slow line.
func checkWeight(t *testing.T, gw, path, html string) {
	t.Helper()
	const limit = 100_000
	var sent bytes.Buffer
	for _, part := range []string{html, fetched(t, gw+"/style.css"), fetched(t, gw+"/script.js")} {
		w := gzip.NewWriter(&sent)
		io.WriteString(w, part)
		w.Close()
	}
	t.Logf("%s is %d bytes, gzipped", path, sent.Len())
	if sent.Len() > limit {
		t.Errorf("%s is %d bytes, gzipped, more than %d", path, sent.Len(), limit)
	}
}

// fetched returns what a GET of a page returns, whatever its status.
func fetched(t *testing.T, url string) string {
	t.Helper()
	res, err := http.DefaultClient.Do(htmlRequest(t, url))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}
