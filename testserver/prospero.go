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

// Prospero is a directory server of Prospero's protocol 5, and 1, over ARDP
// version 0, modelled on dirsrv of 1994. The hsoname of a file is its path, as
// in "/pub/motd.txt", or the same below "AFTP", as in "AFTP/pub/motd.txt".
//
// The transcript has requests and answers line by line; what ARDP sends besides
// is in parentheses, such as "(ack 16)".
//
// As a server of datagrams it can be made to flood others with answers they did
// not ask for; it therefore hears nobody but this machine.
type Prospero struct {
	Server

	// Host and Port are what links say where objects are; zero means Addr.
	Host string
	Port int
	// Software is what the server calls itself; empty is "fetch1738-testserver".
	Software string
	// Owner is the owner and group of all files; empty is "user".
	Owner string
	// Links are further entries of directories, by the directory's name in Content
	// ("" is the root). A directory that is not in Content consists of them.
	Links map[string][]ProsperoLink
	// Methods are the ways to a file of Content, in the server's order. nil is
	// PROSPERO-CONTENTS for all.
	Methods func(name string) []ProsperoMethod
	// Forwarded are objects that have moved, by hsoname.
	Forwarded map[string]ProsperoLink
	// Site makes the server an archie server too: below "ARCHIE/" is an index of
	// Content, which is said to be found on this host, or host(port), by anonymous
	// FTP.
	Site string
	// OnlyVersion1 makes it a server from before 1993.
	OnlyVersion1 bool

	socket net.PacketConn
	mu     sync.Mutex
	calls  map[string]*ardpCall
	moment int // counts what is sent and heard, for ardpCall.active
	random map[string]*rand.Rand
	held   [][]byte // by Reorder
	heldTo net.Addr
	seen   int // requests
}

// ProsperoLink is an entry of a directory. The zero value of each field is what
// most links have.
type ProsperoLink struct {
	Kind     string // "L" if empty; "U" is a union, "I" invisible
	Target   string // "FILE" if empty
	Name     string
	HostType string // "INTERNET-D" if empty
	Host     string // host or host(port); the server itself if empty
	HSOName  string
	Version  int
	Expires  string // as YYYYMMDDhhmmssZ
	// Methods are the ways to what the link leads to; of an EXTERNAL link they are
	// the only ones.
	Methods []ProsperoMethod
	// Attributes are further lines, such as "ATTRIBUTE LINK FIELD ID REMOTE 7".
	Attributes []string
}

// ProsperoMethod is an access method. Host and HSOName are the link's own if
// empty.
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

// StartProspero starts a Prospero server on addr, such as "127.0.0.1:1525"; "" is
// a free loopback port. It ends with ctx or by Close.
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

// here is the server itself as links name it.
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

// link is l as the protocol has it.
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
