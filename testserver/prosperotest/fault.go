package prosperotest

import (
	"errors"
	"net/netip"
	"slices"
	"time"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/internal/core"
)

// Fault is a fault that a Prospero server has.
type Fault interface {
	testserver.Fault
	OfProspero()
}

// own is a fault that only this server has.
type own struct {
	core.Spec
	core.Prospero
}

// Lose drops a datagram: one of the server's at PACKET, one of a client's at INCOMING.
func Lose() Fault { return own{Spec: lose.With(core.Args{})} }

// Loss loses the given percentage of datagrams at random. The same seed loses the same ones.
func Loss(percent int, seed uint64) Fault {
	return own{Spec: loss.With(core.Args{N: int64(percent), Seed: seed})}
}

// Duplicate sends a datagram twice.
func Duplicate() Fault { return own{Spec: duplicate.With(core.Args{})} }

// Reorder sends a datagram after the one that follows it.
func Reorder() Fault { return own{Spec: reorder.With(core.Args{})} }

// Wait asks the client to wait for d before its request is answered, and reports its position in the
// queue unless that is 0. Wait does not delay the answer: that is
// what Delay is for.
func Wait(d time.Duration, position int) Fault {
	return own{Spec: wait.With(core.Args{D: d, N: int64(position)})}
}

// SendTo redirects the client to another server, an IPv4 address with a port.
func SendTo(address string) Fault { return own{Spec: sendTo.With(core.Args{Text: address})} }

// Refuse refuses the request, like a server that is not willing to serve the client.
func Refuse() Fault { return own{Spec: refuse.With(core.Args{})} }

var (
	lose = &core.Kind{Name: "Lose"}
	loss = &core.Kind{Name: "Loss", Params: "n seed", Check: func(a core.Args) error {
		if a.N < 0 || a.N > 100 {
			return errors.New("the number must be a percentage")
		}
		return nil
	}}
	duplicate = &core.Kind{Name: "Duplicate"}
	reorder   = &core.Kind{Name: "Reorder"}
	wait      = &core.Kind{Name: "Wait", Params: "d n"}
	sendTo    = &core.Kind{Name: "SendTo", Params: "text", Check: func(a core.Args) error {
		if at, err := netip.ParseAddrPort(a.Text); err != nil || !at.Addr().Is4() {
			return errors.New("the text must be an IPv4 address with a port")
		}
		return nil
	}}
	refuse = &core.Kind{Name: "Refuse"}
)

// table has the faults of the server.
var table = core.Table{
	Server: "Prospero",
	Stages: []core.Stage{
		{Name: "REQUEST"}, {Name: "LIST", Arg: true}, {Name: "GET-OBJECT-INFO", Arg: true}, {Name: "PACKET"}, {Name: "INCOMING"},
	},
	Rows: slices.Concat(
		core.Rows([]string{"PACKET", "INCOMING"}, core.Reply, core.Delay, core.Silence, core.Close, wait, sendTo, refuse),
		core.Only([]string{"PACKET", "INCOMING"}, lose, loss),
		core.Only([]string{"PACKET"}, core.Data, core.Garble, core.Truncate, duplicate, reorder),
	),
}
