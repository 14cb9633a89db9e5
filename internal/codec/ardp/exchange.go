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

// gapPackets is the number of later packets that must have arrived before a missing packet counts
// as lost, and not as late. TCP uses the same number (RFC 5681, section 3.2).
const gapPackets = 3

// maxIgnored limits the datagrams that do not belong to the answer.
const maxIgnored = 10_000

// The errors of an exchange, other than those of its connection and context.
var (
	// ErrSilent means that the server has not answered in time. It is a timeout.
	ErrSilent = fmt.Errorf("no reply: %w", os.ErrDeadlineExceeded)
	// ErrRefused means that the server has refused the request.
	ErrRefused = errors.New("the server refused the request")
	// ErrFlood means that too many datagrams arrived that do not belong to the answer.
	ErrFlood = errors.New("too many datagrams that do not belong to the answer")
	// ErrClosed means that the socket is closed.
	ErrClosed = fmt.Errorf("the socket is closed: %w", net.ErrClosed)
	// ErrTooLong means that a request does not fit into 65535 packets.
	ErrTooLong = errors.New("the request is too long")
)

// Redirected is the error of an exchange whose server redirects the client to another server.
type Redirected struct {
	To netip.AddrPort
	// Always reports whether the redirect also applies to later requests.
	Always bool
}

func (r *Redirected) Error() string { return "redirected to " + r.To.String() }

// Config configures an Exchange. The zero value is valid and means the connection id 0.
type Config struct {
	// ID is the connection id; see [NewID].
	ID uint16
	// AnyID also accepts answers with the connection id 0. Servers send it in answers to requests of
	// version 1 of the Prospero protocol.
	AnyID bool
	// Limit is the time limit for silence of the server, not counting waits that it has asked for.
	// Zero means one minute, the limit of the protocol and the maximum.
	Limit time.Duration
	// MaxIgnored is the maximum number of useless bytes received between two useful datagrams. Zero
	// means 256 KiB.
	MaxIgnored int
	// TrimNUL is called with the first packet of the answer. It reports whether the server appends a
	// NUL to each packet.
	TrimNUL func(first []byte) bool
	// Sent and Received are called with each datagram, and Note with messages for people. Each may
	// be nil.
	Sent, Received func(datagram []byte)
	Note           func(text string)
}

// Exchange is the client's side of one request and its answer. Read returns the text of the answer,
// packet by packet in order. At the end of the answer Read closes the socket and returns io.EOF. An
// Exchange has no goroutines: it sends and receives only inside its methods. The methods must not
// be called concurrently. They end with the context that was passed to Start.
type Exchange struct {
	cfg     Config
	conn    *wire.Conn
	request []*Packet
	acked   int // packets of the request that the server has acknowledged
	sent    int // packets of the request that have been sent
	answer  Assembly
	data    []byte // unread data of the current packet
	first   bool   // the first packet has been passed to TrimNUL
	trim    bool
	buf     []byte
	err     error // the error of a failed exchange
	timers  timers
	ackSent uint16 // the last packet number acknowledged to the server
	ignored int    // number of datagrams that belong to other exchanges
	useless int    // bytes received since the last useful datagram
}

// NewID returns a random connection id that cannot be guessed. It is never 0.
func NewID() uint16 {
	var b [2]byte
	for {
		rand.Read(b[:]) // never fails
		if id := binary.BigEndian.Uint16(b[:]); id != 0 {
			return id
		}
	}
}

// Start sends a request over a connected datagram socket. Close closes the socket. If Start fails,
// it closes the socket itself.
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

// SetLimit changes the time limit for silence of the server, see Config.Limit.
func (x *Exchange) SetLimit(d time.Duration) {
	if d <= 0 || d > giveUp {
		d = giveUp
	}
	x.cfg.Limit = d
}

// Read implements io.Reader. With an empty p it waits for data and reads none.
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

// trimmed removes the NUL that very old servers append.
func (x *Exchange) trimmed(data []byte) []byte {
	if !x.first {
		x.first, x.trim = true, x.cfg.TrimNUL != nil && x.cfg.TrimNUL(data)
	}
	if n := len(data); x.trim && n > 0 && data[n-1] == 0 {
		return data[:n-1]
	}
	return data
}

// Close ends the exchange and closes the socket. If the answer is not complete, Close tells the
// server to cancel the request.
func (x *Exchange) Close() error {
	if !x.answer.Complete() && !errors.Is(x.err, ErrRefused) {
		// Send this even if the context has ended.
		_ = x.conn.Conn.SetWriteDeadline(time.Now().Add(time.Second))
		x.write(x.conn.Conn, &Packet{Header: 13, ID: x.cfg.ID, Option: OptCancel})
	}
	if x.ignored > 0 {
		x.note(fmt.Sprintf("%d datagrams were ignored because they do not belong to this exchange", x.ignored))
		x.ignored = 0
	}
	return x.conn.Close()
}

func (x *Exchange) note(text string) {
	if x.cfg.Note != nil {
		x.cfg.Note(text)
	}
}

// write sends a packet and reports it to Config.Sent.
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

// sendWindow sends the packets of the request that fit into the window and have not been sent.
func (x *Exchange) sendWindow() error {
	for x.sent < min(x.acked+Window, len(x.request)) {
		if err := x.write(x.conn, x.request[x.sent]); err != nil {
			return err
		}
		x.sent++
	}
	return nil
}

// repeat sends again what the server may not have received. These are the unacknowledged packets of
// the request. If the request is acknowledged or the answer has begun, repeat sends an
// acknowledgement, which requests the rest of the answer.
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

// acknowledge tells the server how many packets of the answer have arrived.
func (x *Exchange) acknowledge() error {
	x.ackSent = x.answer.Through()
	return x.write(x.conn, &Packet{Header: 9, ID: x.cfg.ID, Received: x.answer.Through()})
}

// await receives until the next packet of the answer arrives, and repeats the request when it is
// due.
func (x *Exchange) await() error {
	x.useless = 0
	x.timers = startTimers(x.cfg.Limit, x.answer.Begun()) // time counts only while the caller waits for data
	through := x.answer.Through()
	for x.answer.Through() == through {
		now := time.Now()
		if x.timers.over(now) {
			return &wire.TimeoutError{Limit: x.cfg.Limit, Awaited: "no reply", Err: ErrSilent}
		}
		if x.timers.due(now) {
			if err := x.repeat(); err != nil {
				return err
			}
		}
		x.conn.SetTimeout(time.Until(x.timers.until()))
		n, err := x.conn.Read(x.buf)
		if err == io.EOF { // UDP has no EOF; must not look like the end of the answer
			err = ErrClosed
		}
		if errors.Is(err, os.ErrDeadlineExceeded) { // the deadline set above, not that of the context
			continue
		}
		if err == nil {
			err = x.handle(x.buf[:n])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// handle handles a received datagram.
func (x *Exchange) handle(datagram []byte) error {
	if len(datagram) > 0 && x.cfg.Received != nil {
		x.cfg.Received(datagram)
	}
	p, err := Decode(datagram)
	switch {
	case len(datagram) == 0, isForeign(datagram, x.cfg):
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
	if p.Flags&FlagAck != 0 || x.isGap(p.Seq) {
		if err := x.acknowledge(); err != nil {
			return err
		}
	}
	if verdict != Fresh {
		return x.countUseless(len(datagram))
	}
	x.timers.restart(0, x.cfg.Limit, x.answer.Begun())
	return nil
}

// isGap reports whether to send an acknowledgement that the server has not requested, because a
// packet is missing. That is so near the end of the server's window, where the lost packet may be
// the one that requests the acknowledgement. It is not so earlier, because the server repeats all
// unacknowledged packets. After two acknowledgements in one window it would send everything twice.
func (x *Exchange) isGap(seq uint16) bool {
	return x.answer.Early() >= gapPackets && x.answer.Through() != x.ackSent && int(seq) > int(x.ackSent)+Window-gapPackets
}

// isForeign reports whether a datagram has the connection id of another exchange. The rest of the
// datagram need not be valid.
func isForeign(datagram []byte, cfg Config) bool {
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

// ignore counts a datagram of another exchange.
func (x *Exchange) ignore(size int) error {
	if x.ignored++; x.ignored >= maxIgnored {
		return ErrFlood
	}
	return x.countUseless(size)
}

// countUseless counts the bytes of a datagram that has no new data.
func (x *Exchange) countUseless(size int) error {
	if x.useless += size; x.useless > x.cfg.MaxIgnored {
		return ErrFlood
	}
	return nil
}

// acknowledged records how much of the request the server has received.
func (x *Exchange) acknowledged(p *Packet) error {
	got := min(int(p.Received), x.sent)
	if got <= x.acked {
		return nil
	}
	x.acked = got
	if !x.timers.waiting {
		x.timers.restart(0, x.cfg.Limit, x.answer.Begun())
	}
	return x.sendWindow()
}

// control handles a packet outside the sequence. A plain acknowledgement requires no action.
func (x *Exchange) control(p *Packet) error {
	switch p.Option {
	case OptCancel:
		return ErrRefused
	case OptVersions:
		return ErrVersion
	case OptRedirect, OptRedirectAll:
		if x.answer.Through() > 0 {
			return fmt.Errorf("%w: a redirect after the answer has begun", ErrHeader)
		}
		to, _ := p.Redirect()
		return &Redirected{To: to, Always: p.Option == OptRedirectAll}
	}
	if q, ok := p.Queue(); ok && (q.Position >= 0 || q.Time >= 0) {
		x.note("the server's queue: " + q.String())
	}
	if p.HasWait() {
		asked := time.Duration(p.Wait) * time.Second
		if asked > 0 {
			x.note(fmt.Sprintf("the server asks to wait for %v", asked))
		}
		x.timers.extend(asked, x.cfg.Limit, x.answer.Begun())
	}
	return x.countUseless(p.Header)
}
