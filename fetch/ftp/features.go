package ftp

import (
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
)

// features are what a server knows besides RFC 959, as FEAT tells (RFC 2389):
// the parameters of each, by its name in upper case.
type features map[string]string

// features asks for them, once a session. A server without FEAT has none.
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

// parseFeatures reads the lines of a reply to FEAT, of which those of features
// begin with a space.
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

// listsFacts tells whether MLSD says of each entry what it is (RFC 3659 §7.8:
// the facts that are shown are marked by "*").
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

// preferFacts turns LIST into MLSD where that is wanted and to be had.
func (a *access) preferFacts(c commands) error {
	if a.verb != fetch.OpLIST || !a.opt.Facts || a.opt.ListCommand != "" {
		return nil
	}
	facts, err := c.listsFacts()
	if facts {
		a.verb = fetch.OpMLSD
	}
	return err
}
