package scene

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/testserver"
)

// Stage is a case that runs: its servers, its folder, and what a client is to achieve.
type Stage struct {
	Case
	// What the client is told; judge.Case documents them.
	URL, In, Out, Dir, User, Password, CA, Home string

	Ctx    context.Context
	cancel func()
	root   string // the folder of the case
	before map[string]string

	// What cases of reports set, which say for themselves what is right.
	Judged func() string // returns what is wrong with what the client has achieved
	Again  func() error  // changes the server, after which the client does the task once more
	Ended  func()        // ends what the case has started
	Base   string        // the directory of Deploy at the server

	Size     int64  // of the document
	Document []byte // what a client is to get or to send
	Begun    int    // how much of it Out has, for Resume
	Begins   []byte // what Out has instead, if not nil
	Names    []string
	Files    map[string][]byte // what is below Dir, by name: after Tree, or before Deploy
	Same     func(got, want []byte) bool
	Stored   func() ([]byte, error) // what the server has received, for Upload
	had      map[string]string      // what the server had before, for Deploy, by name

	Clear     bool          // the password must not be sent, because it would not be encrypted, or for a stranger
	Alarm     func() string // returns what harm was done, for those that know more
	Forbidden string        // the beginning of a command that must not be sent

	Servers []*testserver.Server
	Foreign []*testserver.Server // of another host: nothing secret must reach them
	Kinds   []string             // the names of the faults that were armed, for a test
	armed   int                  // how often faults were armed
	Seen    func() bool          // whether the case came up, if no fault says so
	spies   []*spy
}

// The login of cases that have one. The password is long enough that it occurs nowhere by chance.
const (
	User     = "lab"
	Password = "Schl0ss-17-38-geheim"
)

// Begin makes the folder of a case and starts its servers. The caller ends the stage also after an
// error.
func Begin(ctx context.Context, c Case, below string) (*Stage, error) {
	s := &Stage{Case: c, Same: bytes.Equal, Size: 1000, Base: "pub"}
	s.Ctx, s.cancel = context.WithCancel(ctx)
	s.User, s.Password = "anonymous", "judge@example.com"
	var err error
	if s.root, err = os.MkdirTemp(below, "judge"); err != nil {
		return s, err
	}
	s.In, s.Out, s.Dir, s.Home = s.Path("input/input"), s.Path("in/out/document"), s.Path("in/tree/dir"), s.Path("home")
	for _, dir := range []string{"input", "in/out", "in/tree/dir", "home", "canary", "tmp"} {
		if err := os.MkdirAll(s.Path(dir), 0o700); err != nil {
			return s, err
		}
	}
	if err := os.WriteFile(s.Path("canary/bird"), []byte("alive\n"), 0o600); err != nil {
		return s, err
	}
	return s, s.setUp()
}

// setUp starts the servers, and writes what the client finds: the beginning of a document, or the
// file to send.
func (s *Stage) setUp() (err error) {
	defer func() {
		switch cause := recover().(type) {
		case nil:
		case failure:
			err = cause.error
		default:
			panic(cause)
		}
	}()
	s.set(s)
	switch s.Task {
	case Resume:
		if s.Begins == nil {
			s.Begins = s.Document[:s.Begun]
		}
		s.Check(os.WriteFile(s.Out, s.Begins, 0o600))
	case Upload:
		s.Check(os.WriteFile(s.Out, s.Document, 0o600))
	case Deploy:
		deployed{s}.fill()
		s.had = deployed{s}.held()
	}
	s.before = s.snapshot()
	return nil
}

// failure is an error of setting up a case.
type failure struct{ error }

// Check ends setting up if there is an error: it panics, and Begin returns the error. So the
// functions that set cases up, which are many, return none.
func (s *Stage) Check(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// End closes the servers and removes the folder.
func (s *Stage) End() {
	s.cancel()
	for _, srv := range slices.Concat(s.Servers, s.Foreign) {
		_ = srv.Close()
	}
	for _, spy := range s.spies {
		spy.close()
	}
	if s.Ended != nil {
		s.Ended()
	}
	if s.root != "" {
		_ = filepath.WalkDir(s.root, func(name string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				_ = os.Chmod(name, 0o700) // a client may have taken the rights
			}
			return nil
		})
		_ = os.RemoveAll(s.root)
	}
}

// Path returns the path of a file in the folder of the case.
func (s *Stage) Path(name string) string { return filepath.Join(s.root, filepath.FromSlash(name)) }

// Server is a server of any protocol.
type Server interface {
	Arm(stage string, n int, faults ...testserver.Fault) error
	Put(name string, data []byte) error
	Transcript() testserver.Transcript
}

// Serve keeps a server that was started, and gives it the files of the task.
func (s *Stage) Serve(srv *testserver.Server) {
	s.Servers = append(s.Servers, srv)
	for name, data := range s.content() {
		s.Check(srv.Put(name, data))
	}
}

// At sets the URL of the task at a server.
func (s *Stage) At(base string) {
	target := map[Task]string{Download: "/pub/file.bin", Resume: "/pub/file.bin", List: "/pub/", Upload: "/incoming/new.bin", Tree: "/pub/", Deploy: "/pub/"}
	s.URL = base + target[s.Task]
}

// Login gives the case a user and a password, in the URL and for the placeholders. The server must
// know them (users).
func (s *Stage) Login() {
	scheme, rest, _ := strings.Cut(s.URL, "://")
	s.User, s.Password = User, Password
	s.URL = scheme + "://" + User + ":" + Password + "@" + rest
}

// Users are the accounts of servers with a login.
func Users() map[string]testserver.User {
	return map[string]testserver.User{User: {Password: Password}}
}

// Arm arms faults of a server.
func (s *Stage) Arm(srv Server, at string, n int, faults ...testserver.Fault) {
	s.armed++
	for _, f := range faults {
		s.Kinds = append(s.Kinds, f.Armed().Kind.Name)
	}
	s.Check(srv.Arm(at, n, faults...))
}

// Trust writes the certificate for CA.
func (s *Stage) Trust(pem []byte) {
	s.CA = s.Path("ca.pem")
	s.Check(os.WriteFile(s.CA, pem, 0o600))
}

// Put stores a file at a server.
func (s *Stage) Put(srv Server, name string, data []byte) { s.Check(srv.Put(name, data)) }
