package stdio

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
)

// Only a write to an output whose reader is gone is silent: not to a connection, and not to a full
// disk.
func TestUnread(t *testing.T) {
	gone := ClosedPipe()[0]
	for _, tc := range []struct {
		name string
		err  error
		want bool
	}{
		{"standard output", OutputError(&fs.PathError{Op: "write", Path: "/dev/stdout", Err: gone}), true},
		{"a connection", os.NewSyscallError("write", gone), false},
		{"a file of -o", localerr.Errorf(localerr.Write, "write a: %w", gone), false},
		{"a full disk", OutputError(syscall.ENOSPC), false},
		{"another error", OutputError(errors.New("no")), false},
		{"none", nil, false},
	} {
		if got := Unread(tc.err); got != tc.want {
			t.Errorf("%s: %t", tc.name, got)
		}
		var err strings.Builder
		if (Streams{Err: &err}).Complain(tc.err, "message"); (err.String() == "") != tc.want {
			t.Errorf("%s: %q", tc.name, err.String())
		}
	}
}

// A pipe of this system whose reader is gone has one of the errors of ClosedPipe.
func TestClosedPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	r.Close()
	if _, err := w.Write([]byte("x")); !Unread(OutputError(err)) {
		t.Errorf("%v is not recognized", err)
	}
	if got := closedPipe("windows"); !slices.Equal(got, []syscall.Errno{109, 232}) {
		t.Errorf("Windows: %d", got)
	}
}
