package bench

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/archive/warc"
)

// BenchmarkWARC writes, reads and verifies a WARC file with a million records of 200 to 3,800 bytes of
// text. MB/s count what is in the records, per second of CPU time. gzip is the ratio of that to
// "gzip -1" on the same bytes. MiB is the memory of the process.
func BenchmarkWARC(b *testing.B) {
	dir := b.TempDir()
	plain, zipped := filepath.Join(dir, "a.warc"), filepath.Join(dir, "a.warc.gz")
	step := func(name, file string) cost {
		cmd := exec.Command(os.Args[0], "-test.run=^TestWARCStep$", "-test.count=1")
		cmd.Env = append(os.Environ(), "WARC_STEP="+name, "WARC_FILE="+file, "WARC_RECORDS="+strconv.Itoa(few(1_000_000)))
		spent, code := measureCommand(b, cmd)
		if code != 0 {
			b.Fatalf("%s %s ended with code %d", name, file, code)
		}
		return spent
	}
	for _, file := range []string{plain, zipped} {
		for _, name := range []string{"write", "read", "verify"} {
			b.Run(name+strings.TrimPrefix(filepath.Base(file), "a"), func(b *testing.B) {
				var speeds, memory, ratios []float64
				for b.Loop() {
					spent := step(name, file)
					info, err := os.Stat(plain)
					check(b, err)
					speeds = append(speeds, float64(info.Size())/1e6/spent.cpu.Seconds())
					memory = append(memory, spent.memory)
					if name == "write" && file == zipped {
						theirs, code := measureCommand(b, exec.Command("gzip", "-1", "-k", "-f", "-S", ".g", plain))
						if code != 0 {
							b.Fatalf("gzip ended with code %d", code)
						}
						ratios = append(ratios, theirs.cpu.Seconds()/spent.cpu.Seconds())
					}
				}
				b.ReportMetric(median(speeds), "MB/s")
				b.ReportMetric(median(memory), "MiB")
				if len(ratios) > 0 {
					b.ReportMetric(median(ratios), "gzip")
				}
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// TestWARCStep is the process that BenchmarkWARC measures.
func TestWARCStep(t *testing.T) {
	name := os.Getenv("WARC_FILE")
	records, _ := strconv.ParseInt(os.Getenv("WARC_RECORDS"), 10, 64)
	steps := map[string]func(string, int64) error{"write": writeWARC, "read": readWARC, "verify": verifyWARC}
	step := steps[os.Getenv("WARC_STEP")]
	if step == nil {
		t.Skip("BenchmarkWARC runs it")
	}
	if err := step(name, records); err != nil {
		t.Fatal(err)
	}
}

func writeWARC(name string, records int64) error {
	text, err := sources()
	if err != nil {
		return err
	}
	_ = os.Remove(name)
	w, err := warc.CreateFile(name, warc.Options{Software: "bench"})
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range records - 1 { // and a warcinfo record
		from := random.IntN(len(text) - 4000)
		block := warc.NewBlock()
		_, _ = block.Write(text[from : from+200+random.IntN(3600)])
		err := w.Write(warc.Draft{Block: block, Header: warc.Header{
			{Name: warc.FieldType, Value: string(warc.Resource)},
			{Name: warc.FieldTargetURI, Value: fmt.Sprintf("gopher://gopher.example.org/0/documents/%d.txt", i)},
			{Name: warc.FieldIPAddress, Value: "192.0.2.1"},
			{Name: warc.FieldProtocol, Value: "gopher"},
			{Name: warc.FieldContentType, Value: "text/plain"},
		}})
		if err != nil {
			return err
		}
	}
	return w.Close()
}

// sources returns the source of this module, as text that does not repeat itself.
func sources() (text []byte, err error) {
	err = filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		file, err := os.ReadFile(path)
		text = append(text, file...)
		return err
	})
	return text, err
}

func readWARC(name string, records int64) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	r := warc.NewReader(file)
	for n := int64(0); ; n++ {
		rec, err := r.Next()
		switch {
		case err == io.EOF && n == records:
			return nil
		case err != nil:
			return fmt.Errorf("%d records: %w", n, err)
		}
		if _, err := io.Copy(io.Discard, rec.Block); err != nil {
			return err
		}
	}
}

func verifyWARC(name string, records int64) (failed error) {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	n, err := warc.Verify(file, func(f *warc.Defect) { failed = f })
	if n != records {
		err = errors.Join(err, fmt.Errorf("%d records", n))
	}
	return errors.Join(err, failed)
}
