// Package traffic records what goes over the connections of test servers, with the times, and plays
// the server's side of a record to clients.
//
// A record has one JSON object on each line, an [Event]. Octets are those of the wire, except with TLS:
// then they are what TLS carries, and the record has the certificate with its key, so that a replay
// uses TLS again. A record has the passwords that clients have sent.
package traffic

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// Event is a line of a record.
type Event struct {
	// T is the time since the beginning of the record.
	T Duration `json:"t"`
	// Conn is the number of the connection, counted from 1. It is 0 for Listen.
	Conn int `json:"conn,omitempty"`
	// Event is what has happened.
	Event Kind `json:"event"`
	// Addr is the address of the server; for Connect, that of the client.
	Addr string `json:"addr,omitempty"`
	// Of is the connection whose data connection this is. Only Open, Connect and Data have it.
	Of int `json:"of,omitempty"`
	// URL is that of the server. Only Listen has it.
	URL string `json:"url,omitempty"`
	// Octets are what Client or Server has sent; for TLS, the certificate and its key in PEM.
	Octets []byte `json:"octets,omitempty"`
	// Lost is the number of octets at the end of the last Server of the connection that were not sent.
	// Only Cut has it.
	Lost int `json:"lost,omitempty"`
}

// Kind is what has happened.
type Kind string

// The kinds of events. What the server does is recorded before it happens, what the client does after
// it has arrived. So the order of a record is one in which everything has its cause before it.
const (
	Listen  Kind = "listen"  // a server has started
	Open    Kind = "open"    // the server has accepted a connection
	Connect Kind = "connect" // the server has opened a connection, as in FTP's active mode
	Data    Kind = "data"    // a connection that was accepted before is a data connection
	TLS     Kind = "tls"     // the server starts TLS
	Client  Kind = "client"  // the client has sent octets
	Server  Kind = "server"  // the server sends octets
	Cut     Kind = "cut"     // the server did not send all, because the connection was closed meanwhile
	EOF     Kind = "eof"     // the client has closed its side
	Notify  Kind = "notify"  // the server ends TLS by close_notify
	Shut    Kind = "shut"    // the server closes its side
	Close   Kind = "close"   // the server closes the connection
	Reset   Kind = "reset"   // the server resets the connection
)

// Duration is a time.Duration that is a text in JSON: "1.5s".
type Duration time.Duration

// MarshalText implements encoding.TextMarshaler.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	*d = Duration(parsed)
	return err
}

// Read reads a record. The rest of a line that was cut off at the end is ignored. The error names the
// line that is wrong.
func Read(r io.Reader) (events []Event, err error) {
	for lines := bufio.NewReader(r); ; {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return events, nil
		}
		var e Event
		if err == nil {
			err = json.Unmarshal(line, &e)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", len(events)+1, err)
		}
		events = append(events, e)
	}
}
