package ftp

import (
	"errors"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
)

// HeaderAcceptRanges is a field of Attributes.Header. Its value is "bytes" if the server
// supports transfers that start at an offset (see Options.Ranges).
const HeaderAcceptRanges = "Accept-ranges"

// attributes requests size and time of a file, or the facts of a directory, in the directory. If SIZE
// and MDTM both fail, CWD checks whether the name is that of a directory.
func (a *access) attributes(s *session) (*fetch.Attributes, error) {
	attr := &fetch.Attributes{Size: -1}
	if a.name == "" {
		if err := s.run(commands{s}.quoted(nil, a.opt.PreTransfer)); err != nil || !a.opt.Facts || a.exact {
			return attr, err
		}
		return attr, s.askFacts(attr)
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

// askFacts asks for the facts of the current directory (RFC 3659 §7.2), if the server has the command.
// Without a name, that is what MLST is about.
func (s *session) askFacts(attr *fetch.Attributes) error {
	f, err := s.features()
	if _, has := f["MLST"]; err != nil || !has {
		return err
	}
	r, err := s.ctl.exchange("MLST")
	if err != nil {
		return s.failure(err)
	}
	if r.Code == 250 {
		attr.Header = factsOf(r.Text)
		attr.ModTime = fileTime(attr.Get("modify"))
	}
	return nil
}

// factsOf returns all facts in the reply to MLST, also the size of a directory, which is not that of its
// listing.
func factsOf(reply string) (facts []fetch.Field) {
	for line := range strings.SplitSeq(reply, "\n") {
		list, _, isEntry := strings.Cut(line+" ", "; ")
		if !isEntry {
			continue
		}
		for fact := range strings.SplitSeq(list, ";") {
			name, value, ok := strings.Cut(strings.TrimSpace(fact), "=")
			if !ok {
				return nil
			}
			facts = append(facts, fetch.Field{Name: name, Value: value})
		}
		return facts
	}
	return nil
}
