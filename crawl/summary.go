package crawl

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
)

// summary counts what was done and what is left. It also writes HostsFile.
func (f *frontier) summary(c *Crawl, failed bool) (Summary, error) {
	t := f.totals
	s := Summary{Documents: t.Documents, Octets: t.Octets, Failed: t.Failed, Skipped: t.Skipped, Left: make(map[Reason]int), Dead: []Dead{}}
	left := t.Queued
	var lines strings.Builder
	for _, h := range f.byID {
		if err := f.describe(&lines, h); err != nil {
			return s, err
		}
		if h.Documents > 0 {
			s.Hosts++
		}
		left -= h.Queued
		s.Delay = max(s.Delay, h.Delay)
		if h.Dead != "" {
			s.Dead = append(s.Dead, Dead{h.Name, h.Dead, h.Error, h.Queued})
			continue
		}
		e, ok, err := f.next(h)
		if err != nil {
			return s, err
		}
		if !ok {
			continue
		}
		why := c.limit(f, h, e.depth)
		if why == "" {
			why = Stopped
		}
		s.Left[why] += h.Queued
	}
	if left > 0 {
		s.Left[LimitHosts] = left
	}
	if t.Cut > 0 {
		s.Left[LimitLinks] = t.Cut
	}
	s.Complete = !failed && len(s.Left) == 0
	return s, replaceFile(filepath.Join(c.Dir, HostsFile), lines.String())
}

// A hostLine is a line of HostsFile.
type hostLine struct {
	Host      string                `json:"host"`
	Documents int                   `json:"documents"`
	Octets    int64                 `json:"bytes"`
	Failed    int                   `json:"failed"`
	Left      int                   `json:"left"`
	Delay     float64               `json:"delay"` // in seconds
	Dead      Reason                `json:"given_up,omitempty"`
	Error     string                `json:"error,omitempty"`
	Servers   map[string]serverLine `json:"servers"`
}

type serverLine struct {
	Robots int               `json:"robots"` // rules of robots.txt
	Caps   map[string]string `json:"caps,omitempty"`
}

// describe writes the line of a host for HostsFile.
func (f *frontier) describe(w *strings.Builder, h *host) error {
	line := hostLine{h.Name, h.Documents, h.Octets, h.Failed, h.Queued, h.Delay.Seconds(), h.Dead, h.Error, make(map[string]serverLine)}
	err := f.eachRules(h, func(server string, r *rules) { line.Servers[server] = serverLine{len(r.Rules), r.Caps} })
	if err != nil {
		return err
	}
	text, err := json.Marshal(line)
	w.Write(append(text, '\n'))
	return err
}

// replaceFile writes a file at once.
func replaceFile(name, text string) error {
	if err := os.WriteFile(name+".new", []byte(text), 0o666); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}
