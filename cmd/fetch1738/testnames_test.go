package main

import (
	"net"
	"sync"

	"golang.org/x/net/dns/dnsmessage"
)

// testNames is a name server by UDP that knows known.example and
// zero.example, has nothing to say of broken.example, and knows of no other
// name.
type testNames struct {
	net.PacketConn
	wg sync.WaitGroup
}

func newTestNames() (*testNames, error) {
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	n := &testNames{PacketConn: conn}
	n.wg.Go(func() {
		packet := make([]byte, 512)
		for {
			size, from, err := conn.ReadFrom(packet)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(packet[:size]) != nil || len(m.Questions) == 0 {
				continue
			}
			answerName(&m)
			if reply, err := m.Pack(); err == nil {
				_, _ = conn.WriteTo(reply, from)
			}
		}
	})
	return n, nil
}

// answerName makes a question an answer.
func answerName(m *dnsmessage.Message) {
	asked := m.Questions[0]
	m.Header = dnsmessage.Header{ID: m.ID, Response: true, Authoritative: true, RecursionDesired: m.RecursionDesired, RecursionAvailable: true}
	m.Additionals = nil
	addr, known := map[string][4]byte{"known.example.": {127, 0, 0, 1}, "zero.example.": {0, 0, 0, 7}}[asked.Name.String()]
	switch {
	case asked.Name.String() == "broken.example.":
		m.RCode = dnsmessage.RCodeServerFailure
	case !known:
		m.RCode = dnsmessage.RCodeNameError
	case asked.Type == dnsmessage.TypeA:
		m.Answers = []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: asked.Name, Type: asked.Type, Class: asked.Class, TTL: 60},
			Body:   &dnsmessage.AResource{A: addr},
		}}
	}
}

// end closes it and waits.
func (n *testNames) end() {
	n.Close()
	n.wg.Wait()
}
