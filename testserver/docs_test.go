package testserver

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// namedIn returns the words between back quotes, without duplicates and sorted.
func namedIn(text string) []string {
	words := make(map[string]bool)
	for _, m := range regexp.MustCompile("`([A-Za-z]+)`").FindAllStringSubmatch(text, -1) {
		words[m[1]] = true
	}
	return slices.Sorted(maps.Keys(words))
}

// TestDocsListServers compares the servers and faults in docs/testing.md with those that exist.
func TestDocsListServers(t *testing.T) {
	page, err := os.ReadFile("../docs/testing.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := make(map[string][]string)
	for line := range strings.Lines(string(page)) {
		if cells := strings.Split(line, " | "); len(cells) == 3 && strings.HasPrefix(line, "| `New") {
			listed[strings.Trim(cells[0], "|` ")] = namedIn(cells[2])
		}
	}
	memory := func(s *Server) { s.InMemory = true }
	servers := map[string]*Server{
		"NewFTP": &NewFTP(t, func(s *FTP) { memory(&s.Server) }).Server, "NewHTTP": &NewHTTP(t, func(s *HTTP) { memory(&s.Server) }).Server,
		"NewGopher": &NewGopher(t, func(s *Gopher) { memory(&s.Server) }).Server, "NewNNTP": &NewNNTP(t, func(s *NNTP) { memory(&s.Server) }).Server,
		"NewWAIS": &NewWAIS(t, func(s *WAIS) { memory(&s.Server) }).Server, "NewProspero": &NewProspero(t, func(s *Prospero) { memory(&s.Server) }).Server,
		"NewCSO": &NewCSO(t, func(s *CSO) { memory(&s.Server) }).Server, "NewTelnet": &NewTelnet(t, func(s *Telnet) { memory(&s.Server) }).Server,
		"NewSMTP": &NewSMTP(t, func(s *SMTP) { memory(&s.Server) }).Server,
	}
	for name, srv := range servers {
		faults := make(map[string]bool)
		for stage, kinds := range srv.faults.known {
			for _, kind := range kinds {
				faults[string(kind)] = faults[string(kind)] || stage != "CONNECT"
			}
		}
		if name == "NewProspero" {
			faults["PACKET"], faults["INCOMING"] = true, true // the stages, which are quoted too
		} else {
			for _, kind := range ofStreams() {
				delete(faults, string(kind))
			}
		}
		if want := slices.Sorted(maps.Keys(faults)); !slices.Equal(listed[name], want) {
			t.Errorf("%s has the faults %q, but docs/testing.md lists %q", name, want, listed[name])
		}
		delete(listed, name)
	}
	if len(listed) > 0 {
		t.Errorf("docs/testing.md lists servers that do not exist: %v", listed)
	}
	_, common, found := strings.Cut(string(page), "have these faults too:")
	common, _, _ = strings.Cut(common, "\n\n")
	var want []string
	for _, kind := range ofStreams() {
		want = append(want, string(kind))
	}
	if slices.Sort(want); !found || !slices.Equal(namedIn(common), want) {
		t.Errorf("the common faults are %q, but docs/testing.md lists %q", want, namedIn(common))
	}
	constructors := regexp.MustCompile(`(?m)^func (New[A-Z]\w*)\(tb TB`)
	for _, source := range matching(t, "*.go", constructors) {
		if name := constructors.FindStringSubmatch(source)[1]; servers[name] == nil {
			t.Errorf("%s is missing in this test", name)
		}
	}
}

// TestDocsOnConformance checks that each Fetcher has a conformance test, as docs/testing.md says.
func TestDocsOnConformance(t *testing.T) {
	fetchers, err := filepath.Glob("../fetch/*")
	if err != nil || len(fetchers) == 0 {
		t.Fatal(fetchers, err)
	}
	n := 0
	for _, dir := range fetchers {
		if matching(t, dir+"/*.go", regexp.MustCompile(`(?m)^type Fetcher struct`)) == nil {
			continue
		}
		if n++; matching(t, dir+"/*_test.go", regexp.MustCompile(`fetchtest\.Run\(`)) == nil {
			t.Errorf("%s has no test that calls fetchtest.Run", dir)
		}
	}
	if n < 9 {
		t.Errorf("found only %d Fetchers, want at least 9", n)
	}
}

// matching returns the texts of the files that match wanted.
func matching(t *testing.T, pattern string, wanted *regexp.Regexp) (texts []string) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if wanted.Match(text) {
			texts = append(texts, string(text))
		}
	}
	return texts
}
