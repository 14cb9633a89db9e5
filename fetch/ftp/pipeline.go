package ftp

import (
	"github.com/fetch1738/fetch1738/fetch/internal/talk"
	"github.com/fetch1738/fetch1738/internal/wire"
)

// What is sent without waiting for a reply:
//
//   - PWD and TYPE, in one packet. A session in which both were answered is proven; in others,
//     commands are sent one at a time.
//   - The commands of an access before its transfer. The last of them requests the port, because
//     some servers (Twisted) do nothing else until the client has connected to it. If the
//     session is in place and the data connection is open, they end in RETR.
//   - The request for the port of the next transfer, when the data of this one has ended, if
//     another transfer is sure to follow: inetutils, goftp and ftp-srv never close an unused port.
//
// Nothing is sent between the command of a transfer and the end of its data: pyftpdlib, ftp-srv and
// Pure-FTPd lose it, or end the transfer, which then looks complete. Servers that are recognized by
// their greeting also get commands together with PASS, and a few of them the request for the next
// port together with RETR (see serverPrograms).
//
// The command of a transfer waits for the replies to CWD and TYPE, because they decide what it
// would transfer. STOR waits for all replies, but not for the data connection; APPE and raw
// commands wait for all. The commands of Edit, which have no data, are sent together.

// isPrepared reports whether the session is in the directory of the access and has its type.
func (s *session) isPrepared() bool {
	rest, ok := s.remaining(s.access.dirs)
	return ok && len(rest) == 0 && s.typ == s.access.typ
}

// probeCommands returns the harmless commands that every access needs. If the server answers both,
// although they arrive together, the session is proven. So TYPE precedes CWD, unlike in RFC 1738
// §3.2.2. It returns none if that is not tried.
func (s *session) probeCommands() []string {
	a := s.access
	if a.sequential || s.program.single || !a.reuses || a.typ == 0 || len(a.opt.Quote) > 0 {
		return nil
	}
	return []string{"PWD", "TYPE " + string(a.typ)}
}

// withPASS returns the commands that are sent together with PASS, only to measured programs: after
// a wrong password, pyftpdlib replies to these commands first, and to PASS three seconds later.
func (s *session) withPASS() []string {
	var lines []string
	if s.program.has == nil || s.access.opt.Account != "" || s.access.opt.AlternativeToUser != "" {
		return nil // ACCT or the alternative may follow PASS
	}
	evidence := s.probeCommands()
	switch secured := s.access.implicit() || s.access.wantsTLS(); {
	case evidence == nil, secured && s.access.tlsSettings.clear != KeepTLS:
		return nil
	case secured && s.access.tlsSettings.Security == TryTLS && !s.access.implicit():
		return nil // the server may refuse TLS
	case secured:
		lines = []string{"PBSZ 0", "PROT " + s.access.protection()}
	}
	lines = append(lines, evidence...)
	s.typ = s.access.typ // after TYPE
	_, others := together(s.commands())
	s.typ = 0
	return append(lines, others...)
}

// commands returns the commands of the access until its transfer has begun.
func (s *session) commands() []command {
	switch a := s.access; {
	case isUpload(a.verb):
		return a.upload(s, nil)
	case a.verb == "": // Edit sends its own commands
		return a.enter(s)
	default:
		return a.download(s, new(download))
	}
}

// withTransfer returns the commands that are sent together with the command of a transfer. After a
// refused one, the next may be refused, too, and then its port is not used.
func (s *session) withTransfer() []string {
	if !s.program.ahead || s.refused || isUpload(s.access.verb) || !s.wantsNextPort() {
		return nil
	}
	return []string{s.passiveCommand()}
}

// mayRequestNextPort reports whether the port of another transfer may be requested during the
// current access.
func (s *session) mayRequestNextPort() bool {
	a := s.access
	switch {
	case !s.proven, a.sequential, a.active != nil, a.opt.PRET, s.pret, len(a.opt.PostQuote) > 0, a.req.Length > 0:
		return false
	case a.listing():
		return s.program.ahead && (s.used || a.opt.More != nil)
	}
	if isUpload(a.verb) && (!s.program.store || !a.opt.Unchecked || !a.opt.SetModTime.IsZero()) {
		return false // some servers lose or refuse what arrives before the last data, or have to be asked about the file
	}
	return a.opt.More != nil
}

// wantsNextPort reports whether the port of another transfer is to be requested. After a listing,
// the next one is in another directory, so that its CWD waits for the data connection. Only servers
// that gain by it are asked then.
func (s *session) wantsNextPort() bool {
	a := s.access
	return s.mayRequestNextPort() && (a.listing() && s.used || a.opt.More != nil && a.opt.More())
}

// findHome sends PWD, to find the login directory, which is needed to reuse the session. With TYPE
// in the same packet, it proves that the server handles commands that arrive together.
func (s *session) findHome() error {
	if !s.access.reuses {
		return nil
	}
	s.program.single = s.program.single || s.ctl.unclear
	lines := s.probeCommands()
	if !s.planned {
		if lines != nil && s.access.utf8 {
			lines = append(lines, "FEAT")
		}
		if err := s.ctl.sendPipelined(lines); err != nil {
			return s.failure(err)
		}
	}
	doubtful := !s.planned && lines != nil
	if doubtful && !s.ctl.awaitReply() {
		return s.failure(s.ctl.failPipelining(talk.Reply{}))
	}
	r, err := s.ctl.exchange("PWD")
	if err != nil {
		return s.failure(err)
	}
	if r.Code == 257 {
		s.entry = certainPath(r.Text)
	}
	if lines == nil {
		return nil
	}
	if doubtful && !s.ctl.awaitReply() {
		return s.failure(s.ctl.failPipelining(r))
	}
	t, err := s.ctl.exchange(lines[1])
	if err != nil {
		return s.failure(err)
	}
	if t.Class() != 2 { // of what was sent after it, nothing is certain
		return s.failure(s.ctl.failPipelining(t))
	}
	s.typ, s.proven = s.access.typ, r.Code == 257
	if len(lines) > 2 {
		_, err = s.features()
	}
	return err
}

// startAccess starts an access on a session: it connects to the port that was requested with the
// previous transfer. If names may be beyond ASCII, the reply to FEAT decides what is sent before them;
// only the programs of serverPrograms are known to bear both.
func (s *session) startAccess() error {
	if s.used {
		if err := s.readPending(); err != nil {
			return s.failure(err)
		}
	}
	if s.planned || !s.proven || s.access.sequential {
		s.planned = false
		return nil
	}
	if s.access.utf8 && s.program.has == nil {
		_, err := s.features()
		return err
	}
	return nil
}

// readPending reads the replies that the previous access has not read. If that access requested a
// port, the session connects to it before anything else is sent.
func (s *session) readPending() error {
	if s.data != nil && s.data.state == dataOpen && wire.Readable(s.data.raw) { // closed by the server
		s.dropData()
	}
	s.openNextPort()
	for _, sent := range s.ctl.queued {
		switch verbOf(sent.line) {
		case "CWD":
			s.dirUnknown = true
		case "TYPE":
			s.typ = 0
		}
	}
	err := s.ctl.drain()
	s.ctl.queued = s.ctl.queued[:0]
	return err
}

// openNextPort reads the reply to the request for the next port, if there was one, and connects to
// the port. If that fails, the access requests another one.
func (s *session) openNextPort() {
	if !s.ctl.isNext(s.passiveCommand()) || len(s.ctl.queued) != 1 {
		return
	}
	s.ctl.replied = true // the connection was alive when the port was requested
	port, err := s.requestPort()
	if err != nil { // a broken connection is reported by the next command
		s.recordLoss()
		return
	}
	d := &dataConn{port: port, origin: requested, idle: s.access.limits.Idle}
	if stor := s.connectsLater(s.access.verb) && s.isPrepared(); !stor && s.connectData(d) != nil {
		return
	}
	s.dropData()
	s.data = d
}

// checkPipelining checks whether the current access has failed because the server does not support
// pipelining. Then it is to be done again, one command at a time.
func (s *session) checkPipelining() {
	if s.ctl.pipeliningFailed && !s.access.fellBack {
		s.access.fellBack = true
		s.recordLoss()
	}
}

// recordLoss remembers that the server loses commands that arrive early, or ports that are
// requested early.
func (s *session) recordLoss() {
	if s.proven, s.access.sequential = false, true; !s.access.noPipelining.add(s.access.server()) {
		s.ctl.Trace.Note("the server does not support pipelining; sending one command at a time")
	}
}
