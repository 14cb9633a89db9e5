//go:build linux

package simdisk

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/internal/file/disk"
)

// TestAsSystem compares the simulated disk with the system for sequences of random operations.
func TestAsSystem(t *testing.T) {
	for seed := range uint64(400) {
		script := make([]byte, 600)
		r := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)})
		_, _ = r.Read(script)
		if !t.Run(fmt.Sprint(seed), func(t *testing.T) { compare(t, script) }) {
			return
		}
	}
}

// FuzzAsSystem is TestAsSystem for other sequences.
func FuzzAsSystem(f *testing.F) {
	f.Fuzz(compare)
}

// A pair is the same of the system and of the simulated disk.
type pair[T any] struct{ real, simulated T }

type comparison struct {
	t       *testing.T
	script  []byte
	dir     string
	disk    *Disk
	folders [3]pair[disk.Folder] // all files, and two roots
	files   [4]pair[disk.File]
	steps   []string
}

// compare performs the operations of a script on both disks.
func compare(t *testing.T, script []byte) {
	if len(script) > 4000 {
		t.Skip()
	}
	top := t.TempDir()
	dir := top + strings.Repeat("/up", 8) // links and names must not lead out of top
	c := &comparison{t: t, script: script, dir: dir, disk: New(Options{})}
	process := c.disk.Process(nil)
	c.folders[0] = pair[disk.Folder]{disk.System(), process}
	for _, d := range []disk.Disk{disk.System(), process} {
		if err := d.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for i := range c.folders[1:] {
		c.openRoot(0, i+1, dir)
	}
	for len(c.script) > 0 && !t.Failed() {
		c.step()
	}
	for i := range c.files {
		c.closeFile(i)
	}
	for _, f := range c.folders[1:] {
		f.real.Close()
		f.simulated.Close()
	}
	if open := process.Open(); len(open) > 0 {
		t.Errorf("still open: %q", open)
	}
	if !t.Failed() {
		c.compareTrees(top)
	}
	if t.Failed() {
		t.Log(strings.Join(c.steps[max(0, len(c.steps)-30):], "\n"))
	}
}

func (c *comparison) next(n int) int {
	if len(c.script) == 0 {
		return 0
	}
	b := c.script[0]
	c.script = c.script[1:]
	return int(b) % n
}

func (c *comparison) flag() bool { return c.next(2) == 1 }

// path returns a path: most of them exist now and then.
func (c *comparison) path(folder int) string {
	parts := []string{"a", "b", "d", "d", "e", "A"}[c.next(6):][:1]
	for range []int{0, 0, 1, 1, 2, 3}[c.next(6)] {
		parts = append(slices.Clip(parts), []string{"a", "b", "d", "e", ".", ".."}[c.next(6)])
	}
	name := strings.Join(parts, "/")
	switch c.next(40) {
	case 0:
		name += "/"
	case 1:
		name = "."
	case 2:
		name = "../" + name
	case 3:
		name = "./" + strings.ReplaceAll(name, "/", "//")
	case 4:
		name = strings.Repeat("n", 254+c.next(4))
	case 5:
		name = []string{"", "/", "..", "a\x00"}[c.next(4)]
		if name == "" && folder == 0 {
			return name
		}
	}
	if folder == 0 {
		return c.dir + "/" + name
	}
	return name
}

func (c *comparison) perm() fs.FileMode {
	perm := []fs.FileMode{0o666, 0o777, 0o600, 0o700, 0o700, 0o400, 0o200, 0o500, 0o000}[c.next(9)]
	if os.Getuid() == 0 {
		perm |= 0o700 // permissions are not checked
	}
	return perm
}

// same reports a difference between the results of both disks.
func (c *comparison) same(real, simulated any, realErr, simulatedErr error) {
	c.t.Helper()
	c.steps = append(c.steps, fmt.Sprintf("\t%v, %v", real, realErr))
	if a, b := text(realErr), text(simulatedErr); a != b {
		c.t.Errorf("the system returns\n%s, the simulated disk\n%s", a, b)
	}
	if a, b := fmt.Sprintf("%v", real), fmt.Sprintf("%v", simulated); a != b {
		c.t.Errorf("the system returns\n%s, the simulated disk\n%s", a, b)
	}
}

// sameOfTwo is same for operations with two names: which of two errors comes first is of no
// interest.
func (c *comparison) sameOfTwo(real, simulated error) {
	c.t.Helper()
	if real != nil && simulated != nil && (errors.Is(real, fs.ErrPermission) || errors.Is(simulated, fs.ErrPermission)) {
		return
	}
	c.same(nil, nil, real, simulated)
}

// text describes an error with its types and sentinels.
func text(err error) string {
	for err, is := err, (*fs.PathError)(nil); errors.As(err, &is); {
		if is.Err.Error() == "use of closed file" {
			is.Err = fs.ErrClosed // Readdirnames does not translate it
		}
		err = is.Err
	}
	s := fmt.Sprintf("%T %v", err, err)
	if strings.Contains(s, "mkdirall") {
		s = ""
	}
	for _, sentinel := range []error{io.EOF, fs.ErrNotExist, fs.ErrExist, fs.ErrPermission, fs.ErrClosed, fs.ErrInvalid} {
		if errors.Is(err, sentinel) {
			s += ", is " + sentinel.Error()
		}
	}
	return s
}

func (c *comparison) log(format string, args ...any) {
	c.steps = append(c.steps, fmt.Sprintf(format, args...))
}

func (c *comparison) openRoot(from, to int, name string) {
	c.log("OpenRoot of %d at %q to %d", from, name, to)
	real, realErr := c.folders[from].real.OpenRoot(name)
	simulated, simulatedErr := c.folders[from].simulated.OpenRoot(name)
	c.same(nil, nil, realErr, simulatedErr)
	if realErr != nil || simulatedErr != nil {
		return
	}
	if old := c.folders[to]; old.real != nil {
		old.real.Close()
		old.simulated.Close()
	}
	c.folders[to] = pair[disk.Folder]{real, simulated}
}

func (c *comparison) closeFile(i int) {
	if f := c.files[i]; f.real != nil {
		c.log("close file %d", i)
		c.same(nil, nil, f.real.Close(), f.simulated.Close())
		c.files[i] = pair[disk.File]{}
	}
}

// step performs one operation.
func (c *comparison) step() {
	if c.next(2) == 0 {
		c.stepOfFile()
		return
	}
	n := c.next(3)
	f := c.folders[n]
	name := c.path(n)
	c.log("in folder %d %q", n, name)
	switch op := c.next(14); op {
	case 0, 1, 2:
		flag := []int{os.O_RDONLY, os.O_WRONLY, os.O_RDWR, os.O_RDWR}[c.next(4)]
		for i, more := range []int{os.O_CREATE, os.O_EXCL, os.O_TRUNC, os.O_APPEND} {
			if c.next(2+2*i) == 0 {
				flag |= more
			}
		}
		if flag&os.O_CREATE == 0 {
			flag &^= os.O_EXCL // undefined
		}
		perm, i := c.perm(), c.next(len(c.files))
		c.closeFile(i)
		c.log("open %#x, %v as file %d", flag, perm, i)
		real, realErr := f.real.OpenFile(name, flag, perm)
		simulated, simulatedErr := f.simulated.OpenFile(name, flag, perm)
		c.same(nil, nil, realErr, simulatedErr)
		if realErr == nil && simulatedErr == nil {
			c.files[i] = pair[disk.File]{real, simulated}
			c.same(real.Name(), simulated.Name(), nil, nil)
		}
	case 3:
		c.log("stat")
		a, aErr := f.real.Stat(name)
		b, bErr := f.simulated.Stat(name)
		c.same(infoText(a), infoText(b), aErr, bErr)
	case 4:
		c.log("lstat")
		a, aErr := f.real.Lstat(name)
		b, bErr := f.simulated.Lstat(name)
		c.same(infoText(a), infoText(b), aErr, bErr)
	case 5:
		perm := c.perm()
		c.log("mkdir %v", perm)
		c.same(nil, nil, f.real.Mkdir(name, perm), f.simulated.Mkdir(name, perm))
	case 6:
		perm := c.perm()
		c.log("mkdirall %v", perm)
		a, b := f.real.MkdirAll(name, perm), f.simulated.MkdirAll(name, perm)
		c.same(nil, nil, inner(a), inner(b))
	case 7, 8:
		to := c.path(n)
		if odd(name + to) {
			return
		}
		c.log("rename to %q", to)
		c.sameOfTwo(f.real.Rename(name, to), f.simulated.Rename(name, to))
	case 9:
		to := c.path(n)
		if odd(name + to) {
			return
		}
		c.log("link to %q", to)
		c.sameOfTwo(f.real.Link(name, to), f.simulated.Link(name, to))
	case 10:
		c.log("remove")
		c.same(nil, nil, f.real.Remove(name), f.simulated.Remove(name))
	case 11:
		var modified time.Time
		if c.flag() {
			modified = time.Unix(int64(c.next(256)), 5)
		}
		c.log("chtimes %v", modified)
		c.same(nil, nil, f.real.Chtimes(name, time.Unix(1, 0), modified), f.simulated.Chtimes(name, time.Unix(1, 0), modified))
	case 12:
		c.symlink()
	default:
		if n > 0 && c.next(4) > 0 {
			c.openRoot(n, 2, name)
			return
		}
		if odd(name) {
			return
		}
		c.log("eval")
		a, aErr := filepath.EvalSymlinks(c.dir + "/" + name)
		b, bErr := c.folders[0].simulated.(disk.Disk).EvalSymlinks(c.dir + "/" + name)
		c.same(a, b, inner(aErr), inner(bErr))
	}
}

// odd reports whether no file can have one of these names. With two of them, it is of no interest
// which error comes first.
func odd(names string) bool { return strings.Contains(names, "nnn") || strings.Contains(names, "\x00") }

// inner returns the cause of an error of package os.
func inner(err error) error {
	for {
		is, ok := errors.AsType[*fs.PathError](err)
		if !ok {
			return err
		}
		err = is.Err
	}
}

// symlink creates a link in both.
func (c *comparison) symlink() {
	name := c.dir + "/" + []string{"a", "b", "d", "e", "d/a", "d/d"}[c.next(6)]
	target := []string{"a", "b", "d", "e", "d/../a", "d/a", "d/", ".", "./e", c.dir + "/d", c.dir + "/a", c.dir + "/", "d/../b", "e/d/e"}[c.next(14)]
	if info, err := os.Lstat(filepath.Dir(name)); err != nil || !info.IsDir() || os.Symlink(target, name) != nil {
		return
	}
	c.log("%q is a link to %q", name, target)
	c.disk.Symlink(target, name)
}

func (c *comparison) stepOfFile() {
	i := c.next(len(c.files))
	f := c.files[i]
	if f.real == nil {
		return
	}
	info, _ := f.real.Stat()
	isDir := info != nil && info.IsDir()
	n := int64([]int{0, 1, 10, 500, 600, 1500}[c.next(6)])
	a, b := make([]byte, n), make([]byte, n)
	both := func(move func(f disk.File, p []byte) (int, error)) {
		m, aErr := move(f.real, a)
		k, bErr := move(f.simulated, b)
		c.same(m, k, aErr, bErr)
	}
	c.log("file %d", i)
	switch op := c.next(12); op {
	case 0, 1:
		off := int64(c.next(4)*300 - 100)
		if isDir {
			op = 1
		}
		if c.log("read %d of %d at %d", op, n, off); op == 0 {
			both(disk.File.Read)
		} else {
			both(func(f disk.File, p []byte) (int, error) { return f.ReadAt(p, off) })
		}
		if !bytes.Equal(a, b) {
			c.t.Errorf("read %q and %q", a, b)
		}
	case 2, 3:
		for i := range a {
			a[i] = byte('a' + len(c.steps)%26)
		}
		copy(b, a)
		off := int64(c.next(4)*300 - 100)
		if c.log("write %d of %d at %d", op, n, off); op == 2 {
			both(disk.File.Write)
		} else {
			both(func(f disk.File, p []byte) (int, error) { return f.WriteAt(p, off) })
		}
	case 4:
		whence := []int{io.SeekStart, io.SeekCurrent, io.SeekEnd, 9}[c.next(4)]
		if off := n - 10; !isDir {
			c.log("seek %d %d", off, whence)
			m, aErr := f.real.Seek(off, whence)
			k, bErr := f.simulated.Seek(off, whence)
			c.same(m, k, aErr, bErr)
		}
	case 5:
		c.log("truncate %d", n-1)
		c.same(nil, nil, f.real.Truncate(n-1), f.simulated.Truncate(n-1))
	case 6:
		c.log("stat")
		x, aErr := f.real.Stat()
		y, bErr := f.simulated.Stat()
		c.same(infoText(x), infoText(y), aErr, bErr)
	case 7:
		perm := c.perm()
		c.log("chmod %v", perm)
		c.same(nil, nil, f.real.Chmod(perm), f.simulated.Chmod(perm))
	case 8:
		_ = f.simulated.Sync() // takes long on the system
	case 9:
		c.log("list")
		if isDir {
			_, aErr := f.real.Seek(0, io.SeekStart)
			_, bErr := f.simulated.Seek(0, io.SeekStart)
			c.same(nil, nil, aErr, bErr)
		}
		x, aErr := list(f.real, int(n))
		y, bErr := list(f.simulated, int(n))
		c.same(x, y, aErr, bErr)
	case 10:
		c.log("close")
		c.same(nil, nil, f.real.Close(), f.simulated.Close())
	case 11:
		c.log("lock")
		j := c.next(len(c.files))
		if g := c.files[j]; g.real != nil && g.real.Name()[0] == '/' && j != i && !isDir {
			a := lockAgain(c.folders[0].real, g.real)
			b := lockAgain(c.folders[0].simulated, g.simulated)
			c.same(a, b, nil, nil)
		}
	}
}

// lockAgain locks a file, and reports whether another one at its name can then be locked.
func lockAgain(d disk.Folder, f disk.File) string {
	name := f.Name()
	open := func() (disk.File, error) { return d.OpenFile(name, os.O_RDONLY, 0) }
	stat := func() (fs.FileInfo, error) { return d.Stat(name) }
	one, err := disk.Lock(func() (disk.File, error) { return f, nil }, f.Stat)
	if err != nil {
		return "not locked: " + fmt.Sprint(errors.Is(err, disk.ErrBusy))
	}
	two, err := disk.Lock(open, stat)
	if err == nil {
		two.Close()
	}
	return fmt.Sprint(one.Info.Mode().IsRegular(), errors.Is(err, disk.ErrBusy), err != nil)
}

// list returns the sorted names that a directory lists, n at once.
func list(f disk.File, n int) (all []string, err error) {
	for {
		names, err := f.Readdirnames(n)
		all = append(all, names...)
		if n <= 0 || err != nil {
			slices.Sort(all)
			return all, err
		}
	}
}

func infoText(i fs.FileInfo) string {
	if i == nil {
		return ""
	}
	s := fmt.Sprintf("%s %v %v", i.Name(), i.Mode().Type(), i.Mode().Perm()&0o700)
	if !i.IsDir() {
		s += fmt.Sprintf(" %d", i.Size())
	}
	if i.ModTime().Year() < 2000 {
		s += fmt.Sprint(" ", i.ModTime())
	}
	return s
}

// compareTrees compares what is left on both disks, including which names are one file.
func (c *comparison) compareTrees(top string) {
	var nodes []pair[fs.FileInfo]
	var real, simulated []string
	describe := func(name string, i fs.FileInfo, content []byte, target string) string {
		return fmt.Sprintf("%s: %s %q %q", name, infoText(i), content, target)
	}
	err := filepath.WalkDir(top, func(name string, _ fs.DirEntry, _ error) error {
		one, err := os.Lstat(name)
		if err != nil {
			return err
		}
		content, target := []byte(nil), ""
		switch mode := one.Mode(); {
		case mode&fs.ModeSymlink != 0:
			target, err = os.Readlink(name)
		case mode&0o700 != 0o700:
			err = os.Chmod(name, 0o700)
		}
		if err == nil && one.Mode().IsRegular() {
			content, err = os.ReadFile(name)
		}
		if err != nil {
			return err
		}
		other, err := c.folders[0].simulated.Lstat(name)
		if err != nil {
			return err
		}
		n := other.(*info).node
		nodes = append(nodes, pair[fs.FileInfo]{one, other})
		real = append(real, describe(name, one, content, target))
		simulated = append(simulated, describe(name, other, n.data, n.target))
		n.mode |= 0o700
		return nil
	})
	if err != nil {
		c.t.Fatal(err)
	}
	c.same(strings.Join(real, "\n"), strings.Join(simulated, "\n"), nil, nil)
	for i, a := range nodes {
		for _, b := range nodes[:i] {
			if disk.SameFile(a.real, b.real) != disk.SameFile(a.simulated, b.simulated) {
				c.t.Errorf("%s and %s are one file on one of the disks", a.real.Name(), b.real.Name())
			}
		}
	}
	var count int
	for range c.disk.root.tree("") {
		count++
	}
	if above := strings.Count(top, "/") - 1; count != len(nodes)+above {
		c.t.Errorf("the simulated disk has %d names, the system %d", count-above, len(nodes))
	}
}
