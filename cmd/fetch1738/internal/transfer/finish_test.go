package transfer

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/output"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
)

// --remove-on-error removes the file that the transfer made or wrote to, and not
// another that has its name by the time the transfer fails.
func TestRemoveOnError(t *testing.T) {
	broken := errors.New("broken off")
	for name, tc := range map[string]struct {
		meanwhile func(path string) error // what another program does during the transfer
		left      string                  // content of the file afterwards; "" means no file
	}{
		"its own":  {func(string) error { return nil }, ""},
		"replaced": {func(path string) error { return replace(path, "another's") }, "another's"},
		"removed":  {os.Remove, ""},
		"removed and made anew": {func(path string) error {
			return errors.Join(os.Rename(path, path+".old"), os.WriteFile(path, []byte("another's"), 0o600))
		}, "another's"},
		"a directory now": {func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) }, "a directory"},
	} {
		for _, served := range []string{"", "file"} {
			t.Run(name+"/"+served, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "file")
				op := &plan.Operation{Output: plan.Output{RemoveOnError: true}}
				one := &Result{Call: client.Call{Network: &client.Network{Op: op}}, Sink: &output.Sink{Path: path, Served: served}}
				body := io.MultiReader(strings.NewReader("some of it"), readerFunc(func() error { return tc.meanwhile(path) }), iotest.ErrReader(broken))
				if one.Err = one.Sink.Take(body); one.Err != broken {
					t.Fatal(one.Err)
				}
				if err := errors.Join(one.Sink.Close(), finishFile(one)); err != nil {
					t.Error(err)
				}
				left, err := os.ReadFile(path)
				if info, _ := os.Stat(path); info != nil && info.IsDir() {
					left, err = []byte("a directory"), nil
				}
				if string(left) != tc.left || (err == nil) != (tc.left != "") {
					t.Errorf("%q is left (%v), want %q", left, err, tc.left)
				}
			})
		}
	}
}

// readerFunc is an empty reader that does something when it is read.
type readerFunc func() error

func (f readerFunc) Read([]byte) (int, error) {
	if err := f(); err != nil {
		return 0, err
	}
	return 0, io.EOF
}

// replace puts a new file in the place of another.
func replace(path, content string) error {
	return errors.Join(os.WriteFile(path+".new", []byte(content), 0o600), os.Rename(path+".new", path))
}
