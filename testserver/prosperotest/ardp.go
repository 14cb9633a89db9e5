package prosperotest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/internal/codec/ardp"
	"github.com/fetch1738/fetch1738/testserver/internal/core"
)

// Limits of the ARDP server.
const (
	maxCalls    = 256 // exchanges kept at once
	maxQuestion = 1 << 20
	resendPause = time.Second
	abandoned   = 3 * time.Minute // a client that has been silent for this long has given up
)

// call is one exchange with a client, identified by the client's address and connection id. The
// server's mu guards it.
type call struct {
	to       net.Addr
	id       uint16
	number   int // number of the request, for the transcript
	question ardp.Assembly
	size     int
	asked    bool // the question is complete
	plain    bool // the question is of protocol 1
	waited   bool // Wait has been sent

	answer []*ardp.Packet // nil until it is ready
	sent   int            // packets sent so far
	acked  int            // the client has received all packets up to this one
	heard  bool           // the client has acknowledged something
	window int
	resent time.Time
	active int       // Server.moment of the last datagram sent or received
	last   time.Time // time of the last datagram received
}

// serve reads datagrams until the socket is closed.
func (s *Server) serve(socket net.PacketConn) {
	s.socket = socket
	buf := make([]byte, 1<<16)
	for failures := 0; failures < 100; {
		n, from, err := socket.ReadFrom(buf)
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
	if _, lost := s.copies(s.m.At("INCOMING")); lost {
		return
	}
	key := fmt.Sprintf("%v %d", from, p.ID)
	call := s.calls[key]
	switch {
	case p.Option == ardp.OptCancel:
		if call != nil {
			s.recordText(call, core.FromClient, "(cancel)")
			s.deleteCall(key)
		}
	case call == nil && p.Seq == 0:
	case call == nil || !call.asked:
		if call == nil {
			if call = s.newCall(key, from, p.ID); call == nil {
				return
			}
		}
		s.touch(call)
		s.ask(key, call, p)
	default:
		s.touch(call)
		s.acknowledged(call, p)
	}
}

// newCall returns nil while there is no room for another call. A client repeats a request that is
// not answered.
func (s *Server) newCall(key string, from net.Addr, id uint16) *call {
	if len(s.calls) >= maxCalls && !s.evict() {
		return nil
	}
	s.seen++
	call := &call{to: from, id: id, number: s.seen, window: ardp.Window}
	s.calls[key] = call
	return call
}

// evict deletes a call: one whose whole answer the client has, else one whose answer has been
// sent completely, else one that the client seems to have given up. Among several it deletes the
// one that has been idle for longest. It never deletes a call under way: its client has received an
// acknowledgment of the request and would not repeat it.
func (s *Server) evict() bool {
	oldest, best := "", 3
	for key, call := range s.calls {
		rank := call.rank()
		if rank < best || rank == best && best < 3 && call.active < s.calls[oldest].active {
			oldest, best = key, rank
		}
	}
	if best == 3 {
		return false
	}
	s.deleteCall(oldest)
	return true
}

// rank returns the order in which calls may be deleted, lowest value first; 3 means a call under
// way.
func (call *call) rank() int {
	switch n := len(call.answer); {
	case n > 0 && call.acked == n:
		return 0
	case n > 0 && call.sent == n:
		return 1
	case time.Since(call.last) > abandoned:
		return 2
	}
	return 3
}

// touch records that a datagram of a call has come.
func (s *Server) touch(call *call) {
	s.moment++
	call.active, call.last = s.moment, time.Now()
}

func (s *Server) deleteCall(key string) {
	delete(s.calls, key)
}

// ask handles a packet of a request.
func (s *Server) ask(key string, call *call, p *ardp.Packet) {
	if w := p.WindowWanted(); w > 0 {
		call.window = min(w, 256)
	}
	if p.Seq == 0 {
		return
	}
	if call.size += len(p.Data); call.size > maxQuestion {
		s.deleteCall(key)
		return
	}
	if _, err := call.question.Add(p); err != nil {
		s.deleteCall(key)
		return
	}
	if !call.question.Complete() {
		s.control(call, &ardp.Packet{Header: 9, Received: call.question.Through()})
		return
	}
	call.asked = true
	var text []byte
	for data, ok := call.question.Next(); ok; data, ok = call.question.Next() {
		text = append(text, data...)
	}
	if isAnswer(text) {
		s.deleteCall(key)
		return
	}
	s.m.Go(func() { s.reply(key, call, string(text)) })
}

// answerWords begin the lines of answers. A message that begins with one is not a request;
// answering it might start an endless exchange.
var answerWords = map[string]bool{
	"": true, "ERROR": true, "FAILURE": true, "LINK": true, "ATTRIBUTE": true, "NONE-FOUND": true, "UNRESOLVED": true, "FORWARDED": true,
	"VERSION-NOT-SUPPORTED": true, "SUCCESS": true, "WARNING": true, "ACL": true, "LINK-INFO": true, "AUTHENTICATED": true,
}

// isAnswer reports whether a text is an answer of a server, and not a request.
func isAnswer(text []byte) bool {
	word, _, _ := strings.Cut(strings.TrimLeft(string(text), " \t\r\n"), " ")
	return answerWords[strings.TrimSpace(word)]
}

// acknowledged handles an acknowledgment, and sends the next packets or again those that the client
// lacks.
func (s *Server) acknowledged(call *call, p *ardp.Packet) {
	through := min(int(p.Received), call.sent)
	progress := through > call.acked
	if p.Seq == 0 {
		s.recordText(call, core.FromClient, fmt.Sprintf("(ack %d)", p.Received))
	}
	call.acked, call.heard = max(call.acked, through), true
	if call.answer == nil || call.acked == len(call.answer) {
		return
	}
	if !progress && time.Since(call.resent) < resendPause {
		return
	}
	call.resent = time.Now()
	call.sent = call.acked
	s.sendWindow(call)
}

// reply computes the answer to a request and begins to send it.
func (s *Server) reply(key string, call *call, text string) {
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
	if s.calls[key] != call {
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

// cutAnswer splits an answer into packets. Answers of protocol 1 are split between lines.
func cutAnswer(text string, plain bool) []*ardp.Packet {
	var packets []*ardp.Packet
	for first := true; first || text != ""; first = false {
		n := min(ardp.MaxData, len(text))
		if end := strings.LastIndexByte(text[:n], '\n') + 1; plain && n < len(text) && end > 0 {
			n = end
		}
		packets = append(packets, &ardp.Packet{Seq: uint16(len(packets) + 1), Data: []byte(text[:n])})
		text = text[n:]
	}
	if len(packets) > ardp.MaxPackets {
		return cutAnswer("FAILURE SERVER-FAILED the answer is too long\n", plain)
	}
	return packets
}

// sendWindow sends the packets of an answer that fit into the window.
func (s *Server) sendWindow(call *call) {
	last := min(call.acked+call.window, len(call.answer))
	s.moment++
	call.active = s.moment
	for call.sent < last {
		p := *call.answer[call.sent]
		call.sent++
		s.header(call, &p, call.sent == last)
		s.send(call, &p)
	}
}

// header sets the header of a packet as dirsrv does.
func (s *Server) header(call *call, p *ardp.Packet, lastOfWindow bool) {
	total := len(call.answer)
	end := int(p.Seq) == total
	if p.ID = call.id; call.plain && !call.heard {
		p.ID = 0
	}
	p.Received = call.question.Through()
	if end {
		p.Total = uint16(total)
	}
	switch {
	case total == 1:
		p.Header = 3
	case call.heard:
		p.Header, p.Total = 9, uint16(total)
	default:
		p.Header = 7
	}
	if call.waited && call.plain {
		p.Wait = 5
	}
	if call.waited && !call.heard {
		p.Header = 12
	}
	if !end && lastOfWindow || end && call.waited && (!call.heard || total == 1) {
		p.Header, p.Flags = 12, ardp.FlagAck
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

// send sends a datagram with the faults at PACKET.
func (s *Server) send(call *call, p *ardp.Packet) {
	faults := s.m.At("PACKET")
	if copies, lost := s.copies(faults); !lost {
		datagram := faults.Datagram(p.Append(nil))
		if faults.Acts(reorder) {
			s.held, s.heldTo = append(s.held, datagram), call.to
			return
		}
		for range copies {
			_, _ = s.socket.WriteTo(datagram, call.to)
		}
	}
	for _, late := range s.held {
		_, _ = s.socket.WriteTo(late, s.heldTo)
	}
	s.held = nil
}

// copies returns the number of copies of a datagram that are sent, and whether it is lost.
func (s *Server) copies(faults *core.Faults) (n int, lost bool) {
	for _, f := range faults.TakeAll(loss) {
		r := s.random[f.Seed]
		if r == nil {
			r = rand.New(rand.NewPCG(f.Seed, 1525))
			s.random[f.Seed] = r
		}
		if r.Int64N(100) < f.N {
			return 0, true
		}
	}
	switch {
	case faults.Acts(lose):
		return 0, true
	case faults.Acts(duplicate):
		return 2, false
	}
	return 1, false
}
