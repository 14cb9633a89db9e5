package frames

import (
	"encoding/binary"
	"errors"
)

const (
	firstWindow   = 1<<16 - 1 // bytes that may be sent on a stream, until the server has a setting (RFC 9113 §6.9.2)
	maxWindow     = 1<<31 - 1 // bytes of the largest window (§6.9.1)
	settingWindow = 0x4
)

// errWindow ends the connection, although that of a stream would be enough (§6.9.1): net/http must not
// see the frame, because it does not come back from ending the stream.
var errWindow = errors.New("the server opened a window too far")

// opened notes that the window of s is n bytes larger.
func (c *Conn) opened(s *Stream, n int64) {
	if s.room += n; s.room > maxWindow {
		c.fail(errWindow, s.id)
	}
}

// window is called with the payload of WINDOW_UPDATE for s, which may be nil.
func (c *Conn) window(s *Stream, payload []byte) {
	if s != nil && len(payload) == 4 {
		c.opened(s, int64(binary.BigEndian.Uint32(payload)&maxWindow))
	}
}

// settings is called with the payload of SETTINGS. The window that it has applies to streams that have
// begun, too.
func (c *Conn) settings(payload []byte) {
	for ; len(payload) >= 6; payload = payload[6:] {
		if binary.BigEndian.Uint16(payload) != settingWindow {
			continue
		}
		first := int64(binary.BigEndian.Uint32(payload[2:]))
		for _, s := range c.streams {
			c.opened(s, first-c.first)
		}
		c.first = first
	}
}
