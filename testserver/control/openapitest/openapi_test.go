// Package openapitest compares the control API with its description, openapi.yaml. It is a module of its
// own for the library that does so.
package openapitest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
)

// exchange is a request of a test of the API, and its response.
type exchange struct {
	Method, Path string
	Header       http.Header
	Sent         []byte
	Status       int
	Type         string
	Got          []byte
}

// TestExchanges runs the tests of the API and validates each response, and each request that has
// succeeded. Each operation must have been used, and have had a problem.
func TestExchanges(t *testing.T) {
	doc, router := load(t)
	type seen struct{ succeeded, failed bool }
	used := make(map[string]*seen)
	for path, item := range doc.Paths.Map() {
		for method := range item.Operations() {
			used[method+" "+path] = new(seen)
		}
	}
	n := 0
	for e := range exchanges(t) {
		n++
		route, response, sent, err := e.check(router)
		switch {
		case err == errNoRoute && e.Status/100 == 4:
			continue // of what is not described, such as a file without a name
		case err != nil:
			t.Errorf("%s %s: %d %.300s: %v", e.Method, e.Path, e.Status, e.Got, err)
			continue
		}
		s := used[route.Method+" "+route.Path]
		s.succeeded = s.succeeded || e.Status < 400
		s.failed = s.failed || e.Status >= 400
		if response != nil {
			t.Errorf("%s %s: the response %d %.300s: %v", e.Method, e.Path, e.Status, e.Got, response)
		}
		if sent != nil && e.Status < 400 {
			t.Errorf("%s %s: the request %.300s is accepted: %v", e.Method, e.Path, e.Sent, sent)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(used)) {
		if s := used[name]; !s.succeeded {
			t.Errorf("%s: no test succeeds", name)
		}
	}
	t.Logf("%d exchanges", n)
}

// load reads the description, which must be valid.
func load(t *testing.T) (*openapi3.T, routers.Router) {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromFile("../openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		t.Fatal(err)
	}
	return doc, router
}

// exchanges runs the tests of the API and returns what they sent and received.
func exchanges(t *testing.T) func(yield func(exchange) bool) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "exchanges")
	test := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-run", "^Test", "-skip", "^TestLimits$", ".")
	test.Dir = ".."
	test.Env = append(os.Environ(), "OPENAPI_EXCHANGES="+name)
	if out, err := test.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return func(yield func(exchange) bool) {
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 64<<20)
		for lines.Scan() {
			var e exchange
			if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
				t.Fatal(err)
			}
			if !yield(e) {
				return
			}
		}
	}
}

var errNoRoute = errors.New("the description has no such path or method")

// check validates a request and its response.
func (e exchange) check(router routers.Router) (route *routers.Route, response, sent, err error) {
	r, err := http.NewRequest(e.Method, "http://127.0.0.1"+e.Path, bytes.NewReader(e.Sent))
	if err != nil {
		return nil, nil, nil, err
	}
	r.Header = e.Header
	// A name may have slashes, which a parameter of a path has not.
	if before, name, ok := strings.Cut(r.URL.Path, "/files/"); ok && name != "" {
		r.URL.Path, r.URL.RawPath = before+"/files/"+strings.ReplaceAll(name, "/", "-"), ""
	}
	route, params, err := router.FindRoute(r)
	if err != nil {
		return nil, nil, nil, errNoRoute
	}
	options := &openapi3filter.Options{
		AuthenticationFunc:  openapi3filter.NoopAuthenticationFunc,
		ExcludeRequestBody:  !strings.HasPrefix(e.Header.Get("Content-Type"), "application/json"),
		ExcludeResponseBody: !strings.Contains(e.Type, "json"),
	}
	in := &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: route, Options: options}
	sent = openapi3filter.ValidateRequest(r.Context(), in)
	header := http.Header{}
	if e.Type != "" {
		header.Set("Content-Type", e.Type)
	}
	response = openapi3filter.ValidateResponse(r.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: in, Status: e.Status, Header: header, Options: options, Body: io.NopCloser(bytes.NewReader(e.Got)),
	})
	return route, response, sent, nil
}
