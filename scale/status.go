package scale

import (
	"context"

	"github.com/fetch1738/fetch1738/crawl"
)

// maxDead is how many dead units Counts lists.
const maxDead = 1000

// Counts are the sums of all units.
type Counts struct {
	// Units counts them by their status.
	Units map[Status]int `json:"units"`
	// Documents, Octets and Failed are those of the summaries.
	Documents int   `json:"documents"`
	Octets    int64 `json:"octets"`
	Failed    int   `json:"failed"`
	// Left counts the URLs that are to be fetched; those of units that are being asked are what was
	// left after the last commit.
	Left int `json:"left"`
	// Files and Stored count the WARC files and their size.
	Files  int   `json:"files"`
	Stored int64 `json:"stored"`
	// Failing lists units that did not answer, at most 1,000 of them.
	Failing []Failing `json:"failing"`
}

// Failing is a unit that did not answer.
type Failing struct {
	Unit     string `json:"unit"`
	Status   Status `json:"status"`
	Failures int    `json:"failures"`
	Error    string `json:"error"`
}

// Settled reports whether each unit is done or dead. Links that a unit got after its last commit are
// not counted: nats.Engine.Settled is exact.
func (c *Counts) Settled() bool { return c.Units[New]+c.Units[Active]+c.Units[Waiting] == 0 }

// Count counts the units.
func Count(ctx context.Context, e Engine) (Counts, error) {
	c := Counts{Units: map[Status]int{New: 0, Active: 0, Waiting: 0, Done: 0, Dead: 0}, Failing: []Failing{}}
	for unit, err := range e.Units(ctx) {
		if err != nil {
			return c, err
		}
		s := unit.State
		c.Units[s.Status]++
		c.Documents += s.Summary.Documents
		c.Octets += s.Summary.Octets
		c.Failed += s.Summary.Failed
		c.Left += s.Summary.Left[crawl.Stopped]
		for _, slice := range s.Slices {
			c.Files += slice.Files
			c.Stored += slice.Octets
		}
		if s.Failures > 0 && len(c.Failing) < maxDead {
			c.Failing = append(c.Failing, Failing{unit.Name, s.Status, s.Failures, s.Error})
		}
	}
	return c, nil
}
