package archive_test

import (
	"strings"
	"testing"
	"testing/fstest"

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
}
