package judge

import (
	"errors"
	"time"

	"github.com/fetch1738/fetch1738/judge/internal/testcase"
)

// verdict is the result of a case whose client has ended with err.
func verdict(c Case, run *testcase.Run, err error, hung bool, took time.Duration) Result {
	run.Settle()
	r := Result{Case: c, Met: run.Met(), Transcript: run.Transcript(), Took: took}
	wrong := run.Wrong()
	said := "success"
	if err != nil {
		said = err.Error()
	}
	var told *exitError
	if errors.As(err, &told) {
		r.Said = told.said
	}
	crash, crashed := errors.AsType[*CrashError](err)
	harm := run.Harm()
	switch {
	case harm != "":
		r.Verdict, r.Why = Lied, harm+" ("+said+")"
	case hung:
		r.Verdict, r.Why = Hung, said
	case crashed:
		r.Verdict, r.Why = Crashed, crash.Cause
	case err == nil && wrong != "":
		r.Verdict, r.Why = Lied, "success, but "+wrong
	case err == nil:
		r.Why = "success, and all is there"
	case c.Gets:
		r.Verdict, r.Why = GaveUp, said
	default:
		r.Why = said
	}
	return r
}
