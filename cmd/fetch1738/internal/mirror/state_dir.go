package mirror

import (
	"errors"
	"os"
	"os/user"
	"path/filepath"
	"runtime"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
)

// stateDir returns the directory in which the states of this user's uploads are kept. There must be
// one, unless the name of a file is given.
func stateDir(file string) (string, error) {
	dir, err := stateDirOf(runtime.GOOS, os.Getenv, homeDir)
	if err != nil && file == "" {
		return "", localerr.Usagef("there is no place for the state of uploads: %w; set HOME, or use --state FILE", err)
	}
	return dir, nil
}

// homeDir returns the home directory: that of the environment, or else that of the account, as for
// programs that cron or systemd start.
func homeDir() (string, error) {
	if home, err := os.UserHomeDir(); err == nil && filepath.IsAbs(home) {
		return home, nil
	}
	if u, err := user.Current(); err == nil && filepath.IsAbs(u.HomeDir) {
		return u.HomeDir, nil
	}
	return "", errors.New("HOME is not set, and the account has no home folder")
}

// stateDirOf is stateDir for a system with an environment. An XDG_STATE_HOME that is not absolute is
// ignored, as the specification of these variables requires.
func stateDirOf(goos string, getenv func(string) string, homeDir func() (string, error)) (string, error) {
	dir := getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(dir) && goos == "windows" {
		dir = getenv("LocalAppData")
	}
	if filepath.IsAbs(dir) {
		return filepath.Join(dir, "fetch1738"), nil
	}
	home, err := homeDir()
	if err != nil {
		return "", err
	}
	switch goos {
	case "windows":
		return filepath.Join(home, "AppData", "Local", "fetch1738"), nil
	case "darwin", "ios":
		return filepath.Join(home, "Library", "Application Support", "fetch1738"), nil
	}
	return filepath.Join(home, ".local", "state", "fetch1738"), nil
}
