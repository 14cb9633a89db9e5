package ftp

import (
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
)

// features holds the reply to FEAT (RFC 2389): the parameters of each extension to
// RFC 959 that the server supports, by its name in upper case.
type features map[string]string

// features sends FEAT, once per session. The result is empty if the server refuses it.
func (s *session) features() (features, error) {
	if s.feats != nil {
		return s.feats, nil
	}
	r, err := s.ctl.exchange("FEAT")
	if err != nil {
		return nil, s.failure(err)
	}
	s.feats = features{}
	if r.Code == 211 {
		s.feats = parseFeatures(r.Text)
	}
	return s.feats, nil
}

// parseFeatures parses the reply to FEAT. The lines of features start with a space.
func parseFeatures(text string) features {
	f := features{}
	for line := range strings.SplitSeq(text, "\n") {
		if feature, ok := strings.CutPrefix(line, " "); ok {
			name, parameters, _ := strings.Cut(feature, " ")
			f[strings.ToUpper(name)] = parameters
		}
	}
	return f
}

// listsFacts reports whether MLSD lists the type of each entry (RFC 3659 §7.8: "*" marks
// the facts that the server lists).
func (s *session) listsFacts() (bool, error) {
	f, err := s.features()
	if err != nil {
		return false, err
	}
	for fact := range strings.SplitSeq(f["MLST"], ";") {
		if strings.EqualFold(fact, "type*") {
			return true, nil
		}
	}
	return false, nil
}

// preferFacts replaces LIST by MLSD if Options.Facts is set and the server supports it.
func (a *access) preferFacts(c commands) error {
	if a.verb != "LIST" || !a.opt.Facts || a.opt.ListCommand != "" {
		return nil
	}
	facts, err := c.listsFacts()
	if facts {
		a.verb = "MLSD"
	}
	return err
}
