package mirror

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fetch1738/fetch1738/internal/urls/idn"
	"github.com/fetch1738/fetch1738/mirror/internal/local"
	"github.com/fetch1738/fetch1738/mirror/internal/naming"
)

const (
	// Folder is the directory in Mirror.Dir that holds the manifest and incomplete files. No copied
	// file or directory has a name that begins like this, ignoring case.
	Folder = local.Folder
	// ManifestFile is the slash-separated path of the manifest below Mirror.Dir.
	ManifestFile = Folder + "/manifest.jsonl"
)

// A ManifestLine is a line of the manifest. If several lines have the same URL, the last one is valid.
type ManifestLine struct {
	// URL is the URL of the resource, without a password.
	URL string `json:"url"`
	// File is the slash-separated path of the local file below Mirror.Dir.
	File string `json:"file,omitempty"`
	// Size is the size of the file in bytes. While the file is incomplete, it is the size that the
	// server announced, or -1 if unknown.
	Size int64 `json:"size"`
	// Modified is the modification time in the listing, or zero if the listing has none.
	Modified time.Time `json:"modified,omitzero"`
	// Exact is the modification time that the server returned for the file itself. An incomplete
	// file is resumed only if this time has not changed. A complete one has it if listings may be in
	// the time zone of the server: it is not fetched again as long as this time has not changed.
	Exact time.Time `json:"exact,omitzero"`
	// Came is how many bytes of an incomplete file were in its part when the line was written, and
	// Begins their checksum. The next run resumes the file there if the part still begins with
	// them: after a loss of power it may have other bytes.
	Came   int64  `json:"came,omitzero"`
	Begins string `json:"begins,omitempty"`
	// MBox is the size of the mbox before an article, while it is being added.
	MBox *int64 `json:"mbox,omitempty"`
	// ID is the message-id of an article.
	ID string `json:"id,omitempty"`
	// SHA256 is the checksum of the file in hexadecimal. It is empty while the file is incomplete.
	SHA256 string `json:"sha256,omitempty"`
	// Marked reports whether the gopher server sent an end mark.
	Marked bool `json:"marked,omitempty"`
	// Unsure reports that the server sent no end mark and the document was fetched only once. It
	// may be truncated; the next run fetches it again.
	Unsure bool `json:"unsure,omitempty"`
	// Time is the time when the line was written.
	Time time.Time `json:"time"`
	ManifestStart
	// Gone reports that the file is no longer in the tree and was kept.
	Gone bool `json:"gone,omitempty"`
	// Dir reports that File is a directory that has another name on the server.
	Dir bool `json:"dir,omitempty"`
	// Octets is File in the text of a line, if that is not UTF-8: a JSON text cannot hold it.
	Octets []byte `json:"octets,omitempty"`
	// Error is the reason why the file or listing could not be fetched.
	Error string `json:"error,omitempty"`
}

// ManifestStart is what the line whose URL is that of Mirror.Start says about the copy. In other lines
// it is zero.
type ManifestStart struct {
	// Start marks the line.
	Start bool `json:"start,omitempty"`
	// Names says which names of the server the copy keeps: "safe", "usual" or "all". It is empty in
	// copies of earlier versions.
	Names string `json:"names,omitempty"`
	// Parent and Aliases say what earlier runs have copied: with Mirror.Parent, and with which of
	// Mirror.Aliases.
	Parent  bool     `json:"parent,omitempty"`
	Aliases []string `json:"aliases,omitempty"`
	// Server is Mirror.NewsServer.
	Server string `json:"server,omitempty"`
}

// maxLine is the maximum length in bytes of a line of the manifest. URLs are much shorter.
const maxLine = 1 << 20

// ReadManifest yields the lines of the manifest in r. Malformed lines, such as an incomplete line left
// by a crash, are skipped. A read error comes last.
func ReadManifest(r io.Reader) iter.Seq2[ManifestLine, error] {
	return func(yield func(ManifestLine, error) bool) {
		for l, err := range linesAt(r) {
			if !yield(l.ManifestLine, err) {
				return
			}
		}
	}
}

// A lineAt is a line and its offset in the manifest.
type lineAt struct {
	ManifestLine
	at int64
}

// linesAt is like ReadManifest, but yields the offsets too.
func linesAt(r io.Reader) iter.Seq2[lineAt, error] {
	return func(yield func(lineAt, error) bool) {
		var at, next int64
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, maxLine)
		lines.Split(func(data []byte, atEOF bool) (int, []byte, error) {
			n, token, err := bufio.ScanLines(data, atEOF)
			next += int64(n)
			return n, token, err
		})
		for ; lines.Scan(); at = next {
			line, ok := decode(lines.Bytes())
			if ok && !yield(lineAt{line, at}, nil) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(lineAt{}, fmt.Errorf("read the manifest: %w", err))
		}
	}
}

// decode decodes a line. It reports false if the line is malformed.
func decode(text []byte) (line ManifestLine, ok bool) {
	if line, ok = decodePlain(text); !ok {
		line = ManifestLine{}
		ok = json.Unmarshal(text, &line) == nil
		line.URL = idn.URL(line.URL) // as in the URLs of items
		if line.Octets != nil {
			line.File, line.Octets = string(line.Octets), nil
		}
	}
	return line, ok && line.URL != "" && isOurs(line.File)
}

// decodePlain decodes a line that consists of the common members only, as encode writes them, and
// has no escapes. It reports false for all other lines. It exists because a run may read a million
// lines twice, for which package json takes several times as long.
func decodePlain(text []byte) (line ManifestLine, ok bool) {
	text, ok = bytes.CutPrefix(text, []byte("{"))
	for last := false; ok && !last; {
		name, rest, _ := bytes.Cut(text, []byte(":"))
		value, _, more := bytes.Cut(rest, []byte(`,"`))
		if last = !more; last {
			if value, ok = bytes.CutSuffix(rest, []byte("}")); !ok {
				return line, false
			}
		}
		text = rest[min(len(value)+len(","), len(rest)):]
		if string(name) == `"size"` {
			line.Size, _ = strconv.ParseInt(string(value), 10, 64)
			ok = strconv.FormatInt(line.Size, 10) == string(value)
			continue
		}
		if len(value) < 2 || value[0] != '"' || value[len(value)-1] != '"' {
			return line, false
		}
		switch value = value[1 : len(value)-1]; string(name) {
		case `"url"`:
			line.URL, ok = plain(value)
		case `"file"`:
			line.File, ok = plain(value)
		case `"id"`:
			line.ID, ok = plain(value)
		case `"sha256"`:
			line.SHA256, ok = plain(value)
		case `"modified"`:
			ok = line.Modified.UnmarshalText(value) == nil
		case `"exact"`:
			ok = line.Exact.UnmarshalText(value) == nil
		case `"time"`:
			ok = line.Time.UnmarshalText(value) == nil
		default:
			ok = false
		}
	}
	return line, ok
}

// plain returns the text of a JSON string. It reports false if the string has escapes or is not
// printable ASCII.
func plain(text []byte) (string, bool) {
	for _, c := range text {
		if c < ' ' || c > '~' || c == '"' || c == '\\' {
			return "", false
		}
	}
	return string(text), true
}

// encode returns the line of a ManifestLine.
func encode(r ManifestLine) ([]byte, error) {
	if !utf8.ValidString(r.File) {
		r.Octets = []byte(r.File)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(r)
	return b.Bytes(), err
}

// isOurs reports whether file is a path that a mirror can have written.
func isOurs(file string) bool {
	return file == "" || fs.ValidPath(strings.ToValidUTF8(file, "_")) && file != "." && (file[0] != Folder[0] || naming.Fold(naming.First(file)) != naming.Fold(Folder))
}

// isUnmodified reports whether a file is unmodified since the mirror wrote it. Some file systems
// store times in steps of two seconds.
func isUnmodified(done ManifestLine, info fs.FileInfo) bool {
	return info.Mode().IsRegular() && info.Size() == done.Size &&
		(done.Modified.IsZero() || info.ModTime().Sub(done.Modified).Abs() <= 2*time.Second)
}

// now returns the current time in the precision of the manifest.
func now() time.Time { return time.Now().UTC().Truncate(time.Second) }
