package locator

import "slices"

// Equal reports whether two Locators are the same in every field. Hosts are
// compared as they are written; a nil slice equals an empty one.
func Equal(a, b Locator) bool {
	switch a := a.(type) {
	case *FTP:
		return both(a, b, func(a, b *FTP) bool {
			return equalServers(a.Server, b.Server) && slices.Equal(a.CWD, b.CWD) &&
				a.Name == b.Name && a.Type == b.Type && a.HasPath == b.HasPath
		})
	case *HTTP:
		return both(a, b, func(a, b *HTTP) bool {
			return equalServers(a.Server, b.Server) && a.Path == b.Path && a.Search == b.Search &&
				a.HasPath == b.HasPath && a.HasSearch == b.HasSearch && a.Secure == b.Secure
		})
	case *Telnet:
		return both(a, b, func(a, b *Telnet) bool {
			return equalServers(a.Server, b.Server) && a.Slash == b.Slash
		})
	case *File:
		return both(a, b, func(a, b *File) bool {
			return a.Host == b.Host && slices.Equal(a.Segments, b.Segments)
		})
	case *Prospero:
		return both(a, b, func(a, b *Prospero) bool {
			return a.HostPort == b.HostPort && a.HSOName == b.HSOName && slices.Equal(a.Fields, b.Fields)
		})
	case *Gopher:
		return both(a, b, identical)
	case *Mailto:
		return both(a, b, func(a, b *Mailto) bool {
			return a.Address == b.Address && slices.Equal(a.Headers, b.Headers)
		})
	case *News:
		return both(a, b, identical)
	case *NNTP:
		return both(a, b, identical)
	case *WAIS:
		return both(a, b, identical)
	case *Opaque:
		return both(a, b, identical)
	}
	return a == nil && b == nil
}

// both reports whether b is a *T as a is, and both are nil or equal.
func both[T any](a *T, b Locator, equal func(a, b *T) bool) bool {
	c, ok := any(b).(*T)
	return ok && (a == c || a != nil && c != nil && equal(a, c))
}

func identical[T comparable](a, b *T) bool { return *a == *b }

func equalServers(a, b Server) bool {
	if a.Login == nil || b.Login == nil {
		return a == b
	}
	return *a.Login == *b.Login && a.HostPort == b.HostPort
}
