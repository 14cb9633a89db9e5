package fetchtest

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing/fstest"
	"time"
)

// Names in the content that tests refer to.
const (
	small     = "crlf.txt"   // the one for which every byte is tried
	octets    = "octets.bin" // the bytes 00 to FF
	large     = "large.bin"  // 1 MiB
	directory = "dir"
	missing   = "missing"
	forbidden = "forbidden"
)

// Content returns the standard content: documents whose bytes or names have caused errors before, a
// directory, and a file "forbidden", which cannot be opened. There is no file "missing".
func Content() fs.FS {
	files := make(fstest.MapFS)
	for name, data := range documents() {
		files[name] = &fstest.MapFile{Data: data, Mode: 0o644, ModTime: modTime}
	}
	files[directory+"/nothing"] = &fstest.MapFile{Mode: fs.ModeDir | 0o755, ModTime: modTime}
	files[forbidden] = &fstest.MapFile{Data: []byte("not for you\r\n"), ModTime: modTime}
	return refusing{files}
}

var modTime = time.Date(1994, time.December, 20, 17, 38, 0, 0, time.UTC)

// refusing refuses to open the file "forbidden".
type refusing struct{ files fstest.MapFS }

func (r refusing) Open(name string) (fs.File, error) {
	if name == forbidden {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return r.files.Open(name)
}

// Stat implements [fs.StatFS]: as on a disk, stat works on a file that may not be read.
func (r refusing) Stat(name string) (fs.FileInfo, error) { return r.files.Stat(name) }

// noise is the large document. It is generated once and never written to.
var noise = sync.OnceValue(func() []byte {
	octets := make([]byte, 1<<20)
	rand.NewChaCha8([32]byte([]byte("RFC 1738, December 1994. Uniform"))).Read(octets)
	return octets
})

// documents returns the readable files of the content.
func documents() map[string][]byte {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	text := "Uniform Resource Locators\r\n\r\n\tA compact string\r\nrepresentation.\r\n"
	return map[string][]byte{
		"empty":         {},
		"one":           {'x'},
		small:           []byte(text),
		"lf.txt":        []byte(strings.ReplaceAll(text, "\r\n", "\n")),
		"no-end.txt":    []byte("the last line\r\nhas no end"),
		"dots.txt":      []byte(".\r\n..\r\n...\r\n.dot\r\n\r\n.\r\nend\r\n"),
		octets:          all,
		"iac.bin":       bytes.Repeat([]byte{0xFF, 0xFF, 0xF4, '\r', 0, '\r', '\n'}, 9),
		large:           noise(),
		"with space":    []byte("a name with a space\r\n"),
		"100%25":        []byte("a name with a percent sign, not to be decoded twice\r\n"),
		"caf\u00e9":     []byte("a name with 8-bit octets\r\n"),
		"a;type=a?b#c&": []byte("a name with reserved octets\r\n"),
		"dir/a.txt":     []byte("in a directory\r\n"),
		"dir/b c":       []byte("in a directory, with a space\r\n"),
		"dir/sub/c.txt": []byte("below it\r\n"),
	}
}

// entries returns the names in the directory of the content.
func entries() []string { return []string{"a.txt", "b c", "nothing", "sub"} }

// names returns the documents' names, sorted.
func names() []string {
	var list []string
	for name := range documents() {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

// CopyTo writes content to a directory on disk, for servers that require that. A file that cannot
// be opened becomes one without permissions; root can read it nevertheless.
func CopyTo(dir string, content fs.FS) error {
	return fs.WalkDir(content, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		to := filepath.Join(dir, filepath.FromSlash(name))
		if d.IsDir() {
			return os.MkdirAll(to, 0o755)
		}
		data, err := fs.ReadFile(content, name)
		mode := fs.FileMode(0o644)
		if errors.Is(err, fs.ErrPermission) {
			data, mode, err = nil, 0, nil
		}
		if err != nil {
			return err
		}
		if err := os.WriteFile(to, data, mode); err != nil {
			return err
		}
		return os.Chtimes(to, info.ModTime(), info.ModTime())
	})
}
