package ardp

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"time"

	"github.com/fetch1738/fetch1738/internal/wire"
)

// The client's timers. A request is repeated after 4 s, 8 s and 16 s more; after
// another 32 s the client gives up. Once the answer has begun, only what has come
// of it is repeated, which asks for the rest: after 1 s, as often as servers heed
// it, then 2 s, 4 s, 8 s and 16 s more.
const (
	firstRetry = 4 * time.Second
	maxRetries = 3
	firstAck   = time.Second
	maxAcks    = 5
	giveUp     = 60 * time.Second
)

// gapPackets is how many packets must have come behind one that is missing for
// it to be lost and not late, as in TCP (RFC 5681, section 3.2).
const gapPackets = 3

// Bounds of what a server, or who pretends to be one, can make a client do.
const (
	maxWait    = 120 * time.Second // taken of a server's wait
	maxWaiting = 15 * time.Minute  // of all its waits between two packets of the answer
	maxIgnored = 10_000            // datagrams that are no part of the answer
)

// How an exchange fails besides by its connection or context.
var (
	// ErrSilent means that the server has not answered in time; it is a timeout.
	ErrSilent = fmt.Errorf("no reply: %w", os.ErrDeadlineExceeded)
	// ErrRefused means that the server will not serve.
	ErrRefused = errors.New("the server refuses the connection")
	// ErrFlood means that too many datagrams came that are no part of the answer.
	ErrFlood = errors.New("too many datagrams that are no part of the answer")
	// ErrClosed means that the socket has come to an end.
	ErrClosed = fmt.Errorf("the socket is closed: %w", net.ErrClosed)
	// ErrTooLong means that a request has more octets than fit into 65535 packets.
	ErrTooLong = errors.New("the request is too long")
)

// Redirected is the error of an exchange whose server says to ask another.
type Redirected struct {
	To netip.AddrPort
	// Always is set when it says so for later requests too.
	Always bool
}

func (r *Redirected) Error() string { return "redirected to " + r.To.String() }

// Config is what an Exchange is told. The zero value is good for a request with
// the connection id 0.
type Config struct {
	// ID is the connection id; see [NewID].
	ID uint16
	// AnyID takes answers with the connection id 0 too. Servers answer requests of
	// Prospero's protocol 1 that way.
	AnyID bool
	// Limit bounds the server's silence, apart from waits it has asked for; 0 is
	// the protocol's own limit of a minute, which is also the most.
	Limit time.Duration
	// MaxIgnored bounds the octets that come in vain before something useful does;
	// 0 is 256 KiB.
	MaxIgnored int
	// TrimNUL looks at the first packet of the answer and tells whether the server
	// is one that puts a NUL behind each packet.
	TrimNUL func(first []byte) bool
	// Sent and Received are called with each datagram, Note with remarks for
	// people. nil is not called.
	Sent, Received func(datagram []byte)
	Note           func(text string)
}

// Exchange is one request and its answer, the client's side. Read gives the
// answer's text, packet by packet as they come into order, and io.EOF when all
// of it has come, which closes the socket. Nothing happens but in calls of its
// methods, which are for one goroutine; the context that Start was given ends
// them.
type Exchange struct {
	cfg     Config
	conn    *wire.Conn
	request []*Packet
	acked   int // the server has all packets up to here
	sent    int // packets of the request sent so far
	answer  Assembly
	data    []byte // of the current packet, not yet read
	first   bool   // the first packet has been looked at
	trim    bool
	buf     []byte
	err     error // of a failed exchange

	interval time.Duration // until the repetition after the next
	tries    int           // that are left
	next     time.Time     // of the next repetition
	told     uint16        // the latest packet up to which the server was told that all have come
	end      time.Time     // of patience
	latest   time.Time     // end may come, whatever the server asks for
	waiting  bool          // the server has asked for it
	ignored  int           // datagrams
	vain     int           // octets in vain since something useful came
}

// NewID is a connection id nobody can guess. It is never 0.
func NewID() uint16 {
	var b [2]byte
	for {
		rand.Read(b[:]) // never fails
		if id := binary.BigEndian.Uint16(b[:]); id != 0 {
			return id
		}
	}
}

// Start sends a request over a connected datagram socket. Close closes the
// socket; when Start fails it is closed.
func Start(ctx context.Context, conn net.Conn, message []byte, cfg Config) (*Exchange, error) {
	if cfg.Limit <= 0 || cfg.Limit > giveUp {
		cfg.Limit = giveUp
	}
	if cfg.MaxIgnored <= 0 {
		cfg.MaxIgnored = 256 << 10
	}
	x := &Exchange{cfg: cfg, conn: wire.NewConn(ctx, conn, cfg.Limit), buf: make([]byte, 1<<16)}
	request, ok := Split(cfg.ID, message)
	err := ErrTooLong
	if ok {
		x.request = request
		err = x.sendWindow()
	}
	if err != nil {
		x.conn.Close()
		return nil, err
	}
	return x, nil
}

// SetLimit changes the limit of the server's silence, as of Config.
func (x *Exchange) SetLimit(d time.Duration) {
	if d <= 0 || d > giveUp {
		d = giveUp
	}
	x.cfg.Limit = d
}

// Read implements io.Reader. With an empty p it waits for octets and reads none.
func (x *Exchange) Read(p []byte) (int, error) {
	for len(x.data) == 0 {
		data, ok := x.answer.Next()
		switch {
		case ok:
			x.data = x.trimmed(data)
		case x.answer.Complete():
			_ = x.Close() // nothing more will come
			return 0, io.EOF
		case x.err != nil:
			return 0, x.err
		default:
			x.err = x.await()
		}
	}
	n := copy(p, x.data)
	x.data = x.data[n:]
	return n, nil
}

// trimmed takes off the NUL that very old servers append.
func (x *Exchange) trimmed(data []byte) []byte {
	if !x.first {
		x.first, x.trim = true, x.cfg.TrimNUL != nil && x.cfg.TrimNUL(data)
	}
	if n := len(data); x.trim && n > 0 && data[n-1] == 0 {
		return data[:n-1]
	}
	return data
}

// Close ends the exchange and closes the socket. The server is told to forget a
// request whose answer has not come whole.
func (x *Exchange) Close() error {
	if !x.answer.Complete() && !errors.Is(x.err, ErrRefused) {
		// The context may be done, which must not keep this from being sent.
		_ = x.conn.Conn.SetWriteDeadline(time.Now().Add(time.Second))
		x.write(x.conn.Conn, &Packet{Header: 13, ID: x.cfg.ID, Option: OptCancel})
	}
	if x.ignored > 0 {
		x.note(fmt.Sprintf("%d datagrams were ignored that are no part of this exchange", x.ignored))
		x.ignored = 0
	}
	return x.conn.Close()
}

func (x *Exchange) note(text string) {
	if x.cfg.Note != nil {
		x.cfg.Note(text)
	}
}

func (x *Exchange) write(w io.Writer, p *Packet) error {
	datagram := p.Append(nil)
	if _, err := w.Write(datagram); err != nil {
		return err
	}
	if x.cfg.Sent != nil {
		x.cfg.Sent(datagram)
	}
	return nil
}

// sendWindow sends those packets of the request that may be under way and have
// not been sent.
func (x *Exchange) sendWindow() error {
	for x.sent < min(x.acked+Window, len(x.request)) {
		if err := x.write(x.conn, x.request[x.sent]); err != nil {
			return err
		}
		x.sent++
	}
	return nil
}

// repeat sends again what the server may lack: the request's packets that it
// has not acknowledged or, if there are none, word of what has come of the
// answer, which asks for the rest. A server that answers has the request.
func (x *Exchange) repeat() error {
	if x.acked == len(x.request) || x.answer.Begun() {
		return x.acknowledge()
	}
	for _, p := range x.request[x.acked:x.sent] {
		again := *p
		again.Received = x.answer.Through()
		if err := x.write(x.conn, &again); err != nil {
			return err
		}
	}
	return nil
}

func (x *Exchange) acknowledge() error {
	x.told = x.answer.Through()
	return x.write(x.conn, &Packet{Header: 9, ID: x.cfg.ID, Received: x.answer.Through()})
}

// patience winds the timers, for a silence that the server has asked for or for
// none.
func (x *Exchange) patience(silence time.Duration) {
	now := time.Now()
	x.interval, x.tries, x.waiting = firstRetry, maxRetries, silence > 0
	if x.answer.Begun() {
		x.interval, x.tries = firstAck, maxAcks
	}
	x.next = now.Add(max(silence, x.interval))
	if x.end = now.Add(silence + x.cfg.Limit); x.end.After(x.latest) {
		x.end = x.latest
	}
}

// await receives until there is more of the answer, and repeats the request
// when it is time.
func (x *Exchange) await() error {
	// Time passes only while the caller waits for something.
	x.latest = time.Now().Add(maxWaiting + x.cfg.Limit)
	x.vain = 0
	x.patience(0)
	through := x.answer.Through()
	for x.answer.Through() == through {
		now := time.Now()
		if !now.Before(x.end) {
			return &wire.TimeoutError{Limit: x.cfg.Limit, Awaited: "no reply", Err: ErrSilent}
		}
		if !now.Before(x.next) && x.tries > 0 {
			if err := x.repeat(); err != nil {
				return err
			}
			x.tries--
			x.interval *= 2
			x.next = now.Add(x.interval)
		}
		until := x.end
		if x.tries > 0 && x.next.Before(until) {
			until = x.next
		}
		x.conn.SetTimeout(time.Until(until))
		n, err := x.conn.Read(x.buf)
		if err == io.EOF { // none of UDP's; not to be taken for the answer's end
			err = ErrClosed
		}
		if errors.Is(err, os.ErrDeadlineExceeded) { // ours, not the context's
			continue
		}
		if err == nil {
			err = x.take(x.buf[:n])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// take looks at a datagram.
func (x *Exchange) take(datagram []byte) error {
	if len(datagram) > 0 && x.cfg.Received != nil {
		x.cfg.Received(datagram)
	}
	p, err := Decode(datagram)
	switch {
	case len(datagram) == 0, foreign(datagram, x.cfg):
		return x.ignore(len(datagram))
	case err != nil:
		return err
	}
	if err := x.acknowledged(p); err != nil {
		return err
	}
	if p.Seq == 0 {
		return x.control(p)
	}
	verdict, err := x.answer.Add(p)
	if err != nil {
		return err
	}
	if p.Flags&FlagAck != 0 || x.gap(p.Seq) {
		if err := x.acknowledge(); err != nil {
			return err
		}
	}
	if verdict != Fresh {
		return x.inVain(len(datagram))
	}
	x.patience(0)
	return nil
}

// gap reports whether to tell the server of a packet that is missing although it
// has not asked: near the end of its window, in case that the packet is lost that
// asks. Not before, because the server sends all again that it has not been told
// of: told twice in a window, it sends everything twice from then on.
func (x *Exchange) gap(seq uint16) bool {
	return x.answer.Early() >= gapPackets && x.answer.Through() != x.told && int(seq) > int(x.told)+Window-gapPackets
}

// foreign tells whether a datagram has another exchange's connection id,
// whatever else is right or wrong with it.
func foreign(datagram []byte, cfg Config) bool {
	switch n := datagram[0]; {
	case n == 0 || n > maxHeader:
		return false
	case n < 3:
		return !cfg.AnyID
	case len(datagram) < 3:
		return false
	}
	id := binary.BigEndian.Uint16(datagram[1:])
	return id != cfg.ID && !(cfg.AnyID && id == 0)
}

// ignore counts a datagram that is none of ours.
func (x *Exchange) ignore(octets int) error {
	if x.ignored++; x.ignored >= maxIgnored {
		return ErrFlood
	}
	return x.inVain(octets)
}

// inVain counts what does not bring the answer on.
func (x *Exchange) inVain(octets int) error {
	if x.vain += octets; x.vain > x.cfg.MaxIgnored {
		return ErrFlood
	}
	return nil
}

// acknowledged notes how much of the request the server has.
func (x *Exchange) acknowledged(p *Packet) error {
	got := min(int(p.Received), x.sent)
	if got <= x.acked {
		return nil
	}
	x.acked = got
	if !x.waiting {
		x.patience(0)
	}
	return x.sendWindow()
}

// control acts on a packet outside the sequence, or on nothing if it is a mere
// acknowledgement.
func (x *Exchange) control(p *Packet) error {
	switch p.Option {
	case OptCancel:
		return ErrRefused
	case OptVersions:
		return ErrVersion
	case OptRedirect, OptRedirectAll:
		if x.answer.Through() > 0 {
			return fmt.Errorf("%w: a redirect amid the answer", ErrHeader)
		}
		to, _ := p.Redirect()
		return &Redirected{To: to, Always: p.Option == OptRedirectAll}
	}
	if q, ok := p.Queue(); ok && (q.Position >= 0 || q.Time >= 0) {
		x.note("the server's queue: " + q.String())
	}
	if p.HasWait() {
		x.wait(time.Duration(p.Wait) * time.Second)
	}
	return x.inVain(p.Header)
}

// wait is patient for as long as the server asks, within bounds; 0 ends that.
func (x *Exchange) wait(asked time.Duration) {
	if asked > 0 {
		x.note(fmt.Sprintf("the server asks to wait for %v", asked))
	}
	if asked > 0 || x.waiting {
		x.patience(min(asked, maxWait))
	}
}
