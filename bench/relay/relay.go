// Package relay is a line between two towns: it stands between a client and a
// server on this machine and delays what either says. Who measures on it counts
// round trips, which do not depend on the machine.
//
// A line is not only slow: no end of it knows at once what the other has received,
// and connections are opened by a round trip of their own. Between processes of one
// machine the kernel answers at once, so that a relay does the waiting:
//
//   - connect returns at once to the client, but nothing that it says is on its way
//     before the round trip of SYN and SYN-ACK is over. The server hears of the
//     connection when the ACK behind them arrives, after 1.5 round trips. If it
//     speaks first, the client hears it after 2; if the client does (gopher, HTTP),
//     the answer comes after 2 as well. Only who waits for connect before he says
//     something on another connection is one round trip faster than on a line, as
//     curl is: it sends RETR when the data connection is there.
//   - A server that lingers (SO_LINGER), as vsftpd does, has close of the data
//     connection wait until the client has acknowledged all, and then says 226. With
//     Linger the relay holds that reply back for a round trip.
//
// What a line has and a relay has not: windows that open slowly, loss, and, unless
// Rate is given, a limit.
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

// Line is what is between the client and the server.
type Line struct {
	// Delay is that of each direction, half a round trip.
	Delay time.Duration
	// Rate is how many octets a second one connection carries in each direction; 0
	// is no limit.
	Rate int
	// FTP takes what the server says for replies of FTP, and has the data
	// connections of 227 and 229 go through lines of the same kind.
	FTP bool
	// Linger is that the server says 226 when the client has acknowledged the end of
	// the data connection: vsftpd.
	Linger bool
}

// Relay is a running relay.
type Relay struct {
	Line
	to       string
	listener net.Listener
	ended    chan time.Time // when the server ended a connection, if not nil
}

// Start listens on an address, such as "127.0.0.1:0", and relays its connections
// to the server at another, until Close.
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

// Addr is where clients connect to.
func (r *Relay) Addr() string { return r.listener.Addr().String() }

// Close lets no more clients in. Connections go on until one end closes them.
func (r *Relay) Close() error { return r.listener.Close() }

// relay is the life of one connection.
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

// direction is one half of a connection.
type direction struct {
	line      Line
	from      *net.TCPConn
	notBefore time.Time                        // nothing is on its way earlier
	change    func([]byte) ([]byte, time.Time) // of what was read, and of notBefore; nil changes nothing
	way       chan parcel                      // what is on its way; closed at the end
}

type parcel struct {
	data []byte    // nil is the end
	sent time.Time // when its last octet is on its way
}

func (r *Relay) direction(from *net.TCPConn) *direction {
	return &direction{line: r.Line, from: from, way: make(chan parcel, 4096)}
}

// catchUp is how much of its time a line with a Rate makes up for if it slept too long.
const catchUp = 20 * time.Millisecond

// read puts on the way what comes, with the time.
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
				time.Sleep(time.Until(free)) // what the line does not take, the sender keeps
			}
			d.way <- parcel{data, later(time.Now(), d.notBefore)}
		}
		if err != nil {
			d.way <- parcel{nil, later(time.Now(), d.notBefore)}
			return
		}
	}
}

// write delivers what was on its way long enough.
func (d *direction) write(to *net.TCPConn) {
	for p := range d.way {
		time.Sleep(time.Until(p.sent.Add(d.line.Delay)))
		if p.data == nil {
			to.CloseWrite()
			return
		}
		if _, err := to.Write(p.data); err != nil {
			d.from.Close() // it hears of it later than on a line
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

// replies are those of a control connection.
type replies struct {
	line Line
	to   string
	rest []byte   // a line that has no end yet
	data []*Relay // of the passive ports, in order
}

var (
	extended = regexp.MustCompile(`(?m)^(229 .*\(\|\|\|)([0-9]+)(\|\).*)$`)
	passive  = regexp.MustCompile(`(?m)^(227 .*?)([0-9]+,[0-9]+,[0-9]+,[0-9]+,[0-9]+,[0-9]+)(.*)$`)
	complete = regexp.MustCompile(`(?m)^226 `)
)

// change gives the lines that are whole, with ports of relays, and when they may
// be on their way.
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

// close closes the passive ports that nobody came to.
func (s *replies) close() {
	for _, r := range s.data {
		r.Close()
	}
}
