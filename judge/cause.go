package judge

import (
	"cmp"
	"slices"

	"github.com/fetch1738/fetch1738/judge/internal/testcase"
)

// A Cause is the kind of what is wrong in a case: cases of one cause are likely to have one flaw of
// the client behind them. It is a word, as in "cut"; "" means that nothing is wrong.
type Cause string

// The causes, the worst first. Those up to CauseOwn do not depend on what the client says.
const (
	CauseOutside    = Cause(testcase.Outside)    // files outside its folders were changed
	CauseSecret     = Cause(testcase.Secret)     // a password or document went where it must not
	CauseHidden     = Cause(testcase.Hidden)     // a command that was hidden in a URL or name was sent
	CauseOthers     = Cause(testcase.Others)     // files of others at the server were changed
	CauseOwn        = Cause(testcase.Own)        // files that were to be sent were changed
	CauseImpossible = Cause(testcase.Impossible) // success where only an error is right
	CauseChanged    = Cause(testcase.Changed)    // bytes differ
	CauseCut        = Cause(testcase.Cut)        // only the beginning of a file is there
	CauseLonger     = Cause(testcase.Longer)     // bytes follow the end of a file
	CauseOld        = Cause(testcase.Old)        // an old version was left
	CauseMissing    = Cause(testcase.Missing)    // a file does not exist
	CauseEmpty      = Cause(testcase.Empty)      // a file is empty
	CauseNames      = Cause(testcase.Names)      // names of a directory are missing, or invented
	CauseShown      = Cause(testcase.Shown)      // a text is missing in what is shown, or should not be there
	CauseCommands   = Cause(testcase.Commands)   // the server did not get the commands that the task needs
	CauseExtra      = Cause(testcase.Extra)      // files are there that do not belong there
	CauseLineEnds   = Cause(testcase.LineEnds)   // only the ends of lines, or doubled dots, differ
	CauseTimes      = Cause(testcase.Times)      // times of files differ
	CauseUnreadable = Cause(testcase.Unreadable) // something is there that cannot be read as a file
	CauseCrash      = Cause("crash")             // a signal or a panic
	CauseHang       = Cause("hang")              // no end within the limit
	CauseError      = Cause("error")             // an error where a careful client succeeds
	CauseSetup      = Cause("setup")             // this system cannot have the case; the client did not run
)

// causes has the verdict of each cause and a sentence about the client. Their order is that of Causes.
var causes = []struct {
	cause    Cause
	verdict  Verdict
	sentence string
}{
	{CauseOutside, Lied, "It changed files outside its folder."},
	{CauseSecret, Lied, "It sent a password or a document where it must not."},
	{CauseHidden, Lied, "It sent a command that was hidden in a URL."},
	{CauseOthers, Lied, "It changed files of others at the server."},
	{CauseOwn, Lied, "It changed the files that it was to send."},
	{CauseImpossible, Lied, "It said success where only an error is right."},
	{CauseChanged, Lied, "It said success, and bytes are wrong."},
	{CauseCut, Lied, "It took a part for the whole: it said success, and the end is missing."},
	{CauseLonger, Lied, "It said success, and bytes follow the end."},
	{CauseOld, Lied, "It said success, and an old version is there."},
	{CauseMissing, Lied, "It said success, and a file does not exist."},
	{CauseEmpty, Lied, "It said success, and a file is empty."},
	{CauseNames, Lied, "It said success, and names are missing or wrong."},
	{CauseShown, Lied, "It said success, and its text is wrong."},
	{CauseCommands, Lied, "It said success, and did not ask the server for what was needed."},
	{CauseExtra, Lied, "It said success, and there are files that do not belong there."},
	{CauseLineEnds, Lied, "It said success, and the ends of lines are wrong."},
	{CauseTimes, Lied, "It said success, and times of files are wrong."},
	{CauseUnreadable, Lied, "It said success, and left something that is not a readable file."},
	{CauseCrash, Crashed, "It crashed."},
	{CauseHang, Hung, "It did not end within the limit."},
	{CauseError, GaveUp, "It failed where a careful client succeeds."},
	{CauseSetup, GaveUp, "The case cannot be set up on this system."},
}

// Causes returns all causes, the worst first.
func Causes() []Cause {
	all := make([]Cause, len(causes))
	for i, row := range causes {
		all[i] = row.cause
	}
	return all
}

// rank returns the index of the cause in causes, -1 if it is "" or unknown.
func (c Cause) rank() int { return slices.Index(Causes(), c) }

// Sentence returns a sentence about a client of which this is the cause, as in "It crashed."; ""
// if the cause is "" or unknown.
func (c Cause) Sentence() string {
	if i := c.rank(); i >= 0 {
		return causes[i].sentence
	}
	return ""
}

// Verdict returns the verdict that the cause has; Right if it is "" or unknown.
func (c Cause) Verdict() Verdict {
	if i := c.rank(); i >= 0 {
		return causes[i].verdict
	}
	return Right
}

// A Group is the results of one cause, which are at least one.
type Group struct {
	Cause   Cause
	Results []Result // in the order in which they were given
}

// Grouped returns the results that are not right by cause, the worst cause first.
func Grouped(results []Result) (groups []Group) {
	for _, r := range results {
		if r.Cause == "" {
			continue
		}
		i := slices.IndexFunc(groups, func(g Group) bool { return g.Cause == r.Cause })
		if i < 0 {
			i = len(groups)
			groups = append(groups, Group{Cause: r.Cause})
		}
		groups[i].Results = append(groups[i].Results, r)
	}
	slices.SortFunc(groups, func(a, b Group) int { return cmp.Compare(a.Cause.rank(), b.Cause.rank()) })
	return groups
}
