package control

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/internal/tree"
	"github.com/fetch1738/fetch1738/testserver/smtptest"
)

// newServer is the body of POST /v1/servers.
type newServer struct {
	Protocol    string          `json:"protocol"`
	Personality string          `json:"personality"`
	Port        uint16          `json:"port"`
	TLS         string          `json:"tls"`
	Hosts       []string        `json:"hosts"`
	Files       map[string]File `json:"files"`
	Folder      string          `json:"folder"`
	Store       string          `json:"store"`
	Users       map[string]user `json:"users"`
	Forbidden   []string        `json:"forbidden"`
	MaxUpload   int64           `json:"maxUpload"`
	MaxConns    int             `json:"maxConns"`
	OneClient   bool            `json:"oneClient"`
	IdleTimeout string          `json:"idleTimeout"`
	Faults      []rule          `json:"faults"`
	Settings    json.RawMessage `json:"settings"`

	field string // where it is in a script, as in servers.0
}

// user is an account of a newServer.
type user struct {
	Password string          `json:"password"`
	Account  string          `json:"account"`
	Rights   *[]string       `json:"rights"`
	Files    map[string]File `json:"files"`
	Folder   string          `json:"folder"`
}

// rule is faults that are armed for a stage.
type rule struct {
	Stage  string             `json:"stage"`
	N      int                `json:"n"`
	Faults []testserver.Named `json:"faults"`
}

// server is a server of the API.
type server struct {
	api         *API
	id          string
	protocol    string
	personality string
	rules       []rule         // armed at the start, and again by reset
	folders     []func() error // closes them
	store       string         // the folder of uploads, or ""
	common      *testserver.Server

	// What only some servers have; nil in the others.
	put    func(name string, data []byte, modified time.Time) error
	remove func(name string) error
	posted func() []string
	mail   func() []smtptest.Mail
	ports  func() []uint16 // the first is that of the URL
	users  map[string]testserver.User

	changes sync.Mutex // held by reset, and by what must not happen meanwhile
	memory  memory     // of the files that were put; under changes
	closing sync.Once

	mu     sync.Mutex
	news   chan struct{} // closed when there is another line; nil if nobody waits
	ending chan struct{} // closed when the server ends
}

// newServer returns a server that has not started.
func (a *API) newServer() *server {
	return &server{api: a, memory: memory{total: &a.content}, ending: make(chan struct{})}
}

// start starts a server.
func (a *API) start(id string, n newServer) (*server, error) {
	how, ok := protocols()[n.Protocol]
	if !ok {
		return nil, bad("protocol", "there is no protocol %q; the protocols are %s", n.Protocol, strings.Join(slices.Sorted(maps.Keys(protocols())), ", "))
	}
	s := a.newServer()
	s.id, s.protocol, s.personality, s.rules = id, n.Protocol, n.Personality, n.Faults
	b := &builder{newServer: n, server: s, addr: net.JoinHostPort(a.Listen, strconv.Itoa(int(n.Port)))}
	err := b.check()
	if err == nil {
		err = how.start(b)
	}
	if b.err != nil { // of a configure function
		err = b.err
	}
	if err == nil {
		err = s.armAll()
	}
	if err == nil {
		return s, nil
	}
	s.close()
	if _, ok := err.(problem); ok {
		return nil, err
	}
	_, why, found := strings.Cut(err.Error(), ": ") // without the name of the package
	if !found {
		why = err.Error()
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		why = fmt.Sprintf("cannot listen on %v: %v; choose another port, or 0 for a free one", op.Addr, cause(op))
		return nil, problem{Status: http.StatusConflict, Detail: why, Field: "port"}
	}
	return nil, bad("settings", "%s", why)
}

// cause returns why an operation of the network failed, without the name of the system call.
func cause(op *net.OpError) error {
	if call, ok := errors.AsType[*os.SyscallError](op); ok {
		return call.Err
	}
	return op.Err
}

// builder starts a server as a newServer says.
type builder struct {
	newServer
	server  *server
	addr    string
	err     error // of configure
	content fs.FS
	store   *os.Root
	idle    time.Duration
	users   map[string]testserver.User
}

// check checks what all servers have in common, and opens the folders.
func (b *builder) check() (err error) {
	switch b.TLS {
	case "", "none":
	case "explicit":
		if b.Protocol != "ftp" && b.Protocol != "nntp" && b.Protocol != "smtp" {
			return bad("tls", "%s has no command that begins TLS; use implicit", b.Protocol)
		}
	case "implicit":
		if b.Protocol == "prospero" {
			return bad("tls", "prospero uses datagrams, and has no TLS")
		}
	default:
		return bad("tls", "%q is not one of none, explicit and implicit", b.TLS)
	}
	if b.IdleTimeout != "" {
		if b.idle, err = time.ParseDuration(b.IdleTimeout); err != nil || b.idle <= 0 {
			return bad("idleTimeout", "%q is not a time as in 90s", b.IdleTimeout)
		}
	}
	if b.MaxUpload < 0 {
		return bad("maxUpload", "the limit is negative")
	}
	if b.MaxConns < 0 {
		return bad("maxConns", "the limit is negative")
	}
	if b.content, err = b.open("folder", b.Folder); err != nil {
		return err
	}
	if err := b.openStore(); err != nil {
		return err
	}
	b.users = make(map[string]testserver.User)
	for name, u := range b.Users {
		if b.users[name], err = b.user("users."+name, u); err != nil {
			return err
		}
	}
	b.server.users = b.users
	return nil
}

// open opens a folder, which is closed with the server. Without one it returns nil.
func (b *builder) open(field, name string) (fs.FS, error) {
	if name == "" {
		return nil, nil
	}
	root, err := b.server.api.folder(name)
	if err != nil {
		return nil, bad(field, "%v", err)
	}
	b.server.folders = append(b.server.folders, root.Close)
	return root.FS(), nil
}

// openStore makes the folder for uploads, if they are to be on the disk.
func (b *builder) openStore() error {
	switch b.Store {
	case "", "memory":
		return nil
	case "disk":
	default:
		return bad("store", "%q is not one of memory and disk", b.Store)
	}
	root := b.server.api.Store
	if root == nil {
		return bad("store", "uploads can be in memory only: the API was started without a folder for them")
	}
	name := b.server.id + "-" + rand.Text()[:8]
	if err := root.Mkdir(name, 0o755); err != nil {
		return err
	}
	folder, err := root.OpenRoot(name)
	if err != nil {
		return err
	}
	b.server.folders = append(b.server.folders, folder.Close)
	b.store, b.server.store = folder, filepath.Join(root.Name(), name)
	return nil
}

// user returns an account.
func (b *builder) user(field string, u user) (account testserver.User, err error) {
	account = testserver.User{Password: u.Password, Account: u.Account}
	if u.Rights != nil {
		account.Deny = testserver.Read | testserver.List | testserver.Write | testserver.Delete
		for _, r := range *u.Rights {
			i := slices.Index([]string{"read", "list", "write", "delete"}, r)
			if i < 0 {
				return account, bad(field+".rights", "%q is not one of read, list, write and delete", r)
			}
			account.Deny &^= testserver.Read << i
		}
	}
	folder, err := b.open(field+".folder", u.Folder)
	if err != nil || folder == nil && u.Files == nil {
		return account, err
	}
	all := tree.New(folder, nil)
	err = b.server.putAll(field+".files", u.Files, func(name string, data []byte, modified time.Time) error {
		return all.Put(tree.Clean(name), data, modified)
	})
	account.Content = all.FS()
	return account, err
}

// set configures what all servers have in common, and then what settings says: all is the server. It is
// called by a configure function; apply is the personality, or nil.
func (b *builder) set(s *testserver.Server, all any, apply func() error) {
	b.server.common = s
	s.Content, s.Forbidden, s.MaxUpload, s.MaxConns, s.OneClient, s.IdleTimeout = b.content, b.Forbidden, b.MaxUpload, b.MaxConns, b.OneClient, b.idle
	s.Store, s.Log, s.Recorder = b.store, b.server.note, b.server.api.Recorder
	if b.TLS == "explicit" || b.TLS == "implicit" || b.Protocol == "smtp" {
		s.TLS, s.ImplicitTLS = testserver.NewTLS(b.Hosts...), b.TLS == "implicit"
	}
	b.err = b.server.putAll("files", b.Files, putIn(s))
	if b.err == nil {
		b.err = apply()
	}
	if b.err == nil && b.Settings != nil {
		b.err = decode(b.Settings, all, "settings")
	}
}

// personality returns a function that applies the personality with the wanted name.
func personality[S any](b *builder, s S, all []testserver.Personality[S]) func() error {
	return func() error {
		if b.Personality == "" {
			return nil
		}
		var names []string
		for _, one := range all {
			if one.Name == b.Personality {
				one.Configure(s)
				return nil
			}
			names = append(names, one.Name)
		}
		if names == nil {
			return bad("personality", "%s has no personalities", b.Protocol)
		}
		return bad("personality", "%s has no personality %q; it has %s", b.Protocol, b.Personality, strings.Join(names, ", "))
	}
}

// close ends the server.
func (s *server) close() {
	s.closing.Do(func() {
		if s.common != nil && s.common.URL != "" {
			_ = s.common.Close()
		}
		close(s.ending)
		for _, closeFolder := range s.folders {
			_ = closeFolder()
		}
		s.changes.Lock()
		defer s.changes.Unlock()
		s.memory.free()
	})
}

// ended reports whether the server has ended, so that nothing more can be put.
func (s *server) ended() bool {
	select {
	case <-s.ending:
		return true
	default:
		return false
	}
}

// serverInfo is a server as clients see it.
type serverInfo struct {
	ID          string   `json:"id"`
	Protocol    string   `json:"protocol"`
	Personality string   `json:"personality,omitempty"`
	URL         string   `json:"url"`
	Host        string   `json:"host"`
	Port        int      `json:"port"`
	DataPorts   []uint16 `json:"dataPorts,omitempty"`
	Store       string   `json:"store,omitempty"`
	CA          string   `json:"ca,omitempty"`
}

func (s *server) info() serverInfo {
	host, port := s.common.Public()
	info := serverInfo{ID: s.id, Protocol: s.protocol, Personality: s.personality, URL: s.common.PublicURL(), Host: host, Port: port, Store: s.store, CA: string(s.common.CA())}
	if s.ports != nil {
		info.DataPorts = s.ports()[1:]
	}
	return info
}

// publicBody is the body of PUT …/public.
type publicBody struct {
	Host  string            `json:"host"`
	Ports map[string]uint16 `json:"ports"`
}

func setPublic(s *server, w http.ResponseWriter, r *http.Request) error {
	var b publicBody
	held, err := s.api.read(w, r, &b)
	if err != nil {
		return err
	}
	defer held.free()
	ports := make(map[uint16]uint16)
	for from, to := range b.Ports {
		port, err := strconv.ParseUint(from, 10, 16)
		if err != nil || port == 0 || to == 0 {
			return bad("ports."+from, "a port is from 1 to 65535")
		}
		ports[uint16(port)] = to
	}
	if err := s.common.SetPublic(b.Host, ports); err != nil {
		return bad("host", "%s", strings.TrimPrefix(err.Error(), "testserver: "))
	}
	return answer(w, http.StatusOK, s.info())
}

func resetServer(s *server, w http.ResponseWriter, _ *http.Request) error {
	s.changes.Lock()
	defer s.changes.Unlock()
	if err := s.common.Reset(); err != nil {
		return err
	}
	if err := s.armAll(); err != nil {
		return err
	}
	return done(w)
}

func waitServer(s *server, w http.ResponseWriter, r *http.Request) error {
	limit := 10 * time.Second
	if text := r.URL.Query().Get("timeout"); text != "" {
		var err error
		if limit, err = time.ParseDuration(text); err != nil || limit <= 0 || limit > time.Minute {
			return bad("timeout", "%q is not a time of at most 60s, as in 500ms", text)
		}
	}
	ctx, cancel := context.WithTimeout(r.Context(), limit)
	defer cancel()
	if err := s.common.WaitIdle(ctx); err != nil {
		return problem{Status: http.StatusConflict, Detail: fmt.Sprintf("a connection was still open after %v", limit)}
	}
	return done(w)
}
