package pool

import (
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
)

// Three requests in a row without a connection end the run, and one that works starts the count again.
func TestFailed(t *testing.T) {
	refused := &fetch.Error{Op: fetch.OpConnect, Kind: fetch.ErrUnreachable}
	missing := &fetch.Error{Op: "RETR", Kind: fetch.ErrNotFound, Code: 550}
	login := &fetch.Error{Op: "PASS", Kind: fetch.ErrUnauthenticated, Code: 530}
	page := &fetch.Error{Op: "GET", Kind: fetch.ErrUnauthenticated, Code: 401}
	for _, tc := range []struct {
		name   string
		errs   []error // nil is a request that works
		wanted Mark    // of the last one
	}{
		{"one", []error{refused}, Doubt},
		{"three", []error{refused, refused, refused}, Ends},
		{"three with files that do not exist", []error{refused, missing, refused, missing, refused}, Ends},
		{"not in a row", []error{refused, refused, nil, refused}, Doubt},
		{"files that do not exist", []error{missing, missing, missing, missing}, Own},
		{"other errors", []error{io.EOF, io.EOF, io.EOF}, Own},
		{"login", []error{nil, login, login, login}, Ends},
		{"a part of a site", []error{nil, page, page, page}, Own},
		{"a whole site", []error{page, page, page}, Ends},
	} {
		p := New(1, 0)
		var mark Mark
		for _, err := range tc.errs {
			if err == nil {
				p.Worked()
				continue
			}
			var plain error
			if mark, plain = Unmark(p.Failed(err)); plain != err {
				t.Errorf("%s: %v became %v", tc.name, err, plain)
			}
		}
		if mark != tc.wanted {
			t.Errorf("%s: %v, want %v", tc.name, mark, tc.wanted)
		}
	}
}

// A mark is found in a chain, and does not hide the error.
func TestUnmark(t *testing.T) {
	err := fmt.Errorf("file: %w", Over(io.EOF))
	if mark, plain := Unmark(err); plain != err || mark != Ends || !errors.Is(plain, io.EOF) {
		t.Error(plain, mark)
	}
	if mark, plain := Unmark(Over(InDoubt(io.EOF))); plain != io.EOF || mark != Ends {
		t.Error(plain, mark)
	}
	if Over(nil) != nil {
		t.Error("no error is marked")
	}
}

// A file is reported a few times a second, and at its end.
func TestPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said []int64
		p := NewPart(func(octets int64) { said = append(said, octets) })
		p.Set(1000)
		time.Sleep(5 * time.Millisecond) // the reports are between two of the bytes
		for range 100 {
			time.Sleep(10 * time.Millisecond)
			p.Add(1)
		}
		p.Add(5)
		p.End()
		p.Add(1)
		time.Sleep(time.Minute)
		if got := fmt.Sprint(said); got != "[1019 1039 1059 1079 1099 1105]" {
			t.Error(got)
		}
		said = nil
		short := NewPart(func(octets int64) { said = append(said, octets) })
		short.Add(9)
		if short.End(); said != nil {
			t.Errorf("a file that takes no time is reported: %v", said)
		}
	})
}
