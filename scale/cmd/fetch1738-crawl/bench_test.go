//go:build linux

package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/scale/internal/scaletest"
)

// BenchmarkNodes measures how many documents some processes fetch in a second. Each asks a number of
// hosts at once, and waits between two requests, so that twice as many processes can fetch twice as
// many documents. "linear" is the ratio of the documents in a second to those of one process, and of
// the numbers of processes.
func BenchmarkNodes(b *testing.B) {
	const slots, wait, delay = 8, 150 * time.Millisecond, 50 * time.Millisecond
	one := 0.0
	for _, nodes := range []int{1, 2, 4} {
		b.Run(fmt.Sprint(nodes), func(b *testing.B) {
			// Each process has enough hosts until the end.
			perHost := 100
			c := newCluster(b, scaletest.Options{Hosts: 2 * nodes * slots, Items: perHost, Delay: delay}, slots)
			c.args = append(c.args, "--wait", seconds3(wait))
			c.add(c.hosts.URLs()...)
			var running []*process
			for range nodes {
				running = append(running, c.node())
			}
			all := nodes * slots
			requested := func(documents int) {
				b.Helper()
				if err := c.hosts.Requested(c.ctx, documents); err != nil {
					b.Fatal(err)
				}
			}
			requested(5 * all) // all of them are at work
			documents := 0
			began := time.Now()
			for b.Loop() {
				documents += 50 * all
				requested(5*all + documents)
			}
			rate := float64(documents) / time.Since(began).Seconds()
			b.StopTimer()
			if nodes == 1 {
				one = rate
			}
			b.ReportMetric(rate, "documents/s")
			b.ReportMetric(rate/one/float64(nodes), "linear")
			b.ReportMetric(0, "ns/op")
			for _, p := range running {
				p.kill()
			}
			c.hosts.CheckPolite(b, wait)
		})
	}
}
