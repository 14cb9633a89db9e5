// Package groups keeps the names of a few groups of a news server, for a page that must not wait for
// the server.
package groups

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/gateway/internal/article"
	"github.com/fetch1738/fetch1738/gateway/internal/natural"
	"github.com/fetch1738/fetch1738/locator"
)

// Shown is how many names there are at most.
const Shown = 12

// How the server is asked.
const (
	read    = 5000 // groups of a long list, to find those with the most articles
	kept    = 5 * time.Minute
	limit   = 5 * time.Second        // for the server
	await   = 200 * time.Millisecond // for the page
	maxName = 128
)

// A Cache has the names of the groups with the most articles. Its zero value is empty. It is safe for
// concurrent use.
type Cache struct {
	mu    sync.Mutex
	names []string
	asked time.Time
	done  chan struct{} // closed when the last question is answered; nil before the first
	stop  context.CancelFunc
}

// Get returns the names that are known. It asks the Env.NewsServer of r if they are old, and waits a
// moment for the first answer. An empty answer is kept for the next pages, too.
func (c *Cache) Get(ctx context.Context, r *fetch1738.Resolver) []string {
	c.mu.Lock()
	idle := c.done == nil
	if !idle {
		select {
		case <-c.done:
			idle = true
		default:
		}
	}
	if idle && (c.done == nil || time.Since(c.asked) >= kept) {
		own, stop := context.WithTimeout(context.WithoutCancel(ctx), limit)
		c.asked, c.done, c.stop = time.Now(), make(chan struct{}), stop
		go c.ask(own, r, c.done)
	}
	names, done := c.names, c.done
	c.mu.Unlock()
	if names != nil {
		return names
	}
	late := time.NewTimer(await)
	defer late.Stop()
	select {
	case <-done:
	case <-late.C:
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.names
}

// ask sets the names to those that the server lists.
func (c *Cache) ask(ctx context.Context, r *fetch1738.Resolver, done chan<- struct{}) {
	names := list(ctx, r)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stop()
	c.names = names
	close(done)
}

// Close ends a question and waits for its end. The Cache can be used again.
func (c *Cache) Close() {
	c.mu.Lock()
	done := c.done
	if done != nil {
		c.stop()
	}
	c.mu.Unlock()
	if done != nil {
		<-done
	}
}

// list returns the names of the groups with the most articles among the first of the list, in
// their natural order. After an error they are those that had come before.
func list(ctx context.Context, r *fetch1738.Resolver) []string {
	res, err := r.Fetch(ctx, &fetch.Request{Locator: &locator.News{All: true}, From: fetch.Provenance{Kind: fetch.OriginConfig}, Stream: true})
	if err != nil {
		return nil
	}
	defer res.Close()
	type group struct {
		name  string
		count int64
	}
	var groups []group
	n := 0
	for item, err := range res.Items {
		if n++; err != nil || n > read {
			break
		}
		if len(item.Name) <= maxName && item.Locator != nil && driver.CheckOctets(item.Locator) == nil {
			groups = append(groups, group{item.Name, Count(item.Header)})
		}
	}
	slices.SortStableFunc(groups, func(a, b group) int { return cmp.Compare(b.count, a.count) })
	var names []string
	for _, g := range groups[:min(len(groups), Shown)] {
		names = append(names, g.name)
	}
	slices.SortFunc(names, natural.Compare)
	return names
}

// Count returns the number of the numbers of articles that the header of a listed group has, or -1.
func Count(header []fetch.Field) int64 {
	h := article.Fields(header)
	first, err1 := strconv.ParseInt(h.Get("First"), 10, 64)
	last, err2 := strconv.ParseInt(h.Get("Last"), 10, 64)
	if err1 != nil || err2 != nil || first < 0 {
		return -1
	}
	return max(0, last-first+1)
}
