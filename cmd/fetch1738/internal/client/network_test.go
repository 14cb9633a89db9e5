package client

import (
	"reflect"
	"testing"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
)

// Operations share their sessions unless an option of the connections differs.
func TestNetworksShare(t *testing.T) {
	var c Client
	defer c.Close()
	resolverFor := func(set func(*plan.Operation)) any {
		op := plan.New(new(plan.Global))
		set(op)
		n, err := c.Network(t.Context(), op)
		if err != nil {
			t.Fatal(err)
		}
		return n.Resolver
	}
	first := resolverFor(func(*plan.Operation) {})
	if resolverFor(func(o *plan.Operation) {
		o.Output.JSON, o.Ask.Head, o.Policy.Schemes = true, true, plan.SchemeSet{"ftp"}
		o.Limits, o.Retry.Times = plan.Limits{Time: 1, Rate: 1, Speed: 1, SpeedTime: 1}, 1
		o.Outputs, o.HTTP.Headers, o.FTP.Quotes = []plan.Destination{{Path: "f"}}, []string{"A: b"}, []string{"NOOP"}
	}) != first {
		t.Error("options of requests prevent sharing")
	}
	for name, set := range map[string]func(*plan.Operation){
		"--ftp-pret":               func(o *plan.Operation) { o.FTPSession.PRET = true },
		"-H 'Proxy-Connection: x'": func(o *plan.Operation) { o.Proxy.Persist = []string{"x"} },
		"--max-filesize":           func(o *plan.Operation) { o.MaxSize = 1 },
	} {
		if other := resolverFor(set); other == first || other != resolverFor(set) {
			t.Errorf("with %s, sessions are shared with an Operation without it, or not with another", name)
		}
	}
}

// Fetchers cannot depend on an option that is not compared: what makes them gets no Operation.
func TestConnectionsKnowNoOperation(t *testing.T) {
	made := reflect.TypeOf(newConnections)
	for i := range made.NumIn() {
		hasOperation(t, made.In(i), made.In(i).String())
	}
	hasOperation(t, reflect.TypeFor[connections](), "connections")
}

// hasOperation reports an Operation, or the options of all, in a type.
func hasOperation(t *testing.T, in reflect.Type, at string) {
	if in.Kind() == reflect.Pointer {
		in = in.Elem()
	}
	switch in {
	case reflect.TypeFor[plan.Operation](), reflect.TypeFor[plan.Global](), reflect.TypeFor[Network]():
		t.Errorf("%s is a %v", at, in)
	}
	if in.Kind() == reflect.Struct && in.PkgPath() == reflect.TypeFor[connections]().PkgPath() {
		for i := range in.NumField() {
			hasOperation(t, in.Field(i).Type, at+"."+in.Field(i).Name)
		}
	}
}
