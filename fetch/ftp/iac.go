package ftp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/wire"
)

// iac is the Telnet control byte, such as the letter я of CP1251. It is doubled on a control
// connection, because that is a Telnet connection (RFC 959 §3.3, RFC 854). But most servers do not
// implement Telnet and take a doubled one for two bytes. Which of both a server does shows when it
// finds a name with this byte, or when it has created one.
const iac = "\xff"

// doubleIAC doubles each byte 255 of a name, which the Telnet protocol reads as IAC.
func doubleIAC(name string) string { return strings.ReplaceAll(name, iac, iac+iac) }

// tryBareIAC calls do, which sends name. If the server does not find the name, it is sent once
// without doubling. If that succeeds, all later names of the session are sent without doubling.
func (s *session) tryBareIAC(name string, do func() error) error {
	err := do()
	if s.ctl.knowsIAC || !strings.Contains(name, iac) {
		return err
	}
	if err == nil {
		s.ctl.knowsIAC = true
		return nil
	}
	if e, ok := errors.AsType[*fetch.Error](err); !ok || !slices.Contains([]int{450, 550, 551}, e.Code) {
		return err
	}
	s.ctl.bareIAC = true
	again := do()
	if refusal(again) {
		s.ctl.bareIAC = false
		return err
	}
	s.ctl.knowsIAC = again == nil
	return again
}

// askForName finds out whether the file of an upload exists, if that may show how its name is to be
// sent.
func (s *session) askForName(name string) error {
	if s.ctl.knowsIAC || s.access.exact || !strings.Contains(name, iac) {
		return nil
	}
	if err := s.setType('I'); err != nil { // some servers state a size only in this type
		return err
	}
	if _, err := s.size(name); !refusal(err) {
		return err
	}
	return nil
}

// checkCreated finds out under which name a file or directory has been created. If its IAC bytes
// are doubled there, it renames it.
func (s *session) checkCreated(name string) error {
	if s.ctl.knowsIAC || s.access.exact || !strings.Contains(name, iac) {
		return nil
	}
	single, double, err := s.findName(name)
	switch {
	case err != nil && !refusal(err):
		return err
	case single == double:
		err = fmt.Errorf("the listing of the server does not show whether %q was created with doubled FF bytes", name)
		return s.failure(&fetch.Error{Op: s.access.verb, Kind: fetch.ErrProtocol, Err: err})
	}
	s.ctl.bareIAC, s.ctl.knowsIAC = double, true
	if single {
		return nil
	}
	if r, err := s.ctl.exchange("RNFR " + doubleIAC(name)); err != nil || r.Class() != 3 {
		return s.check(r, false, err)
	}
	r, err := s.ctl.exchange("RNTO " + name)
	return s.check(r, r.Class() == 2, err)
}

// findName reports whether the current directory contains name, and whether it contains name with
// doubled IAC bytes.
func (s *session) findName(name string) (single, double bool, err error) {
	err = s.transfer("NLST", func() (err error) {
		s.last, err = s.conn.RetrFrom("", 0)
		return err
	})
	if err != nil {
		return false, false, err
	}
	base := path.Base(name)
	lines := wire.NewLineReader(s.data, s.access.limits.Line)
	for {
		line, err := lines.ReadLine()
		if err == io.EOF {
			return single, double, s.finish(false)
		}
		if err != nil {
			return false, false, s.failure(err)
		}
		line = wire.TrimEOL(line)
		switch string(line[bytes.LastIndexByte(line, '/')+1:]) {
		case base:
			single = true
		case doubleIAC(base):
			double = true
		}
	}
}
