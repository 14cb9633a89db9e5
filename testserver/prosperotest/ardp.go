package prosperotest

import (
	"bytes"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/internal/codec/ardp"
	"github.com/fetch1738/fetch1738/testserver/internal/core"
)

// serve reads datagrams until the socket is closed.
func (s *Server) serve(packets net.PacketConn) {
	s.socket.PacketConn = packets
	buf := make([]byte, 1<<16)
	for failures := 0; failures < 100; {
		n, from, err := packets.ReadFrom(buf)
		if err != nil {
			if s.m.Ctx().Err() != nil {
				return
			}
			failures++
			continue
		}
		failures = 0
		if ap, err := netip.ParseAddrPort(from.String()); err != nil || !ap.Addr().Unmap().IsLoopback() {
			continue // the sender's address may be forged, so do not answer
		}
		s.receive(bytes.Clone(buf[:n]), from)
	}
}

// receive handles a datagram. One that is not ARDP is not answered: the answer could be answered in
// turn.
func (s *Server) receive(datagram []byte, from net.Addr) {
	p, err := ardp.Decode(datagram)
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, lost := s.socket.copies(s.m.At("INCOMING")); lost {
		return
	}
	call := s.calls.all[key(from, p.ID)]
	switch {
	case p.Option == ardp.OptCancel:
		if call != nil {
			s.recordText(call, core.FromClient, "(cancel)")
			s.calls.close(call)
		}
	case call == nil && p.Seq == 0:
	case call == nil || !call.asked:
		if call == nil {
			if call = s.calls.open(from, p.ID); call == nil {
				return
			}
		}
		s.calls.received(call)
		s.ask(call, p)
	default:
		s.calls.received(call)
		if p.Seq == 0 {
			s.recordText(call, core.FromClient, fmt.Sprintf("(ack %d)", p.Received))
		}
		if call.acknowledge(int(p.Received)) {
			s.sendWindow(call)
		}
	}
}

// ask handles a packet of a request.
func (s *Server) ask(call *call, p *ardp.Packet) {
	if w := p.WindowWanted(); w > 0 {
		call.window = min(w, maxWindow)
	}
	switch {
	case p.Seq == 0:
		return
	case !call.add(p):
		s.calls.close(call)
		return
	case !call.question.Complete():
		s.control(call, &ardp.Packet{Header: 9, Received: call.question.Through()})
		return
	}
	call.asked = true
	text := call.text()
	if isAnswer(text) {
		s.calls.close(call)
		return
	}
	s.m.Go(func() { s.reply(call, text) })
}

// reply computes the answer to a request and begins to send it.
func (s *Server) reply(call *call, text string) {
	for line := range strings.Lines(text) {
		s.m.Log.Append(core.Line{Conn: call.number, From: core.FromClient, Octets: line}, lineOf)
	}
	q := parseQuestion(text)
	s.mu.Lock()
	call.plain = q.plain
	s.mu.Unlock()
	faults := s.m.At(q.stages()...)
	if !s.applyFaults(call, faults, q) {
		return
	}
	answer := ""
	if reply, ok := faults.Take(core.Reply); ok {
		answer = reply.Text
	} else {
		answer = s.answer(q)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.calls.isOpen(call) {
		return // cancelled in the meantime
	}
	for line := range strings.Lines(answer) {
		s.m.Log.Append(core.Line{Conn: call.number, From: core.FromServer, Octets: line[:min(len(line), core.MaxLineOctets)]}, lineOf)
	}
	call.answer = cutAnswer(answer, q.plain)
	s.sendWindow(call)
}

// lineOf formats a line for the transcript.
func lineOf(line string) string {
	text, ended := strings.CutSuffix(line, "\n")
	if ended && core.Printable(text) {
		return text
	}
	return strconv.Quote(line)
}

// applyFaults applies the faults that come before an answer or instead of one, and what archie
// servers do. It returns false if no answer must be sent.
func (s *Server) applyFaults(call *call, faults *core.Faults, q *question) bool {
	waits := faults.TakeAll(wait)
	if q.archie && s.Site != "" {
		waits = append([]core.Args{{D: 900 * time.Second, N: 1}, {D: 180 * time.Second}}, waits...)
	}
	s.mu.Lock()
	for _, w := range waits {
		c := &ardp.Packet{Header: 11, Wait: uint16(w.D / time.Second)}
		if w.N > 0 && !q.plain {
			c.Option, c.Header, c.Extra = ardp.OptQueue, 16, ardp.QueueExtra(ardp.Queue{Position: int(w.N), Time: -1})
		}
		call.waited = true
		s.control(call, c)
	}
	over := s.refuseOrRedirect(call, faults)
	s.mu.Unlock()
	if over || faults.Acts(core.Silence) || faults.Acts(core.Close) {
		faults.End()
		return false
	}
	return faults.Delay(s.m.Ctx()) == nil
}

// refuseOrRedirect applies the faults Refuse and SendTo, and reports whether there is one.
func (s *Server) refuseOrRedirect(call *call, faults *core.Faults) bool {
	if faults.Acts(refuse) {
		s.control(call, &ardp.Packet{Header: 13, Option: ardp.OptCancel})
		return true
	}
	to, ok := faults.Take(sendTo)
	if at, err := netip.ParseAddrPort(to.Text); ok && err == nil {
		if extra, ok := ardp.RedirectExtra(at); ok {
			s.control(call, &ardp.Packet{Header: 19, Option: ardp.OptRedirect, Extra: extra})
		}
	}
	return ok
}

// sendWindow sends the packets of an answer that fit into the window.
func (s *Server) sendWindow(call *call) {
	s.calls.sends(call)
	for _, p := range call.next() {
		s.send(call, p)
	}
}

// control sends a packet outside the sequence.
func (s *Server) control(call *call, p *ardp.Packet) {
	if p.ID = call.id; call.plain {
		p.ID = 0
	}
	switch {
	case p.Option == ardp.OptCancel:
		s.recordText(call, core.FromServer, "(refused)")
	case p.Option == ardp.OptRedirect:
		s.recordText(call, core.FromServer, "(redirect)")
	case p.Wait > 0:
		s.recordText(call, core.FromServer, fmt.Sprintf("(wait %d)", p.Wait))
	default:
		s.recordText(call, core.FromServer, fmt.Sprintf("(ack %d)", p.Received))
	}
	s.send(call, p)
}

// recordText records a line of the transcript.
func (s *Server) recordText(call *call, from core.Side, text string) {
	s.m.Log.Append(core.Line{Conn: call.number, From: from, Text: text}, nil)
}

func (s *Server) send(call *call, p *ardp.Packet) {
	s.socket.send(s.m.At("PACKET"), p.Append(nil), call.to)
}
