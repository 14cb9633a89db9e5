package curl

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
)

// skipsDefault reports whether the arguments begin with -q, which has an effect only there.
func skipsDefault(args []string) bool {
	return len(args) > 0 && (strings.HasPrefix(args[0], "-q") || args[0] == "--disable")
}

// DefaultConfig returns the path of the default configuration file, or "" if the user has no home
// directory.
func DefaultConfig() string {
	dir := os.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) { // a relative one is ignored
		home, err := os.UserHomeDir()
		if err != nil || home == "" {
			return ""
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "fetch1738", "config")
}

// readDefault reads the default configuration file, if it exists. It refuses a file that another
// user may have written, because options can send passwords anywhere.
func (c *CommandLine) readDefault() error {
	path := DefaultConfig()
	if path == "" {
		return nil
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err == nil:
		err = trusted(path, info)
	}
	if err == nil {
		err = readConfig(c, path)
	}
	const escape = "; use -q as the first option to skip this file"
	switch {
	case err == nil:
		return nil
	case localerr.KindOf(err) == localerr.Usage:
		return localerr.Usagef("%w%s", err, escape)
	}
	return localerr.Errorf(localerr.Read, "%w%s", err, escape)
}
