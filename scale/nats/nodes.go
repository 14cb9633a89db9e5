package nats

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/fetch1738/fetch1738/scale"
	"github.com/fetch1738/fetch1738/scale/internal/unitkey"
)

// Register shows a node to others until ctx ends: info is called six times in the TTL. drain is
// called when another process asks the node to drain. Register also mends what a process or the server
// has left half done: at the beginning, after the connection was lost, and every ten minutes or so.
func (e *Engine) Register(ctx context.Context, info func() scale.NodeInfo, drain func()) error {
	key := unitkey.Of(info().Name)
	var subs []*nats.Subscription
	for _, subject := range []string{e.drainSubject(""), e.drainSubject(key)} {
		sub, err := e.conn.Subscribe(subject, func(*nats.Msg) { drain() })
		if err != nil {
			return err
		}
		subs = append(subs, sub)
	}
	defer func() {
		for _, sub := range subs {
			_ = sub.Unsubscribe()
		}
	}()
	const beats = 6
	for n := 0; ; n++ {
		if n%(20*beats) == 0 || e.torn.Swap(false) { // every ten minutes
			if e.mend(ctx) != nil {
				e.torn.Store(true)
			}
		}
		text, err := json.Marshal(info())
		if err != nil {
			return err
		}
		_, _ = e.nodes.Put(ctx, key, text) // a server that is being restarted is told the next time
		select {
		case <-time.After(e.o.TTL / beats):
		case <-ctx.Done():
			gone, cancel := context.WithTimeout(e.ctx, e.o.TTL/beats)
			defer cancel()
			return e.nodes.Purge(gone, key)
		}
	}
}

// Nodes returns the nodes that run, by their names.
func (e *Engine) Nodes(ctx context.Context) ([]scale.NodeInfo, error) {
	keys, err := e.nodes.Keys(ctx)
	if errors.Is(err, jetstream.ErrNoKeysFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []scale.NodeInfo
	for _, key := range keys {
		entry, err := e.nodes.Get(ctx, key)
		if errors.Is(err, jetstream.ErrKeyNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		var info scale.NodeInfo
		if json.Unmarshal(entry.Value(), &info) == nil {
			list = append(list, info)
		}
	}
	slices.SortFunc(list, func(a, b scale.NodeInfo) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// Drain asks a node to end after what it is doing now; "" means all nodes. It does not wait for
// that: a node that has ended is not among Nodes.
func (e *Engine) Drain(ctx context.Context, node string) error {
	if err := e.conn.Publish(e.drainSubject(unitkey.Of(node)), nil); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, e.o.TTL/3)
	defer cancel()
	return e.conn.FlushWithContext(ctx)
}

// drainSubject is the subject to which a node listens, or all nodes do.
func (e *Engine) drainSubject(key string) string {
	if key == "" {
		return e.o.Crawl + ".drain"
	}
	return e.o.Crawl + ".drain." + key
}

// Settled reports whether nothing is left to do before the next attempt at hosts that do not answer:
// all other units are done or dead. silent is the number of these hosts.
func (e *Engine) Settled(ctx context.Context) (settled bool, silent int, err error) {
	quiet := make(map[string]bool)
	for unit, err := range e.Units(ctx) {
		switch s := unit.State; {
		case err != nil:
			return false, 0, err
		case s.Status == scale.Waiting && s.Failures > 0:
			quiet[unitkey.Of(unit.Name)] = true
		case s.Status != scale.Done && s.Status != scale.Dead:
			return false, 0, nil
		}
	}
	// A unit that was done may have got links since. It has a message then; or it has links, if its
	// owner has taken the message away and looks for links now.
	for _, from := range []struct {
		stream jetstream.Stream
		prefix string
	}{{e.work, e.workSubject("")}, {e.links, e.linksSubject("")}} {
		keys, err := e.subjects(ctx, from.stream, from.prefix)
		if err != nil {
			return false, 0, err
		}
		for key := range keys {
			if !quiet[key] {
				return false, 0, nil
			}
		}
	}
	return true, len(quiet), nil
}

// mend gives a message to each unit that should have one. A process that dies between two steps of
// Add or Commit can leave one without. And a server that is killed can have messages again that were
// acknowledged, which it never delivers: version 2.9.10 does.
func (e *Engine) mend(ctx context.Context) error {
	consumer, err := e.consumer.Info(ctx)
	if err != nil {
		return err
	}
	if floor := consumer.AckFloor.Stream; floor > 0 { // all up to here were acknowledged
		if err := e.work.Purge(ctx, jetstream.WithPurgeSequence(floor+1)); err != nil {
			return err
		}
	}
	due, err := e.subjects(ctx, e.work, e.workSubject(""))
	if err != nil {
		return err
	}
	linked, err := e.subjects(ctx, e.links, e.linksSubject(""))
	if err != nil {
		return err
	}
	for unit, err := range e.Units(ctx) {
		if err != nil {
			return err
		}
		key := unitkey.Of(unit.Name)
		ended := unit.State.Status == scale.Done || unit.State.Status == scale.Dead
		if due[key] && ended { // its message is new, or it is such a message
			if err := e.work.Purge(ctx, jetstream.WithPurgeSubject(e.workSubject(key))); err != nil {
				return err
			}
			delete(due, key)
			linked[key] = true
		}
		if !ended {
			linked[key] = true
		}
	}
	for key := range linked {
		if due[key] {
			continue
		}
		if _, err := e.units.Create(ctx, key, newRecord); err != nil && !outdated(err) {
			return err
		}
		if err := e.due(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

// subjects returns the keys of units that have messages in a stream.
func (e *Engine) subjects(ctx context.Context, s jetstream.Stream, prefix string) (map[string]bool, error) {
	info, err := s.Info(ctx, jetstream.WithSubjectFilter(prefix+">"))
	if err != nil {
		return nil, err
	}
	keys := make(map[string]bool, len(info.State.Subjects))
	for subject := range info.State.Subjects {
		keys[strings.TrimPrefix(subject, prefix)] = true
	}
	return keys, nil
}
