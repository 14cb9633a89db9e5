package ftp

import (
	"cmp"
	"slices"
)

// enter returns the commands that must precede names, those of Options.Quote, and those that change to
// the directory.
func (s commands) enter() []command {
	a := s.access
	list := make([]command, 0, 8)
	if a.utf8 && !s.utf8 {
		list = s.askUTF8(list)
	}
	if len(a.opt.Quote) > 0 {
		list = s.goHome(list)
	}
	return s.changeTo(s.quoted(list, a.opt.Quote))
}

// goHome adds the command that returns to the login directory.
func (s commands) goHome(list []command) []command {
	home := command{do: s.home}
	if !s.isHome() {
		home.line, home.alone = lineOf("CWD", s.entry), !s.sendsAsIs(s.entry)
	}
	return append(list, home)
}

// changeTo adds the commands that change to the directory, starting from the login directory: because
// "there is no common hierarchical model", a different path cannot be reached in any other way (RFC 1738
// §3.2.5).
func (s commands) changeTo(list []command) []command {
	a := s.access
	rest, ok := s.remaining(a.dirs)
	switch {
	case len(a.opt.Quote) > 0: // from where they have led
		rest = a.dirs
	case a.utf8 && !s.utf8 && s.renamesHome():
		rest, list = a.dirs, append(list, command{alone: true, do: s.home})
	case !ok:
		list = s.goHome(list)
	}
	for _, dir := range rest {
		cwd := s.named("CWD", dir, func() error { return a.cwd(s.session, dir) })
		cwd.alone = cwd.alone || a.opt.CreateDirs || looksFor(a) && s.mayChange(dir)
		list = append(list, cwd)
	}
	return list
}

// cwd changes to a directory. If Options.CreateDirs is set, it creates one that does not exist.
func (a *access) cwd(s *session, dir string) error {
	err := s.cwd(dir)
	if !a.opt.CreateDirs || !refusal(err) {
		return err
	}
	s.ctl.began = true
	made := s.trySpellings(dir, func() error { return s.perform("MKD " + s.spelled(dir)) })
	if err = made; err == nil || refusal(err) { // another client may have created it first
		err = s.cwd(dir)
	}
	if refusal(err) {
		err = cmp.Or(made, err) // why it does not exist
	}
	return err
}

// enterOnly returns the commands of an access without a transfer. Some servers state a size only in
// type I.
func (s commands) enterOnly() []command { return s.chooseType(s.enter()) }

// isPrepared reports whether the session is in the directory of the access and has its type.
func (s commands) isPrepared() bool {
	rest, ok := s.remaining(s.access.dirs)
	return ok && len(rest) == 0 && s.typ == s.access.typ
}

// remaining returns the rest of the way to a directory. It reports false if the way begins in the login
// directory.
func (s commands) remaining(dirs []string) ([]string, bool) {
	if n := len(s.dirs); !s.dirUnknown && !(s.unseen && looksFor(s.access)) && n <= len(dirs) && slices.Equal(s.dirs, dirs[:n]) {
		return dirs[n:], true
	}
	return dirs, false
}

func (s *session) home() error {
	if s.isHome() {
		return nil
	}
	if err := s.changeDir(s.entry); err != nil {
		// No directory can be reached any more.
		return s.ctl.Fail(err)
	}
	s.place = place{entry: s.entry}
	return nil
}

func (s *session) cwd(dir string) error {
	listed, err := s.transfers().lists(dir) // else it is stored in another directory
	if err != nil {
		return err
	}
	if err := s.trySpellings(dir, func() error { return s.changeDir(s.spelled(dir)) }); err != nil {
		return err
	}
	s.dirs = append(s.dirs, dir)
	if s.unseen = s.unseen || !listed || !looksFor(s.access) && s.mayChange(dir); !listed {
		return s.access.fail("CWD", notListed(dir))
	}
	return nil
}

// askUTF8 adds OPTS UTF8 ON, and FEAT before it. The reply to FEAT is not awaited only from programs
// that have been measured; they take the command in any case (see session.startAccess).
func (s commands) askUTF8(list []command) []command {
	if s.feats == nil {
		list = append(list, command{line: "FEAT", do: func() error {
			_, err := s.features()
			return err
		}})
	}
	opts := command{line: utf8On, when: "when the reply to FEAT lists UTF8", alone: s.renamesHome(), do: s.useUTF8}
	if _, listed := s.feats["UTF8"]; s.feats != nil && !listed {
		opts.line = ""
	}
	return append(list, opts)
}

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

// utf8On makes servers such as IIS read and list names in UTF-8 (draft-ietf-ftpext-utf-8-option).
// Until then they use a code page, and store a name under another one. Others refuse it, or need
// none.
const utf8On = "OPTS UTF8 ON"
