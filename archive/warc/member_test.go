package warc

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// noise returns octets that do not compress.
func noise(n int) []byte {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{1}).Read(b)
	return b
}

func TestCombine(t *testing.T) {
	text := noise(300_000)
	for _, length := range []int{0, 1, 2, 3, 7, 8, 255, 256, 65_535, 65_536, 299_999, 300_000} {
		first, second := text[:len(text)-length], text[len(text)-length:]
		if got, want := combine(crc32.ChecksumIEEE(first), crc32.ChecksumIEEE(second), int64(length)), crc32.ChecksumIEEE(text); got != want {
			t.Errorf("%d octets behind %d: %08x, want %08x", len(second), len(first), got, want)
		}
	}
	// No text is as long as 1<<40 octets, but adding half of it twice is adding all of it.
	half := combine(0x12345678, 0, 1<<40)
	if got, want := combine(half, 0, 1<<40), combine(0x12345678, 0, 1<<41); got != want {
		t.Errorf("twice 1<<40 octets: %08x, once 1<<41: %08x", got, want)
	}
}

// contents are blocks below, at and above each size at which a Block keeps its octets elsewhere.
func contents() map[string][]byte {
	line := []byte("a line of text that compresses as text does\r\n")
	return map[string][]byte{
		"empty":             nil,
		"text":              line,
		"small":             bytes.Repeat(line, small/len(line)),
		"at 64 KiB":         noise(small),
		"above 64 KiB":      noise(small + 1),
		"large text":        bytes.Repeat(line, 4<<20/len(line)),
		"in a file":         noise(3<<20 + 5),
		"zeros":             make([]byte, 5<<20),
		"as long as memory": noise(inMemory),
	}
}

// fill writes to a block in parts of a size.
func fill(t *testing.T, b *Block, content []byte, part int) {
	t.Helper()
	if _, err := io.CopyBuffer(struct{ io.Writer }{b}, struct{ io.Reader }{bytes.NewReader(content)}, make([]byte, part)); err != nil {
		t.Fatal(err)
	}
}

// TestMembers verifies that each record is one gzip member that other programs can read, wherever
// its block was compressed.
func TestMembers(t *testing.T) {
	for name, content := range contents() {
		for _, part := range []int{1000, 32 << 10, 8 << 20} {
			file := filepath.Join(t.TempDir(), "x.warc.gz")
			w, err := CreateFile(file, Options{})
			if err != nil {
				t.Fatal(err)
			}
			d := document("ftp://ftp.example.org/x", "")
			d.Block = w.NewBlock()
			fill(t, d.Block, content, part)
			if err := w.Write(d, d); err != nil { // the second time is as the first
				t.Fatal(name, err)
			}
			if err := d.Block.Close(); err != nil {
				t.Error(name, err)
			}
			if err := w.Write(d); err == nil && len(content) > small {
				t.Errorf("%s: a block is written after Close", name)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			checkMembers(t, name, mustRead(t, file), content)
			if zcat, err := exec.LookPath("gzip"); err == nil {
				if out, err := exec.Command(zcat, "-t", file).CombinedOutput(); err != nil || len(out) > 0 {
					t.Errorf("%s: gzip -t: %v\n%s", name, err, out)
				}
			}
		}
	}
}

// checkMembers verifies that a file is a warcinfo record and records of one content, with
// compress/gzip, and that Verify finds nothing.
func checkMembers(t *testing.T, name string, file, content []byte) {
	t.Helper()
	all := bufio.NewReader(bytes.NewReader(file))
	zip, err := gzip.NewReader(all)
	for n := 0; ; n++ {
		if err == io.EOF {
			if n < 3 {
				t.Errorf("%s: %d members, want a warcinfo and the records", name, n)
			}
			break
		}
		if err != nil {
			t.Fatalf("%s: member %d: %v", name, n, err)
		}
		zip.Multistream(false)
		record, err2 := io.ReadAll(zip)
		if err2 != nil {
			t.Fatalf("%s: member %d: %v", name, n, err2)
		}
		_, block, _ := bytes.Cut(record, []byte("\r\n\r\n"))
		if !bytes.HasPrefix(record, []byte("WARC/1.1\r\n")) || n > 0 && string(block) != string(content)+recordEnd {
			t.Fatalf("%s: member %d is not one record with the content", name, n)
		}
		err = zip.Reset(all)
	}
	if _, lines := verified(t, file); len(lines) > 0 {
		t.Errorf("%s: Verify: %s", name, strings.Join(lines, "\n"))
	}
}

// TestSameRatio compares the files of blocks that are compressed while they are written, and when
// their record is.
func TestSameRatio(t *testing.T) {
	text := mustRead(t, "writer_test.go")
	for len(text) < 10<<20 {
		text = append(append(text, noise(len(text)%1000)...), text...)
	}
	more := contents()
	more["sources"] = text
	for name, content := range more {
		var sizes [2]int
		for i := range sizes {
			file := filepath.Join(t.TempDir(), "x.warc.gz")
			w, err := CreateFile(file, Options{})
			if err != nil {
				t.Fatal(err)
			}
			block := [2]*Block{NewBlock(), w.NewBlock()}[i]
			fill(t, block, content, 1460)
			d := document("ftp://ftp.example.org/x", "")
			d.Block = block
			if err := errors.Join(w.Write(d), w.Close(), block.Close()); err != nil {
				t.Fatal(name, err)
			}
			sizes[i] = len(mustRead(t, file))
		}
		if sizes[1] > sizes[0]+sizes[0]/16+100 {
			t.Errorf("%s: %d octets, want about %d", name, sizes[1], sizes[0])
		}
		t.Logf("%s: %d octets; in one stream %d", name, sizes[1], sizes[0])
	}
}

// TestOtherWriter writes the block of one Writer by another one.
func TestOtherWriter(t *testing.T) {
	zipped, err := CreateFile(filepath.Join(t.TempDir(), "x.warc.gz"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer zipped.Close()
	for name, content := range contents() {
		file := filepath.Join(t.TempDir(), "x.warc")
		plain, err := CreateFile(file, Options{})
		if err != nil {
			t.Fatal(err)
		}
		d := document("ftp://ftp.example.org/x", "")
		d.Block = zipped.NewBlock()
		fill(t, d.Block, content, 5000)
		if err := plain.Write(d); err != nil {
			t.Fatal(name, err)
		}
		if err := d.Block.Close(); err != nil {
			t.Error(err)
		}
		if err := plain.Close(); err != nil {
			t.Fatal(err)
		}
		if !bytes.HasSuffix(mustRead(t, file), append([]byte("\r\n\r\n"+string(content)), recordEnd...)) {
			t.Errorf("%s: the block is not in the plain file", name)
		}
	}
}

// TestManyBlocks writes large blocks at the same time, which use the same pool.
func TestManyBlocks(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.warc.gz")
	w, err := CreateFile(file, Options{})
	if err != nil {
		t.Fatal(err)
	}
	content := contents()["large text"]
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 2 {
				d := document("ftp://ftp.example.org/x", "")
				d.Block = w.NewBlock()
				for at := 0; at < len(content); at += 50_000 {
					d.Block.Write(content[at:min(at+50_000, len(content))])
				}
				if err := w.Write(d); err != nil {
					t.Error(err)
				}
				if err := d.Block.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	checkMembers(t, "many", mustRead(t, file), content)
}
