package judge

import (
	"errors"
	"time"

	"github.com/fetch1738/fetch1738/judge/internal/testcase"
)

// verdict is the result of a case whose client has ended with err.
func verdict(c Case, run *testcase.Run, err error, hung bool, took time.Duration) Result {
	run.Settle()
	r := Result{Case: c, Claim: "success", Met: run.Met(), Transcript: run.Transcript(), Took: took}
	wrong := run.Wrong()
	if err != nil {
		r.Claim = err.Error()
	}
	if told, ok := errors.AsType[*exitError](err); ok {
		r.Stderr = told.said
	}
	_, crashed := errors.AsType[*CrashError](err)
	harm := run.Harm()
	switch {
	case harm != (testcase.Wrong{}):
		r.Cause, r.Fact = Cause(harm.Cause), harm.Fact
	case hung:
		r.Cause = CauseHang
	case crashed:
		r.Cause = CauseCrash
	case err == nil:
		r.Cause, r.Fact = Cause(wrong.Cause), wrong.Fact
	case c.Gets:
		r.Cause = CauseError
	}
	r.Verdict = r.Cause.Verdict()
	return r
}

// Why returns one line with what the client said and, if that is not all, what was true.
func (r Result) Why() string {
	switch {
	case r.Fact != "":
		return r.Claim + ", but " + r.Fact
	case r.Cause == "" && r.Claim == "success":
		return "success, and all is there"
	}
	return r.Claim
}
