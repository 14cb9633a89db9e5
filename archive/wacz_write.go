package archive

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/archive/cdx"
	"github.com/fetch1738/fetch1738/archive/warc"
)

// WACZ describes a WACZ file that is written.
type WACZ struct {
	// Title and Description, which may have Markdown, are for readers.
	Title, Description string
	// Software is the program that writes the file, with its version.
	Software string
	// Now returns the time of creation; nil means time.Now.
	Now func() time.Time
}

// WriteWACZ writes a WACZ 1.1.1 file with all of the archive: the WARC files as they are, one index of
// them, a list of the pages, and the SHA-256 of each file. Pages are menus, folders, newsgroups and
// HTML documents. WARC files that are still being written are refused. After an error w has no
// valid ZIP file.
func (a *Archive) WriteWACZ(w io.Writer, o WACZ) error {
	if o.Now == nil {
		o.Now = time.Now
	}
	z := zip.NewWriter(w)
	if err := (&waczWriter{WACZ: o, archive: a, zip: z}).write(); err != nil {
		return err
	}
	return z.Close()
}

// write writes the members. The list of the others comes last.
func (w *waczWriter) write() error {
	names, err := w.warcs()
	if err == nil {
		err = w.index(names)
	}
	var main page
	if err == nil {
		err = w.add("pages/pages.jsonl", zip.Deflate, func(to io.Writer) (err error) {
			main, err = writePages(to, w.archive)
			return err
		})
	}
	if err != nil {
		return err
	}
	created := w.Now().UTC().Format(time.RFC3339)
	list, err := json.MarshalIndent(datapackage{
		Profile: "data-package", Version: "1.1.1", Title: w.Title, Description: w.Description, Created: created, Modified: created,
		Software: w.Software, MainPage: main.URL, MainDate: main.Time, Resources: w.resources,
	}, "", "  ")
	if err != nil {
		return err
	}
	if err := w.add("datapackage.json", zip.Deflate, text(list)); err != nil {
		return err
	}
	digest, err := json.MarshalIndent(map[string]string{"path": "datapackage.json", "hash": w.resources[len(w.resources)-1].Hash}, "", "  ")
	return errors.Join(err, w.add("datapackage-digest.json", zip.Deflate, text(digest)))
}

// A datapackage is the content of datapackage.json.
type datapackage struct {
	Profile     string         `json:"profile"`
	Version     string         `json:"wacz_version"`
	Title       string         `json:"title"`
	Description string         `json:"description"`
	Created     string         `json:"created"`
	Modified    string         `json:"modified"`
	Software    string         `json:"software,omitempty"`
	MainPage    string         `json:"mainPageUrl,omitempty"`
	MainDate    string         `json:"mainPageDate,omitempty"`
	Resources   []waczResource `json:"resources"`
}

// A waczResource is a member in the list of datapackage.json.
type waczResource struct {
	Name  string `json:"name"`
	Path  string `json:"path"`
	Hash  string `json:"hash"`
	Bytes int64  `json:"bytes"`
}

// A waczWriter writes members and keeps the list of them.
type waczWriter struct {
	WACZ
	archive   *Archive
	zip       *zip.Writer
	resources []waczResource
}

// add writes a member.
func (w *waczWriter) add(name string, method uint16, content func(io.Writer) error) error {
	member, err := w.zip.CreateHeader(&zip.FileHeader{Name: name, Method: method, Modified: w.Now()})
	if err != nil {
		return err
	}
	hash, n := sha256.New(), &counter{}
	if err := content(io.MultiWriter(member, hash, n)); err != nil {
		return err
	}
	w.resources = append(w.resources, waczResource{path.Base(name), name, "sha256:" + hex.EncodeToString(hash.Sum(nil)), n.n})
	return nil
}

// text returns a content of add.
func text(data []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}
}

// A counter counts what is written.
type counter struct{ n int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}

// warcs copies the WARC files, and returns their names in the WACZ file.
func (w *waczWriter) warcs() (map[place]string, error) {
	names, used := make(map[place]string), make(map[string]bool)
	for _, p := range w.archive.parts {
		for _, key := range slices.Sorted(maps.Keys(p.files)) {
			from := p.files[key]
			if strings.HasSuffix(from.name, warc.OpenSuffix) {
				return nil, fmt.Errorf("%s is still being written", from.name)
			}
			name := unusedName(filepath.Base(key), used)
			names[from] = name
			err := w.add("archive/"+name, zip.Store, func(to io.Writer) error {
				file, content, err := from.open()
				if err != nil {
					return err
				}
				_, err = io.Copy(to, content)
				return errors.Join(err, file.Close())
			})
			if err != nil {
				return nil, err
			}
		}
	}
	return names, nil
}

// unusedName puts a number before a name that is used already.
func unusedName(base string, used map[string]bool) string {
	name := base
	for n := 2; used[name]; n++ {
		name = fmt.Sprintf("%d-%s", n, base)
	}
	used[name] = true
	return name
}

// perBlock is how many lines of an index are compressed together.
const perBlock = 3000

// index writes the lines of all parts as one index. A long one is compressed in blocks, which
// index.idx lists (ZipNum), so that a reader need not fetch all of it.
func (w *waczWriter) index(names map[place]string) error {
	var s cdx.Sorter
	n := 0
	for l, err := range w.archive.lines("") {
		if err != nil {
			return errors.Join(err, s.Close())
		}
		l.Filename = names[l.part.files[l.Filename]]
		line, err := l.Text()
		if err == nil {
			err = s.Add(line)
		}
		if err != nil {
			return errors.Join(err, s.Close())
		}
		n++
	}
	if n <= perBlock {
		return w.add("indexes/index.cdx", zip.Store, func(to io.Writer) error {
			_, err := s.WriteTo(to)
			return err
		})
	}
	var blocks *blockWriter
	err := w.add("indexes/index.cdx.gz", zip.Store, func(to io.Writer) error {
		blocks = &blockWriter{w: to, zip: gzip.NewWriter(nil)}
		_, err := s.WriteTo(blocks)
		return errors.Join(err, blocks.end())
	})
	if err != nil {
		return err
	}
	return w.add("indexes/index.idx", zip.Deflate, text(blocks.list.Bytes()))
}

// A blockWriter compresses blocks of lines and lists them.
type blockWriter struct {
	w      io.Writer
	zip    *gzip.Writer
	offset int64
	list   bytes.Buffer

	block bytes.Buffer // compressed
	lines int
	first []byte // line of the block
}

// Write implements io.Writer.
func (b *blockWriter) Write(p []byte) (int, error) {
	written := len(p)
	for len(p) > 0 {
		line, rest, whole := bytes.Cut(p, []byte("\n"))
		if b.lines == 0 {
			if len(b.first) == 0 {
				b.zip.Reset(&b.block)
			}
			b.first = append(b.first, line...)
		}
		if whole {
			line, b.lines = p[:len(line)+1], b.lines+1
		}
		if _, err := b.zip.Write(line); err != nil {
			return 0, err
		}
		if p = rest; b.lines == perBlock {
			if err := b.end(); err != nil {
				return 0, err
			}
		}
	}
	return written, nil
}

// end ends a block.
func (b *blockWriter) end() error {
	if len(b.first) == 0 {
		return nil
	}
	if err := b.zip.Close(); err != nil {
		return err
	}
	if b.offset == 0 {
		b.list.WriteString("!meta 0 {\"format\": \"cdxj-gzip-1.0\", \"filename\": \"index.cdx.gz\"}\n")
	}
	sum := sha256.Sum256(b.block.Bytes())
	key, _, _ := bytes.Cut(b.first, []byte(" {"))
	fmt.Fprintf(&b.list, "%s {\"offset\": %d, \"length\": %d, \"digest\": \"sha256:%x\", \"filename\": \"index.cdx.gz\"}\n", key, b.offset, b.block.Len(), sum)
	b.offset += int64(b.block.Len())
	_, err := b.block.WriteTo(b.w)
	b.lines, b.first = 0, b.first[:0]
	return err
}
