package bench

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738"
)

// BenchmarkPieces fetches from servers that write their answers in small pieces and leave Nagle's
// algorithm on. Each piece then waits for the acknowledgement of the one before, which Linux delays
// by 40 ms. The benchmark reports milliseconds per document. Where the protocol keeps connections,
// several documents are fetched over one. The bar is 40.
//
//	go test -run '^$' -bench Pieces ./dev/bench
func BenchmarkPieces(b *testing.B) {
	const documents = 10
	text := make([]string, 8)
	for i := range text {
		text[i] = strings.Repeat("x", 600) + "\r\n"
	}
	http := append([]string{"HTTP/1.1 200 OK\r\n", fmt.Sprintf("Content-Length: %d\r\n\r\n", len(strings.Join(text, "")))}, text...)
	news := append(append([]string{"220 1 <a@b>\r\n", "From: a@b\r\n\r\n"}, text...), ".\r\n")
	menu := append(append([]string{}, text...), ".\r\n")
	for _, server := range []struct {
		name, greeting, url string
		answer              func(command string) []string
	}{
		{"http", "", "http://%s/a.txt", func(line string) []string {
			if line != "" { // the end of the request
				return nil
			}
			return http
		}},
		{"gopher", "", "gopher://%s/0a.txt", func(string) []string { return menu }},
		{"nntp", "200 ready\r\n", "nntp://%s/local.test/1", func(line string) []string {
			switch verb, _, _ := strings.Cut(line, " "); verb {
			case "CAPABILITIES":
				return []string{"101 these\r\n", "VERSION 2\r\n", "READER\r\n", ".\r\n"}
			case "GROUP":
				return []string{"211 1 1 1 local.test\r\n"}
			case "ARTICLE":
				return news
			}
			return []string{"205 goodbye\r\n"}
		}},
	} {
		b.Run(server.name, func(b *testing.B) {
			url := fmt.Sprintf(server.url, servePieces(b, server.greeting, server.name == "gopher", server.answer))
			var spent []float64
			for b.Loop() {
				r := fetch1738.Resolver{}
				start := time.Now()
				for range documents {
					res, err := r.Get(b.Context(), url)
					if err != nil {
						b.Fatal(err)
					}
					if n, err := io.Copy(io.Discard, res.Body); err != nil || n < 4000 {
						b.Fatal(n, err)
					}
					res.Close()
				}
				spent = append(spent, time.Since(start).Seconds()*1000/documents)
				r.Close()
			}
			b.ReportMetric(median(spent), "ms/document")
		})
	}
}

// servePieces answers each line with pieces. If once is true, it closes after the first answer.
func servePieces(b *testing.B, greeting string, once bool, answer func(line string) []string) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(b, err)
	b.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_ = c.(*net.TCPConn).SetNoDelay(false)
				_, _ = io.WriteString(c, greeting)
				for lines := bufio.NewScanner(c); lines.Scan(); {
					pieces := answer(lines.Text())
					for _, piece := range pieces {
						_, _ = io.WriteString(c, piece)
						time.Sleep(100 * time.Microsecond) // otherwise the kernel joins them
					}
					if once && pieces != nil {
						return
					}
				}
			}()
		}
	}()
	return l.Addr().String()
}
