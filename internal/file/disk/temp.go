package disk

import (
	"errors"
	"io/fs"
	"os"
)

// TempFile creates a temporary file, and removes its name where the system permits that.
// [RemoveTemp] closes it.
func TempFile() (*os.File, error) {
	file, err := os.CreateTemp("", "fetch1738-")
	if err == nil {
		_ = os.Remove(file.Name()) // fails on Windows
	}
	return file, err
}

// RemoveTemp closes a file of [TempFile], and removes it if it is still there.
func RemoveTemp(file *os.File) error {
	err := file.Close()
	if e := os.Remove(file.Name()); !errors.Is(e, fs.ErrNotExist) {
		err = errors.Join(err, e)
	}
	return err
}
