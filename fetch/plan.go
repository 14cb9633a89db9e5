package fetch

// A Plan is what a Fetcher would do for a Request.
type Plan struct {
	// Network is "tcp" or "udp"; empty when nothing is dialled.
	Network string
	Host    string
	Port    uint16
	// Steps are the octets that would be sent and the local actions taken, in
	// order, as far as they can be known beforehand.
	Steps []Step
	// Notes are for people: what depends on the server's answers.
	Notes []string
}

// A Step is one thing done: Send is set for octets that go to the server,
// including the line end, with secrets masked; Do for anything else.
type Step struct {
	Send string
	Do   string
	// When is the condition of a step that is not always taken, such as
	// "when the server asks for a password"; empty for the others.
	When string
	// Ahead says that Send goes out in one piece with the step before, whose reply is
	// not waited for.
	Ahead bool
}
