package ftp

import (
	"errors"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
)

// Some servers, such as ProFTPD, take ~name for the home directory of a user. A file of that name is
// ./~name there, which other servers refuse. ~name goes first, because a URL may well mean the home
// directory; where ~ has no meaning, both are the same file.

// trySpellings calls do, which sends a name as spelled. If the server refuses a name that begins
// with ~, do is called once more, for the other spelling. The session keeps the one that succeeds.
func (s *session) trySpellings(name string, do func() error) error {
	tried := s.dotted
	err := do() // which may send SIZE, too, and so find the other spelling
	if e, ok := errors.AsType[*fetch.Error](err); !ok || !slices.Contains([]int{530, 550, 553}, e.Code) {
		return err
	}
	if stored := isTransfer(s.ctl.verb) && s.data.begun(); stored || s.access.exact || !strings.HasPrefix(name, "~") {
		return err // data that was sent cannot be sent again
	}
	s.dotted = !tried
	again := do()
	if refusal(again) {
		s.dotted = tried
		return err
	}
	return again
}
