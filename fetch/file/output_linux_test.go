package file

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
)

// An error of the output is returned unchanged, not as an error of the resource.
func TestOutputFails(t *testing.T) {
	path := write(t, filepath.Join(t.TempDir(), "x"), strings.Repeat("x", 100000))
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	res, err := new(Fetcher).Fetch(t.Context(), &fetch.Request{Locator: locate(path)})
	if err != nil {
		t.Fatal(err)
	}
	defer res.Close()
	_, err = io.Copy(full, res.Body)
	var ours *fetch.Error
	if !errors.Is(err, syscall.ENOSPC) || errors.As(err, &ours) {
		t.Errorf("%v", err)
	}
}
