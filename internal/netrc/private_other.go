//go:build !unix

package netrc

import "io/fs"

// private has nothing to check where files have no mode.
func private(string, fs.FileInfo) error { return nil }
