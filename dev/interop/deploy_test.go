package interop

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/dev/interop/ftpservers"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// An uploader is a folder that is brought to a server, which has files of its owner already.
type uploader struct {
	dir    string // the folder
	home   string // the user's, which has the state
	url    string
	server interface { // the directory of the URL, without asking the server
		files(t *testing.T) map[string]string
		put(t *testing.T, name, data string)
	}
	owned   map[string]string            // the owner's files
	proofs  int                          // files that each run sends twice, as it has to find out that the server does not rename
	program func(t *testing.T) *exec.Cmd // another one than ours, or nil
}

// A diskSite is a directory of a server on this disk.
type diskSite string

func (root diskSite) files(t *testing.T) map[string]string {
	t.Helper()
	return filesBelow(t, string(root))
}

func (root diskSite) put(t *testing.T, name, data string) {
	t.Helper()
	file := filepath.Join(string(root), name)
	makeDir(t, filepath.Dir(file), 0o755)
	writeFile(t, file, data)
	ftpservers.Own(t, string(root))
}

// A memorySite is a directory of a server of package testserver.
type memorySite struct {
	*testserver.Server
	dir string
}

func (s memorySite) files(t *testing.T) map[string]string {
	t.Helper()
	found := make(map[string]string)
	err := fs.WalkDir(s.Files(), s.dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := fs.ReadFile(s.Files(), name)
		found[strings.TrimPrefix(name, s.dir+"/")] = string(data)
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return found
}

func (s memorySite) put(t *testing.T, name, data string) {
	t.Helper()
	if err := s.Put(s.dir+"/"+name, []byte(data)); err != nil {
		t.Fatal(err)
	}
}

// filesBelow returns the content of the files of a tree, without the manifest of a copy.
func filesBelow(t *testing.T, root string) map[string]string {
	t.Helper()
	found := make(map[string]string)
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		name, _ := filepath.Rel(root, path)
		switch {
		case err != nil:
			return err
		case e.IsDir() && name == ".fetch1738":
			return fs.SkipDir
		}
		if info, err := os.Stat(path); err != nil || info.IsDir() {
			return err // a folder, or a link to one
		}
		data, err := os.ReadFile(path)
		found[name] = string(data)
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return found
}

// owned are the files that the owner of a server has there. Two have the names of temporary files.
func owned() map[string]string {
	return map[string]string{
		"owner.txt": "the owner's\n", "sub/owner.bin": string(binary[:5000]), "sub/fetch1738-00112233445566778899aabb.part": "not ours\n",
		"fetch1738-ffeeddccbbaa998877665544.part": string(binary[:60_000]), "fetch1738-old.part": "",
	}
}

// newUploader creates the folder, and what the owner has on the server.
func newUploader(t *testing.T, url string, d uploader) *uploader {
	t.Helper()
	d.dir, d.home, d.url, d.owned = t.TempDir(), t.TempDir(), url, owned()
	for _, name := range slices.Sorted(maps.Keys(d.owned)) {
		d.server.put(t, name, d.owned[name])
	}
	return &d
}

// ofDaemon starts a server of package ftpservers.
func ofDaemon(t *testing.T, name string, settings ...string) *uploader {
	t.Helper()
	root := filepath.Join(serverDir(t), "root")
	makeDir(t, filepath.Join(root, "htdocs"), 0o755)
	ftpservers.Own(t, root)
	return ofServer(t, ftpservers.Named(t, name).Start(t, &ftpservers.Server{Root: root, Settings: settings}))
}

// ofPureFTPd starts pure-ftpd with options.
func ofPureFTPd(t *testing.T, options ...string) *uploader {
	t.Helper()
	root := filepath.Join(serverDir(t), "root")
	makeDir(t, filepath.Join(root, "htdocs"), 0o755)
	ftpservers.Own(t, root)
	return ofServer(t, ftpservers.StartPureFTPd(t, root, options...))
}

func ofServer(t *testing.T, srv *ftpservers.Server) *uploader {
	t.Helper()
	return newUploader(t, "ftp://"+labUser+":"+labPassword+"@"+srv.Addr+"/htdocs/", uploader{server: diskSite(filepath.Join(srv.Root, "htdocs"))})
}

// ofPersonality starts a server of package ftptest.
func ofPersonality(t *testing.T, configure ...func(*ftptest.Server)) (*uploader, *ftptest.Server) {
	t.Helper()
	srv := ftptest.New(t, configure...)
	return newUploader(t, srv.URL+"/htdocs/", uploader{server: memorySite{&srv.Server, "htdocs"}}), srv
}

// write creates a file of the folder, which was modified some time ago.
func (d *uploader) write(t *testing.T, name, data string, hours int) {
	t.Helper()
	path := filepath.Join(d.dir, name)
	makeDir(t, filepath.Dir(path), 0o755)
	writeFile(t, path, data)
	when := time.Now().Add(-time.Duration(hours) * time.Hour)
	if err := os.Chtimes(path, when, when); err != nil {
		t.Fatal(err)
	}
}

func (d *uploader) remove(t *testing.T, name string) {
	t.Helper()
	if err := os.Remove(filepath.Join(d.dir, name)); err != nil {
		t.Fatal(err)
	}
}

// An uploaded is what a run of the command has done.
type uploaded struct {
	code      int
	out, said string
}

// times returns how often a command was sent.
func (r uploaded) times(command string) (n int) {
	for line := range strings.Lines(r.said) {
		if line = strings.TrimSpace(line); line == "> "+command || strings.HasPrefix(line, "> "+command+" ") {
			n++
		}
	}
	return n
}

// last returns the last line of standard output.
func (r uploaded) last() string {
	lines := strings.Split(strings.TrimSpace(r.out), "\n")
	return lines[len(lines)-1]
}

// command returns the command that brings the folder to the server.
func (d *uploader) command(t *testing.T, options ...string) *exec.Cmd {
	t.Helper()
	if d.program != nil {
		return d.program(t)
	}
	cmd := exec.CommandContext(patience(t), buildCommand(t), slices.Concat([]string{"mirror", "-vv"}, options, []string{d.dir, d.url})...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + d.home, "LANG=C.UTF-8", "TZ=UTC"}
	return cmd
}

// run runs the command, whose exit code must be the given one.
func (d *uploader) run(t *testing.T, code int, options ...string) uploaded {
	t.Helper()
	r := d.try(t, options...)
	if r.code != code {
		t.Errorf("%q: exit %d, want %d\n%s\n%s", options, r.code, code, r.out, tail(r.said))
	}
	return r
}

func (d *uploader) try(t *testing.T, options ...string) uploaded {
	t.Helper()
	cmd := d.command(t, options...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return uploaded{cmd.ProcessState.ExitCode(), out.String(), said.String()}
}

// tail returns the end of a text.
func tail(text string) string { return text[max(0, len(text)-6000):] }

// check requires that the server has the owner's files, those of the folder, and others that are
// given, and no more.
func (d *uploader) check(t *testing.T, others map[string]string) {
	t.Helper()
	want := maps.Clone(d.owned)
	maps.Copy(want, filesBelow(t, d.dir))
	maps.Copy(want, others)
	if diff := differences(d.server.files(t), want); len(diff) > 0 {
		t.Errorf("the server has not what it should: %s", strings.Join(diff, "; "))
	}
}

func differences(got, want map[string]string) (diff []string) {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		switch data, ok := got[name]; {
		case !ok:
			diff = append(diff, fmt.Sprintf("%q is missing", name))
		case data != want[name]:
			diff = append(diff, fmt.Sprintf("%q has %d bytes, want %d, or the contents differ", name, len(data), len(want[name])))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[name]; !ok {
			diff = append(diff, fmt.Sprintf("%q is not wanted", name))
		}
	}
	return diff
}

// counts requires the beginning of the line of totals.
func (r uploaded) counts(t *testing.T, fresh, changed, unchanged int) {
	t.Helper()
	want := fmt.Sprintf("%d new, %d changed, %d unchanged,", fresh, changed, unchanged)
	if !strings.Contains("\n"+r.out, "\n"+want) {
		t.Errorf("no %q in %s\n%s", want, r.out, tail(r.said))
	}
}

// sends requires how many transfers there were to the server, and from it.
func (r uploaded) sends(t *testing.T, up, down int) {
	t.Helper()
	if n := r.times("STOR") + r.times("APPE") + r.times("PUT"); n != up {
		t.Errorf("%d uploads, want %d\n%s", n, up, tail(r.said))
	}
	if n := r.times("RETR") + r.times("GET"); n != down {
		t.Errorf("%d downloads, want %d\n%s", n, down, tail(r.said))
	}
}

// checkDeploy brings a folder to a server, and tests what it has and what is sent.
func checkDeploy(t *testing.T, d *uploader) {
	t.Helper()
	d.write(t, "index.html", "index\n", 30)
	d.write(t, "a b/c d.txt", "spaced\n", 300)
	d.write(t, ".dot", "a dot\n", 3000)
	d.write(t, "sub/empty", "", 30_000)
	d.write(t, "big", string(binary), 5)
	d.write(t, "sub/new/x", "x\n", 7)
	d.run(t, 0).counts(t, 6, 0, 0)
	d.check(t, nil)

	r := d.run(t, 0)
	r.counts(t, 0, 0, 6)
	r.sends(t, 0, 0)
	for _, command := range []string{"MKD", "DELE", "RNFR", "MFMT", "SITE"} {
		if n := r.times(command); n > 0 {
			t.Errorf("%d times %s in a run without changes", n, command)
		}
	}

	d.write(t, "index.html", "INDEX\n", 0) // of the same size
	r = d.run(t, 0)
	r.counts(t, 0, 1, 5)
	if !strings.HasPrefix(d.url, "file:") {
		r.sends(t, 1+d.proofs, 0)
	}
	d.check(t, nil)

	remember := d.hideState(t) // a first run on a server that has everything: the contents are compared, unless the times are equal
	r = d.run(t, 0)
	r.counts(t, 0, 0, 6)
	if n := r.times("STOR"); n > 0 {
		t.Errorf("%d files were sent that the server had", n)
	}
	d.run(t, 0).sends(t, 0, 0)
	d.remove(t, "sub/new/x")
	d.run(t, 0, "--delete").counts(t, 0, 0, 5)
	d.check(t, map[string]string{"sub/new/x": "x\n"}) // no run that the state knows has put it there
	remember()

	d.write(t, "sub/new/y", "y\n", 8)
	d.remove(t, "a b/c d.txt")
	d.write(t, "a b/e", "e\n", 8)
	d.run(t, 0).counts(t, 2, 0, 4)
	gone := map[string]string{"sub/new/x": "x\n", "a b/c d.txt": "the owner has changed it\n"}
	d.server.put(t, "a b/c d.txt", gone["a b/c d.txt"])
	d.check(t, gone)
	d.run(t, 0, "--delete").counts(t, 0, 0, 6)
	delete(gone, "sub/new/x")
	d.check(t, gone)

	kept := filesBelow(t, d.dir)
	maps.Copy(kept, gone)
	for name := range filesBelow(t, d.dir) {
		d.remove(t, name)
	}
	d.run(t, 18, "--delete")
	d.check(t, kept)
	for _, folder := range []string{"sub/new", "sub", "a b"} {
		d.remove(t, folder)
	}
	d.run(t, 18, "--delete")
	d.check(t, kept)
}

// hideState takes the state away, and returns a function that brings it back.
func (d *uploader) hideState(t *testing.T) (remember func()) {
	t.Helper()
	state, away := filepath.Join(d.home, ".local"), filepath.Join(t.TempDir(), "state")
	if err := os.Rename(state, away); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := errors.Join(os.RemoveAll(state), os.Rename(away, state)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDeployServers(t *testing.T) {
	t.Parallel()
	for _, kind := range ftpservers.Kinds() {
		if kind.Name == "testserver" {
			continue // see TestDeployPersonalities
		}
		t.Run(kind.Name, func(t *testing.T) {
			t.Parallel()
			checkDeploy(t, ofDaemon(t, kind.Name))
		})
	}
}

// misleading are the personalities of servers with which an upload cannot succeed. They must not
// have it end with success.
var misleading = []string{"pasv-refused", "unasked-refusal", "truncating-list", "lists-nothing", "stor-refused", "stor-refused-drained"}

func TestDeployPersonalities(t *testing.T) {
	t.Parallel()
	for _, p := range ftptest.Personalities() {
		if slices.Contains([]string{"late-226", "pasv-silent", "pasv-unaccepted"}, p.Name) {
			continue // they make clients wait
		}
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			d, _ := ofPersonality(t, p.Configure)
			if p.Name == "rename-refused" {
				d.proofs = 1
			}
			if !slices.Contains(misleading, p.Name) {
				checkDeploy(t, d)
				return
			}
			d.write(t, "index.html", "index\n", 30)
			d.write(t, "sub/big", string(binary)+"and more", 5)
			for range 3 {
				if r := d.try(t, "--delete"); r.code == 0 {
					t.Errorf("exit 0\n%s\n%s", r.out, tail(r.said))
				}
				for name, data := range d.owned {
					if d.server.files(t)[name] != data {
						t.Errorf("the owner's %s has changed", name)
					}
				}
			}
		})
	}
}

// TestDeployFiles tests file URLs.
func TestDeployFiles(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "a b", "site")
	checkDeploy(t, newUploader(t, "file://"+strings.ReplaceAll(root, " ", "%20")+"/", uploader{server: diskSite(root)}))
}

func TestDeployNginx(t *testing.T) {
	t.Parallel()
	srv := startNginx(t)
	root := filepath.Join(filepath.Dir(srv.root), "dav/site")
	checkDeploy(t, newUploader(t, "http://"+srv.addr+"/dav/site/", uploader{server: openSite(root)}))
}

// An openSite is a diskSite in which everybody may write.
type openSite string

func (root openSite) files(t *testing.T) map[string]string { return filesBelow(t, string(root)) }

func (root openSite) put(t *testing.T, name, data string) {
	t.Helper()
	file := filepath.Join(string(root), name)
	makeDir(t, filepath.Dir(file), 0o777)
	writeFile(t, file, data)
	err := filepath.WalkDir(string(root), func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			err = os.Chmod(path, 0o777)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestDeployWays tests servers that do not rename files as usual.
func TestDeployWays(t *testing.T) {
	t.Parallel()
	old := func(t *testing.T, d *uploader) {
		t.Helper()
		d.server.put(t, "index.html", "the old page\n")
		d.write(t, "index.html", "index\n", 30)
		d.write(t, "sub/x", "x\n", 30)
	}
	said := func(t *testing.T, r uploaded, text string) {
		t.Helper()
		if n := strings.Count(r.said, text); n != 1 {
			t.Errorf("%d times %q in\n%s", n, text, tail(r.said))
		}
	}
	const replaces, renames = "does not replace a file by renaming another one", "has refused to rename a file"
	t.Run("no replacing", func(t *testing.T) {
		t.Parallel()
		d, srv := ofPersonality(t, ftptest.IIS)
		old(t, d)
		d.write(t, "page.html", "page\n", 30)
		d.server.put(t, "page.html", "the old one\n")
		for n := range 2 { // a file that is refused is renamed once more
			srv.On("RNTO index.html", n+1, testserver.Reply("550 Cannot create a file when that file already exists."))
		}
		said(t, d.run(t, 0, "--connections", "1"), replaces)
		d.check(t, nil)
	})
	t.Run("no renaming", func(t *testing.T) {
		t.Parallel()
		d, _ := ofPersonality(t, func(s *ftptest.Server) { s.Hide = append(s.Hide, "RNFR", "RNTO") })
		old(t, d)
		said(t, d.run(t, 0), renames)
		d.check(t, nil)
		d.run(t, 0).sends(t, 0, 0)
	})
	for name, start := range map[string]func(t *testing.T) *uploader{ // renaming is disabled
		"pure-ftpd -G":      func(t *testing.T) *uploader { t.Helper(); return ofPureFTPd(t, "-G") },
		"vsftpd RNTO":       func(t *testing.T) *uploader { t.Helper(); return ofDaemon(t, "vsftpd", "cmds_denied=RNTO") },
		"vsftpd RNTO, DELE": func(t *testing.T) *uploader { t.Helper(); return ofDaemon(t, "vsftpd", "cmds_denied=RNTO,DELE") },
		"proftpd RNTO": func(t *testing.T) *uploader {
			t.Helper()
			return ofDaemon(t, "proftpd", "<Limit RNTO>", "DenyAll", "</Limit>")
		},
		"proftpd RNFR, RNTO": func(t *testing.T) *uploader {
			t.Helper()
			return ofDaemon(t, "proftpd", "<Limit RNFR RNTO>", "DenyAll", "</Limit>")
		},
	} {
		for _, has := range []string{"new", "changed", "both"} {
			t.Run(name+" "+has, func(t *testing.T) {
				t.Parallel()
				d := start(t)
				if old(t, d); has == "changed" {
					d.server.put(t, "sub/x", "the old x\n")
				} else if has == "new" {
					d.remove(t, "index.html")
					d.owned["index.html"] = "the old page\n"
				}
				exit := 0
				if strings.Contains(name, "DELE") { // the parts stay, which is a failure
					exit = 25
				}
				said(t, d.run(t, exit), renames)
				if exit != 0 {
					if r := d.run(t, exit); r.times("STOR") > 0 {
						t.Errorf("the second run sends something\n%s", tail(r.said))
					}
					return
				}
				d.check(t, nil)
				d.run(t, 0).sends(t, 0, 0)
			})
		}
	}
	for _, option := range []string{"-r", "-K", "-x"} { // nothing is replaced; nothing is deleted; no names with a dot at the beginning
		t.Run("pure-ftpd "+option, func(t *testing.T) {
			t.Parallel()
			d := ofPureFTPd(t, option)
			old(t, d)
			d.run(t, 0)
			d.check(t, nil)
			d.run(t, 0).sends(t, 0, 0)
			d.write(t, ".dot", "dot\n", 5)
			r := d.try(t)
			t.Log(r.code, r.out)
			if refused := option == "-x"; refused != (r.code != 0) || refused == (d.server.files(t)[".dot"] != "") {
				t.Errorf("exit %d\n%s\n%s", r.code, r.out, tail(r.said))
			}
		})
	}
}
