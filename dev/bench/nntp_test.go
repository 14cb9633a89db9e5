package bench

import (
	"bufio"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/dev/interop/inn"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/nntp"
	"github.com/fetch1738/fetch1738/internal/wire"
	"github.com/fetch1738/fetch1738/locator"
)

// newsArticles is the number of articles fetched, about 2 KB each.
const newsArticles = 5000

var newsBody = strings.Repeat("0123456789 0123456789 0123456789 0123456789 0123456789 bench line\r\n", 25)

// BenchmarkNews fetches many articles from INN, in an mbox and one by one. It compares that with
// the minimum: all the commands sent at once, and lines read up to the last dot. each/least and
// mbox/least are ratios of time, in the clear and under TLS. The bar is 1.05.
//
//	go test -bench News -benchtime 7x ./dev/bench
func BenchmarkNews(b *testing.B) {
	b.Run("clear", func(b *testing.B) { benchmarkNews(b, nil) })
	b.Run("TLS", func(b *testing.B) {
		cert, key, trust := identity(b)
		benchmarkNews(b, trust, cert, key)
	})
}

// benchmarkNews runs the benchmark, under TLS if trust is not nil.
func benchmarkNews(b *testing.B, trust *tls.Config, identity ...[]byte) {
	identity = append(identity, nil, nil)
	srv := inn.Start(b, identity[0], identity[1])
	articles := make(map[string][]byte, newsArticles)
	for i := range newsArticles {
		id := fmt.Sprintf("<b%d@bench.example>", i)
		articles[id] = fmt.Appendf(nil, "Path: bench.example!not-for-mail\r\nFrom: Bench <b@bench.example>\r\nNewsgroups: local.bench\r\nSubject: number %d\r\nDate: %s\r\nMessage-ID: %s\r\n\r\n%s",
			i, time.Now().UTC().Format(time.RFC1123Z), id, newsBody)
	}
	srv.Feed(b, articles)
	timed := func(fetchAll func(b *testing.B, addr string, trust *tls.Config) int64) float64 {
		start := time.Now()
		octets := fetchAll(b, srv.Addr, trust)
		if least := int64(newsArticles * len(newsBody)); octets < least {
			b.Fatalf("%d bytes, want more than %d", octets, least)
		}
		return time.Since(start).Seconds()
	}
	var least, each, mbox []float64
	for b.Loop() {
		l := timed(minimalNews)
		least, each, mbox = append(least, l*1000), append(each, timed(eachArticle)/l), append(mbox, timed(mboxArticles)/l)
	}
	b.ReportMetric(middle(least), "ms/least")
	b.ReportMetric(middle(each), "each/least")
	b.ReportMetric(middle(mbox), "mbox/least")
}

func middle(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}

// minimalNews fetches the articles with a socket and a buffer.
func minimalNews(b *testing.B, addr string, trust *tls.Config) (octets int64) {
	c, err := net.Dial("tcp", addr)
	check(b, err)
	defer func() { c.Close() }()
	lines := bufio.NewReaderSize(c, 64<<10)
	say := func(command, code string) {
		io.WriteString(c, command)
		wire.QuickAck(c)
		if line, err := lines.ReadString('\n'); err != nil || !strings.HasPrefix(line, code) {
			b.Fatalf("%q: %q, %v", command, line, err)
		}
	}
	say("", "2")
	say("MODE READER\r\n", "2")
	if trust != nil {
		say("STARTTLS\r\n", "382")
		c = tls.Client(c, trust)
		lines.Reset(c)
	}
	say("GROUP local.bench\r\n", "2")
	var commands bytes.Buffer
	for i := range newsArticles {
		fmt.Fprintf(&commands, "ARTICLE %d\r\n", i+1)
	}
	go c.Write(commands.Bytes())
	for left := newsArticles; left > 0; {
		line, err := lines.ReadSlice('\n')
		if err != nil {
			b.Fatal(err)
		}
		octets += int64(len(line))
		if string(line) == ".\r\n" {
			left--
		}
	}
	return octets
}

// fetchNews fetches the articles with this module.
func fetchNews(b *testing.B, addr string, trust *tls.Config, read func(*fetch.Resource) int64) int64 {
	f := &nntp.Fetcher{Env: &fetch.Env{TLS: func() (*tls.Config, error) { return trust.Clone(), nil }}}
	defer f.Close()
	ref, err := locator.Parser{}.Parse("nntp://" + addr + "/local.bench")
	if err != nil {
		b.Fatal(err)
	}
	res, err := f.Fetch(b.Context(), &fetch.Request{Locator: ref.Locator, Options: &nntp.Options{Articles: fmt.Sprint("1-", newsArticles), StartTLS: trust != nil}})
	if err != nil {
		b.Fatal(err)
	}
	defer res.Close()
	return read(res)
}

func eachArticle(b *testing.B, addr string, trust *tls.Config) int64 {
	return fetchNews(b, addr, trust, func(res *fetch.Resource) (octets int64) {
		count := 0
		for article, err := range res.Info.(*nntp.Info).Articles {
			if err != nil {
				b.Fatal(err)
			}
			n, err := io.Copy(io.Discard, article.Body)
			if err != nil {
				b.Fatal(err)
			}
			octets += n
			count++
		}
		if count != newsArticles {
			b.Fatalf("%d articles", count)
		}
		return octets
	})
}

func mboxArticles(b *testing.B, addr string, trust *tls.Config) int64 {
	return fetchNews(b, addr, trust, func(res *fetch.Resource) int64 {
		n, err := io.Copy(io.Discard, res.Body)
		if err != nil {
			b.Fatal(err)
		}
		return n + newsArticles*25 // LF in place of CR LF
	})
}

// identity returns a certificate with its key, in PEM, and a Config that trusts it.
func identity(b *testing.B) (cert, key []byte, trust *tls.Config) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(b, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "bench"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(1, 0, 0),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	check(b, err)
	cert = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	der, err = x509.MarshalPKCS8PrivateKey(private)
	check(b, err)
	trust = &tls.Config{RootCAs: x509.NewCertPool(), ServerName: "127.0.0.1"}
	trust.RootCAs.AppendCertsFromPEM(cert)
	return cert, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), trust
}
