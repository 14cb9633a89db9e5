package locator

import (
	"net/url"
	"strings"
	"testing"
	"time"
)

func BenchmarkParse(b *testing.B) {
	urls := corpus(b)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, err := (Parser{}).Parse(urls[i%len(urls)]); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNetURL(b *testing.B) {
	urls := corpus(b)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, err := url.Parse(urls[i%len(urls)]); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRatio reports the time of Parse as a multiple of that of net/url. The two take turns over the
// whole corpus, and the fastest turn of each counts, because other load on the computer only adds
// time. The target of the project is 0.6.
func BenchmarkRatio(b *testing.B) {
	urls := corpus(b)
	ours, theirs := time.Hour, time.Hour
	for b.Loop() {
		start := time.Now()
		for _, s := range urls {
			if _, err := (Parser{}).Parse(s); err != nil {
				b.Fatal(err)
			}
		}
		middle := time.Now()
		for _, s := range urls {
			if _, err := url.Parse(s); err != nil {
				b.Fatal(err)
			}
		}
		end := time.Now()
		ours = min(ours, middle.Sub(start))
		theirs = min(theirs, end.Sub(middle))
	}
	b.ReportMetric(float64(ours)/float64(theirs), "x-net/url")
}

func BenchmarkString(b *testing.B) {
	var ls []Locator
	for _, s := range corpus(b) {
		ref, err := Parser{}.Parse(s)
		if err != nil {
			b.Fatal(err)
		}
		ls = append(ls, ref.Locator)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		_ = ls[i%len(ls)].String()
	}
}

// BenchmarkLength shows that time grows linearly with the length of a text: ns/octet is constant.
func BenchmarkLength(b *testing.B) {
	for _, c := range []struct {
		name string
		n    int
	}{{"1K", 1 << 10}, {"4K", 4 << 10}, {"16K", 16 << 10}, {"64K", 64 << 10}} {
		s := "ftp://h/" + strings.Repeat("%2F/", c.n/4-2)
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := (Parser{}).Parse(s); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(s)), "ns/octet")
		})
	}
}

// BenchmarkExtract shows the same for Extract, with hostile text.
func BenchmarkExtract(b *testing.B) {
	for _, part := range []string{"<", "http:", "mailto:", "ftp://:", "<URL:http:>"} {
		for _, n := range []int{64 << 10, 1 << 20} {
			s := strings.Repeat(part, n/len(part))
			b.Run(part+"/"+map[bool]string{true: "1M", false: "64K"}[n == 1<<20], func(b *testing.B) {
				for b.Loop() {
					for range Extract(s) {
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(s)), "ns/octet")
			})
		}
	}
}

// TestAllocs: no URL of the corpus needs more than 2 allocations: one for the Locator and what it points
// to, and one for its decoded components. The same is true for long URLs of the schemes with lists.
func TestAllocs(t *testing.T) {
	urls := append(corpus(t),
		"ftp://u%40:p%40@h"+strings.Repeat("/%20", 33)+";type=a",
		"ftp://h"+strings.Repeat("/%20", 33),
		"file://h"+strings.Repeat("/%20", 20),
		"prospero://h/%20;a%20=b%20;c=d;e=f;g=h",
		"news:%40@h", "telnet://%40:%40@h:23/",
	)
	sum := 0.0
	for _, s := range urls {
		parse := func() {
			if _, err := (Parser{}).Parse(s); err != nil {
				t.Fatal(err)
			}
		}
		n := testing.AllocsPerRun(5, parse)
		if n > 2 {
			n = testing.AllocsPerRun(1000, parse) // the count includes other goroutines
		}
		if n > 2 {
			t.Errorf("%s: %v allocations, want 2 at most", s, n)
		}
		sum += n
	}
	t.Logf("%.2f allocations a URL", sum/float64(len(urls)))
}
