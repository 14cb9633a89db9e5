package scene

import (
	"bytes"
	"context"
	"encoding/base64"
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
	"time"

	"github.com/fetch1738/fetch1738/testserver"
)

// What a client has done.

// Settle waits until the servers have recorded what the client did.
func (s *Stage) Settle() {
	ctx, cancel := context.WithTimeout(s.Ctx, settleTime)
	defer cancel()
	for _, srv := range slices.Concat(s.Servers, s.Foreign) {
		_ = srv.WaitIdle(ctx)
	}
}

const settleTime = 2 * time.Second

// Met reports whether one of the faults has acted.
func (s *Stage) Met() bool {
	if s.Seen != nil {
		return s.Seen()
	}
	idle := 0
	for _, srv := range s.Servers {
		if pending, ok := srv.PendingFaults().(interface{ Unwrap() []error }); ok { // an error for each call of Arm
			idle += len(pending.Unwrap())
		}
	}
	return s.armed == 0 || idle < s.armed
}

// Transcript returns what went over the control connections.
func (s *Stage) Transcript() string {
	var text strings.Builder
	for i, srv := range slices.Concat(s.Servers, s.Foreign) {
		if i > 0 {
			fmt.Fprintf(&text, "-- %s\n", srv.URL)
		}
		text.WriteString(srv.Transcript().String())
	}
	const most = 20_000
	if all := text.String(); len(all) > most {
		return all[:most/2] + "\n…\n" + all[len(all)-most/2:]
	}
	return text.String()
}

// Wrong returns what is wrong with what the client has achieved, "" if nothing is.
func (s *Stage) Wrong() string {
	if s.Judged != nil {
		return s.Judged()
	}
	return s.Achieved()
}

// Achieved compares what the client has achieved with what the task is.
func (s *Stage) Achieved() string {
	switch s.Task {
	case Download, Resume, Decode, Unpack:
		got, err := left(filepath.Dir(s.Out), filepath.Base(s.Out), len(s.Document))
		if errors.Is(err, fs.ErrNotExist) {
			return "there is no document"
		}
		return s.compared(got, err)
	case Upload:
		if s.Stored == nil {
			return ""
		}
		got, err := s.Stored()
		if errors.Is(err, fs.ErrNotExist) {
			return "the server has no file"
		}
		return s.compared(got, err)
	case List:
		return s.namesWrong()
	case Deploy:
		return deployed{s}.wrong()
	}
	return s.treeWrong()
}

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

// compared compares a document with the one it is to be.
func (s *Stage) compared(got []byte, err error) string {
	switch {
	case err != nil:
		return err.Error()
	case s.Same(got, s.Document):
		return ""
	case len(got) == 0:
		return fmt.Sprintf("it is empty, and the document has %d bytes", len(s.Document))
	case len(got) == len(s.Document):
		return fmt.Sprintf("the %d bytes are not those of the document", len(got))
	case len(got) < len(s.Document) && bytes.HasPrefix(s.Document, got):
		return fmt.Sprintf("it has only the first %d of %d bytes", len(got), len(s.Document))
	}
	return fmt.Sprintf("it has %d bytes, and the document has %d", len(got), len(s.Document))
}

// namesWrong compares the names that came.
func (s *Stage) namesWrong() string {
	text, err := left(filepath.Dir(s.Out), filepath.Base(s.Out), 0)
	if errors.Is(err, fs.ErrNotExist) {
		return "there are no names"
	}
	if err != nil {
		return err.Error()
	}
	var got []string
	for line := range strings.Lines(string(text)) {
		name := path.Base(strings.TrimRight(line, "\r\n"))
		if line = strings.TrimSpace(line); line != "" && name != "." && name != ".." && !slices.Contains(got, name) {
			got = append(got, name)
		}
	}
	slices.Sort(got)
	if want := slices.Sorted(slices.Values(s.Names)); !slices.Equal(got, want) {
		return fmt.Sprintf("the names are %.300q instead of %.300q", got, want)
	}
	return ""
}

// treeWrong compares the files below Dir. Clients put the tree into folders of different names, so
// it begins where its first file is found.
func (s *Stage) treeWrong() string {
	base := ""
	_ = filepath.WalkDir(s.Dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		rel, _ := filepath.Rel(s.Dir, name)
		if dir, ok := strings.CutSuffix(filepath.ToSlash(rel), "first.txt"); ok {
			base = dir
		}
		return nil
	})
	for _, name := range slices.Sorted(maps.Keys(s.Files)) {
		data, err := left(s.Dir, base+name, len(s.Files[name]))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return fmt.Sprintf("%q is missing", name)
		case err != nil:
			return fmt.Sprintf("%q: %v", name, err)
		case !bytes.Equal(data, s.Files[name]):
			return fmt.Sprintf("%q has %d bytes, and its %d are not all there", name, len(data), len(s.Files[name]))
		}
	}
	return ""
}

// Harm returns what was written outside of the folders of the case, or which secret went where it
// must not.
func (s *Stage) Harm() string {
	if harm := s.changed(); harm != "" {
		return harm
	}
	hidden := func(text string) bool { return s.Forbidden != "" && strings.HasPrefix(text, s.Forbidden) }
	if line, ok := sent(s.Servers, hidden); ok {
		return "it has sent a command that is hidden in a name: " + strconv.Quote(line.Text)
	}
	if _, ok := sent(s.Servers, s.HasPassword); ok && s.Clear {
		return "it has sent the password in the clear or to a stranger"
	}
	if _, ok := sent(s.Foreign, s.HasPassword); ok {
		return "it has sent the password to another host"
	}
	for _, spy := range s.spies {
		if s.secret(string(spy.heard())) {
			return "it has sent " + spy.about
		}
	}
	if s.Alarm != nil {
		return s.Alarm()
	}
	if s.Task == Deploy {
		return deployed{s}.damage()
	}
	return ""
}

// sent returns the first line that a client has sent to one of the servers and that is of a kind.
func sent(servers []*testserver.Server, kind func(octets string) bool) (testserver.Line, bool) {
	for _, srv := range servers {
		for _, line := range srv.Transcript() {
			if line.From == testserver.FromClient && kind(line.Octets) {
				return line, true
			}
		}
	}
	return testserver.Line{}, false
}

// secret reports whether a spy must not hear a text: the password, a hidden command, what is
// uploaded.
func (s *Stage) secret(text string) bool {
	uploaded := s.Task == Upload && len(s.Document) > 0 && strings.Contains(text, string(s.Document[:min(64, len(s.Document))]))
	return uploaded || s.HasPassword(text) || s.Forbidden != "" && strings.Contains(text, "\n"+s.Forbidden)
}

// HasPassword reports whether a text has the password of the case.
func (s *Stage) HasPassword(text string) bool {
	if s.Password != Password {
		return false
	}
	return strings.Contains(text, Password) || strings.Contains(text, base64.StdEncoding.EncodeToString([]byte(User+":"+Password)))
}

// changed returns what was changed outside of the folders of the case.
func (s *Stage) changed() string {
	after := s.snapshot()
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if after[name] != s.before[name] {
			return fmt.Sprintf("it has written %q outside of its folder", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.before)) {
		if _, ok := after[name]; !ok {
			return fmt.Sprintf("it has removed %q outside of its folder", name)
		}
	}
	return ""
}

// snapshot describes the files in the folder of the case that the client must not change.
func (s *Stage) snapshot() map[string]string {
	free := []string{s.Dir, s.Home, s.Path("tmp"), filepath.Dir(s.Out)}
	all := make(map[string]string)
	_ = filepath.WalkDir(s.root, func(name string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(s.root, name)
		switch {
		case err != nil:
			all[rel] = err.Error()
		case d.IsDir() && slices.Contains(free, name):
			return fs.SkipDir
		case d.Type()&fs.ModeSymlink != 0:
			target, _ := os.Readlink(name)
			all[rel] = "link " + target
		case d.Type().IsRegular():
			data, err := left(s.root, rel, 0)
			info, _ := d.Info()
			all[rel] = fmt.Sprint("file ", info.Size(), err, string(data))
		default:
			all[rel] = d.Type().String()
		}
		return nil
	})
	return all
}
