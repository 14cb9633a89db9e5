package policy_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/policy"
)

var ctx = context.Background()

// A service that fetches the URLs of its users permits public addresses only.
func ExamplePublic() {
	r := fetch1738.Resolver{Env: fetch.Env{Allow: policy.Public}}
	defer r.Close()

	_, err := r.Get(ctx, "http://192.168.1.1/admin")
	var denied *policy.Denied
	if errors.As(err, &denied) {
		fmt.Println(denied.Rule)
	}
	// Output: private-address
}

// A Resolver without a policy of its own applies User: the caller's URLs may lead to local
// addresses, but not to ports of other services.
func ExampleUser() {
	var r fetch1738.Resolver
	defer r.Close()

	_, err := r.Get(ctx, "gopher://127.0.0.1:25/0HELO%20x")
	var denied *policy.Denied
	if errors.As(err, &denied) {
		fmt.Println(denied)
	}
	// Output: denied (rule reserved-port): gopher on port 25 (smtp); use policy.Rules.AllowPorts with 25 to permit
}

// Rules relax a policy. Here private addresses are permitted besides public ones.
func ExampleRules() {
	rules := policy.Rules{PublicOnly: true, AllowZones: []policy.Zone{policy.ZonePrivate}}
	r := fetch1738.Resolver{Env: fetch.Env{Allow: rules.Allow}}
	defer r.Close()

	for _, url := range []string{"http://10.1.2.3/", "http://127.0.0.1/"} {
		req, err := r.Request(ctx, url)
		if err != nil {
			fmt.Println(err)
			return
		}
		_, err = r.Explain(ctx, req) // asks the policy without a connection
		fmt.Println(url, err == nil)
	}
	// Output:
	// http://10.1.2.3/ true
	// http://127.0.0.1/ false
}

// A list of hosts restricts, prefixes permit: a name in the list does not permit the addresses that it
// has.
func ExampleRules_onlyHosts() {
	rules := policy.Rules{
		PublicOnly:    true,
		OnlyHosts:     []string{"*.example.org", "10.1.2.3", "127.0.0.1"},
		AllowPrefixes: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")},
	}
	r := fetch1738.Resolver{Env: fetch.Env{Allow: rules.Allow}}
	defer r.Close()

	for _, url := range []string{"http://www.example.org/", "http://10.1.2.3/", "http://127.0.0.1/", "http://www.example.com/"} {
		req, err := r.Request(ctx, url)
		if err != nil {
			fmt.Println(err)
			return
		}
		_, err = r.Explain(ctx, req) // asks the policy without a connection
		denied, _ := errors.AsType[*policy.Denied](err)
		if denied == nil {
			fmt.Println(url, "permitted")
		} else {
			fmt.Println(url, denied.Rule)
		}
	}
	// Output:
	// http://www.example.org/ permitted
	// http://10.1.2.3/ permitted
	// http://127.0.0.1/ loopback-address
	// http://www.example.com/ unlisted-host
}

// An IPv4 address inside an IPv6 address decides the zone.
func ExampleZoneOf() {
	for _, addr := range []string{"192.0.2.1", "10.0.0.1", "169.254.169.254", "::ffff:127.0.0.1"} {
		fmt.Println(addr, policy.ZoneOf(netip.MustParseAddr(addr)))
	}
	// Output:
	// 192.0.2.1 documentation
	// 10.0.0.1 private
	// 169.254.169.254 link-local
	// ::ffff:127.0.0.1 loopback
}
