package nats

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/nats-io/nats.go/jetstream"
	// errgroup stops what runs at once with the first error, and limits how much that is. It is kept by
	// the authors of Go; sync.WaitGroup has neither.
	"golang.org/x/sync/errgroup"

	"github.com/fetch1738/fetch1738/crawl"
	"github.com/fetch1738/fetch1738/scale/internal/unitkey"
)

const (
	// maxBatch is the size of a message of links in octets; a server accepts 1 MiB.
	maxBatch = 256 << 10
	// maxTaken is how many links a Work has at most. What is left comes with the next.
	maxTaken = 100_000
	// maxKnown is how many units an Engine remembers to exist.
	maxKnown = 100_000
	// parallel is how many units are given links at once.
	parallel = 32
)

// Add implements scale.Engine. The links are stored before the unit, and that before its message, so
// a node that takes the message finds the others.
func (e *Engine) Add(ctx context.Context, links map[string][]crawl.Link) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(parallel)
	for unit, list := range links {
		g.Go(func() error { return e.add(ctx, unitkey.Of(unit), list) })
	}
	return g.Wait()
}

func (e *Engine) add(ctx context.Context, key string, links []crawl.Link) error {
	if full, err := e.full(ctx, key, links); full || err != nil {
		return err
	}
	for _, batch := range batches(links) {
		text, err := json.Marshal(batch)
		if err != nil {
			return err
		}
		if _, err := e.js.Publish(ctx, e.linksSubject(key), text); err != nil {
			return err
		}
	}
	if _, known := e.known.Load(key); !known {
		if _, err := e.units.Create(ctx, key, newValue); err != nil && !outdated(err) {
			return err
		}
		if e.count.Add(1) == maxKnown {
			e.known.Clear()
			e.count.Store(0)
		}
		e.known.Store(key, true)
	}
	return e.due(ctx, key)
}

// full reports whether links to a unit are dropped, because it would be one too many. Other nodes may
// be adding, so the limit can be exceeded a little.
func (e *Engine) full(ctx context.Context, key string, links []crawl.Link) (bool, error) {
	_, known := e.known.Load(key)
	if known || e.o.MaxUnits == 0 || slices.ContainsFunc(links, func(l crawl.Link) bool { return l.Depth == 0 }) {
		return false, nil
	}
	status, err := e.units.Status(ctx)
	if err != nil || status.Values() < uint64(e.o.MaxUnits) {
		return false, err
	}
	_, err = e.units.Get(ctx, key)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return true, nil
	}
	return false, err
}

// due makes sure that a unit has a message.
func (e *Engine) due(ctx context.Context, key string) error {
	if _, err := e.js.Publish(ctx, e.workSubject(key), nil); err != nil && !exceeded(err) {
		return err
	}
	return nil
}

// batches divides links among messages.
func batches(links []crawl.Link) (list [][]crawl.Link) {
	size, from := 0, 0
	for i, l := range links {
		n := 100 + 2*(len(l.URL)+len(l.From)) // JSON escapes little
		if size+n > maxBatch && i > from {
			list, from, size = append(list, links[from:i]), i, 0
		}
		size += n
	}
	if from < len(links) {
		list = append(list, links[from:])
	}
	return list
}

// linksOf returns the links of a unit, and the number of the last message with them.
func (e *Engine) linksOf(ctx context.Context, key string) (links []crawl.Link, last uint64, err error) {
	for len(links) < maxTaken {
		msg, err := e.links.GetMsg(ctx, last+1, jetstream.WithGetMsgSubject(e.linksSubject(key)))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			break
		}
		if err != nil {
			return nil, 0, err
		}
		last = msg.Sequence
		var batch []crawl.Link
		if json.Unmarshal(msg.Data, &batch) == nil { // another program's message is no link
			links = append(links, batch...)
		}
	}
	return links, last, nil
}

// hasLinks reports whether a unit has links.
func (e *Engine) hasLinks(ctx context.Context, key string) (bool, error) {
	_, err := e.links.GetMsg(ctx, 1, jetstream.WithGetMsgSubject(e.linksSubject(key)))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return false, nil
	}
	return err == nil, err
}

// forget removes the links of a unit up to a message.
func (e *Engine) forget(ctx context.Context, key string, last uint64) error {
	if last == 0 {
		return nil
	}
	return e.links.Purge(ctx, jetstream.WithPurgeSubject(e.linksSubject(key)), jetstream.WithPurgeSequence(last+1))
}
