// Package scaletest has servers for the tests of crawls with several processes: thousands of gopher
// hosts on the loopback interface, and a news server that counts its sessions.
package scaletest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
)

// Options describe a population of hosts.
type Options struct {
	// Hosts is the number of hosts, and Items that of the items of each, without its menus.
	Hosts, Items int
	// Links is the number of hosts that each host links to: host i links to the hosts i*Links+1 to
	// i*Links+Links, so that all can be found from host 0. Each links back to the one it was found at.
	// The last item of a host is linked by another host only, which is found at another time.
	Links int
	// Delay is the time between a request and its answer.
	Delay time.Duration
	// Refuses and Silent, if not nil, report which hosts are dead: nothing listens at the port of
	// their URL, or their server accepts connections and never answers.
	Refuses, Silent func(host int) bool
	// Names gives the hosts names in place of addresses in their URLs, such as "h12.example". Then
	// they are only reached by Dial.
	Names bool
	// OneAddress means that all names have the same address.
	OneAddress bool
}

// Hosts is a population of gopher servers. They are one listener: a connection tells by its local
// address which host is meant.
type Hosts struct {
	Options

	listener net.Listener
	refusing net.Listener // keeps a port, at which the hosts refuse
	handlers sync.WaitGroup
	closed   chan struct{}

	mu       sync.Mutex
	changed  *sync.Cond // of the fields below
	hosts    []host
	distinct int // documents that were requested
	lines    map[netip.Addr]*line
	held     map[netip.Addr]*hold // by peer
	strange  []string             // selectors that nothing links to
}

// A hold keeps back the answers to a peer.
type hold struct {
	release chan struct{}
	hosts   []int // whose answers wait
}

// A host is what is noted about a host.
type host struct {
	asked []uint16 // by document: the number of requests for it
	peers []netip.Addr
}

// menuSize is the number of items of a menu.
const menuSize = 10

// New starts a population, which ends with the test.
func New(tb testing.TB, o Options) *Hosts {
	tb.Helper()
	h := &Hosts{
		Options: o, closed: make(chan struct{}), hosts: make([]host, o.Hosts), lines: make(map[netip.Addr]*line),
		held: make(map[netip.Addr]*hold),
	}
	h.changed = sync.NewCond(&h.mu)
	for i := range h.hosts {
		h.hosts[i].asked = make([]uint16, h.PerHost())
	}
	var err error
	if h.listener, err = net.Listen("tcp4", "0.0.0.0:0"); err != nil {
		tb.Fatal(err)
	}
	if h.refusing, err = net.Listen("tcp4", "127.0.0.1:0"); err != nil { // no host has this address
		tb.Fatal(err)
	}
	h.handlers.Go(h.accept)
	tb.Cleanup(h.close)
	return h
}

func (h *Hosts) close() {
	close(h.closed)
	h.listener.Close()
	h.refusing.Close()
	h.mu.Lock()
	for _, l := range h.lines {
		for _, c := range l.open {
			_ = c.SetDeadline(time.Unix(1, 0))
		}
	}
	h.mu.Unlock()
	h.handlers.Wait()
}

// PerHost returns the number of documents of a host: its menus and items.
func (h *Hosts) PerHost() int { return 1 + h.menus() + h.Items }

func (h *Hosts) menus() int { return (h.Items + menuSize - 1) / menuSize }

// Alive reports whether a host answers.
func (h *Hosts) Alive(host int) bool {
	return (h.Refuses == nil || !h.Refuses(host)) && (h.Silent == nil || !h.Silent(host))
}

// Documents returns the number of documents of all hosts that answer.
func (h *Hosts) Documents() (n int) {
	for i := range h.Options.Hosts {
		if h.Alive(i) {
			n += h.PerHost()
		}
	}
	return n
}

// Name returns the name of a host: that of its unit.
func (h *Hosts) Name(host int) string {
	if h.Names {
		return fmt.Sprintf("h%d.example", host)
	}
	return h.local(host).String()
}

// local returns the address at which the listener is a host.
func (h *Hosts) local(host int) netip.Addr {
	return netip.AddrFrom4([4]byte{127, byte(1 + host>>16), byte(host >> 8), byte(host)})
}

// addr returns the address that a host has for the crawl.
func (h *Hosts) addr(host int) netip.Addr {
	switch {
	case !h.Names:
		return h.local(host)
	case h.OneAddress:
		host = 0
	}
	return netip.AddrFrom4([4]byte{93, byte(host >> 16), byte(host >> 8), byte(host)})
}

// port returns the port in the URLs of a host.
func (h *Hosts) port(host int) int {
	at := h.listener
	if h.Refuses != nil && h.Refuses(host) {
		at = h.refusing
	}
	return at.Addr().(*net.TCPAddr).Port
}

// URL returns the URL of a document of a host, as a crawl writes it. Document 0 is the first menu of
// the host, to which its URL without a path leads.
func (h *Hosts) URL(host, document int) string {
	kind := ""
	if document > 0 {
		kind = string(h.kind(document))
	}
	return fmt.Sprintf("gopher://%s:%d/%s%s", h.Name(host), h.port(host), kind, h.selector(document))
}

// URLs returns the URLs of the first menus of all hosts.
func (h *Hosts) URLs() (urls []string) {
	for i := range h.Options.Hosts {
		urls = append(urls, h.URL(i, 0))
	}
	return urls
}

// kind returns the type of a document: a menu, a text or octets.
func (h *Hosts) kind(document int) byte {
	switch {
	case document <= h.menus():
		return '1'
	case document%2 == 0:
		return '0'
	}
	return '9'
}

func (h *Hosts) selector(document int) string {
	switch m := h.menus(); {
	case document == 0:
		return ""
	case document <= m:
		return fmt.Sprintf("menu%d", document-1)
	default:
		return fmt.Sprintf("item%d", document-1-m)
	}
}

// document returns the number of the document with a selector, or -1.
func (h *Hosts) document(selector string) int {
	number := func(prefix string, n int) int {
		text, ok := strings.CutPrefix(selector, prefix)
		i, err := strconv.Atoi(text)
		if !ok || err != nil || i < 0 || i >= n {
			return -1
		}
		return i
	}
	m := h.menus()
	if selector == "" {
		return 0
	}
	if i := number("menu", m); i >= 0 {
		return 1 + i
	}
	if i := number("item", h.Items); i >= 0 {
		return 1 + m + i
	}
	return -1
}

// text returns a document of a host, without the line that ends menus and texts.
func (h *Hosts) text(host, document int) string {
	var b strings.Builder
	line := func(host, document int) {
		fmt.Fprintf(&b, "%cdocument\t%s\t%s\t%d\r\n", h.kind(document), h.selector(document), h.Name(host), h.port(host))
	}
	m := h.menus()
	switch {
	case document == 0:
		for i := range m {
			line(host, 1+i)
		}
		h.eachLinked(host, func(other int) { line(other, 0) })
	case document <= m:
		line(host, 0)
		for i := (document - 1) * menuSize; i < min(document*menuSize, h.Items); i++ {
			of := host
			if i == h.Items-1 && h.Links > 0 {
				of = (host + h.Options.Hosts/2) % h.Options.Hosts
			}
			line(of, 1+m+i)
		}
	default:
		fmt.Fprintf(&b, "document %d of host %d\r\n", document, host)
	}
	return b.String()
}

// eachLinked calls do for each host that a host links to.
func (h *Hosts) eachLinked(host int, do func(int)) {
	if h.Links == 0 {
		return
	}
	for i := range h.Links {
		if other := host*h.Links + 1 + i; other < h.Options.Hosts {
			do(other)
		}
	}
	if host > 0 {
		do((host - 1) / h.Links)
	}
}

// accept notes connections in their order.
func (h *Hosts) accept() {
	for {
		c, err := h.listener.Accept()
		if err != nil {
			return
		}
		tcp := c.(*net.TCPConn)
		peer := tcp.RemoteAddr().(*net.TCPAddr).AddrPort().Addr().Unmap()
		at := tcp.LocalAddr().(*net.TCPAddr).AddrPort().Addr().Unmap().As4()
		i := int(at[1]-1)<<16 | int(at[2])<<8 | int(at[3])
		if !peer.IsLoopback() || at[0] != 127 || at[1] == 0 || i >= h.Options.Hosts {
			tcp.Close()
			continue
		}
		conn := &conn{TCPConn: tcp, host: i, peer: peer, line: h.begin(i, tcp)}
		select {
		case <-h.closed: // close may not have seen it
			tcp.Close()
			return
		default:
		}
		h.handlers.Go(func() { h.serve(conn) })
	}
}

// A conn is a connection to a host.
type conn struct {
	*net.TCPConn
	host int
	peer netip.Addr
	line *line
}

// serve answers a request.
func (h *Hosts) serve(c *conn) {
	defer c.Close()
	r := bufio.NewReaderSize(c, 512)
	request, err := r.ReadString('\n')
	if err != nil {
		h.end(c)
		return
	}
	selector := strings.TrimRight(request, "\r\n")
	document := h.document(selector)
	h.note(c, selector, document)
	if !h.await(c) || isLeft(c.TCPConn) {
		h.end(c)
		return
	}
	answer := rules[selector]
	switch {
	case document < 0 && answer == "":
		answer = "3nothing has this selector\t\terror.host\t1\r\n.\r\n"
	case document >= 0:
		answer = h.text(c.host, document)
		if h.kind(document) != '9' {
			answer += ".\r\n"
		}
	}
	h.answers(c)
	_, _ = io.WriteString(c, answer) // or the peer has left
	h.end(c)
}

// rules are what each host has besides its documents. With them no more is asked for.
var rules = map[string]string{
	"robots.txt": "User-agent: *\r\nDisallow: /none\r\n.\r\n",
	"caps.txt":   "CAPS\r\nCapsVersion=1\r\n.\r\n",
}

// note counts a request.
func (h *Hosts) note(c *conn, selector string, document int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	defer h.changed.Broadcast()
	of := &h.hosts[c.host]
	if n := len(of.peers); n == 0 || of.peers[n-1] != c.peer {
		of.peers = append(of.peers, c.peer)
	}
	switch {
	case document >= 0:
		if of.asked[document]++; of.asked[document] == 1 {
			h.distinct++
		}
	case !strings.HasSuffix(selector, "robots.txt") && !strings.HasSuffix(selector, "caps.txt"):
		h.strange = append(h.strange, h.Name(c.host)+" "+strconv.Quote(selector))
	}
}

// await waits until the answer is due. It reports whether the peer still waits for it.
func (h *Hosts) await(c *conn) bool {
	if h.Silent != nil && h.Silent(c.host) {
		_, _ = io.Copy(io.Discard, c)
		return false
	}
	if h.Delay > 0 {
		_ = c.SetReadDeadline(time.Now().Add(h.Delay))
		select {
		case <-h.closed: // close may have set a deadline before
			return false
		default:
		}
		if _, err := c.Read(make([]byte, 1)); !isTimeout(err) {
			return false
		}
	}
	h.mu.Lock()
	held := h.held[c.peer]
	if held != nil {
		held.hosts = append(held.hosts, c.host)
		h.changed.Broadcast()
	}
	h.mu.Unlock()
	if held != nil {
		select {
		case <-held.release:
		case <-h.closed:
		}
	}
	select {
	case <-h.closed:
		return false
	default:
		return true
	}
}

func isTimeout(err error) bool {
	t, ok := err.(net.Error)
	return ok && t.Timeout()
}

// until waits until a condition holds, which may change with each request. It is called with h.mu held.
func (h *Hosts) until(ctx context.Context, holds func() bool) error {
	defer context.AfterFunc(ctx, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.changed.Broadcast()
	})()
	h.mu.Lock()
	defer h.mu.Unlock()
	for !holds() && ctx.Err() == nil {
		h.changed.Wait()
	}
	return ctx.Err()
}

// Hold keeps back the answers to a peer until release is called. It returns when this number of its
// requests wait for one, with the hosts of these. A peer that makes no more requests at once then makes
// none.
func (h *Hosts) Hold(ctx context.Context, peer netip.Addr, requests int) (hosts []int, release func(), err error) {
	held := &hold{release: make(chan struct{})}
	h.mu.Lock()
	h.held[peer] = held
	h.mu.Unlock()
	release = sync.OnceFunc(func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		close(held.release)
		delete(h.held, peer)
	})
	err = h.until(ctx, func() bool {
		hosts = slices.Clone(held.hosts)
		return len(hosts) >= requests
	})
	return hosts, release, err
}

// Requested waits until this number of different documents were requested.
func (h *Hosts) Requested(ctx context.Context, documents int) error {
	return h.until(ctx, func() bool { return h.distinct >= documents })
}

// Changed waits until a host was asked by this number of peers in turn.
func (h *Hosts) Changed(ctx context.Context, host, peers int) error {
	return h.until(ctx, func() bool { return len(h.hosts[host].peers) >= peers })
}

// Dial connects to a host by its name, as a net.Dialer with fetch.DialControl does.
func (h *Hosts) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	name, port, _ := net.SplitHostPort(address)
	var i int
	if n, err := fmt.Sscanf(name, "h%d.example", &i); n != 1 || err != nil || i < 0 || i >= h.Options.Hosts {
		return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil, err
	}
	at := netip.AddrPortFrom(h.addr(i), uint16(number))
	if err := fetch.DialControl(ctx, network, at.String(), nil); err != nil {
		return nil, err
	}
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", netip.AddrPortFrom(h.local(i), at.Port()).String())
	if err != nil {
		return nil, err
	}
	return &named{Conn: c, at: at}, nil
}

// named is a connection to a host by its name.
type named struct {
	net.Conn
	at netip.AddrPort
}

// RemoteAddr returns the address that the name has.
func (c *named) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(c.at) }

// Missing returns the URLs of the documents that nobody has asked for.
func (h *Hosts) Missing() (urls []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range h.hosts {
		for document, n := range h.hosts[i].asked {
			if n == 0 && h.Alive(i) {
				urls = append(urls, h.URL(i, document))
			}
		}
	}
	return urls
}

// Count returns how many requests for documents there were, and how many of these were for a
// document that had been requested before.
func (h *Hosts) Count() (requests, repeated int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range h.hosts {
		for _, n := range h.hosts[i].asked {
			requests += int(n)
			repeated += max(0, int(n)-1)
		}
	}
	return requests, repeated
}

// Peers returns the peers that a host had, in their order. A peer is there again if another one came
// between.
func (h *Hosts) Peers(host int) []netip.Addr {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.hosts[host].peers)
}
