package interop

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The table in testdata/curl compares this program with curl. Each row is a command line of the
// shell in which "curl" is first the real one, then this program. Both must write the same to
// standard output and to files, store the same in the servers, and end with the same exit code.
//
// A row runs in a directory of its own that contains the seedFiles that it names. $FTP, $HTTP and
// so on are the servers that its lab starts. Lines that begin with # are comments; an indented line
// belongs to the row above:
//
//	differs: the reason why this program differs on purpose
//
// A row that is marked as different must differ.

const (
	minRows        = 150
	maxDifferences = 11
	rowsAtOnce     = 8 // more than there are cores, because some of them wait
	curlVersion    = "curl 7.88.1 "
)

// A row of the table.
type row struct {
	name    string // file and line, such as ftp/12
	command string
	differs string // the reason, or ""
}

// readTable returns the rows by file.
func readTable(t *testing.T) map[string][]row {
	t.Helper()
	files, err := filepath.Glob("testdata/curl/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("the table cannot be read: %v", err)
	}
	table := make(map[string][]row)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		group := strings.TrimSuffix(filepath.Base(file), ".txt")
		if table[group], err = readRows(group, string(text)); err != nil {
			t.Fatalf("%s:%v", file, err)
		}
	}
	return table
}

func readRows(group, text string) (rows []row, err error) {
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimRight(line, "\n")
		switch {
		case line == "" || line[0] == '#':
		case line[0] != ' ' && line[0] != '\t':
			rows = append(rows, row{name: fmt.Sprintf("%s/%d", group, number), command: line})
		default:
			reason, ok := strings.CutPrefix(strings.TrimSpace(line), "differs: ")
			if !ok || len(rows) == 0 || rows[len(rows)-1].differs != "" {
				return nil, fmt.Errorf("line %d: %q is not below a row", number, line)
			}
			rows[len(rows)-1].differs = reason
		}
	}
	return rows, nil
}

// TestCurlTable runs the whole table.
func TestCurlTable(t *testing.T) {
	t.Parallel()
	table := readTable(t)
	checkTable(t, table)
	curl := requireTool(t, "curl")
	if version, _ := runTool(t, curl, "-q", "--version"); !strings.HasPrefix(version, curlVersion) {
		if os.Getenv("CI") != "" {
			t.Fatalf("the table is for %s; this is %s", curlVersion, version)
		}
		t.Skipf("the table is for %s; this is %s", curlVersion, version)
	}
	programs := []string{named(t, "curl", curl), named(t, "curl", buildCommand(t))}
	// The directories stay until the end, because ext4 creates files slowly while many are being
	// removed.
	dir := t.TempDir()
	turns := make(chan struct{}, rowsAtOnce)
	var groups sync.WaitGroup
	for group, rows := range table {
		groups.Go(func() {
			t.Run(group, func(t *testing.T) {
				shared := startDaemons(t, rows)
				var wg sync.WaitGroup
				for _, r := range rows {
					wg.Go(func() {
						turns <- struct{}{}
						defer func() { <-turns }()
						t.Run(strings.TrimPrefix(r.name, group+"/"), func(t *testing.T) {
							curl, ours := r.start(t, dir, programs[0], shared, 0), r.start(t, dir, programs[1], shared, 1)
							r.compare(t, curl.result(t), ours.result(t))
						})
					})
				}
				wg.Wait()
			})
		})
	}
	groups.Wait()
}

// checkTable checks the number of rows, and that each runs curl and occurs once.
func checkTable(t *testing.T, table map[string][]row) {
	t.Helper()
	all, differing := make(map[string]string), 0
	for _, rows := range table {
		for _, r := range rows {
			if first, twice := all[r.command]; twice {
				t.Errorf("%s repeats %s: %s", r.name, first, r.command)
			}
			if !strings.Contains(r.command, "curl ") {
				t.Errorf("%s does not run curl: %s", r.name, r.command)
			}
			all[r.command] = r.name
			if r.differs != "" {
				differing++
			}
		}
	}
	if len(all) < minRows || differing > maxDifferences {
		t.Errorf("%d rows, %d of which differ; want at least %d rows, and at most %d that differ", len(all), differing, minRows, maxDifferences)
	}
	t.Logf("%d command lines, %d of which differ", len(all), differing)
}

// named returns a directory for PATH in which name is the program.
func named(t *testing.T, name, program string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.Symlink(program, filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A result is all that a script could use.
type result struct {
	code     int
	output   string
	files    map[string]string // names and contents
	stored   map[string]string // in the servers
	silent   bool              // nothing went to standard error
	messages string
}

// A trial is a row that runs with one program.
type trial struct {
	*lab
	cmd             *exec.Cmd
	out, complaints bytes.Buffer
	ctx             context.Context
}

// start starts the row with one program, in an environment of its own.
func (r row) start(t *testing.T, dir, bin string, shared []*daemons, program int) *trial {
	t.Helper()
	ctx := patience(t)
	tr := &trial{lab: newLab(t, dir, r, shared, program), ctx: ctx, cmd: exec.CommandContext(ctx, "/bin/sh", "-c", r.command)}
	home := filepath.Join(tr.dir, "home")
	files := seedFiles()
	maps.DeleteFunc(files, func(name string, _ seed) bool {
		first, _, _ := strings.Cut(name, "/")
		return !strings.Contains(r.command, first)
	})
	plantFiles(t, tr.work(), files)
	plantFiles(t, home, homeFiles())
	tr.cmd.Dir, tr.cmd.Stdout, tr.cmd.Stderr = tr.work(), &tr.out, &tr.complaints
	tr.cmd.Env = append(tr.variables(), "PATH="+bin+":/usr/bin:/bin", "HOME="+home, "TMPDIR="+tr.dir, "LANG=C.UTF-8", "TZ=UTC")
	tr.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	tr.cmd.Cancel = func() error { return syscall.Kill(-tr.cmd.Process.Pid, syscall.SIGKILL) }
	if err := tr.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return tr
}

func (tr *trial) work() string { return filepath.Join(tr.dir, "work") }

// result waits for the end of the trial.
func (tr *trial) result(t *testing.T) result {
	t.Helper()
	err := tr.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || tr.ctx.Err() != nil) {
		t.Errorf("%v: %v: %s", tr.cmd, err, tr.complaints.String())
	}
	return result{
		code: tr.cmd.ProcessState.ExitCode(), output: tr.plain(tr.out.String()), files: tr.readTree(t, tr.work()), stored: tr.stored(t),
		silent: tr.complaints.Len() == 0, messages: tr.complaints.String(),
	}
}

// asksSilence matches the options after which standard error has only what the user requested.
var asksSilence = regexp.MustCompile(` (-[a-zA-Z]*s[a-zA-Z]*|--silent) `)

// compare reports how the results differ.
func (r row) compare(t *testing.T, curl, ours result) {
	t.Helper()
	var found []string
	tell := func(what, diff string) {
		if diff != "" {
			found = append(found, what+" (-curl +ours):\n"+diff)
		}
	}
	tell("exit code", cmp.Diff(curl.code, ours.code))
	tell("standard output", cmp.Diff(curl.output, ours.output))
	tell("files", cmp.Diff(curl.files, ours.files))
	tell("stored", cmp.Diff(curl.stored, ours.stored))
	if asksSilence.MatchString(r.command) {
		tell("silence", cmp.Diff(curl.silent, ours.silent))
	}
	switch {
	case r.differs == "" && len(found) > 0:
		t.Errorf("%s: %s\n%s\nmessages of curl:\n%s\nmessages of fetch1738:\n%s", r.name, r.command, strings.Join(found, "\n"), curl.messages, ours.messages)
	case r.differs != "" && len(found) == 0:
		t.Errorf("%s: %s\nThe row no longer differs; remove its reason: %s", r.name, r.command, r.differs)
	}
}

// A seed is a file to create.
type seed struct {
	text string
	mode fs.FileMode
}

// seedFiles returns the files in the directory in which a row runs.
func seedFiles() map[string]seed {
	return map[string]seed{
		"local.txt":  {"one\ntwo\nthree\n", 0o644},
		"local.bin":  {string(everyOctet()), 0o644},
		"part":       {digits[:4], 0o644},
		"whole":      {digits, 0o644},
		"longer":     {digits + "more", 0o644},
		"secret":     {"default login lab password secret\n", 0o600},
		"dir/in.txt": {"in a directory\n", 0o644},
	}
}

// homeFiles returns the files in $HOME.
func homeFiles() map[string]seed {
	return map[string]seed{".netrc": {"machine 127.0.0.1 login lab password secret\n", 0o600}}
}

// planted is the modification time of all files before a row runs.
var planted = time.Date(1995, time.March, 4, 5, 6, 7, 0, time.UTC)

// plantFiles fills a new directory.
func plantFiles(t *testing.T, dir string, files map[string]seed) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, file := range files {
		path := filepath.Join(dir, name)
		err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(file.text), file.mode), os.Chtimes(path, planted, planted))
		if err != nil {
			t.Fatal(err)
		}
	}
}

// readTree returns the content of a directory: for each name the mode, the contents and the
// modification time, unless that is during this test.
func (l *lab) readTree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		name := l.plain(strings.TrimPrefix(path, dir+"/"))
		if !info.Mode().IsRegular() {
			files[name] = info.Mode().String()
			return nil
		}
		data, err := os.ReadFile(path)
		when := "now"
		if age := time.Since(info.ModTime()); age > time.Hour || age < -time.Hour {
			when = info.ModTime().UTC().Format(time.DateTime)
		}
		files[name] = fmt.Sprintf("%v %s\n%s", info.Mode(), when, l.plain(string(data)))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	maps.DeleteFunc(files, func(name, text string) bool { // files that did not change
		file, ok := seedFiles()[name]
		return ok && text == fmt.Sprintf("%v %s\n%s", file.mode, planted.Format(time.DateTime), file.text)
	})
	return files
}
