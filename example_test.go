package fetch1738_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	nethttp "net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/download"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/fetchtest"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/fetch/mailto"
	"github.com/fetch1738/fetch1738/fetch/proxy"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/policy"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
	"github.com/fetch1738/fetch1738/testserver/traffic"
	"github.com/fetch1738/fetch1738/testserver/webtest"
)

// ctx is the context that a program has from its caller.
var ctx = context.Background()

// archive starts an FTP server with three files.
func archive() *ftptest.Server {
	srv, err := ftptest.Start(ctx, "", func(s *ftptest.Server) {
		s.Content = fstest.MapFS{
			"pub/README":     {Data: []byte("This is the archive.\n")},
			"pub/digits.txt": {Data: []byte("0123456789")},
			"pub/old/a.txt":  {Data: []byte("old\n")},
		}
	})
	if err != nil {
		log.Fatal(err)
	}
	return srv
}

// menus starts a gopher server with one file.
func menus() *gophertest.Server {
	srv, err := gophertest.Start(ctx, "", func(s *gophertest.Server) {
		s.Content = fstest.MapFS{"README": {Data: []byte("This is the archive.\n")}}
	})
	if err != nil {
		log.Fatal(err)
	}
	return srv
}

func ExampleGet() {
	srv := archive()
	defer srv.Close()

	res, err := fetch1738.Get(ctx, srv.URL+"/pub/README")
	if err != nil {
		log.Fatal(err)
	}
	defer res.Close()
	if _, err := io.Copy(os.Stdout, res.Body); err != nil {
		log.Fatal(err) // a truncated body ends here, too
	}
	// Output: This is the archive.
}

// Errors are the same for every scheme.
func ExampleGet_errors() {
	srv := archive()
	defer srv.Close()

	_, err := fetch1738.Get(ctx, srv.URL+"/pub/missing")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		fmt.Println("no such file") // 550 from FTP, 404 from HTTP, an error item from gopher
	case errors.Is(err, fs.ErrPermission):
		fmt.Println("not allowed")
	case errors.Is(err, fetch.ErrTimeout):
		fmt.Println("timed out")
	}
	var e *fetch.Error
	if errors.As(err, &e) {
		fmt.Println(e.Op, e.Code)
	}
	// Output:
	// no such file
	// RETR 550
}

// Directories and gopher menus are lists of Locators.
func ExampleResolver_Get_directory() {
	srv := archive()
	defer srv.Close()

	var r fetch1738.Resolver // keeps connections for the next request
	defer r.Close()
	dir, err := r.Get(ctx, srv.URL+"/pub/")
	if err != nil {
		log.Fatal(err)
	}
	defer dir.Close()
	for item, err := range dir.Items {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(item.Kind, item.Name)
	}
	// Output:
	// document README
	// document digits.txt
	// directory old
}

// A walk fetches the entries of a listing while it ranges over it. A listing of up to 1 MiB
// has released its connection by then.
func ExampleResolver_Fetch_walk() {
	srv := archive()
	defer srv.Close()
	ref, err := locator.Parser{}.Parse(srv.URL + "/")
	if err != nil {
		log.Fatal(err)
	}
	var r fetch1738.Resolver
	defer r.Close()

	var walk func(req *fetch.Request) error
	walk = func(req *fetch.Request) error {
		res, err := r.Fetch(ctx, req)
		if err != nil {
			return err
		}
		defer res.Close()
		if res.Items == nil {
			text, err := io.ReadAll(res.Body)
			fmt.Printf("%q\n", text)
			return err
		}
		for item, err := range res.Items {
			if err != nil {
				return err
			}
			if err := walk(&fetch.Request{Locator: item.Locator, From: res.Origin()}); err != nil {
				return err
			}
		}
		return nil
	}
	if err := walk(&fetch.Request{Locator: ref.Locator}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// "This is the archive.\n"
	// "0123456789"
	// "old\n"
}

// A Resolver accepts URLs as people write them. A strict one accepts RFC 1738 §5 only.
func ExampleResolver_strict() {
	srv := archive()
	defer srv.Close()

	strict := fetch1738.Resolver{Parser: new(locator.Parser)}
	defer strict.Close()
	_, err := strict.Get(ctx, srv.URL+"/~user")
	fmt.Println(errors.Is(err, fetch.ErrBadURL))
	// Output: true
}

// A Request can ask for part of a document: here 4 bytes, from the byte at offset 3 on.
func ExampleResolver_Fetch_range() {
	srv := archive()
	defer srv.Close()

	var r fetch1738.Resolver
	defer r.Close()
	req, err := r.Request(ctx, srv.URL+"/pub/digits.txt")
	if err != nil {
		log.Fatal(err)
	}
	req.Offset, req.Length = 3, 4
	res, err := r.Fetch(ctx, req)
	if err != nil {
		log.Fatal(err)
	}
	defer res.Close()
	part, err := io.ReadAll(res.Body)
	fmt.Printf("%s %v\n", part, err)
	// Output: 3456 <nil>
}

// Put stores, Post appends or posts, Attributes fetches size and time without the document.
func ExampleResolver_Put() {
	srv := archive()
	defer srv.Close()

	var r fetch1738.Resolver
	defer r.Close()
	url := srv.URL + "/pub/new.txt"
	if _, err := r.Put(ctx, url, strings.NewReader("stored\n")); err != nil {
		log.Fatal(err)
	}
	if _, err := r.Post(ctx, url, strings.NewReader("appended\n")); err != nil {
		log.Fatal(err)
	}
	found, err := r.Stat(ctx, url)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(found.Kind, found.Size)
	// Output: document 16
}

// Stat reports whether a resource is there, and what it is, for URLs of every scheme.
func ExampleResolver_Stat() {
	srv := archive()
	defer srv.Close()

	var r fetch1738.Resolver
	defer r.Close()
	found, err := r.Stat(ctx, srv.URL+"/pub/README;type=i")
	switch {
	case errors.Is(err, fetch.ErrNotFound):
		fmt.Println("the server has no such file")
	case err != nil:
		log.Fatal(err) // nothing answers, or the policy or the server refuses
	default:
		fmt.Println(found.Kind, found.Size, found.Reached)
	}
	// Output: document 21 true
}

// Credentials is called when the server requires a login that the URL does not have.
func ExampleResolver_credentials() {
	srv := archive()
	defer srv.Close()

	r := fetch1738.Resolver{Env: fetch.Env{
		Credentials: func(ctx context.Context, c fetch.Challenge) (locator.Login, error) {
			return locator.Login{User: c.User, Password: "secret", HasPassword: true}, nil
		},
	}}
	defer r.Close()
	_, err := r.Get(ctx, "ftp://lab@"+srv.Addr+"/pub/README")
	fmt.Println(errors.Is(err, fetch.ErrUnauthenticated))
	// Output: true
}

// A program that fetches other people's URLs keeps them away from its own network.
func ExampleResolver_policy() {
	r := fetch1738.Resolver{Env: fetch.Env{Allow: policy.Public}}
	defer r.Close()

	_, err := r.Get(ctx, "http://127.0.0.1:8080/admin")
	var denied *policy.Denied
	if errors.Is(err, fetch.ErrRefused) && errors.As(err, &denied) {
		fmt.Println(denied.Rule)
	}
	// Output: loopback-address
}

// A Trace shows the conversation with the server, with passwords masked.
func ExampleResolver_trace() {
	srv := archive()
	defer srv.Close()

	watched := fetch.WithTrace(ctx, &fetch.Trace{
		Sent: func(octets []byte) { fmt.Printf("> %s\n", bytes.TrimSpace(octets)) },
	})
	res, err := fetch1738.Get(watched, srv.URL+"/pub/README;type=i")
	if err != nil {
		log.Fatal(err)
	}
	defer res.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		log.Fatal(err)
	}
	// Output:
	// > USER anonymous
	// > PASS ****
	// > PWD
	// > TYPE I
	// > CWD pub
	// > SIZE README
	// > EPSV
	// > RETR README
}

// Three lines show the progress of a download.
func ExampleWithProgress() {
	srv := archive()
	defer srv.Close()
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	watched := fetch1738.WithProgress(ctx, func(p fetch1738.Progress) {
		fmt.Fprintf(os.Stderr, "\r%s", p)
	})
	err = download.File(watched, nil, srv.URL+"/pub/digits.txt", filepath.Join(dir, "digits.txt"))
	fmt.Println(err)
	// Output: <nil>
}

// At most eight transfers at once, and two with one host.
func ExampleResolver_limits() {
	srv := archive()
	defer srv.Close()

	r := fetch1738.Resolver{MaxTransfers: 8, MaxTransfersPerHost: 2}
	defer r.Close()
	var wait sync.WaitGroup
	for _, name := range []string{"README", "digits.txt", "old/a.txt"} {
		wait.Go(func() {
			res, err := r.Get(ctx, srv.URL+"/pub/"+name)
			if err != nil {
				log.Fatal(err)
			}
			defer res.Close() // makes room for the next one
			io.Copy(io.Discard, res.Body)
		})
	}
	wait.Wait()
	// Output:
}

// A transfer resumes at an Offset. The file may have changed since, so size and time of
// modification are compared.
func ExampleResolver_Fetch_resume() {
	srv := archive()
	defer srv.Close()
	var r fetch1738.Resolver
	defer r.Close()
	var file bytes.Buffer

	req, err := r.Request(ctx, srv.URL+"/pub/digits.txt")
	if err != nil {
		log.Fatal(err)
	}
	req.Options = &ftp.Options{ModTime: true} // FTP does not send the time unless it is requested
	first, err := r.Fetch(ctx, req)
	if err != nil {
		log.Fatal(err)
	}
	have, _ := io.CopyN(&file, first.Body, 4) // here the transfer stops
	first.Close()

	rest := *req
	rest.Offset = have
	res, err := r.Fetch(ctx, &rest)
	if err != nil {
		log.Fatal(err)
	}
	defer res.Close()
	if res.Size != first.Size || !res.ModTime.Equal(first.ModTime) {
		log.Fatal("the file has changed: start over")
	}
	if _, err := io.Copy(&file, res.Body); err != nil {
		log.Fatal(err)
	}
	fmt.Println(file.String())
	// Output: 0123456789
}

// An HTTP server compares the editions itself, if the request has an If-Range field.
func ExampleResolver_Fetch_resumeHTTP() {
	srv, err := webtest.Start(ctx, "", func(s *webtest.Server) {
		s.Content = fstest.MapFS{"digits.txt": {Data: []byte("0123456789"), ModTime: time.Unix(783993600, 0)}}
	})
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()
	var r fetch1738.Resolver
	defer r.Close()
	req, err := r.Request(ctx, srv.URL+"/digits.txt")
	if err != nil {
		log.Fatal(err)
	}
	first, err := r.Fetch(ctx, req)
	if err != nil {
		log.Fatal(err)
	}
	first.Close()

	info, ok := first.Info.(*http.Info)
	if !ok || info.Validator == "" {
		log.Fatal("the server does not identify this edition: start over")
	}
	rest := *req
	rest.Offset = 4
	rest.Options = &http.Options{Header: map[string][]string{"If-Range": {info.Validator}}}
	res, err := r.Fetch(ctx, &rest)
	if errors.Is(err, fetch.ErrBadRange) {
		log.Fatal("the document has changed: start over")
	}
	if err != nil {
		log.Fatal(err)
	}
	defer res.Close()
	part, err := io.ReadAll(res.Body)
	fmt.Printf("%s %v\n", part, err)
	// Output: 456789 <nil>
}

// The proxies of the environment: http_proxy, ftp_proxy, all_proxy, no_proxy.
func ExampleResolver_environment() {
	os.Setenv("no_proxy", "*")
	defer os.Unsetenv("no_proxy")
	srv := archive()
	defer srv.Close()

	r := fetch1738.Resolver{Proxy: proxy.FromEnvironment}
	defer r.Close()
	res, err := r.Get(ctx, srv.URL+"/pub/README")
	if err != nil {
		log.Fatal(err)
	}
	defer res.Close()
	io.Copy(os.Stdout, res.Body)
	// Output: This is the archive.
}

// A proxy for all schemes.
func ExampleResolver_proxy() {
	srv := menus()
	defer srv.Close()
	forwarder := tunnels()
	defer forwarder.Close()

	r := fetch1738.Resolver{Proxy: func(scheme, host string) (*proxy.Proxy, error) {
		return proxy.Parse(forwarder.URL) // such as "http://proxy.example:3128" or "socks5h://127.0.0.1:9050"
	}}
	defer r.Close()
	res, err := r.Get(ctx, srv.URL+"/0/README")
	if err != nil {
		log.Fatal(err)
	}
	defer res.Close()
	io.Copy(os.Stdout, res.Body)
	// Output: This is the archive.
}

// tunnels starts an HTTP proxy that serves CONNECT and nothing else.
func tunnels() *httptest.Server {
	return httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, req *nethttp.Request) {
		there, err := net.Dial("tcp", req.Host)
		if req.Method != nethttp.MethodConnect || err != nil {
			nethttp.Error(w, "no tunnel", nethttp.StatusBadGateway)
			return
		}
		defer there.Close()
		here, _, err := nethttp.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer here.Close()
		io.WriteString(here, "HTTP/1.1 200 OK\r\n\r\n")
		go io.Copy(there, here)
		io.Copy(here, there)
	}))
}

// A service that fetches the URLs of its users allows public addresses only, limits size and
// time, and has no credentials to lose.
func ExampleResolver_service() {
	r := fetch1738.Resolver{Env: fetch.Env{
		Allow:  policy.Public,
		Limits: fetch.Limits{Connect: 10 * time.Second, Reply: 20 * time.Second, Body: 64 << 20, Hops: 5},
	}}
	defer r.Close()

	for _, url := range []string{
		"file:///etc/passwd",
		"http://127.0.0.1:8080/admin",
		"http://169.254.169.254/latest/meta-data/",
		"gopher://mail.example.org:25/0HELO%20x",
	} {
		_, err := r.Get(ctx, url)
		var denied *policy.Denied
		if errors.As(err, &denied) {
			fmt.Println(denied.Rule)
		}
	}
	// Output:
	// local-file
	// loopback-address
	// link-local-address
	// reserved-port
}

// greeter is the Fetcher of a scheme of your own, as in "x-hello:world".
type greeter struct{}

func (greeter) Fetch(ctx context.Context, req *fetch.Request) (*fetch.Resource, error) {
	l, ok := req.Locator.(*locator.Opaque)
	if !ok {
		return nil, driver.Fail("greet", req.Locator, fetch.ErrUnsupported, errors.New("not a greeting"))
	}
	text := "hello, " + l.Rest + "\n"
	return &fetch.Resource{
		Locator:    l,
		Attributes: fetch.Attributes{Size: int64(len(text)), MediaType: "text/plain"},
		Body:       io.NopCloser(strings.NewReader(text)),
	}, nil
}

// RFC 1738 §4 allows new schemes, and so does a Resolver.
func ExampleResolver_ownScheme() {
	r := fetch1738.Resolver{Schemes: []fetch1738.Scheme{
		{Names: []string{"x-hello"}, New: func(*fetch.Env) driver.Fetcher { return greeter{} }},
	}}
	defer r.Close()

	res, err := r.Get(ctx, "x-hello:world")
	if err != nil {
		log.Fatal(err)
	}
	defer res.Close()
	io.Copy(os.Stdout, res.Body)
	// Output: hello, world
}

// inquirer is the Fetcher of x-inquire://host:port/name: the client sends a name, and the server what it
// knows, as for finger and whois.
type inquirer struct{ Env *fetch.Env }

func (f *inquirer) Fetch(ctx context.Context, req *fetch.Request) (*fetch.Resource, error) {
	l, ok := req.Locator.(*locator.Opaque)
	server, named := locator.ServerOf(req.Locator)
	if !ok || !named {
		return nil, driver.Fail(fetch.OpCheck, req.Locator, fetch.ErrUnsupported, errors.New("not an inquiry"))
	}
	name, err := driver.Decode(l, l.Path())
	if err != nil {
		return nil, err
	}
	c, err := driver.NewEnv(f.Env).Open(ctx, fetch.Target{Locator: l, From: req.From, Host: server.Host, Port: server.Port})
	if err != nil {
		return nil, err
	}
	if _, err := io.WriteString(c, name+"\r\n"); err != nil {
		return nil, err
	}
	body, err := c.Body()
	if err != nil {
		return nil, err
	}
	return &fetch.Resource{Locator: l, Attributes: fetch.Attributes{Size: -1}, Peer: c.Peer(), Body: body}, nil
}

// driver.Env.Open returns the connection of a Fetcher of your own. Reading and writing obey the context and the
// limits.
func ExampleResolver_ownConnection() {
	srv := inquired()
	defer srv.Close()
	r := fetch1738.Resolver{Schemes: []fetch1738.Scheme{
		{Names: []string{"x-inquire"}, New: func(env *fetch.Env) driver.Fetcher { return &inquirer{env} }},
	}}
	defer r.Close()

	res, err := r.Get(ctx, "x-inquire://"+srv.Addr().String()+"/lab")
	if err != nil {
		log.Fatal(err)
	}
	defer res.Close()
	io.Copy(os.Stdout, res.Body)
	// Output: the lab is open
}

// inquired starts a server that answers every name.
func inquired() net.Listener {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go func() {
		for conn, err := ln.Accept(); err == nil; conn, err = ln.Accept() {
			name, _ := bufio.NewReader(conn).ReadString('\n')
			fmt.Fprintf(conn, "the %s is open\n", strings.TrimSpace(name))
			conn.Close()
		}
	}()
	return ln
}

// A row of Schemes configures or replaces a bundled Fetcher. It uses the Resolver's Env as the
// others do.
func ExampleResolver_configured() {
	srv := archive()
	defer srv.Close()

	r := fetch1738.Resolver{
		Env: fetch.Env{Allow: policy.User, Limits: fetch.Limits{Body: 1 << 20}},
		Schemes: []fetch1738.Scheme{
			{Names: []string{"ftp", "ftps"}, New: func(env *fetch.Env) driver.Fetcher {
				return &ftp.Fetcher{Env: env, Active: &ftp.Active{}}
			}},
			{Names: []string{"mailto"}, New: func(env *fetch.Env) driver.Fetcher {
				return &mailto.Fetcher{Env: env, SMTP: "mail.example.org:25"}
			}},
			{Names: []string{"file"}}, // without New: file URLs are not supported
		},
	}
	defer r.Close()

	fmt.Printf("%+v\n", r.Can("mailto"))
	res, err := r.Get(ctx, srv.URL+"/pub/README")
	if err != nil {
		log.Fatal(err)
	}
	defer res.Close()
	io.Copy(os.Stdout, res.Body)
	_, err = r.Get(ctx, "file:///etc/passwd")
	fmt.Println(errors.Is(err, fetch.ErrUnsupported))
	// Output:
	// {Fetch:true FindAttributes:false Update:true Replace:false Edit:false Explain:true}
	// This is the archive.
	// true
}

// Protocols are the versions of HTTP that a Fetcher may use. By default, https is fetched by HTTP/2 if
// the server speaks it.
func ExampleResolver_versions() {
	srv, err := webtest.Start(ctx, "", func(s *webtest.Server) { s.Content = fstest.MapFS{"a.txt": {}} })
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()

	protocols := new(nethttp.Protocols)
	protocols.SetUnencryptedHTTP2(true) // and not HTTP1: the servers are known to speak HTTP/2
	r := fetch1738.Resolver{
		Schemes: []fetch1738.Scheme{
			{Names: []string{"http", "https"}, New: func(env *fetch.Env) driver.Fetcher {
				return &http.Fetcher{Env: env, Protocols: protocols}
			}},
		},
	}
	defer r.Close()

	res, err := r.Get(ctx, srv.URL+"/a.txt")
	if err != nil {
		log.Fatal(err)
	}
	defer res.Close()
	fmt.Println(res.Info.(*http.Info).Proto)
	// Output: HTTP/2.0
}

// Explain returns what Fetch would do, and asks the policy, without a connection.
func ExampleResolver_Explain() {
	var r fetch1738.Resolver
	defer r.Close()

	req, err := r.Request(ctx, "gopher://gopher.example.org/0/about.txt")
	if err != nil {
		log.Fatal(err)
	}
	e, err := r.Explain(ctx, req)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s port %d: %q\n", e.Host, e.Port, e.Steps[0].Send)
	// Output: gopher.example.org port 70: "/about.txt\r\n"
}

// The FTP client under test here is fetch1738; any other would do.
func TestAbortedTransfer(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) {
		s.Content = fstest.MapFS{"pub/a.txt": {Data: []byte("hello\n")}}
	})
	srv.On("RETR", 1, testserver.Truncate(2), testserver.Reply("426 aborted"))

	res, err := fetch1738.Get(t.Context(), srv.URL+"/pub/a.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Close()
	if _, err := io.ReadAll(res.Body); !errors.Is(err, fetch.ErrTruncated) {
		t.Errorf("truncated after 2 bytes: error %v", err)
	}
	if !srv.Transcript().Has(testserver.FromClient, "CWD pub") {
		t.Errorf("no CWD pub in:\n%s", srv.Transcript())
	}
}

// An FTP server whose ports are mapped to others. Here the client's Dial has the mapping.
func TestMappedPorts(t *testing.T) {
	const distance = 1000
	mapped := func(port uint16) uint16 { return port + distance }

	srv := ftptest.New(t, func(s *ftptest.Server) {
		s.Content = fstest.MapFS{"a.txt": {Data: []byte("hello\n")}}
		s.DataPorts = 10
	})
	public := make(map[uint16]uint16)
	for _, port := range srv.Ports() { // the control port, then ten data ports
		public[port] = mapped(port)
	}
	if err := srv.SetPublic("127.0.0.1", public); err != nil {
		t.Fatal(err)
	}

	r := fetch1738.Resolver{Env: fetch.Env{Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		at, err := netip.ParseAddrPort(address)
		if err != nil {
			return nil, err
		}
		return srv.Dial(ctx, network, netip.AddrPortFrom(at.Addr(), at.Port()-distance).String())
	}}}
	defer r.Close()
	res, err := r.Get(t.Context(), fmt.Sprintf("ftp://127.0.0.1:%d/a.txt", mapped(srv.Ports()[0])))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Close()
	if data, err := io.ReadAll(res.Body); string(data) != "hello\n" || err != nil {
		t.Errorf("%q, %v", data, err)
	}
}

// Personalities can be combined.
func TestHalfAList(t *testing.T) {
	srv := ftptest.New(t, ftptest.IIS, ftptest.TruncatingList, func(s *ftptest.Server) {
		s.Content = fstest.MapFS{"a.txt": {Data: []byte("a")}, "b.txt": {Data: []byte("b")}}
	})

	res, err := fetch1738.Get(t.Context(), srv.URL+"/")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Close()
	var names []string
	for item, err := range res.Items {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, item.Name)
	}
	if !slices.Equal(names, []string{"a.txt"}) {
		t.Errorf("IIS lists %q", names)
	}
}

// In memory, inside a synctest bubble, an hour takes no time.
func TestSilentServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := gophertest.New(t, func(s *gophertest.Server) {
			s.Content = fstest.MapFS{"a.txt": {Data: []byte("hello\n")}}
			s.InMemory = true
		})
		srv.On("REQUEST", 1, testserver.Delay(time.Hour))

		r := fetch1738.Resolver{Env: fetch.Env{Dial: srv.Dial, Limits: fetch.Limits{Reply: time.Minute}}}
		defer r.Close()
		start := time.Now()
		_, err := r.Get(t.Context(), srv.URL+"/0/a.txt")
		if !errors.Is(err, fetch.ErrTimeout) || time.Since(start) != time.Minute {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
	})
}

// A session that failed is played again, without the server.
func TestSessionAgain(t *testing.T) {
	file := new(bytes.Buffer)
	srv := ftptest.New(t, func(s *ftptest.Server) {
		s.Content = fstest.MapFS{"a.txt": {Data: []byte("hello\n")}}
		s.InMemory = true
		s.Recorder = traffic.NewRecorder(file)
	})
	srv.On("RETR", 1, testserver.Truncate(2), testserver.Reply("426 aborted"))
	get := func(network *testserver.Network) error {
		r := fetch1738.Resolver{Env: fetch.Env{Dial: network.Dial}}
		defer r.Close()
		res, err := r.Get(t.Context(), srv.URL+"/a.txt")
		if err != nil {
			return err
		}
		defer res.Close()
		_, err = io.Copy(io.Discard, res.Body)
		return err
	}
	want := get(srv.Network)
	if err := srv.Close(); err != nil {
		t.Fatal(err)
	}

	events, err := traffic.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	network := new(testserver.Network)
	p := traffic.Player{Listen: network.Listen, Report: func(d traffic.Difference) { t.Errorf("%+v", d) }}
	replay, err := p.Start(t.Context(), events)
	if err != nil {
		t.Fatal(err)
	}
	defer replay.Close()
	if got := get(network); !errors.Is(got, fetch.ErrTruncated) || got.Error() != want.Error() {
		t.Errorf("%v, but of the server: %v", got, want)
	}
}

// fetchtest.Run tests a Fetcher against its contract.
func TestConformance(t *testing.T) {
	fetchtest.Run(t, fetchtest.Harness{
		New: func(env *fetch.Env) driver.Fetcher { return &http.Fetcher{Env: env, Retries: -1} },
		Serve: func(tb testing.TB, content fs.FS, login *locator.Login) *fetchtest.Site {
			srv := webtest.New(tb, func(s *webtest.Server) {
				s.Content, s.InMemory = content, true
				if login != nil {
					s.Users = map[string]testserver.User{login.User: {Password: login.Password}}
				}
			})
			return &fetchtest.Site{Dial: srv.Dial, Locate: func(name string) locator.Locator {
				if info, err := fs.Stat(content, name); err == nil && info.IsDir() {
					return nil // HTTP has no directories, only pages
				}
				ref, err := locator.Parser{}.Parse(srv.URL + "/" + strings.ReplaceAll(url.PathEscape(name), "%2F", "/"))
				if err != nil {
					tb.Fatal(err)
				}
				return ref.Locator
			}}
		},
		Ranges: true,
	})
}
