package testcase

// Wrong is what is wrong with what a client has done: the kind, and the fact in words that follow
// "but", as in "the file is empty". The zero value means that nothing is.
type Wrong struct {
	Cause Cause
	Fact  string
}

// A Cause is a kind of wrong; judge.Cause documents it.
type Cause string

// The causes that comparing finds. Package judge has those of clients that crash, hang or fail.
const (
	Outside    Cause = "outside"
	Secret     Cause = "secret"
	Hidden     Cause = "hidden"
	Others     Cause = "others"
	Own        Cause = "own"
	Impossible Cause = "impossible"
	Changed    Cause = "changed"
	Cut        Cause = "cut"
	Longer     Cause = "longer"
	Old        Cause = "old"
	Missing    Cause = "missing"
	Empty      Cause = "empty"
	Names      Cause = "names"
	Shown      Cause = "shown"
	Commands   Cause = "commands"
	Extra      Cause = "extra"
	LineEnds   Cause = "line-ends"
	Times      Cause = "times"
	Unreadable Cause = "unreadable"
)
