package testcase

import (
	"encoding/base64"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The login of cases that have one. The password is long enough that it occurs nowhere by chance.
const (
	User     = "lab"
	Password = "Schl0ss-17-38-geheim"
)

// Environment is what a client is given, in a folder of its own; judge.Case documents the exported
// fields.
type Environment struct {
	URL, User, Password    string
	In, Out, Dir, Home, CA string

	root   string            // the folder of the case
	before map[string]string // what the client must not change, before it runs
}

// create makes the folders below a directory, or below that of temporary files if it is "".
func (e *Environment) create(below string) {
	e.User, e.Password = "anonymous", "judge@example.com"
	var err error
	e.root, err = os.MkdirTemp(below, "judge")
	Check(err)
	e.In, e.Out, e.Dir, e.Home = e.Path("input/input"), e.Path("in/out/document"), e.Path("in/tree/dir"), e.Path("home")
	for _, dir := range []string{"input", "in/out", "in/tree/dir", "home", "canary", "tmp"} {
		Check(os.MkdirAll(e.Path(dir), 0o700))
	}
	Check(os.WriteFile(e.Path("canary/bird"), []byte("alive\n"), 0o600))
}

// remove removes the folder.
func (e *Environment) remove() {
	if e.root == "" {
		return
	}
	_ = filepath.WalkDir(e.root, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(name, 0o700) // a client may have taken the rights
		}
		return nil
	})
	_ = os.RemoveAll(e.root)
}

// Path returns the path of a file in the folder of the case.
func (e *Environment) Path(name string) string {
	return filepath.Join(e.root, filepath.FromSlash(name))
}

// Login gives the client a user and a password, in the URL and for the placeholders. The server
// must know them (users).
func (e *Environment) Login() {
	scheme, rest, _ := strings.Cut(e.URL, "://")
	e.User, e.Password = User, Password
	e.URL = scheme + "://" + User + ":" + Password + "@" + rest
}

// HasPassword reports whether a text has the password of the case.
func (e *Environment) HasPassword(text string) bool {
	if e.Password != Password {
		return false
	}
	return strings.Contains(text, Password) || strings.Contains(text, base64.StdEncoding.EncodeToString([]byte(User+":"+Password)))
}

// Trust writes the certificate for CA.
func (e *Environment) Trust(pem []byte) {
	e.CA = e.Path("ca.pem")
	Check(os.WriteFile(e.CA, pem, 0o600))
}

// changed returns what was changed outside of the folders of the client.
func (e *Environment) changed() Wrong {
	after := e.snapshot()
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if after[name] != e.before[name] {
			return Wrong{Outside, fmt.Sprintf("it has written %q outside of its folder", name)}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(e.before)) {
		if _, ok := after[name]; !ok {
			return Wrong{Outside, fmt.Sprintf("it has removed %q outside of its folder", name)}
		}
	}
	return Wrong{}
}

// snapshot describes the files in the folder of the case that the client must not change.
func (e *Environment) snapshot() map[string]string {
	free := []string{e.Dir, e.Home, e.Path("tmp"), filepath.Dir(e.Out)}
	all := make(map[string]string)
	_ = filepath.WalkDir(e.root, func(name string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(e.root, name)
		switch {
		case err != nil:
			all[rel] = err.Error()
		case d.IsDir() && slices.Contains(free, name):
			return fs.SkipDir
		case d.Type()&fs.ModeSymlink != 0:
			target, _ := os.Readlink(name)
			all[rel] = "link " + target
		case d.Type().IsRegular():
			data, err := left(e.root, rel, 0)
			info, _ := d.Info()
			all[rel] = fmt.Sprint("file ", info.Size(), err, string(data))
		default:
			all[rel] = d.Type().String()
		}
		return nil
	})
	return all
}
