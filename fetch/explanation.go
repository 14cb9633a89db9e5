package fetch

// An Explanation describes what a Fetcher would do for a Request.
type Explanation struct {
	// Network is "tcp" or "udp"; empty if there is no connection.
	Network string
	Host    string
	Port    uint16
	// Steps are the commands that would be sent and the local actions, in order, as far as they do
	// not depend on replies.
	Steps []Step
	// Notes are remarks for people, such as what depends on the server's replies.
	Notes []string
}

// A Step is one step of a Explanation. Send is the text that goes to the server, including the line end,
// with secrets masked. Do describes a local action. One of them is set.
type Step struct {
	Send string
	Do   string
	// When is the condition of the step, such as "when the server asks for a password"; empty if the
	// step is always taken.
	When string
	// Ahead is set if Send goes out together with the previous step, without waiting for its reply.
	Ahead bool
}
