package crawl

import (
	"container/heap"
	"time"
)

// schedule gives a turn to the hosts that were found.
func (r *run) schedule() {
	for ; r.known < len(r.frontier.byID); r.known++ {
		r.push(r.frontier.byID[r.known], time.Now())
	}
}

// push gives a host a turn, unless it has one or is dead.
func (r *run) push(h *host, at time.Time) {
	if h.turn || h.Dead != "" || h.Queued == 0 {
		return
	}
	h.turn, h.due = true, at
	heap.Push(&r.due, h)
}

// wake gives hosts a turn that waited for an address.
func (r *run) wake(waited []*host, now time.Time) {
	for _, h := range waited {
		h.turn = false
		r.push(h, now)
	}
}

// dueHosts is a heap of hosts, the earliest first.
type dueHosts []*host

func (d dueHosts) Len() int           { return len(d) }
func (d dueHosts) Less(i, k int) bool { return d[i].due.Before(d[k].due) }
func (d dueHosts) Swap(i, k int)      { d[i], d[k] = d[k], d[i] }
func (d *dueHosts) Push(h any)        { *d = append(*d, h.(*host)) }
func (d *dueHosts) Pop() any {
	last := len(*d) - 1
	h := (*d)[last]
	*d = (*d)[:last]
	return h
}
