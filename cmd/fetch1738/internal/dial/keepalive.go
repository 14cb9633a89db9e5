package dial

import (
	"net"
	"time"
)

// KeepAlive has the settings of keepalive probes. The zero value probes after a minute of
// silence, as curl does.
type KeepAlive struct {
	Off   bool
	Every time.Duration // of --keepalive-time; 0 means a minute
}

// control applies the settings to d.
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
