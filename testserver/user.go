package testserver

import "io/fs"

// User is an account on a server.
type User struct {
	// Password is required by PASS or Basic authentication. If it is empty, an FTP server does not
	// request one (230 to USER).
	Password string
	// Account, if not empty, is requested by an FTP server with 332.
	Account string
	// Content, if not nil, is what the user of an FTP or HTTP server sees in place of the server's
	// Content, with uploads of the user's own.
	Content fs.FS
	// Deny has the rights that the user does not have, as in Write|Delete. FTP and HTTP servers obey
	// all of them, a news server Write (posting).
	Deny Rights
}

// Rights is a set of rights.
type Rights uint8

// The rights of a User.
const (
	Read   Rights = 1 << iota // the contents of files
	List                      // directories
	Write                     // new files and directories, and changes of files
	Delete                    // removing and renaming
)

// May reports whether the user has a right.
func (u User) May(r Rights) bool { return u.Deny&r == 0 }
