package fetch

// The names of Header fields that mark special entries of a directory.
const (
	// HeaderLink marks a symbolic link. Its value is the target of the link, or empty if the server
	// does not report it.
	HeaderLink = "link"
	// HeaderSpecial marks an entry that is not a file, a directory or a link, such as a device.
	HeaderSpecial = "special"
)
