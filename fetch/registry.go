package fetch

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// A Registry maps schemes to Fetchers. The zero value is empty and ready. Fill
// it first: Register must not run beside other calls; the others are safe for
// concurrent use.
type Registry struct {
	fetchers map[string]Fetcher
}

// Register binds schemes to f. It panics when a scheme is empty or bound
// already, as that is a mistake in the program.
func (r *Registry) Register(f Fetcher, schemes ...string) {
	if r.fetchers == nil {
		r.fetchers = make(map[string]Fetcher)
	}
	for _, s := range schemes {
		s = strings.ToLower(s)
		if s == "" || r.fetchers[s] != nil {
			panic(fmt.Sprintf("fetch: scheme %q is empty or registered twice", s))
		}
		r.fetchers[s] = f
	}
}

// Lookup finds the Fetcher of a scheme, or nil.
func (r *Registry) Lookup(scheme string) Fetcher {
	return r.fetchers[strings.ToLower(scheme)]
}

// Schemes lists the registered schemes in alphabetical order.
func (r *Registry) Schemes() []string {
	return slices.Sorted(maps.Keys(r.fetchers))
}

// Close closes every Fetcher that keeps something open between requests (an
// io.Closer), each once.
func (r *Registry) Close() error {
	var errs []error
	closed := make(map[io.Closer]bool)
	for _, scheme := range r.Schemes() {
		c, ok := r.fetchers[scheme].(io.Closer)
		if !ok {
			continue
		}
		if reflect.TypeOf(c).Comparable() {
			if closed[c] {
				continue
			}
			closed[c] = true
		}
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}
