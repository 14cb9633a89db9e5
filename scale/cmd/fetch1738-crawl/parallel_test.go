//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/scale/internal/scaletest"
)

// GNU parallel with a crawl for each host fetches the same documents as the nodes do.
func TestParallel(t *testing.T) {
	t.Parallel()
	parallel, err := exec.LookPath("parallel")
	switch {
	case err != nil && os.Getenv("CI") != "":
		t.Fatal(err)
	case err != nil:
		t.Skip(err)
	}
	c := newCluster(t, scaletest.Options{Hosts: 12, Items: 15, Delay: testDelay}, 6)
	urls := c.hosts.URLs()
	c.add(urls...)
	nodes := []*process{c.node(), c.node()}
	c.wait(nodes...)
	exported := scaletest.Captures(t, c.export())

	dir := t.TempDir()
	program := filepath.Join(dir, "fetch1738")
	build := exec.CommandContext(c.ctx, "go", "build", "-o", program, "./cmd/fetch1738")
	build.Dir = filepath.Join("..", "..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.CommandContext(c.ctx, parallel, "--jobs", "6", "--joblog", "jobs", program,
		"crawl", "--json", "--same-host", "--allow-zone", "loopback", "--wait", seconds3(testWait), "--dir", "crawls/{#}", "{}")
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &stdout, &stderr
	cmd.Stdin = strings.NewReader(strings.Join(urls, "\n") + "\n")
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s%s", err, &stdout, &stderr)
	}
	for line := range strings.Lines(stdout.String()) {
		var summary struct{ Complete bool }
		if err := json.Unmarshal([]byte(line), &summary); err != nil || !summary.Complete {
			t.Errorf("%v: %s", err, line)
		}
	}
	dirs, _ := filepath.Glob(filepath.Join(dir, "crawls", "*"))
	crawled := scaletest.Captures(t, dirs...)
	if !maps.EqualFunc(exported, crawled, slices.Equal) {
		for _, url := range slices.Sorted(maps.Keys(crawled)) {
			if !slices.Equal(exported[url], crawled[url]) {
				t.Errorf("%s: the nodes have %q, and the crawls %q", url, exported[url], crawled[url])
			}
		}
		for _, url := range slices.Sorted(maps.Keys(exported)) {
			if crawled[url] == nil {
				t.Errorf("%s: the nodes have %q, and the crawls nothing", url, exported[url])
			}
		}
	}
	t.Logf("%d URLs with equal digests", len(crawled))
}
