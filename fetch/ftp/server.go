package ftp

import (
	"strings"
	"sync"
	"sync/atomic"

	"github.com/fetch1738/fetch1738/fetch"
)

// abilities are what a session has found out about its server.
type abilities struct {
	program        serverProgram // if its greeting shows it
	feats          features      // nil until FEAT has been sent
	utf8           bool          // OPTS UTF8 ON was sent, or the server does not have it
	noEPRT         bool          // it has refused EPRT
	pret           bool          // it requires PRET
	noTime         bool          // it has refused to set a modification time
	dotted         bool          // names that begin with ~ are sent with ./ before them
	connects       bool          // the port of a reply to the passive command could be connected to
	retrStatesSize bool          // the replies to RETR state the size, which SIZE has confirmed
	restarts       bool          // a transfer has shown that it obeys REST
}

// connectsLater reports whether a session connects to a port only when the command of the
// transfer has been sent: on servers that have been measured, for uploads. Others (goftp, ftp-srv)
// never close a port that the client has not connected to, as after a refusal.
func (k *abilities) connectsLater(verb fetch.Op) bool {
	return k.connects && k.program.name != "" && isUpload(verb)
}

// spelled returns a name as a session sends it.
func (k *abilities) spelled(name string) string {
	if k.dotted && strings.HasPrefix(name, "~") {
		return "./" + name
	}
	return name
}

// A server is an FTP server that a Fetcher remembers.
type server struct {
	host string
	port uint16
}

// server returns the server of the access.
func (a *access) server() server { return server{a.key.host, a.key.port} }

// servers is a set of servers. It is cleared each time maxServers have been added, which
// costs one failed attempt for each server that is used again.
type servers struct {
	sync.Map
	added atomic.Int64
}

const maxServers = 1000

// add reports whether the server was in the set before.
func (s *servers) add(at server) bool {
	if s.has(at) {
		return true
	}
	if s.added.Add(1)%maxServers == 0 {
		s.Clear()
	}
	s.Store(at, true)
	return false
}

func (s *servers) has(at server) bool {
	if s.added.Load() == 0 { // usually: spares the search
		return false
	}
	_, ok := s.Load(at)
	return ok
}
