package main

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/verbtest"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// No output shows a password, however its URL is spelt.
func TestPasswordsInNoOutput(t *testing.T) {
	srv, err := ftptest.Start(t.Context(), "", func(s *ftptest.Server) { s.Content = fstest.MapFS{"a": {Data: []byte("x")}} })
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	t.Setenv("HOME", t.TempDir())
	t.Chdir(t.TempDir())
	var spellings []string
	for _, start := range []string{"ftp://", "ftp:/", "ftp:", "FTP://", "ftps://", "ftps:", "http://", "http:", "https:/", "telnet:", "telnet://", "gopher://", "nntp:", "x-foo:", "x-foo://", "", "<ftp:", "URL:ftp:"} {
		for _, login := range []string{"u:SECRET@", "u:SEC%52ET@", "u:SECRET:@", "u:SECRET?x@", "u:SECRET#x@", "u:{SECRET}@", "u:SECRET[@", "u:SECRET|\xff@", ":SECRET@", "u_x:SECRET@", "u:SECRET/@", `u:SECRET\@`, "u:SECRET @"} {
			ends := []string{"127.0.0.1:1/a?b#c", "127.0.0.1:1", "h:x/", ""}
			spellings = append(spellings, start+login+ends[len(spellings)%len(ends)])
			if strings.HasPrefix(strings.ToLower(start), "ftp:") {
				spellings = append(spellings, start+login+srv.Addr+"/a", start+login+srv.Addr)
			}
		}
	}
	const format = "%{url} %{url_effective} %{json} %{referer} %{redirect_url} %{errormsg} %{filename_effective} %{header_json} " +
		"%{url.scheme} %{url.user} %{url.options} %{url.host} %{url.port} %{url.path} %{url.query} %{url.fragment} %{url.zoneid} " +
		"%{urle.scheme} %{urle.user} %{urle.options} %{urle.host} %{urle.port} %{urle.path} %{urle.query} %{urle.fragment} %{urle.zoneid}"
	for i, url := range spellings {
		ways := [][]string{
			{"-w", format, "-e", "http://u:SECRET@h/", url},
			{"-g", "-v", "--json", "-I", "--proto", "ftp,http", url},
			{"-Z", "-w", format, "--proto-default", "ftp", "--trace-ascii", "-", "-O", url},
			{"explain", "--json", url},
			{"explain", url},
			{"mirror", url, "copy"},
			{"-g", "-sS", "--gateway", "ftp=http://127.0.0.1:1/?{url}", "--gateway", "ftps=http://127.0.0.1:1", "--gateway", "x-foo=http://127.0.0.1:1", "-w", format, url},
		}
		args := ways[i%len(ways)]
		var shown verbtest.Buffer
		run(t.Context(), args, stdio.Streams{In: strings.NewReader(""), Out: &shown, Err: &shown})
		if got := shown.String(); strings.Contains(got, "SECRET") || strings.Contains(got, "SEC%52ET") {
			t.Errorf("%q shows the password:\n%s", args, got)
		}
	}
}
