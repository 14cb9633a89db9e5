package testserver

// Personality makes a server behave like one that people use, or once used, or gives it one of the
// ways in which such servers differ. S is a pointer to the server of a package, such as
// *ftptest.Server. Each package returns a table of its personalities from its function
// Personalities.
type Personality[S any] struct {
	// Name is the name in scripts and JSON, such as "vsftpd".
	Name string `json:"name"`
	// Summary says in one sentence what this server does that others do not.
	Summary string `json:"summary"`
	// Source is what the personality is pinned by: the server and its version, or a document.
	Source string `json:"source"`
	// Configure is the configure function, such as ftptest.VSFTPD.
	Configure func(S) `json:"-"`
}
