//go:build !unix

package output

import "os"

func open(path string, flags int) (*os.File, error) { return os.OpenFile(path, flags, 0o666) }
