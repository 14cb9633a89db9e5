package testserver

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io/fs"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/testserver/internal/core"
	"github.com/fetch1738/fetch1738/testserver/internal/tree"
	"github.com/fetch1738/fetch1738/testserver/traffic"
)

// TB is the part of *testing.T, *testing.B and *testing.F that the New functions use: Helper, Cleanup,
// Errorf and Fatalf.
type TB = core.TB

// Server is the part that all servers have in common. A configure function sets its fields. Starting
// the server replaces zero values that mean a default; from then on the fields are read-only, and the
// methods may be called concurrently at any time.
type Server struct {
	// Content is what the server serves. If nil, it is an empty directory. A file without a
	// modification time has that of RFC 1738, the first of December 1994. Named pipes, sockets and
	// devices are not served.
	Content fs.FS
	// Forbidden lists names in Content, such as "private" or "a/secret.txt". The server lists them
	// but refuses access to them and to all that is below them.
	Forbidden []string
	// MaxUpload is the maximum size of an uploaded file, in bytes; 0 means 256 MiB.
	MaxUpload int64
	// Store, if not nil, is a folder where the files that clients store are kept, under their names,
	// instead of in memory. Those of users with Content of their own are in memory. The folder should
	// be empty; the caller closes it after the server.
	Store *os.Root
	// MaxConns is the maximum number of open connections; 0 means 4096. Further ones are closed at
	// once.
	MaxConns int
	// OneClient means that one connection at a time is served. Further ones are accepted too, but
	// nothing is sent on them, not even a greeting, until those before have ended.
	OneClient bool
	// IdleTimeout is how long a client may be silent before the server closes its connection; 0
	// means five minutes.
	IdleTimeout time.Duration
	// InMemory means that the server uses no sockets: clients connect by [Server.Dial] only. If
	// Network is nil, starting the server sets it.
	InMemory bool
	// Network, if not nil, is the memory network to listen on (InMemory is implied).
	Network *Network
	// TLS enables the TLS command of FTP, NNTP and SMTP, such as [NewTLS]. SMTP has that by default.
	TLS *tls.Config
	// ImplicitTLS means that every connection uses TLS from its start, as TLS says. A server of
	// datagrams does not start then.
	ImplicitTLS bool
	// Recorder, if not nil, records what goes over all connections, with data connections. Datagrams
	// are not recorded.
	Recorder *traffic.Recorder
	// Log, if not nil, is called with each line of the transcript as it is recorded, one call at a
	// time. It must not call methods of the server.
	Log func(Line)

	// URL is the URL of the server without a trailing slash: "ftp://127.0.0.1:2121". It is set when
	// the server starts.
	URL string
	// Addr is the host and port of URL. It is set when the server starts.
	Addr string

	core.Base // of the packages below this one
}

// Common returns s. The server of each package has this method, for functions that are about servers of
// any package.
func (s *Server) Common() *Server { return s }

func (s *Server) machine() *core.Machine { return core.MachineOf(&s.Base) }

// Dial connects to address, over loopback or in memory, as this server's clients do. It refuses an
// address that is not on this host. In memory it reaches all servers of the [Network].
func (s *Server) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	on := s.machine().Net
	if err := checkLoopback(address); err != nil && on.Memory == nil {
		return nil, err
	}
	return on.Dial(ctx, network, address)
}

// Put stores a file in addition to Content, or in place of a file of Content. The name may have any
// bytes except NUL; missing directories are created. The file is not among Uploads.
func (s *Server) Put(name string, data []byte) error {
	return s.PutModified(name, data, time.Time{})
}

// PutModified is Put of a file with a modification time. A zero time means that of RFC 1738.
func (s *Server) PutModified(name string, data []byte, modified time.Time) error {
	return s.machine().Tree.Put(tree.Clean(name), bytes.Clone(data), modified)
}

// Files returns all files as clients without Content of their own see them at any time, with those
// that are Forbidden. Names that are not UTF-8 cannot be opened (fs.ValidPath).
func (s *Server) Files() fs.FS { return s.machine().Tree.FS() }

// Remove removes a file, or a directory with all that is in it, whether it is in Content, stored by
// Put or uploaded. Without one of that name the error is fs.ErrNotExist.
func (s *Server) Remove(name string) error { return s.machine().Tree.Delete(tree.Clean(name)) }

// Uploads returns the files that clients stored and did not delete, by name without a leading
// slash; those of users with Content of their own are in UploadsOf.
func (s *Server) Uploads() map[string][]byte { return s.machine().Tree.Uploads() }

// UploadsOf returns the files that a user with Content of its own stored and did not delete.
func (s *Server) UploadsOf(user string) map[string][]byte {
	if t := s.machine().OwnTree(user); t != nil {
		return t.Uploads()
	}
	return nil
}

// Transcript returns what went over the control connections so far, passwords included. A line is
// recorded before it is sent, so everything that a client has received is there.
func (s *Server) Transcript() Transcript {
	t, _ := s.TranscriptFrom(0)
	return t
}

// TranscriptFrom returns the lines of the transcript from number n on, and the number of the first of
// these. Lines are counted from 0 over the life of the server; those that were deleted count too.
func (s *Server) TranscriptFrom(n int) (t Transcript, first int) {
	return s.machine().Log.From(n)
}

// ResetTranscript deletes the lines recorded so far.
func (s *Server) ResetTranscript() { s.machine().Log.Reset() }

// On arms faults for the n-th occurrence of a stage from now on; 0 means every occurrence. It fails the
// test, and panics outside of a test, where [Server.Arm] returns an error. On of the server's own
// package is the same, but a fault that the server does not have does not compile.
func (s *Server) On(stage string, n int, faults ...Fault) {
	err := s.Arm(stage, n, faults...)
	switch {
	case err == nil:
	case s.machine().Test == nil:
		panic(err.Error())
	default:
		s.machine().Test.Helper()
		s.machine().Test.Fatalf("%v", err)
	}
}

// Arm is On with an error: the stage does not exist, or a fault cannot act there or has wrong
// arguments. Then none of the faults is armed.
func (s *Server) Arm(stage string, n int, faults ...Fault) error {
	armed := make([]core.Spec, len(faults))
	for i, f := range faults {
		armed[i] = f.Armed()
	}
	return s.machine().Arm(stage, n, armed)
}

// ParseFault reads a fault in the form of scripts: its name, a colon and the arguments of its
// constructor, separated by commas, as in "Silence", "Truncate:2", "Drip:1,10ms" or "Reply:426 no".
func (s *Server) ParseFault(text string) (Fault, error) { return s.machine().Table.Parse(text) }

// Faults lists the faults that the server has.
func (s *Server) Faults() []FaultInfo {
	var list []FaultInfo
	for _, r := range s.machine().Table.Rows {
		list = append(list, FaultInfo{Name: r.Name, Params: strings.Fields(r.Params), At: r.At, Not: r.Not})
	}
	return list
}

// Stages lists the stages at which faults can be armed. "*" means that there are also commands and
// methods of any name.
func (s *Server) Stages() []string {
	var list []string
	for _, stage := range s.machine().Table.Stages {
		list = append(list, stage.Name)
	}
	return list
}

// ResetFaults disarms all faults, including those not used yet.
func (s *Server) ResetFaults() { s.machine().ResetFaults() }

// SetPublic sets under which host and ports clients reach the server from now on, for one whose ports
// are mapped to others as those of a container. The host "" is that of Addr. The values of ports are
// told in place of the real ports, which are the keys; a port without a value is told as it is. FTP
// tells them in the replies to PASV, which has no place for other hosts than IPv4 addresses and
// localhost, and EPSV, and Gopher, WAIS and Prospero in menus and links; URL and Addr stay. With an
// error nothing is changed. Each call replaces what earlier ones have set.
func (s *Server) SetPublic(host string, ports map[uint16]uint16) error {
	return s.machine().SetPublic(host, ports)
}

// Public returns the host and port under which clients reach the server: those of SetPublic, or else
// those of Addr, with 127.0.0.1 for the address of all interfaces.
func (s *Server) Public() (host string, port int) { return s.machine().Shown("", 0) }

// PublicURL returns URL with the host and port of Public.
func (s *Server) PublicURL() string {
	host, port := s.Public()
	scheme, rest, _ := strings.Cut(s.URL, "://")
	_, path, found := strings.Cut(rest, "/") // of a phone book
	url := scheme + "://" + net.JoinHostPort(host, strconv.Itoa(port))
	if found {
		url += "/" + path
	}
	return url
}

// FilesOf returns the files of a user with Content of its own, as Files does those of the others. It
// returns nil for a user without, or one that has never logged in.
func (s *Server) FilesOf(user string) fs.FS {
	if t := s.machine().OwnTree(user); t != nil {
		return t.FS()
	}
	return nil
}

// Reset closes all connections, and undoes what clients have changed since the start: uploads,
// deletions, articles, mail. It deletes the transcript and disarms all faults. What Put and Remove
// have changed stays. Reset returns when no connection is served any more; a client that connects
// meanwhile may find the server as it was.
func (s *Server) Reset() error {
	m := s.machine()
	return m.Restart(func() error {
		m.ResetFaults()
		m.Log.Reset()
		err := m.ResetFiles()
		if m.Fresh != nil {
			err = errors.Join(err, m.Fresh())
		}
		return err
	})
}

// PendingFaults returns an error that lists the armed faults that have not acted, or nil. A test
// whose server was started by a New function fails with that error when it ends. A program receives
// it from Close.
//
// The error unwraps to one for each call of On. In a test, its text begins with the line of that
// call, as in "client_test.go:12: ". It has a method Partly() bool, which reports whether
// other faults of the call have acted.
func (s *Server) PendingFaults() error {
	var errs []error
	for _, p := range s.machine().Pending() {
		if s.machine().Test == nil {
			p.By = "" // who runs a program does not know its lines
		}
		errs = append(errs, pendingFaults{s.URL, p})
	}
	return errors.Join(errs...)
}

// pendingFaults is the error of a call of On.
type pendingFaults struct {
	url  string
	rule core.Pending
}

func (p pendingFaults) Error() string {
	text := "testserver: " + p.url + ": " + p.rule.Message
	if p.rule.By != "" {
		text = p.rule.By + ": " + text
	}
	return text
}

func (p pendingFaults) Partly() bool { return p.rule.Partly }

// WaitIdle returns when every connection that was opened before the call has been served to its
// end. It returns an error when ctx ends or the server is closed. The transcript then has what a
// client sent last without waiting for an answer. For a server of datagrams WaitIdle returns at
// once.
func (s *Server) WaitIdle(ctx context.Context) error {
	m := s.machine()
	if m.Datagrams {
		return nil
	}
	if err := m.CatchUp(ctx); err != nil {
		return err
	}
	return m.WaitIdle(ctx)
}

// Close ends the server: it closes the listener and all connections and waits for the goroutines.
// It may be called more than once. Its error is that of PendingFaults; the server is closed in any
// case.
func (s *Server) Close() error {
	s.machine().End()
	return s.PendingFaults()
}

// Wait returns when the server has ended.
func (s *Server) Wait() { s.machine().Wait() }
