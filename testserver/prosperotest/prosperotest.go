// Package prosperotest has a Prospero directory server for tests. Package testserver has what all servers
// have in common.
package prosperotest

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"sync"

	proto "github.com/fetch1738/fetch1738/internal/codec/prospero"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/internal/build"
	"github.com/fetch1738/fetch1738/testserver/internal/core"
)

// Server is a directory server of version 5 and of version 1 of Prospero's protocol, over ARDP
// version 0, modelled on dirsrv of 1994. The hsoname of a file is its path, as in "/pub/motd.txt",
// or the same below "AFTP", as in "AFTP/pub/motd.txt".
//
// The transcript has requests and answers line by line. Other ARDP packets are in parentheses, such
// as "(ack 16)".
//
// An attacker could make a server of datagrams flood other hosts with answers that they did not
// request. This one therefore ignores datagrams from other hosts.
type Server struct {
	testserver.Server `json:"-"`

	// Host and Port are the server's host and port in links; the zero values mean those of Addr.
	Host string
	Port int
	// Software is the name of the server's software; "" means "fetch1738-testserver".
	Software string
	// Owner is the owner and group of all files; "" means "user".
	Owner string
	// Links are additional entries of directories, by the directory's name in Content ("" is the
	// root). A directory that is not in Content consists of its Links.
	Links map[string][]Link
	// Methods returns the access methods of a file of Content, in the server's order. If nil, all
	// files have PROSPERO-CONTENTS.
	Methods func(name string) []Method `json:"-"`
	// Forwarded are objects that have moved, by hsoname.
	Forwarded map[string]Link
	// Site makes the server an archie server too. Below "ARCHIE/" is an index of Content. Its
	// entries say that the files are available from this host, or host(port), by anonymous FTP.
	Site string
	// Store, if not nil, has the directories and objects in place of Content, Links, Forwarded and
	// Site.
	Store Store `json:"-"`
	// OnlyVersion1 makes the server behave like one from before 1993.
	OnlyVersion1 bool

	m      *core.Machine
	mu     sync.Mutex // guards socket and calls
	socket socket
	calls  calls
}

// Link is an entry of a directory. The zero value of each field means what most links have.
type Link struct {
	Kind     string // "L" if empty; "U" is a union, "I" invisible
	Target   string // "FILE" if empty
	Name     string
	HostType string // "INTERNET-D" if empty
	Host     string // host or host(port); "" means the server itself
	HSOName  string
	Version  int
	Expires  string // as YYYYMMDDhhmmssZ
	// Methods are the access methods of the link's target. An EXTERNAL link has no others.
	Methods []Method
	// Attributes are additional lines, such as "ATTRIBUTE LINK FIELD ID REMOTE 7".
	Attributes []string
}

// Method is an access method. An empty Host or HSOName means that of the link.
type Method struct {
	Name    string // AFTP, GOPHER, PROSPERO-CONTENTS, …
	Host    string // host or host(port)
	HSOName string
	Args    []string // such as "BINARY"
}

// New starts a Prospero server that ends with the test.
func New(tb testserver.TB, configure ...func(*Server)) *Server {
	tb.Helper()
	return build.New(tb, Start, configure)
}

// Start starts a Prospero server on addr, such as "127.0.0.1:1525"; "" means a free loopback port.
// The server ends with ctx or by Close.
func Start(ctx context.Context, addr string, configure ...func(*Server)) (*Server, error) {
	s := &Server{calls: calls{all: make(map[string]*call)}, socket: socket{random: make(map[uint64]*rand.Rand)}}
	return build.Start(ctx, s, &table, configure, func(m *core.Machine) (build.Service, error) {
		s.m = m
		return build.Service{Scheme: "prospero", Port: 1525, Addr: addr, ServePackets: s.serve}, nil
	})
}

// On arms faults for the n-th occurrence of a stage from now on; 0 means every occurrence. See package
// testserver.
func (s *Server) On(stage string, n int, faults ...Fault) {
	build.On(&s.Server, stage, n, faults)
}

// here returns the server's own host and port, in the form of links.
func (s *Server) here() string {
	host, port := s.m.Shown(s.Host, s.Port)
	if port == 1525 {
		return host
	}
	return fmt.Sprintf("%s(%d)", host, port)
}

// link converts l to the form of the protocol.
func (s *Server) link(l Link) proto.Link {
	return proto.Link{
		Kind: cmp.Or(l.Kind, proto.KindNormal), Target: cmp.Or(l.Target, proto.TargetFile), Name: l.Name, Expires: l.Expires,
		Object: proto.Object{HostType: cmp.Or(l.HostType, "INTERNET-D"), Host: cmp.Or(l.Host, s.here()), NameType: "ASCII", Name: l.HSOName, Version: l.Version},
	}
}

// method converts m to the form of the protocol.
func (m Method) method() proto.Method {
	p := proto.Method{Name: m.Name, Host: m.Host, Selector: m.HSOName, Args: m.Args}
	if m.Host != "" {
		p.HostType = "INTERNET-D"
	}
	if m.HSOName != "" {
		p.NameType = "ASCII"
	}
	return p
}
