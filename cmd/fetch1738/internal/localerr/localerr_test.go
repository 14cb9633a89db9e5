package localerr

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"
)

// TestKindOf tests that the outermost Error decides, and that the cause stays in the chain.
func TestKindOf(t *testing.T) {
	read := New(Read, fs.ErrNotExist)
	for _, tc := range []struct {
		err  error
		want Kind
	}{
		{nil, 0}, {fs.ErrNotExist, 0}, {read, Read}, {fmt.Errorf("the list: %w", read), Read},
		{Errorf(Partial, "the upload: %w", read), Partial}, {Usagef("no %s", "file"), Usage}, {errors.Join(fs.ErrExist, read), Read},
	} {
		if got := KindOf(tc.err); got != tc.want {
			t.Errorf("%v: %d, want %d", tc.err, got, tc.want)
		}
	}
	if err := Errorf(Partial, "the upload: %w", read); !errors.Is(err, fs.ErrNotExist) || err.Error() != "the upload: file does not exist" {
		t.Errorf("%v", err)
	}
}
