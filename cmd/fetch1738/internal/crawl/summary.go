package crawl

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/report"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/crawl"
)

// print prints the summary.
func (s *settings) print(shown *report.Reporter, sum crawl.Summary, w *watch) error {
	took := time.Since(w.began)
	if !s.json {
		_, err := fmt.Fprintln(shown.Out, stdio.Line(s.Dir+": "+sentence(sum, w.documents, took)))
		return err
	}
	line, err := json.Marshal(struct {
		Dir string `json:"dir"`
		crawl.Summary
		Seconds float64 `json:"seconds"`
	}{s.Dir, sum, math.Round(took.Seconds()*1000) / 1000})
	if err == nil {
		_, err = shown.Out.Write(append(line, '\n'))
	}
	return err
}

// A why is what a person reads for a reason.
type why struct {
	reason crawl.Reason
	text   string
}

var skipped = []why{
	{crawl.Refused, "refused by the policy"}, {crawl.Robots, "forbidden by robots.txt"}, {crawl.OtherHost, "to other hosts"}, {crawl.Web, "to http"},
	{crawl.Scheme, "of other schemes"}, {crawl.Search, "to searches and forms"}, {crawl.Trap, "look endless"}, {crawl.LimitDepth, "beyond --depth"},
}

var left = []why{
	{crawl.Stopped, "interrupted"}, {crawl.LimitDepth, "beyond --depth"}, {crawl.LimitHosts, "beyond --max-hosts"}, {crawl.LimitDocuments, "beyond --max-documents"},
	{crawl.LimitOctets, "beyond --max-size or --max-host-size"}, {crawl.LimitLinks, "beyond the number of links that are kept"},
}

// sentence returns what a crawl has fetched, and what it has not. now is the number of documents of
// this run; the others are those of all runs.
func sentence(sum crawl.Summary, now int, took time.Duration) string {
	parts := []string{"complete"}
	if !sum.Complete {
		parts[0] = "not complete"
	}
	fetched := fmt.Sprintf("%s, %d bytes, from %s", stdio.Count(sum.Documents, "document"), sum.Octets, stdio.Count(sum.Hosts, "host"))
	if now != sum.Documents {
		fetched += fmt.Sprintf("; this run fetched %d", now)
	}
	parts = append(parts, fetched+fmt.Sprintf(" in %.1f s", took.Seconds()))
	if sum.Failed > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", sum.Failed))
	}
	parts = append(parts, counts(sum.Left, left, "not fetched yet")...)
	parts = append(parts, counts(sum.Skipped, skipped, "not followed")...)
	if n := len(sum.Dead); n > 0 {
		var names []string
		for _, d := range sum.Dead[:min(n, fewHosts)] {
			reason := string(d.Reason)
			if d.Reason == crawl.Refused {
				reason = "refused by the policy"
			}
			names = append(names, fmt.Sprintf("%s (%s)", d.Host, reason))
		}
		if n > fewHosts {
			names = append(names, "…")
		}
		parts = append(parts, fmt.Sprintf("%s given up: %s", stdio.Count(n, "host"), strings.Join(names, ", ")))
	}
	return strings.Join(parts, "; ")
}

// fewHosts is how many of the hosts that were given up the sentence names.
const fewHosts = 3

// counts returns a sum by reason as text, if it is not 0.
func counts(of map[crawl.Reason]int, as []why, what string) []string {
	all, reasons := 0, []string(nil)
	for _, w := range as {
		if n := of[w.reason]; n > 0 {
			all += n
			reasons = append(reasons, fmt.Sprintf("%d %s", n, w.text))
		}
	}
	switch {
	case all == 0:
		return nil
	case len(reasons) == 1:
		_, reason, _ := strings.Cut(reasons[0], " ")
		return []string{fmt.Sprintf("%s %s (%s)", stdio.Count(all, "link"), what, reason)}
	}
	return []string{fmt.Sprintf("%s %s (%s)", stdio.Count(all, "link"), what, strings.Join(reasons, ", "))}
}
