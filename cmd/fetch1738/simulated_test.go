package main

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// The command runs in a bubble of package synctest, with a server in memory.
func TestSimulated(t *testing.T) {
	big := make([]byte, 3<<20)
	_, _ = rand.NewChaCha8([32]byte{}).Read(big)
	content := fstest.MapFS{
		"small": {Data: []byte("small\n"), ModTime: time.Unix(1e9, 0)},
		"big":   {Data: big, ModTime: time.Unix(1e9, 0)},
	}
	for _, c := range []struct {
		args, files string
		retrieved   int // how often
	}{
		{"-o DIR/small URL/small", "small", 1},
		{"--segments 2 -o DIR/big URL/big", "big", 2},
		{"-Z -o DIR/small URL/small -o DIR/big URL/big", "big small", 2},
		{"mirror URL/ DIR", "big small", 2},
	} {
		t.Run(c.args, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				srv := ftptest.New(t, func(s *ftptest.Server) { s.InMemory, s.Content = true, content })
				var out, errs bytes.Buffer
				words := strings.Fields(strings.NewReplacer("DIR", dir, "URL", srv.URL).Replace(c.args))
				if code := run(t.Context(), words, stdio.Streams{In: strings.NewReader(""), Out: &out, Err: &errs, Dial: srv.Dial}); code != 0 {
					t.Fatalf("exit code %d: %s%s", code, out.String(), errs.String())
				}
				if n := strings.Count(srv.Transcript().String(), "C: RETR "); n != c.retrieved {
					t.Errorf("%d RETR, want %d", n, c.retrieved)
				}
				for name := range strings.FieldsSeq(c.files) {
					got, err := os.ReadFile(filepath.Join(dir, name))
					if err != nil || !bytes.Equal(got, content[name].Data) {
						t.Errorf("%s: %d bytes, %v", name, len(got), err)
					}
				}
			})
		})
	}
}
