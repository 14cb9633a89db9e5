package locator

// Equal reports whether two Locators are equal in every field. Hosts are compared as written. A nil
// slice equals an empty one.
func Equal(a, b Locator) bool {
	if a == nil {
		return b == nil
	}
	return a.equal(b)
}

// equalAs reports whether b is a *T too, and both are nil or equal.
func equalAs[T any](a *T, b Locator, equal func(a, b *T) bool) bool {
	c, ok := any(b).(*T)
	return ok && (a == c || a != nil && c != nil && equal(a, c))
}

func identical[T comparable](a, b *T) bool { return *a == *b }

// equalServers compares logins by their values.
func equalServers(a, b Server) bool {
	if a.Login == nil || b.Login == nil {
		return a == b
	}
	return *a.Login == *b.Login && a.HostPort == b.HostPort
}
