package ftp

import (
	"strings"
	"unicode"
	"unicode/utf8"
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

// parseFeatures parses the reply to FEAT. The lines of features are those between the first and the
// last. RFC 2389 §3.2 has one space before each; some servers send a tab, several spaces, none, or
// "211-", which is no part of the text.
func parseFeatures(text string) features {
	f := features{}
	lines := strings.Split(text, "\n")
	for _, line := range lines[1:max(1, len(lines)-1)] {
		name, parameters := strings.TrimSpace(line), ""
		if i := strings.IndexAny(name, blanks); i >= 0 {
			name, parameters = name[:i], strings.TrimLeft(name[i:], blanks)
		}
		if name != "" {
			f[strings.ToUpper(name)] = parameters
		}
	}
	return f
}

// utf8On makes servers such as IIS read and list names in UTF-8 (draft-ietf-ftpext-utf-8-option).
// Until then they use a code page, and store a name under another one. Others refuse it, or need
// none.
const utf8On = "OPTS UTF8 ON"

// useUTF8 sends OPTS UTF8 ON, once per session, if FEAT lists UTF8. The reply does not matter.
func (s commands) useUTF8() error {
	if s.utf8 {
		return nil
	}
	f, err := s.features()
	if err != nil {
		return err
	}
	s.utf8 = true
	if _, ok := f["UTF8"]; !ok && !s.ctl.isNext(utf8On) { // else it has been sent already (askUTF8)
		return nil
	}
	if !s.renamesHome() {
		_, err := s.ctl.exchange(utf8On)
		return s.failure(err)
	}
	if err := s.home(); err != nil {
		return err
	}
	if _, err := s.ctl.exchange(utf8On); err != nil {
		return s.failure(err)
	}
	r, err := s.ctl.exchange("PWD")
	if r.Code == 257 {
		s.entry = certainPath(r.Text)
	}
	return s.failure(err)
}

// renamesHome reports whether OPTS UTF8 ON may change the name of the login directory. The programs
// of serverPrograms have no code page.
func (s *session) renamesHome() bool {
	return s.program.has == nil && strings.ContainsFunc(s.entry, func(r rune) bool { return r > unicode.MaxASCII })
}

// isBeyondASCII reports whether one of the names is UTF-8 and not ASCII. A name in another charset
// is that of a server that has no UTF-8, or does not use it.
func isBeyondASCII(names ...string) bool {
	for _, name := range names {
		if utf8.RuneCountInString(name) < len(name) && utf8.ValidString(name) {
			return true
		}
	}
	return false
}

// listsFacts reports whether MLSD lists the type of each entry (RFC 3659 §7.8: "*" marks
// the facts that the server lists).
func (s *session) listsFacts() (bool, error) {
	f, err := s.features()
	if err != nil {
		return false, err
	}
	for fact := range strings.SplitSeq(f["MLST"], ";") {
		if strings.EqualFold(strings.TrimSpace(fact), "type*") {
			return true, nil
		}
	}
	return false, nil
}

// prefersFacts reports whether MLSD, or NLST, may take the place of LIST.
func (a *access) prefersFacts() bool {
	return a.verb == "LIST" && a.opt.Facts && a.opt.ListCommand == ""
}

// preferFacts replaces LIST by MLSD if the server lists facts, or by NLST if its LIST is not understood.
func (a *access) preferFacts(facts bool) {
	switch {
	case facts && !a.pool.noFacts.has(a.server()):
		a.verb = "MLSD"
	case readsNames(a) && a.pool.namesOnly(a.hidden).has(a.server()):
		a.verb, a.byNames = "NLST", true
	}
}
