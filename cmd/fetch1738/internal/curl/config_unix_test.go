//go:build unix

package curl

import (
	"io/fs"
	"os"
	"syscall"
	"testing"
	"time"
)

// modeAndOwner is a file with this mode and owner.
type modeAndOwner struct {
	mode fs.FileMode
	uid  int
}

func (modeAndOwner) Name() string        { return "config" }
func (modeAndOwner) Size() int64         { return 0 }
func (f modeAndOwner) Mode() fs.FileMode { return f.mode }
func (modeAndOwner) ModTime() time.Time  { return time.Time{} }
func (f modeAndOwner) IsDir() bool       { return f.mode.IsDir() }
func (f modeAndOwner) Sys() any          { return &syscall.Stat_t{Uid: uint32(f.uid)} }

func TestTrusted(t *testing.T) {
	me := os.Geteuid()
	for _, c := range []struct {
		file modeAndOwner
		want bool
	}{
		{modeAndOwner{0o600, me}, true},
		{modeAndOwner{0o664, me}, true}, // users often have a group of their own
		{modeAndOwner{0o644, 0}, true},
		{modeAndOwner{0o666, me}, false},
		{modeAndOwner{0o602, 0}, false},
		{modeAndOwner{0o600, me + 1}, false},
		{modeAndOwner{fs.ModeDevice | fs.ModeCharDevice | 0o666, 0}, true}, // /dev/null
	} {
		if err := trusted("config", c.file); (err == nil) != c.want {
			t.Errorf("%v of user %d: %v", c.file.mode, c.file.uid, err)
		}
	}
}
