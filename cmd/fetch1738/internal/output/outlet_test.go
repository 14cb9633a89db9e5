package output

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
)

// Documents of all sizes written at once come out in one piece each.
func TestOutlet(t *testing.T) {
	var out bytes.Buffer
	o := NewOutlet(&out)
	var wg sync.WaitGroup
	sizes := []int{0, 1, 100, maxHeldDocument - 7, maxHeldDocument, maxHeldDocument + 1, 3 * maxHeldDocument}
	for i, size := range sizes {
		wg.Go(func() {
			s := o.Portion()
			// WriteString would write it in one go.
			_, err := io.CopyBuffer(struct{ io.Writer }{s}, struct{ io.Reader }{strings.NewReader(strings.Repeat(fmt.Sprint(i), size))}, make([]byte, 30001))
			if err != nil {
				t.Error(err)
			}
			fmt.Fprintln(s)
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	came := make(map[int]bool)
	for line := range strings.Lines(out.String()) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" {
			came[0] = true
			continue
		}
		i := int(line[0] - '0')
		if strings.Trim(line, line[:1]) != "" || len(line) != sizes[i] {
			t.Errorf("document %d is mixed, or %d octets long and not %d", i, len(line), sizes[i])
		}
		came[i] = true
	}
	if len(came) != len(sizes) {
		t.Errorf("came: %v", came)
	}
}

// What is held back can be discarded, and nothing else can.
func TestPortionRewind(t *testing.T) {
	var out bytes.Buffer
	s := NewOutlet(&out).Portion()
	_, _ = io.WriteString(s, "wrong")
	if !s.Rewind() {
		t.Error("what was held back was not discarded")
	}
	_, _ = s.Write(make([]byte, maxHeldDocument+1))
	if s.Rewind() {
		t.Error("what was written was discarded")
	}
	if err := s.Close(); err != nil || out.Len() != maxHeldDocument+1 {
		t.Errorf("%d octets came out, %v", out.Len(), err)
	}
}

// brokenPipe fails every write.
type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestOutletFails(t *testing.T) {
	o := NewOutlet(brokenPipe{})
	for range 2 {
		s := o.Portion()
		_, _ = io.WriteString(s, "x")
		if err := s.Close(); err == nil {
			t.Error("a failed write went unnoticed")
		}
	}
}
