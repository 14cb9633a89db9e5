package dial

import (
	"net"
	"time"
)

// KeepAlive is how silent connections are kept; the zero value probes them after
// a minute, as curl does.
type KeepAlive struct {
	Off   bool
	Every time.Duration // of --keepalive-time; 0 is a minute
}

// control makes d keep the connections it makes so.
func (k KeepAlive) control(d *net.Dialer) {
	if k.Off {
		d.KeepAlive = -1
		return
	}
	every := k.Every
	if every <= 0 {
		every = time.Minute
	}
	d.KeepAliveConfig = net.KeepAliveConfig{Enable: true, Idle: every, Interval: every}
}
