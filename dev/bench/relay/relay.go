// Package relay delays the bytes between a client and a server on one machine, like a long line.
// Benchmarks on it count round trips, which do not depend on the machine.
//
// On a real line, neither end knows at once what the other has received, and opening a connection
// takes a round trip of its own. Between processes of one machine the kernel answers at once, so
// the relay waits instead:
//
//   - connect returns to the client at once, but what the client sends is held back for the round
//     trip of SYN and SYN-ACK. The server sees the connection when the ACK after them arrives,
//     after 1.5 round trips. If the server sends first, the client receives it after 2. If the
//     client sends first (gopher, HTTP), the answer arrives after 2 as well. There is one
//     difference: a client that waits for connect before it sends something on another connection
//     is one round trip faster than on a line. curl is one: it sends RETR when the data connection
//     is established.
//   - If a server lingers (SO_LINGER), as vsftpd does, close of the data connection waits until the
//     client has acknowledged all data. Then the server sends 226. With Linger the relay holds that
//     reply back for a round trip.
//
// Unlike a line the relay has no windows that open slowly, no loss, and, unless Rate is given, no
// bandwidth limit.
package relay

import (
	"bytes"
	"fmt"
	"net"
	"regexp"
	"sync"
	"time"

	"github.com/fetch1738/fetch1738/internal/wire"
)

// Line has the properties of the line between the client and the server.
type Line struct {
	// Delay is the delay of each direction, half a round trip.
	Delay time.Duration
	// Rate is the number of bytes per second that one connection carries in each direction; 0 means
	// no limit.
	Rate int
	// FTP means that the server sends FTP replies, without TLS. The data connections of 227 and 229
	// then go through lines of the same kind.
	FTP bool
	// Linger means that the server sends 226 when the client has acknowledged the end of the data
	// connection, like vsftpd.
	Linger bool
}

// Relay is a running relay.
type Relay struct {
	Line
	to       string
	listener net.Listener
	ended    chan time.Time // receives the time when the server ended a connection, if not nil
}

// Start listens on an address, such as "127.0.0.1:0", and relays its connections to the server at
// the address to, until Close.
func Start(line Line, listen, to string) (*Relay, error) {
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return nil, err
	}
	r := &Relay{Line: line, to: to, listener: l}
	go r.serve()
	return r, nil
}

func (r *Relay) serve() {
	for {
		c, err := r.listener.Accept()
		if err != nil {
			return
		}
		go r.relay(c.(*net.TCPConn))
	}
}

// Addr returns the address that clients connect to.
func (r *Relay) Addr() string { return r.listener.Addr().String() }

// Close stops accepting clients. Open connections continue until one end closes them.
func (r *Relay) Close() error { return r.listener.Close() }

// relay serves one connection.
func (r *Relay) relay(client *net.TCPConn) {
	defer client.Close()
	open := time.Now().Add(2 * r.Delay) // when the client's connect would have returned
	up := r.direction(client)
	up.notBefore = open
	go up.read()
	time.Sleep(time.Until(open.Add(r.Delay)))
	c, err := net.Dial("tcp", r.to)
	if err != nil {
		return
	}
	server := c.(*net.TCPConn)
	defer server.Close()
	down := r.direction(server)
	if r.FTP {
		replies := &replies{line: r.Line, to: r.to}
		defer replies.close()
		down.change = replies.change
	}
	var both sync.WaitGroup
	both.Go(func() {
		down.read()
		if r.ended != nil {
			r.ended <- time.Now()
		}
	})
	both.Go(func() { up.write(server) })
	both.Go(func() { down.write(client) })
	both.Wait()
}

// direction is one direction of a connection.
type direction struct {
	line      Line
	from      *net.TCPConn
	notBefore time.Time                        // nothing is sent earlier
	change    func([]byte) ([]byte, time.Time) // changes what was read, and notBefore; nil changes nothing
	way       chan parcel                      // what is under way; closed at the end
}

type parcel struct {
	data []byte    // nil means the end
	sent time.Time // when its last byte was sent
}

func (r *Relay) direction(from *net.TCPConn) *direction {
	return &direction{line: r.Line, from: from, way: make(chan parcel, 4096)}
}

// catchUp is how much of its time a line with a Rate can make up for after it slept too long.
const catchUp = 20 * time.Millisecond

// read queues what arrives, with the time.
func (d *direction) read() {
	defer close(d.way)
	buf := make([]byte, 64<<10)
	if d.line.Rate > 0 {
		buf = buf[:16<<10]
	}
	var free time.Time // when the line is free again
	for {
		n, err := d.from.Read(buf)
		wire.QuickAck(d.from)
		if n > 0 {
			data := bytes.Clone(buf[:n])
			if d.change != nil {
				data, d.notBefore = d.change(data)
			}
			if d.line.Rate > 0 {
				free = later(free, time.Now().Add(-catchUp)).Add(time.Duration(n) * time.Second / time.Duration(d.line.Rate))
				time.Sleep(time.Until(free)) // backpressure: the sender keeps what the line cannot carry
			}
			d.way <- parcel{data, later(time.Now(), d.notBefore)}
		}
		if err != nil {
			d.way <- parcel{nil, later(time.Now(), d.notBefore)}
			return
		}
	}
}

// write delivers what was under way for the delay.
func (d *direction) write(to *net.TCPConn) {
	for p := range d.way {
		time.Sleep(time.Until(p.sent.Add(d.line.Delay)))
		if p.data == nil {
			to.CloseWrite()
			return
		}
		if _, err := to.Write(p.data); err != nil {
			d.from.Close() // the sender learns of this later than on a line
			for range d.way {
			}
			return
		}
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// replies are the replies on a control connection.
type replies struct {
	line Line
	to   string
	rest []byte   // an incomplete line
	data []*Relay // relays of the passive ports, in order
}

var (
	extended = regexp.MustCompile(`(?m)^(229 .*\(\|\|\|)([0-9]+)(\|\).*)$`)
	passive  = regexp.MustCompile(`(?m)^(227 .*?)([0-9]+,[0-9]+,[0-9]+,[0-9]+,[0-9]+,[0-9]+)(.*)$`)
	complete = regexp.MustCompile(`(?m)^226 `)
)

// change returns the complete lines, with ports of relays, and when they may be sent.
func (s *replies) change(data []byte) ([]byte, time.Time) {
	data = append(s.rest, data...)
	end := bytes.LastIndexByte(data, '\n') + 1
	data, s.rest = data[:end], bytes.Clone(data[end:])
	var acknowledged time.Time
	if s.line.Linger && len(s.data) > 0 && complete.Match(data) {
		acknowledged = (<-s.data[len(s.data)-1].ended).Add(2 * s.line.Delay)
	}
	data = replace(extended, data, func(port string) string {
		return fmt.Sprint(s.open(port).Port)
	})
	data = replace(passive, data, func(address string) string {
		var a, b, c, d, high, low int
		fmt.Sscanf(address, "%d,%d,%d,%d,%d,%d", &a, &b, &c, &d, &high, &low)
		port := s.open(fmt.Sprint(high<<8 | low)).Port
		return fmt.Sprintf("127,0,0,1,%d,%d", port>>8, port&0xff)
	})
	return data, acknowledged
}

// replace applies change to the second group of each match of pattern, which has three.
func replace(pattern *regexp.Regexp, text []byte, change func(string) string) []byte {
	return pattern.ReplaceAllFunc(text, func(line []byte) []byte {
		part := pattern.FindSubmatch(line)
		return fmt.Appendf(nil, "%s%s%s", part[1], change(string(part[2])), part[3])
	})
}

// open starts the relay of a data connection to a port of the server.
func (s *replies) open(port string) *net.TCPAddr {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return new(net.TCPAddr) // port 0, which the client refuses
	}
	host, _, _ := net.SplitHostPort(s.to)
	r := &Relay{Line: s.line, to: net.JoinHostPort(host, port), listener: l, ended: make(chan time.Time, 1)}
	r.FTP = false
	go r.serve()
	s.data = append(s.data, r)
	return l.Addr().(*net.TCPAddr)
}

// close closes the passive ports that were not used.
func (s *replies) close() {
	for _, r := range s.data {
		r.Close()
	}
}
