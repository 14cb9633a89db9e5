package nats

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"time"

	// nats-server is the NATS server as a package: a crawl on one machine needs no other program.
	// It is the program that a cluster runs, by the same authors.
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"
)

// ServerOptions are those of Start.
type ServerOptions struct {
	// Dir is the folder of everything that the server keeps. It must be set.
	Dir string
	// Listen is the address and port to listen at; "" means 127.0.0.1:4222. Port 0 means any. If it is
	// not that of a loopback interface, Users must be set.
	Listen string
	// Users are the public nkeys of those who may connect. Without them anybody may.
	Users []string
	// Monitor is the address and port of NATS's monitoring by HTTP, which has no login: a loopback
	// address; "" means none.
	Monitor string
}

// A Server is NATS inside this process.
type Server struct{ server *server.Server }

// readyTime is how long a server may need to read its store.
const readyTime = time.Minute

// Start starts a server. The caller must close it.
func Start(o ServerOptions) (*Server, error) {
	if o.Dir == "" {
		return nil, errors.New("a server of NATS needs a folder")
	}
	if o.Listen == "" {
		o.Listen = "127.0.0.1:4222"
	}
	set := &server.Options{JetStream: true, StoreDir: o.Dir, NoSigs: true, NoLog: true, ServerName: "fetch1738-crawl"}
	var err error
	var local bool
	if set.Host, set.Port, local, err = address(o.Listen); err != nil {
		return nil, err
	}
	if !local && len(o.Users) == 0 {
		return nil, fmt.Errorf("without nkeys a server listens at loopback addresses only, and %s is another one", o.Listen)
	}
	if o.Monitor != "" {
		if set.HTTPHost, set.HTTPPort, local, err = address(o.Monitor); err != nil {
			return nil, err
		}
		if !local {
			return nil, fmt.Errorf("the monitoring of NATS has no login, so it listens at loopback addresses only, and %s is another one", o.Monitor)
		}
	}
	for _, user := range o.Users {
		if !nkeys.IsValidPublicUserKey(user) {
			return nil, fmt.Errorf("%.8s... is not the public nkey of a user; such a key begins with U", user)
		}
		set.Nkeys = append(set.Nkeys, &server.NkeyUser{Nkey: user})
	}
	return start(set, o.Listen)
}

// start starts a server, and waits until it is ready.
func start(set *server.Options, listen string) (*Server, error) {
	if set.Port != server.RANDOM_PORT { // NATS would try for long
		l, err := net.Listen("tcp", listen)
		if err != nil {
			return nil, err
		}
		if err := l.Close(); err != nil {
			return nil, err
		}
	}
	s, err := server.NewServer(set)
	if err != nil {
		return nil, err
	}
	s.Start()
	if !s.ReadyForConnections(readyTime) || !s.JetStreamEnabled() {
		s.Shutdown()
		s.WaitForShutdown()
		return nil, fmt.Errorf("%s: the server of NATS does not start; another one may be using this folder", set.StoreDir)
	}
	return &Server{s}, nil
}

// address returns the parts of an address, and whether it is that of a loopback interface.
func address(text string) (host string, port int, loopback bool, err error) {
	host, number, err := net.SplitHostPort(text)
	if err != nil {
		return "", 0, false, err
	}
	n, err := strconv.ParseUint(number, 10, 16)
	if err != nil {
		return "", 0, false, fmt.Errorf("%s: the port is not a number", text)
	}
	if port = int(n); port == 0 {
		port = server.RANDOM_PORT
	}
	addr, err := netip.ParseAddr(host)
	return host, port, host == "localhost" || err == nil && addr.IsLoopback(), nil
}

// URL returns the URL to connect to.
func (s *Server) URL() string { return s.server.ClientURL() }

// Close ends the server. What it keeps is in its folder.
func (s *Server) Close() {
	s.server.Shutdown()
	s.server.WaitForShutdown()
}
