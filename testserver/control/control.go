// Package control lets programs in any language use the test servers: it starts, configures and
// reads them by JSON over HTTP. openapi.yaml describes that; [API] serves it.
package control

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/traffic"
)

// Config is how an [API] works.
type Config struct {
	// Token must be in each request ("Authorization: Bearer TOKEN"), except for the health and the
	// description. "" means a new one; see [API.Token].
	Token string
	// Hosts are names and addresses that a request may have in its Host header, besides those of
	// loopback: a page of another site cannot make a browser send them.
	Hosts []string
	// Listen is the address on which servers listen, without a port; "" means "127.0.0.1".
	Listen string
	// Root, if not nil, has the folders that can be served. The caller closes it after the API.
	Root *os.Root
	// Store, if not nil, is where servers keep uploads on the disk, each in a folder of its own. The
	// caller closes it after the API.
	Store *os.Root
	// Recorder, if not nil, records the connections of all servers.
	Recorder *traffic.Recorder
	// Version is that of the program, for the health.
	Version string
	// Log, if not nil, is called with each line of each transcript, concurrently.
	Log func(id string, line testserver.Line)
}

// The limits of an API.
const (
	maxServers = 1000
	maxJSON    = 64 << 20  // bytes of a JSON document
	maxFile    = 256 << 20 // bytes of a file or an archive
	maxFiles   = 100_000   // files of an archive
	maxContent = 2 << 30   // bytes of all files that are there, and of requests
	maxWatches = 256       // transcripts that are read as they happen
)

//go:embed openapi.yaml
var description []byte

// API is an [http.Handler] that starts and ends test servers for its clients. Its methods may be
// called concurrently. The caller must close it.
type API struct {
	Config
	mux    *http.ServeMux
	ctx    context.Context // of all servers
	cancel context.CancelFunc
	known  func() map[string]protocolInfo

	content atomic.Int64 // bytes of files that were put, and of requests
	watches atomic.Int64

	mu      sync.Mutex
	servers []*server // in the order of their creation
	opening int       // that are being started
	count   int       // ever created
}

// New returns an API without servers.
func New(c Config) *API {
	if c.Token == "" {
		c.Token = rand.Text()
	}
	if c.Listen == "" {
		c.Listen = "127.0.0.1"
	}
	a := &API{Config: c, mux: http.NewServeMux()}
	a.ctx, a.cancel = context.WithCancel(context.Background())
	a.known = sync.OnceValue(describe)
	for _, r := range a.routes() {
		a.mux.Handle(r.pattern, r.handler)
	}
	return a
}

// Token returns the token that requests must have.
func (a *API) Token() string { return a.Config.Token }

// Close ends all servers.
func (a *API) Close() error {
	a.cancel()
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, s := range a.servers {
		s.close()
	}
	a.servers = nil
	return nil
}

// A route is a method and path that the API serves.
type route struct {
	pattern string
	handler http.Handler
}

// routes are those of openapi.yaml, which a test compares.
func (a *API) routes() []route {
	with := func(do func(*server, http.ResponseWriter, *http.Request) error) http.Handler {
		return handler(func(w http.ResponseWriter, r *http.Request) error {
			s, err := a.find(r.PathValue("id"))
			if err != nil {
				return err
			}
			return do(s, w, r)
		})
	}
	return []route{
		{"GET /v1/health", handler(a.health)},
		{"GET /v1/openapi.yaml", handler(a.openapi)},
		{"GET /v1/protocols", handler(a.protocols)},
		{"GET /v1/servers", handler(a.list)},
		{"POST /v1/servers", handler(a.create)},
		{"DELETE /v1/servers", handler(a.deleteAll)},
		{"POST /v1/scripts", handler(a.runScript)},
		{"GET /v1/servers/{id}", with(getServer)},
		{"DELETE /v1/servers/{id}", with(deleteServer)},
		{"POST /v1/servers/{id}/reset", with(resetServer)},
		{"POST /v1/servers/{id}/wait", with(waitServer)},
		{"GET /v1/servers/{id}/files/{name...}", with(getFile)},
		{"PUT /v1/servers/{id}/files/{name...}", with(putFile)},
		{"DELETE /v1/servers/{id}/files/{name...}", with(deleteFile)},
		{"PUT /v1/servers/{id}/tree", with(putTree)},
		{"GET /v1/servers/{id}/uploads", with(listUploads)},
		{"GET /v1/servers/{id}/faults", with(listFaults)},
		{"POST /v1/servers/{id}/faults", with(armFaults)},
		{"DELETE /v1/servers/{id}/faults", with(clearFaults)},
		{"GET /v1/servers/{id}/transcript", with(transcript)},
		{"GET /v1/servers/{id}/articles", with(listArticles)},
		{"GET /v1/servers/{id}/mails", with(listMails)},
		{"PUT /v1/servers/{id}/public", with(setPublic)},
	}
}

// ServeHTTP implements [http.Handler].
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if err := a.admit(r); err != nil {
		fail(w, err)
		return
	}
	// ServeMux would answer what it does not know by a text, or by a redirect.
	if h, pattern := a.mux.Handler(r); pattern == "" {
		probe := &probe{header: make(http.Header)}
		h.ServeHTTP(probe, r)
		if probe.status == http.StatusMethodNotAllowed {
			w.Header().Set("Allow", probe.header.Get("Allow"))
			fail(w, problem{Status: probe.status, Detail: fmt.Sprintf("%s is not possible here; allowed: %s", r.Method, probe.header.Get("Allow"))})
			return
		}
		fail(w, problem{Status: http.StatusNotFound, Detail: fmt.Sprintf("there is no %s; see /v1/openapi.yaml", r.URL.Path)})
		return
	}
	a.mux.ServeHTTP(w, r)
}

// admit checks that a request is not one that the page of another site makes a browser send, and
// that it has the token.
func (a *API) admit(r *http.Request) error {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	ip, _ := netip.ParseAddr(host)
	switch {
	case !ip.Unmap().IsLoopback() && !strings.EqualFold(host, "localhost") &&
		!slices.ContainsFunc(a.Hosts, func(h string) bool { return strings.EqualFold(h, host) }):
		return problem{Status: http.StatusMisdirectedRequest, Detail: fmt.Sprintf("Host %q is not one of this API; use 127.0.0.1, or permit it where the API is started", r.Host)}
	case r.Header.Get("Origin") != "":
		return problem{Status: http.StatusForbidden, Detail: "requests of web pages (Origin) are refused"}
	case r.URL.Path == "/v1/health", r.URL.Path == "/v1/openapi.yaml":
		return nil
	}
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if subtle.ConstantTimeCompare([]byte(token), []byte(a.Token())) != 1 {
		return problem{Status: http.StatusUnauthorized, Detail: `the token is missing or wrong; send "Authorization: Bearer TOKEN" with that of the program's first line`}
	}
	return nil
}

// handler is a function of a route. It writes the response, or returns an error.
type handler func(http.ResponseWriter, *http.Request) error

func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := h(w, r); err != nil {
		fail(w, err)
	}
}

// find returns a server.
func (a *API) find(id string) (*server, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	i := slices.IndexFunc(a.servers, func(s *server) bool { return s.id == id })
	if i < 0 {
		return nil, noServer(id)
	}
	return a.servers[i], nil
}

func noServer(id string) error {
	return problem{Status: http.StatusNotFound, Detail: fmt.Sprintf("there is no server %q; it has ended, or was never created", id)}
}

func (a *API) health(w http.ResponseWriter, _ *http.Request) error {
	return answer(w, http.StatusOK, map[string]string{"status": "ok", "version": a.Version})
}

func (a *API) openapi(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "application/yaml")
	_, err := w.Write(description)
	return ignoreClient(err)
}

func (a *API) protocols(w http.ResponseWriter, _ *http.Request) error {
	return answer(w, http.StatusOK, map[string]any{"protocols": a.known()})
}

func (a *API) list(w http.ResponseWriter, _ *http.Request) error {
	a.mu.Lock()
	list := make([]serverInfo, len(a.servers))
	for i, s := range a.servers {
		list[i] = s.info()
	}
	a.mu.Unlock()
	return answer(w, http.StatusOK, map[string]any{"servers": list})
}

func getServer(s *server, w http.ResponseWriter, _ *http.Request) error {
	return answer(w, http.StatusOK, s.info())
}

func (a *API) create(w http.ResponseWriter, r *http.Request) error {
	var n newServer
	held, err := a.read(w, r, &n)
	if err != nil {
		return err
	}
	defer held.free()
	servers, err := a.startAll([]newServer{n})
	if err != nil {
		return err
	}
	w.Header().Set("Location", "/v1/servers/"+servers[0].id)
	return answer(w, http.StatusCreated, servers[0].info())
}

// startAll starts servers and adds them to the list: all of them, or none if there is an error.
func (a *API) startAll(list []newServer) (servers []*server, err error) {
	a.mu.Lock()
	if len(a.servers)+a.opening+len(list) > maxServers {
		defer a.mu.Unlock()
		return nil, problem{Status: http.StatusTooManyRequests, Detail: fmt.Sprintf("there are %d servers, and the limit is %d; DELETE those that are not needed", len(a.servers), maxServers)}
	}
	first := a.count + 1
	a.opening += len(list)
	a.count += len(list)
	a.mu.Unlock()
	for i, n := range list {
		var s *server
		if s, err = a.start(fmt.Sprintf("%s-%d", n.Protocol, first+i), n); err != nil {
			err = within(n.field, err)
			break
		}
		servers = append(servers, s)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.opening -= len(list)
	if err == nil && a.ctx.Err() != nil {
		err = problem{Status: http.StatusServiceUnavailable, Detail: "the program is ending"}
	}
	if err != nil {
		for _, s := range servers {
			s.close()
		}
		return nil, err
	}
	a.servers = append(a.servers, servers...)
	return servers, nil
}

// remove takes a server out of the list. It returns false if another request has done so.
func (a *API) remove(s *server) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	i := slices.Index(a.servers, s)
	if i >= 0 {
		a.servers = slices.Delete(a.servers, i, i+1)
	}
	return i >= 0
}

func deleteServer(s *server, w http.ResponseWriter, _ *http.Request) error {
	pending := s.pending()
	if s.api.remove(s) {
		s.close()
	}
	return answer(w, http.StatusOK, map[string]any{"pending": pending})
}

func (a *API) deleteAll(w http.ResponseWriter, _ *http.Request) error {
	a.mu.Lock()
	servers := a.servers
	a.servers = nil
	a.mu.Unlock()
	for _, s := range servers {
		s.close()
	}
	return done(w)
}

// folder opens a folder below Root.
func (a *API) folder(name string) (*os.Root, error) {
	if a.Root == nil {
		return nil, errors.New("no folder can be served: the API was started without one")
	}
	root, err := a.Root.OpenRoot(name + "/") // a named pipe without the slash would wait for its writer
	if perr, ok := errors.AsType[*fs.PathError](err); ok {
		err = fmt.Errorf("cannot open %q in the folder of the API: %w", name, perr.Err)
	}
	return root, err
}
