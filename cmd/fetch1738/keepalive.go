package main

import (
	"net"
	"time"
)

// keepAlive is how silent connections are kept; the zero value probes them after
// a minute, as curl does.
type keepAlive struct {
	off   bool
	every time.Duration // of --keepalive-time; 0 is a minute
}

// control makes d keep the connections it makes so.
func (k keepAlive) control(d *net.Dialer) {
	if k.off {
		d.KeepAlive = -1
		return
	}
	every := k.every
	if every <= 0 {
		every = time.Minute
	}
	d.KeepAliveConfig = net.KeepAliveConfig{Enable: true, Idle: every, Interval: every}
}
