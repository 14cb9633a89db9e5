package fetch

// The names of Header fields that tell what an entry of a directory is where it
// is more than a document or a directory.
const (
	// HeaderLink is there for a symbolic link; its value is where that points, as
	// far as it is told.
	HeaderLink = "link"
	// HeaderSpecial is there for what is no file, no directory and no link, such as
	// a device.
	HeaderSpecial = "special"
)
