package locator

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

//go:generate go test -run=TestCorpusIsGenerated -update .

var update = flag.Bool("update", false, "write testdata/corpus.txt anew")

const corpusFile = "testdata/corpus.txt"

// corpus returns the URLs of the committed corpus.
func corpus(tb testing.TB) []string {
	tb.Helper()
	b, err := os.ReadFile(corpusFile)
	if err != nil {
		tb.Fatal(err)
	}
	urls := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
	if len(urls) < 1000 {
		tb.Fatalf("%d URLs in the corpus, want 1000 at least", len(urls))
	}
	return urls
}

// TestCorpusIsGenerated compares the corpus with the output of its generator.
func TestCorpusIsGenerated(t *testing.T) {
	g := corpusGenerator{rand.New(rand.NewPCG(17, 38))}
	want := strings.Join(g.urls(1200), "\n") + "\n"
	if *update {
		if err := os.WriteFile(corpusFile, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(corpusFile)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s differs from the output of its generator; run go generate", corpusFile)
	}
}

// TestCorpusIsStrict checks that every URL of the corpus is strict, and that all schemes occur.
func TestCorpusIsStrict(t *testing.T) {
	schemes := map[string]int{}
	for _, s := range corpus(t) {
		ref, err := Parser{}.Parse(s)
		if err != nil {
			t.Error(err)
			continue
		}
		schemes[fmt.Sprintf("%T", ref.Locator)]++
	}
	if len(schemes) != 11 {
		t.Errorf("%d kinds of Locators, want 11: %v", len(schemes), schemes)
	}
}

// corpusGenerator generates URLs like those in documents, menus and mail from the time of RFC 1738 and
// later.
type corpusGenerator struct{ *rand.Rand }

// urls generates n URLs with the weights of a mixed collection, most of them http.
func (g corpusGenerator) urls(n int) []string {
	kinds := []struct {
		weight int
		make   func() string
	}{
		{34, g.http}, {4, g.https}, {22, g.ftp}, {14, g.gopher}, {5, g.mailto}, {5, g.news},
		{3, g.nntp}, {3, g.telnet}, {3, g.wais}, {4, g.file}, {2, g.prospero}, {1, g.other},
	}
	var deck []func() string
	for _, k := range kinds {
		for range k.weight {
			deck = append(deck, k.make)
		}
	}
	urls := make([]string, n)
	for i := range urls {
		urls[i] = deck[i%len(deck)]()
	}
	g.Shuffle(n, func(i, j int) { urls[i], urls[j] = urls[j], urls[i] })
	return urls
}

func (g corpusGenerator) http() string  { return "http://" + g.hostport(80, 8080, 8000) + g.webPath() }
func (g corpusGenerator) https() string { return "https://" + g.hostport(443, 8443) + g.webPath() }

func (g corpusGenerator) webPath() string {
	path := g.some(9, "/"+g.dirs(0, 4, "/")+g.some(7, g.file_()))
	if path == "" {
		return ""
	}
	return path + g.some(3, "?"+g.query())
}

func (g corpusGenerator) query() string {
	if g.chance(2) {
		return g.words(1, 4, "+")
	}
	pairs := make([]string, 1+g.IntN(4))
	for i := range pairs {
		pairs[i] = g.word() + "=" + g.pick(g.word(), g.words(2, 3, "+"), fmt.Sprint(g.IntN(100000)), "caf%E9", "a%2Fb", "%C3%BC")
	}
	return strings.Join(pairs, "&")
}

func (g corpusGenerator) ftp() string {
	login := ""
	if g.chance(2) {
		login = g.word() + g.some(5, ":"+g.pick("secret", "p%40ss", "", g.word())) + "@"
	}
	path := g.some(9, "/"+g.some(1, "%2F")+g.dirs(0, 6, "/")+g.some(8, g.file_())+g.some(2, ";type="+g.pick("a", "i", "d", "I")))
	return "ftp://" + login + g.hostport(21, 2121) + path
}

func (g corpusGenerator) gopher() string {
	u := "gopher://" + g.hostport(70, 7070)
	switch g.IntN(8) {
	case 0:
		return u + g.pick("", "/", "/1")
	case 1:
		return u + "/77/" + g.word() + "/search%09" + g.words(1, 4, "%20")
	case 2:
		return u + "/00/" + g.dirs(1, 3, "/") + g.file_() + "%09%09" + g.pick("+", "!", "$", "+text/plain%20En_US", "!+ABSTRACT%20+SMELL")
	case 3:
		return u + "/1m/" + g.dirs(1, 2, "/") + g.words(2, 5, "%20")
	}
	t := g.pick("0", "1", "9", "I", "g", "h")
	return u + "/" + t + g.some(6, t) + "/" + g.dirs(0, 4, "/") + g.file_()
}

func (g corpusGenerator) mailto() string {
	return "mailto:" + g.word() + g.pick("", "."+g.word(), "%25"+g.word()) + "@" + g.host()
}

func (g corpusGenerator) news() string {
	if g.chance(5) {
		return fmt.Sprintf("news:%d%s.%x@%s", g.IntN(1e6), g.pick("", "$", "/"), g.Uint32(), g.host())
	}
	return "news:" + g.pick("*", g.group(), g.group(), g.group())
}

func (g corpusGenerator) nntp() string {
	return "nntp://" + g.hostport(119) + "/" + g.group() + g.some(8, fmt.Sprint("/", 1+g.IntN(1e6)))
}

func (g corpusGenerator) telnet() string {
	return "telnet://" + g.some(4, g.word()+g.some(5, ":"+g.word())+"@") + g.hostport(23, 3000, 6023) + g.some(7, "/")
}

func (g corpusGenerator) wais() string {
	u := "wais://" + g.hostport(210, 8001) + "/" + g.words(1, 3, "-")
	return u + g.pick("", "?"+g.words(1, 3, "+"), "/TEXT/1%3D"+g.word()+"%3B2%3D%2F"+g.word()+"%3B3%3D0%20"+fmt.Sprint(g.IntN(10000))+"%3B")
}

func (g corpusGenerator) file() string {
	return "file://" + g.pick("", "", "localhost", g.host()) + "/" + g.dirs(1, 6, "/") + g.some(9, g.file_())
}

func (g corpusGenerator) prospero() string {
	return "prospero://" + g.hostport(1525) + "/" + g.some(6, "/") + g.dirs(0, 3, "/") + g.word() +
		g.some(3, ";OBJECT-VERSION="+fmt.Sprint(g.IntN(20)))
}

func (g corpusGenerator) other() string {
	return g.pick("mid:"+g.word()+"@"+g.host(), "x-"+g.word()+":"+g.words(1, 3, "/"), "tn3270://"+g.host()+"/",
		"nfs://"+g.host()+"/"+g.dirs(1, 3, "/")+g.word(), "cid:part1."+g.word()+"@"+g.host())
}

func (g corpusGenerator) host() string {
	if g.IntN(20) == 0 {
		return fmt.Sprintf("%d.%d.%d.%d", 1+g.IntN(223), g.IntN(256), g.IntN(256), 1+g.IntN(254))
	}
	return g.some(8, g.pick("www", "ftp", "gopher", "info", "mail", "archive", "cs", "ds")+".") +
		g.some(3, g.word()+".") + g.word() + "." + g.pick("edu", "com", "org", "net", "gov", "ch", "de", "ac.uk", "co.jp")
}

func (g corpusGenerator) hostport(ports ...int) string {
	return g.host() + g.some(2, fmt.Sprint(":", ports[g.IntN(len(ports))]))
}

// dirs generates least to most directory names, each followed by sep.
func (g corpusGenerator) dirs(least, most int, sep string) string {
	var b strings.Builder
	for range least + g.IntN(most-least+1) {
		b.WriteString(g.word() + g.some(1, "%20"+g.word()) + sep)
	}
	return b.String()
}

func (g corpusGenerator) file_() string {
	return g.word() + g.some(2, "-"+g.word()) + g.pick(".html", ".txt", ".tar.gz", ".zip", ".gif", ".ps", "", "-1.2.tar.Z", "%2Etxt", "(1).txt")
}

func (g corpusGenerator) group() string {
	return g.pick("comp", "rec", "sci", "alt", "de", "news") + "." + g.words(1, 3, ".")
}

func (g corpusGenerator) words(least, most int, sep string) string {
	w := make([]string, least+g.IntN(most-least+1))
	for i := range w {
		w[i] = g.word()
	}
	return strings.Join(w, sep)
}

func (g corpusGenerator) word() string {
	return g.pick("archive", "pub", "docs", "rfc", "index", "internet", "software", "gnu", "linux", "readme", "cern", "uunet",
		"weather", "library", "catalog", "minnesota", "physics", "images", "info", "users", "mirror", "sources", "music", "maps",
		"Projects", "README", "INDEX", "x11", "tex", "dist", "newsletter", "faq", "cgi-bin", "search", "bin", "etc", "lab")
}

func (g corpusGenerator) pick(choices ...string) string { return choices[g.IntN(len(choices))] }

// chance returns true with a probability of tenths/10.
func (g corpusGenerator) chance(tenths int) bool { return g.IntN(10) < tenths }

// some returns s with a probability of tenths/10, else "".
func (g corpusGenerator) some(tenths int, s string) string {
	if g.chance(tenths) {
		return s
	}
	return ""
}
