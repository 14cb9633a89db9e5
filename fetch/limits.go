package fetch

import "time"

// Limits bound what a peer can make us spend. A zero field means its default, a
// negative one no limit.
type Limits struct {
	// Connect bounds looking up the name and connecting, with the handshakes of
	// proxies and TLS; default 30 s.
	Connect time.Duration
	// Reply bounds the wait for each reply and for the first octet; default 60 s.
	Reply time.Duration
	// Idle bounds the wait between octets of a body; default 60 s.
	Idle time.Duration
	// Line bounds a line of text (a reply, a menu line, a header field) in
	// octets; default 16 KiB.
	Line int
	// Header bounds a block of lines (a reply, a header) in octets; default
	// 256 KiB.
	Header int
	// Body bounds a body in octets; no limit by default.
	Body int64
	// Items bounds how many entries of a listing are yielded; no limit by
	// default, as listings are streamed.
	Items int
	// Hops bounds how many redirects and referrals are followed; default 10.
	// Negative follows none.
	Hops int

	filledIn bool // by WithDefaults: 0 is no limit
}

// WithDefaults is l with every zero field replaced by its default; negative
// durations and sizes (no limit) become 0. Doing it again changes nothing.
func (l Limits) WithDefaults() Limits {
	if l.filledIn {
		return l
	}
	l.filledIn = true
	l.Connect = bound(l.Connect, 30*time.Second)
	l.Reply = bound(l.Reply, 60*time.Second)
	l.Idle = bound(l.Idle, 60*time.Second)
	l.Line = bound(l.Line, 16<<10)
	l.Header = bound(l.Header, 256<<10)
	l.Body = bound(l.Body, 0)
	l.Items = bound(l.Items, 0)
	l.Hops = bound(l.Hops, 10)
	return l
}

func bound[T ~int | ~int64](v, def T) T {
	switch {
	case v < 0:
		return 0
	case v == 0:
		return def
	}
	return v
}
