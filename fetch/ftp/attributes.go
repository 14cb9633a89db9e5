package ftp

import (
	"errors"

	"github.com/fetch1738/fetch1738/fetch"
)

// HeaderAcceptRanges is the field of Attributes.Header that says that the server
// can begin in the middle of a file; its value is "bytes".
const HeaderAcceptRanges = "Accept-ranges"

// attributes asks for size and time. A name that SIZE and MDTM do not know may
// be that of a directory.
func (a *access) attributes(s *session) (*fetch.Attributes, error) {
	attr := &fetch.Attributes{Size: -1}
	if err := a.enter(s); err != nil {
		return nil, err
	}
	if a.name == "" {
		return attr, a.quote(s, a.opt.PreTransfer)
	}
	when, timeErr := s.modTime(a.name)
	if timeErr == nil {
		attr.ModTime = when
	} else if !refusal(timeErr) {
		return nil, timeErr
	}
	if err := a.setMode(s); err != nil {
		return nil, err
	}
	size, sizeErr := s.size(a.name)
	if sizeErr == nil {
		attr.Size = size
	} else if !refusal(sizeErr) {
		return nil, sizeErr
	}
	if a.opt.Ranges && sizeErr == nil {
		r, err := s.ctl.exchange("REST 0")
		if err != nil {
			return nil, s.failure(err)
		}
		if r.Code == 350 {
			attr.Header = append(attr.Header, fetch.Field{Name: HeaderAcceptRanges, Value: "bytes"})
		}
	}
	if sizeErr != nil && timeErr != nil {
		if err := s.cwd(a.name); err != nil {
			if !refusal(err) || errors.Is(sizeErr, fetch.ErrUnsupported) {
				return nil, err
			}
			return nil, sizeErr
		}
	}
	return attr, nil
}
