package judge

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"slices"

	"github.com/fetch1738/fetch1738/judge"
)

// A jsonCase is a case in JSON.
type jsonCase struct {
	Name   string     `json:"name"`
	Scheme string     `json:"scheme"`
	Task   judge.Task `json:"task"`
	Does   string     `json:"does"`
	Source string     `json:"source"`
	Should string     `json:"should"`
	Gets   bool       `json:"gets"`
	Waits  bool       `json:"waits"`
}

func caseOf(c judge.Case) jsonCase {
	return jsonCase{c.Name, c.Scheme, c.Task, c.Does, c.Source, c.Should, c.Gets, c.Waits}
}

// jsonLines is the format for programs.
type jsonLines struct{}

func (jsonLines) result(w io.Writer, r judged) error {
	line, err := json.Marshal(struct {
		jsonCase
		Verdict    judge.Verdict `json:"verdict"`
		Cause      judge.Cause   `json:"cause,omitempty"`
		Claim      string        `json:"claim"`
		Fact       string        `json:"fact,omitempty"`
		Accepted   bool          `json:"accepted"`
		Met        bool          `json:"met"`
		Seconds    float64       `json:"seconds"`
		Transcript string        `json:"transcript,omitempty"`
		Stderr     string        `json:"stderr,omitempty"`
		Again      string        `json:"again"`
	}{caseOf(r.Case), r.Verdict, r.Cause, r.Claim, r.Fact, r.accepted, r.Met, r.Took.Seconds(), r.Transcript, r.Stderr, r.again})
	if err == nil {
		_, err = w.Write(append(line, '\n'))
	}
	return err
}

func (jsonLines) end(io.Writer, *report) error { return nil }

// tap is the Test Anything Protocol (https://testanything.org). Giving up is not a failure. What is
// accepted has the directive TODO, with which that protocol marks a test that is known to fail.
type tap struct{ n int }

func (t *tap) result(w io.Writer, r judged) error {
	if t.n++; t.n == 1 {
		fmt.Fprintln(w, "TAP version 14")
	}
	switch {
	case r.isFinding():
		todo := ""
		if r.accepted {
			todo = " # TODO accepted"
		}
		text, _ := json.Marshal(details(r))
		_, err := fmt.Fprintf(w, "not ok %d - %s%s\n  ---\n  verdict: %v\n  cause: %s\n  message: %s\n  ...\n", t.n, r.Case.Name, todo, r.Verdict, r.Cause, text)
		return err
	case !r.Met:
		_, err := fmt.Fprintf(w, "ok %d - %s # SKIP the fault did not come up\n", t.n, r.Case.Name)
		return err
	}
	_, err := fmt.Fprintf(w, "ok %d - %s (%v)\n", t.n, r.Case.Name, r.Verdict)
	return err
}

func (t *tap) end(w io.Writer, _ *report) error {
	_, err := fmt.Fprintf(w, "1..%d\n", t.n)
	return err
}

// junit is the XML that test reports of many programs are read from.
type junit struct {
	XMLName struct{}      `xml:"testsuites"`
	Suites  []*junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	Time    string        `xml:"time,attr"`
	Failure *junitFailure `xml:"failure"`
	Skipped *junitSkipped `xml:"skipped"`
}

type junitFailure struct {
	Type    string `xml:"type,attr"`
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

type junitSkipped struct {
	Message string `xml:"message,attr"`
}

func (j *junit) result(_ io.Writer, r judged) error {
	group := r.Case.Scheme + "/" + string(r.Case.Task)
	i := slices.IndexFunc(j.Suites, func(s *junitSuite) bool { return s.Name == group })
	if i < 0 {
		i = len(j.Suites)
		j.Suites = append(j.Suites, &junitSuite{Name: group})
	}
	s := j.Suites[i]
	s.Tests++
	c := junitCase{Name: r.Case.Name, Class: group, Time: fmt.Sprintf("%.3f", r.Took.Seconds())}
	switch {
	case r.accepted:
		s.Skipped++
		c.Skipped = &junitSkipped{"accepted: " + r.Why()}
	case r.isFinding():
		s.Failures++
		c.Failure = &junitFailure{r.Verdict.String() + "/" + string(r.Cause), r.Why(), details(r)}
	case !r.Met:
		s.Skipped++
		c.Skipped = &junitSkipped{"the fault did not come up"}
	}
	s.Cases = append(s.Cases, c)
	return nil
}

func (j *junit) end(w io.Writer, _ *report) error {
	text, err := xml.MarshalIndent(j, "", " ")
	if err == nil {
		_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, text)
	}
	return err
}
