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
	"strconv"
	"strings"
)

// Each function compares what a client has achieved with what it should, and returns the first
// difference. What it says is computed from the two: a sentence that only fits most cases contradicts
// the numbers in the others.

// spare is how much longer than expected a file may be that is read: with other line ends, or with
// names that nobody expects.
const spare = 1 << 20

// errTooLong is about a file that is not compared, because it is longer than any that is right.
var errTooLong = errors.New("far more than it should have")

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
		return nil, fmt.Errorf("cannot be read in its folder: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("not a regular file (%v)", info.Mode())
	case info.Size() > int64(size)+spare:
		return nil, fmt.Errorf("%d bytes, %w", info.Size(), errTooLong)
	}
	file, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, int64(size)+spare+1))
}

// FileDiffers compares a file, named as in "the file", that was read with err.
func FileDiffers(name string, got []byte, err error, want []byte, same func(got, want []byte) bool) Wrong {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Wrong{Missing, name + " does not exist"}
	case errors.Is(err, errTooLong):
		return Wrong{Changed, name + ": " + err.Error()}
	case err != nil:
		return Wrong{Unreadable, name + ": " + err.Error()}
	case same(got, want):
		return Wrong{}
	}
	return bytesDiffer(name, got, want)
}

// bytesDiffer compares the bytes of a file that are not all right.
func bytesDiffer(name string, got, want []byte) Wrong {
	end := len(common(got, want))
	switch {
	case len(want) == 0:
		return Wrong{Longer, fmt.Sprintf("%s has %s instead of none", name, count(len(got)))}
	case len(got) == 0:
		return Wrong{Empty, fmt.Sprintf("%s is empty instead of having %s", name, count(len(want)))}
	case end == len(got):
		return Wrong{Cut, fmt.Sprintf("%s has only the first %d of %s", name, len(got), count(len(want)))}
	case end == len(want):
		return Wrong{Longer, fmt.Sprintf("%s has all %s and then %d more", name, count(len(want)), len(got)-len(want))}
	}
	sizes := fmt.Sprintf("%s has %s", name, count(len(got)))
	if len(got) != len(want) {
		sizes += fmt.Sprintf(" instead of %d", len(want))
	}
	for _, form := range [][]byte{want, OnWire(want, "\n", true, false)} { // as the text of a line protocol is on the wire
		switch a, b := withoutCR(got), withoutCR(form); {
		case len(a) == 0:
		case bytes.Equal(a, b):
			return Wrong{LineEnds, sizes + ": only the form of the lines differs"}
		case bytes.HasPrefix(b, a):
			return Wrong{Cut, fmt.Sprintf("%s: the form of the lines differs, and the end is missing (%s or more)", sizes, count(len(b)-len(a)))}
		case bytes.HasPrefix(a, b):
			return Wrong{Longer, fmt.Sprintf("%s: the form of the lines differs, and %s or more follow the end", sizes, count(len(a)-len(b)))}
		}
	}
	return Wrong{Changed, fmt.Sprintf("%s; the first wrong one is at offset %d", sizes, end)}
}

// common returns the beginning that two texts share.
func common(a, b []byte) []byte {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return a[:n]
}

// withoutCR returns a text whose lines end in LF.
func withoutCR(text []byte) []byte { return bytes.ReplaceAll(text, []byte("\r"), nil) }

// count returns a number of bytes in words.
func count(n int) string {
	if n == 1 {
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}

// namesDiffer compares the names in a text, one in each line.
func namesDiffer(text []byte, names []string) Wrong {
	var got []string
	for line := range strings.Lines(string(text)) {
		name := path.Base(strings.TrimRight(line, "\r\n"))
		if line = strings.TrimSpace(line); line != "" && name != "." && name != ".." && !slices.Contains(got, name) {
			got = append(got, name)
		}
	}
	in := func(all []string) func(string) bool {
		return func(name string) bool { return slices.Contains(all, name) }
	}
	missing := slices.DeleteFunc(slices.Sorted(slices.Values(names)), in(got))
	extra := slices.DeleteFunc(slices.Sorted(slices.Values(got)), in(names))
	var facts []string
	if len(missing) > 0 {
		facts = append(facts, fmt.Sprintf("%d of %d names are not in the list: %s", len(missing), len(names), Some(missing)))
	}
	if len(extra) > 0 {
		facts = append(facts, "the list has what is not in the directory: "+Some(extra))
	}
	if facts == nil {
		return Wrong{}
	}
	return Wrong{Names, strings.Join(facts, "; ")}
}

// Some returns the first names, quoted; a client may have made any number of them.
func Some(names []string) string {
	const most = 5
	if len(names) == 0 {
		return "nothing"
	}
	quoted := make([]string, min(len(names), most))
	for i := range quoted {
		quoted[i] = fmt.Sprintf("%.60q", names[i])
	}
	if text := strings.Join(quoted, ", "); len(names) > most {
		return fmt.Sprintf("%s and %d more", text, len(names)-most)
	}
	return strings.Join(quoted, ", ")
}

// treeDiffers compares the files below a folder. Clients put the tree into folders of different
// names, so it begins where its first file is found.
func treeDiffers(dir string, files map[string][]byte) Wrong {
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
		if wrong := FileDiffers(strconv.Quote(name), data, err, files[name], bytes.Equal); wrong != (Wrong{}) {
			return wrong
		}
	}
	return Wrong{}
}

// deploymentDiffers compares the files that a server has now (got) and had before (had) with those
// that were to be sent.
func deploymentDiffers(got, had map[string]string, files map[string][]byte) Wrong {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		want := files[name]
		before, was := had[name]
		data, ok := got[name]
		var err error
		switch {
		case !ok:
			err = fs.ErrNotExist
		case was && data == before && data != string(want):
			return Wrong{Old, fmt.Sprintf("the server still has the old %q", name)}
		}
		if wrong := FileDiffers(fmt.Sprintf("%q at the server", name), []byte(data), err, want, bytes.Equal); wrong != (Wrong{}) {
			return wrong
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		_, sent := files[name]
		if _, was := had[name]; !sent && !was {
			return Wrong{Extra, fmt.Sprintf("the server has %q, which is not in the folder", path.Base(name))}
		}
	}
	return Wrong{}
}

// othersDiffer looks for a file of others at a server that is not as it was.
func othersDiffer(got, had map[string]string, files map[string][]byte) Wrong {
	for _, name := range slices.Sorted(maps.Keys(had)) {
		if _, ours := files[name]; !ours && got[name] != had[name] {
			return Wrong{Others, fmt.Sprintf("it has changed %q of others at the server", name)}
		}
	}
	return Wrong{}
}

// folderDiffers looks for a file of the folder to send that is not as it was.
func folderDiffers(dir string, files map[string][]byte) Wrong {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if data, err := left(dir, name, len(files[name])); err != nil || !bytes.Equal(data, files[name]) {
			return Wrong{Own, fmt.Sprintf("it has changed %q in the folder that it was to send", name)}
		}
	}
	return Wrong{}
}
