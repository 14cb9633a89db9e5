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

func (k keepAlive) config() net.KeepAliveConfig {
	every := k.every
	if every <= 0 {
		every = time.Minute
	}
	return net.KeepAliveConfig{Enable: !k.off, Idle: every, Interval: every}
}
