package testserver

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"

	proto "github.com/fetch1738/fetch1738/internal/prospero"
)

// Prospero is a directory server of version 5 and of version 1 of Prospero's protocol, over ARDP
// version 0, modelled on dirsrv of 1994. The hsoname of a file is its path, as in "/pub/motd.txt",
// or the same below "AFTP", as in "AFTP/pub/motd.txt".
//
// The transcript has requests and answers line by line. Other ARDP packets are in parentheses, such
// as "(ack 16)".
//
// An attacker could make a server of datagrams flood other hosts with answers that they did not
// request. This one therefore ignores datagrams from other hosts.
type Prospero struct {
	Server

	// Host and Port are the server's host and port in links; the zero values mean those of Addr.
	Host string
	Port int
	// Software is the name of the server's software; "" means "fetch1738-testserver".
	Software string
	// Owner is the owner and group of all files; "" means "user".
	Owner string
	// Links are additional entries of directories, by the directory's name in Content ("" is the
	// root). A directory that is not in Content consists of its Links.
	Links map[string][]ProsperoLink
	// Methods returns the access methods of a file of Content, in the server's order. If nil, all
	// files have PROSPERO-CONTENTS.
	Methods func(name string) []ProsperoMethod
	// Forwarded are objects that have moved, by hsoname.
	Forwarded map[string]ProsperoLink
	// Site makes the server an archie server too. Below "ARCHIE/" is an index of Content. Its
	// entries say that the files are available from this host, or host(port), by anonymous FTP.
	Site string
	// OnlyVersion1 makes the server behave like one from before 1993.
	OnlyVersion1 bool

	socket net.PacketConn
	mu     sync.Mutex
	calls  map[string]*ardpCall
	moment int // counts datagrams sent and received, for ardpCall.active
	random map[string]*rand.Rand
	held   [][]byte // datagrams held back by Reorder
	heldTo net.Addr
	seen   int // number of requests
}

// ProsperoLink is an entry of a directory. The zero value of each field means what most links have.
type ProsperoLink struct {
	Kind     string // "L" if empty; "U" is a union, "I" invisible
	Target   string // "FILE" if empty
	Name     string
	HostType string // "INTERNET-D" if empty
	Host     string // host or host(port); "" means the server itself
	HSOName  string
	Version  int
	Expires  string // as YYYYMMDDhhmmssZ
	// Methods are the access methods of the link's target. An EXTERNAL link has no others.
	Methods []ProsperoMethod
	// Attributes are additional lines, such as "ATTRIBUTE LINK FIELD ID REMOTE 7".
	Attributes []string
}

// ProsperoMethod is an access method. An empty Host or HSOName means that of the link.
type ProsperoMethod struct {
	Name    string // AFTP, GOPHER, PROSPERO-CONTENTS, …
	Host    string // host or host(port)
	HSOName string
	Args    []string // such as "BINARY"
}

// NewProspero starts a Prospero server that ends with the test.
func NewProspero(tb TB, configure ...func(*Prospero)) *Prospero {
	tb.Helper()
	s, err := StartProspero(context.Background(), "", configure...)
	if err != nil {
		tb.Fatalf("%v", err)
	}
	s.endWith(tb)
	return s
}

// StartProspero starts a Prospero server on addr, such as "127.0.0.1:1525"; "" means a free
// loopback port. The server ends with ctx or by Close.
func StartProspero(ctx context.Context, addr string, configure ...func(*Prospero)) (*Prospero, error) {
	s := new(Prospero)
	s.faults.server, s.faults.known = "Prospero", abilities{
		"PACKET":   {fData, fGarble, fTruncate, fLose, fLoss, fDuplicate, fReorder},
		"INCOMING": {fLose, fLoss},
		"":         {fReply, fDelay, fSilence, fClose, fWait, fSendTo, fRefuse},
	}
	for _, f := range configure {
		f(s)
	}
	s.calls = make(map[string]*ardpCall)
	s.random = make(map[string]*rand.Rand)
	if err := s.startPacket(ctx, "prospero", 1525, addr, s.serve); err != nil {
		return nil, err
	}
	return s, nil
}

// here returns the server's own host and port, in the form of links.
func (s *Prospero) here() string {
	host, service, _ := net.SplitHostPort(s.Addr)
	port, _ := strconv.Atoi(service)
	if s.Host != "" {
		host = s.Host
	}
	if s.Port != 0 {
		port = s.Port
	}
	if port == 1525 {
		return host
	}
	return fmt.Sprintf("%s(%d)", host, port)
}

// link converts l to the form of the protocol.
func (s *Prospero) link(l ProsperoLink) proto.Link {
	return proto.Link{
		Kind: or(l.Kind, proto.KindNormal), Target: or(l.Target, proto.TargetFile), Name: l.Name, Expires: l.Expires,
		Object: proto.Object{HostType: or(l.HostType, "INTERNET-D"), Host: or(l.Host, s.here()), NameType: "ASCII", Name: l.HSOName, Version: l.Version},
	}
}

func (m ProsperoMethod) method() proto.Method {
	p := proto.Method{Name: m.Name, Host: m.Host, Selector: m.HSOName, Args: m.Args}
	if m.Host != "" {
		p.HostType = "INTERNET-D"
	}
	if m.HSOName != "" {
		p.NameType = "ASCII"
	}
	return p
}

func or(s, usual string) string {
	if s == "" {
		return usual
	}
	return s
}
