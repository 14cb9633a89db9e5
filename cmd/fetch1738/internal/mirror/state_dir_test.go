package mirror

import (
	"errors"
	"path/filepath"
	"testing"
)

// The states of uploads are where the system keeps what programs know.
func TestStateDir(t *testing.T) {
	root := t.TempDir() // absolute on any system
	at := func(parts ...string) string { return filepath.Join(append([]string{root}, parts...)...) }
	for _, tc := range []struct {
		goos  string
		env   map[string]string
		noDir bool // no home directory
		want  string
	}{
		{"linux", nil, false, at("home", ".local", "state", "fetch1738")},
		{"freebsd", nil, false, at("home", ".local", "state", "fetch1738")},
		{"darwin", nil, false, at("home", "Library", "Application Support", "fetch1738")},
		{"windows", nil, false, at("home", "AppData", "Local", "fetch1738")},
		{"windows", map[string]string{"LocalAppData": at("data")}, true, at("data", "fetch1738")},
		{"linux", map[string]string{"XDG_STATE_HOME": at("state"), "LocalAppData": at("data")}, true, at("state", "fetch1738")},
		{"darwin", map[string]string{"XDG_STATE_HOME": at("state")}, false, at("state", "fetch1738")},
		{"windows", map[string]string{"XDG_STATE_HOME": at("state"), "LocalAppData": at("data")}, false, at("state", "fetch1738")},
		{"linux", map[string]string{"XDG_STATE_HOME": "state"}, false, at("home", ".local", "state", "fetch1738")},
		{"linux", map[string]string{"XDG_STATE_HOME": "state"}, true, ""},
		{"linux", nil, true, ""},
	} {
		none := errors.New("no home")
		got, err := stateDirOf(tc.goos, func(name string) string { return tc.env[name] }, func() (string, error) {
			if tc.noDir {
				return "", none
			}
			return at("home"), nil
		})
		if got != tc.want || (err != nil) != (tc.want == "") {
			t.Errorf("%s, %v: %q, %v; want %q", tc.goos, tc.env, got, err, tc.want)
		}
	}
}
