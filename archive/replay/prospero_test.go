package replay_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/prosperotest"
)

func TestReplayProspero(t *testing.T) {
	files := fstest.MapFS{
		"pub/plain.txt":  {Data: []byte("plain\n")},
		"pub/octets.bin": {Data: []byte("'\x00\xff\r\n''" + strings.Repeat("'octets' ", 5000))},
		"pub/empty":      {Data: nil},
		"pub/by ftp.txt": {Data: []byte("by ftp\n")},
	}
	server := prosperotest.New(t, func(s *prosperotest.Server) {
		s.InMemory, s.Host, s.Port, s.Content, s.Site = true, "pros.example.org", 1525, files, "ftp.example.org"
		s.Methods = func(name string) []prosperotest.Method {
			if strings.Contains(name, "ftp") {
				return []prosperotest.Method{{Name: "AFTP", Host: "ftp.example.org", HSOName: "/" + name, Args: []string{"BINARY"}}}
			}
			return []prosperotest.Method{{Name: "PROSPERO-CONTENTS"}}
		}
		s.Links = map[string][]prosperotest.Link{"pub": {
			{Kind: "U", Target: "DIRECTORY", Name: "union", HSOName: "/more"},
			{Target: "EXTERNAL", Name: "x", Host: "ftp.example.org", HSOName: "/x", Methods: []prosperotest.Method{{Name: "AFTP"}}},
			{Name: "elsewhere", Host: "elsewhere.example.org", HSOName: "/x"},
		}, "more": {{Name: "other", HSOName: "/pub/plain.txt", Version: 3}}}
		s.Forwarded = map[string]prosperotest.Link{"/moved": {HSOName: "/pub", Target: "DIRECTORY"}}
	})
	old := prosperotest.New(t, func(s *prosperotest.Server) {
		s.InMemory, s.Host, s.Port, s.Content, s.OnlyVersion1 = true, "old.example.org", 191, files, true
	})
	ftp := ftptest.New(t, func(s *ftptest.Server) { s.InMemory, s.Content = true, files })
	p := newPast(t, map[string]*testserver.Server{
		"pros.example.org:1525": &server.Server, "old.example.org:191": &old.Server, "ftp.example.org:21": &ftp.Server,
	})
	before := p.record("prospero://pros.example.org//", "prospero://pros.example.org//more", "prospero://pros.example.org//moved",
		"prospero://pros.example.org//pub", "prospero://pros.example.org//pub/plain.txt", "prospero://pros.example.org//pub/octets.bin",
		"prospero://pros.example.org//pub/empty", "prospero://pros.example.org//pub/plain.txt;OBJECT-VERSION=2",
		"prospero://pros.example.org//pub/by%20ftp.txt", "prospero://old.example.org:191//pub",
		"prospero://pros.example.org/ARCHIE/MATCH(95,0,S)/plain")
	p.begin()
	p.same(before)
	for _, url := range []string{"prospero://pros.example.org//pub/other", "prospero://old.example.org:191//"} {
		if _, err := p.again.Get(t.Context(), url); fetch.KindOf(err) != fetch.ErrNotFound {
			t.Errorf("%s: %v", url, err)
		}
	}

	served, err := p.replay.Serve(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	pub := ""
	for _, s := range served {
		if s.Site.Host == "pros.example.org" {
			pub = s.URL + "//pub"
		}
	}
	r := new(fetch1738.Resolver)
	defer r.Close()
	var links []string
	for _, link := range get(t, r, pub).items {
		links = append(links, number.ReplaceAllString(link, ":0"))
	}
	want := []string{
		"by ftp.txt prospero://127.0.0.1:0//pub/by%20ftp.txt", "empty prospero://127.0.0.1:0//pub/empty",
		"octets.bin prospero://127.0.0.1:0//pub/octets.bin", "plain.txt prospero://127.0.0.1:0//pub/plain.txt",
		"other prospero://127.0.0.1:0//pub/plain.txt;OBJECT-VERSION=3", "x ftp://127.0.0.1:0/x", "elsewhere",
	}
	if !slices.Equal(links, want) {
		t.Errorf("the links are %q", links)
	}
	for name, want := range map[string]string{"/plain.txt": "plain\n", "/by%20ftp.txt": "by ftp\n"} {
		if got := get(t, r, pub+name); string(got.body) != want {
			t.Errorf("%s is %q", name, got.body)
		}
	}
}

var number = regexp.MustCompile(`:[0-9]+`)
