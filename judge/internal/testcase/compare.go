package testcase

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Each function compares what a client has achieved with what it should, and returns the first
// difference; "" means no difference.

// spare is how much longer than expected a file may be that is read: with other line ends, or with
// names that nobody expects.
const spare = 1 << 20

// left reads a file that a client may have left in a folder, and of which size bytes are expected.
// What a client leaves may have no end, or lead anywhere.
func left(dir, name string, size int) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	name = filepath.FromSlash(name)
	info, err := root.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("it cannot be read in its folder: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("it is no file but %v", info.Mode())
	case info.Size() > int64(size)+spare:
		return nil, fmt.Errorf("it has %d bytes", info.Size())
	}
	file, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, int64(size)+spare+1))
}

// documentDiffers compares a document.
func documentDiffers(got, want []byte, same func(got, want []byte) bool) string {
	switch {
	case same(got, want):
		return ""
	case len(got) == 0:
		return fmt.Sprintf("it is empty, and the document has %d bytes", len(want))
	case len(got) == len(want):
		return fmt.Sprintf("the %d bytes are not those of the document", len(got))
	case len(got) < len(want) && bytes.HasPrefix(want, got):
		return fmt.Sprintf("it has only the first %d of %d bytes", len(got), len(want))
	}
	return fmt.Sprintf("it has %d bytes, and the document has %d", len(got), len(want))
}

// namesDiffer compares the names in a text, one in each line.
func namesDiffer(text []byte, names []string) string {
	var got []string
	for line := range strings.Lines(string(text)) {
		name := path.Base(strings.TrimRight(line, "\r\n"))
		if line = strings.TrimSpace(line); line != "" && name != "." && name != ".." && !slices.Contains(got, name) {
			got = append(got, name)
		}
	}
	slices.Sort(got)
	if want := slices.Sorted(slices.Values(names)); !slices.Equal(got, want) {
		return fmt.Sprintf("the names are %.300q instead of %.300q", got, want)
	}
	return ""
}

// treeDiffers compares the files below a folder. Clients put the tree into folders of different
// names, so it begins where its first file is found.
func treeDiffers(dir string, files map[string][]byte) string {
	base := ""
	_ = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		rel, _ := filepath.Rel(dir, name)
		if found, ok := strings.CutSuffix(filepath.ToSlash(rel), "first.txt"); ok {
			base = found
		}
		return nil
	})
	for _, name := range slices.Sorted(maps.Keys(files)) {
		data, err := left(dir, base+name, len(files[name]))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return fmt.Sprintf("%q is missing", name)
		case err != nil:
			return fmt.Sprintf("%q: %v", name, err)
		case !bytes.Equal(data, files[name]):
			return fmt.Sprintf("%q has %d bytes, and its %d are not all there", name, len(data), len(files[name]))
		}
	}
	return ""
}

// deploymentDiffers compares the files that a server has now (got) and had before (had) with those
// that were to be sent.
func deploymentDiffers(got, had map[string]string, files map[string][]byte) string {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		want := files[name]
		before, was := had[name]
		switch data, ok := got[name]; {
		case !ok:
			return fmt.Sprintf("the server has no %q", name)
		case data != string(want) && was && data == before:
			return fmt.Sprintf("the server has an old %q", name)
		case data != string(want):
			return fmt.Sprintf("at the server %q has %d bytes, and its %d are not all there", name, len(data), len(want))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		_, sent := files[name]
		if _, was := had[name]; !sent && !was {
			return fmt.Sprintf("the server has %q, which is not in the folder", path.Base(name))
		}
	}
	return ""
}

// othersDiffer looks for a file of others at a server that is not as it was.
func othersDiffer(got, had map[string]string, files map[string][]byte) string {
	for _, name := range slices.Sorted(maps.Keys(had)) {
		if _, ours := files[name]; !ours && got[name] != had[name] {
			return fmt.Sprintf("it has changed %q of others at the server", name)
		}
	}
	return ""
}

// folderDiffers looks for a file of the folder to send that is not as it was.
func folderDiffers(dir string, files map[string][]byte) string {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if data, err := left(dir, name, len(files[name])); err != nil || !bytes.Equal(data, files[name]) {
			return fmt.Sprintf("it has changed %q in the folder that it was to send", name)
		}
	}
	return ""
}
