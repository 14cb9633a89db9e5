package ftp

import (
	"errors"

	"github.com/fetch1738/fetch1738/fetch"
)

// HeaderAcceptRanges is a field of Attributes.Header. Its value is "bytes" if the server
// supports transfers that start at an offset (see Options.Ranges).
const HeaderAcceptRanges = "Accept-ranges"

// attributes requests size and time, in the directory. If SIZE and MDTM both fail, CWD checks whether the name
// is that of a directory.
func (a *access) attributes(s *session) (*fetch.Attributes, error) {
	attr := &fetch.Attributes{Size: -1}
	if a.name == "" {
		return attr, s.run(commands{s}.quoted(nil, a.opt.PreTransfer))
	}
	when, timeErr := s.modTime(a.name)
	if timeErr == nil {
		attr.ModTime = when
	} else if !refusal(timeErr) {
		return nil, timeErr
	}
	if err := s.run(commands{s}.prepare(nil)); err != nil {
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
