package ftp

import (
	"sync"
	"sync/atomic"
)

// A memory is what a Fetcher has found out about servers.
type memory struct {
	pasvOnly     servers // EPSV failed
	listsHidden  servers // they support LIST -a
	hidesFiles   servers // they do not
	noPipelining servers // they do not support pipelining
	byNames      servers // LIST is not understood, and NLST is complete
	byAllNames   servers // the same, with NLST -a
	noFacts      servers // MLSD lists no facts
}

// namesOnly returns the servers whose LIST is not understood, and whose NLST, with or without the
// option -a, lists all entries.
func (m *memory) namesOnly(all bool) *servers {
	if all {
		return &m.byAllNames
	}
	return &m.byNames
}

// A serverKey is an FTP server that a Fetcher remembers.
type serverKey struct {
	host string
	port uint16
}

// servers is a set of servers. It is cleared each time maxServers have been added, which
// costs one failed attempt for each server that is used again.
type servers struct {
	sync.Map
	added atomic.Int64
}

const maxServers = 1000

// add reports whether the server was in the set before.
func (s *servers) add(at serverKey) bool {
	if s.has(at) {
		return true
	}
	if s.added.Add(1)%maxServers == 0 {
		s.Clear()
	}
	s.Store(at, true)
	return false
}

func (s *servers) has(at serverKey) bool {
	if s.added.Load() == 0 { // usually: spares the search
		return false
	}
	_, ok := s.Load(at)
	return ok
}
