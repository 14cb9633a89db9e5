package menu

import (
	"bytes"
	"fmt"
	"testing"
	"time"
)

// linesOf returns a menu of n lines as servers send them: mostly items, some text.
func linesOf(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		switch i % 10 {
		case 0:
			fmt.Fprintf(&b, "iSection %d of the archive, with a few words\tfake\t(NULL)\t0\r\n", i)
		case 1:
			fmt.Fprintf(&b, "1Directory %d\t/archive/dir%d\tgopher.example.org\t70\t+\r\n", i, i)
		default:
			fmt.Fprintf(&b, "0Document number %d\t/archive/dir%d/doc%d.txt\tgopher.example.org\t70\r\n", i, i/10, i)
		}
	}
	b.WriteString(".\r\n")
	return b.Bytes()
}

// BenchmarkLines measures a whole menu against bytes.Split of the same bytes, alternately, and
// reports the ratio of the two times.
func BenchmarkLines(b *testing.B) {
	for _, size := range []int{10_000, 100_000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) { benchmarkLines(b, size) })
	}
}

func benchmarkLines(b *testing.B, size int) {
	data := linesOf(size)
	var split, lines time.Duration
	b.ReportAllocs()
	for b.Loop() {
		start := time.Now()
		if n := len(bytes.Split(data, []byte("\n"))); n != size+2 {
			b.Fatal(n)
		}
		between := time.Now()
		n := 0
		for l, err := range Lines(bytes.NewReader(data), 16<<10) {
			if err != nil || l.Fault != "" {
				b.Fatal(l, err)
			}
			n++
		}
		if n != size {
			b.Fatal(n)
		}
		split += between.Sub(start)
		lines += time.Since(between)
	}
	b.ReportMetric(float64(lines)/float64(split), "x-bytes.Split")
	b.ReportMetric(float64(lines.Nanoseconds())/float64(b.N)/float64(size), "ns/line")
}

// BenchmarkLongLine measures single lines of several lengths. The time per byte must not depend on
// the length.
func BenchmarkLongLine(b *testing.B) {
	for _, text := range longLines {
		for _, size := range []int{256 << 10, 8 << 20} {
			b.Run(fmt.Sprintf("%q/%d", text, size), func(b *testing.B) {
				data := bytes.Repeat([]byte(text), size/len(text))
				b.SetBytes(int64(size))
				for b.Loop() {
					for range Lines(bytes.NewReader(data), 0) {
					}
				}
			})
		}
	}
}
