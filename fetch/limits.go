package fetch

import "time"

// Limits bounds the time and the sizes that a server can use. A zero field means the default. A
// negative field means no limit.
type Limits struct {
	// Connect bounds the lookup of the name and the connection, with the handshakes of proxies and
	// TLS; default 30 s. If it is set, it also bounds the wait for the greeting of a server of FTP,
	// news or mail. By default only Reply does: some servers look up the client's name first.
	Connect time.Duration
	// Reply bounds the wait for each reply and for the first byte of a body; default 60 s.
	Reply time.Duration
	// Idle bounds the wait between the bytes of a body; default 60 s.
	Idle time.Duration
	// Line bounds a line of text (a reply, a menu line, a header field), in bytes; default 16 KiB.
	Line int
	// Header bounds a block of lines (a reply, a header), in bytes; default 256 KiB.
	Header int
	// Body bounds a body, or the data of a session, in bytes; no limit by default.
	Body int64
	// Items bounds the number of entries of a listing; no limit by default, because listings are
	// streamed.
	Items int
	// Hops bounds the number of redirects and referrals that are followed; default 10. If negative,
	// none is followed.
	Hops int

	filledIn bool          // by WithDefaults: then 0 means no limit
	greeting time.Duration // then the result of Greeting
}

// WithDefaults returns l with every zero field replaced by its default, and every negative field (no
// limit) by 0. Calling it again on the result changes nothing.
func (l Limits) WithDefaults() Limits {
	if l.filledIn {
		return l
	}
	l.filledIn = true
	l.Reply = bound(l.Reply, 60*time.Second)
	if l.greeting = l.Reply; l.Connect > 0 && (l.Reply == 0 || l.Connect < l.Reply) {
		l.greeting = l.Connect
	}
	l.Connect = bound(l.Connect, 30*time.Second)
	l.Idle = bound(l.Idle, 60*time.Second)
	l.Line = bound(l.Line, 16<<10)
	l.Header = bound(l.Header, 256<<10)
	l.Body = bound(l.Body, 0)
	l.Items = bound(l.Items, 0)
	l.Hops = bound(l.Hops, 10)
	return l
}

// Greeting returns the bound for the wait for the greeting of a server: Reply, or Connect if that is
// set and shorter. 0 means no limit.
func (l Limits) Greeting() time.Duration { return l.WithDefaults().greeting }

func bound[T ~int | ~int64](v, def T) T {
	switch {
	case v < 0:
		return 0
	case v == 0:
		return def
	}
	return v
}
