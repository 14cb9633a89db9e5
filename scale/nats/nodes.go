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

// late is how many TTL a unit is overdue before mend believes that its message is never delivered.
// It may only wait for a node that has a slot.
const late = 20

// mend gives a message to each unit that should have one. A process that dies between two steps of
// Add or Commit can leave one without. And a server that is killed can have messages again that were
// acknowledged, or others that it never delivers: version 2.9.10 does.
//
// It purges nothing: a version before 2.9.16 then forgets all messages that wait, also those that
// remain.
func (e *Engine) mend(ctx context.Context) error {
	now, err := e.now(ctx)
	if err != nil {
		return err
	}
	return e.mendAt(ctx, now)
}

func (e *Engine) mendAt(ctx context.Context, now time.Time) error {
	consumer, err := e.consumer.Info(ctx)
	if err != nil {
		return err
	}
	if err := e.deleteUpTo(ctx, consumer.AckFloor.Stream); err != nil {
		return err
	}
	due, err := e.subjects(ctx, e.work, e.workSubject(""))
	if err != nil {
		return err
	}
	linked, err := e.subjects(ctx, e.links, e.linksSubject(""))
	if err != nil {
		return err
	}
	doubtful := make(map[string]uint64) // key → the revision of its value
	for r, err := range e.values(ctx) {
		if err != nil {
			return err
		}
		ended := r.Status == scale.Done || r.Status == scale.Dead
		if due[r.key] && (ended || now.Sub(r.at) > r.Again+late*e.o.TTL) {
			doubtful[r.key] = r.revision
		}
		if !ended {
			linked[r.key] = true
		}
	}
	for key, revision := range doubtful {
		if err := e.replace(ctx, key, revision, consumer.Delivered.Stream); err != nil {
			return err
		}
	}
	for key := range linked {
		if due[key] {
			continue
		}
		if _, err := e.units.Create(ctx, key, newValue); err != nil && !outdated(err) {
			return err
		}
		if err := e.due(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

// deleteUpTo deletes the messages of work up to a number, all of which were acknowledged.
func (e *Engine) deleteUpTo(ctx context.Context, floor uint64) error {
	for next := uint64(1); next <= floor; {
		msg, err := e.work.GetMsg(ctx, next, jetstream.WithGetMsgSubject(e.workSubject(">")))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		if msg.Sequence <= floor {
			if err := e.delete(ctx, msg.Sequence); err != nil {
				return err
			}
		}
		next = msg.Sequence + 1
	}
	return nil
}

// delete deletes a message of work.
func (e *Engine) delete(ctx context.Context, number uint64) error {
	err := e.work.DeleteMsg(ctx, number)
	if errors.Is(err, jetstream.ErrMsgDeleteUnsuccessful) { // another node has
		return nil
	}
	return err
}

// now returns the time by the clock of the server.
func (e *Engine) now(ctx context.Context) (time.Time, error) {
	const key = "clock" // it ends like a lease
	if _, err := e.leases.Put(ctx, key, nil); err != nil {
		return time.Time{}, err
	}
	entry, err := e.leases.Get(ctx, key)
	if err != nil {
		return time.Time{}, err
	}
	return entry.Created(), nil
}

// replace gives a unit another message, unless it has an owner, or its value has another revision,
// so that it has had one; or unless its message is yet to be delivered: delivered is the last one
// that was. The lease keeps others from taking the unit meanwhile, who would lose their message.
func (e *Engine) replace(ctx context.Context, key string, revision, delivered uint64) error {
	lease := "unit." + key
	fence, err := e.leases.Create(ctx, lease, nil)
	if outdated(err) {
		return nil
	}
	if err != nil {
		return err
	}
	found, err := e.deleteStale(ctx, key, revision, delivered)
	_ = e.leases.Delete(ctx, lease, jetstream.LastRevision(fence)) // or it ends by itself
	if err != nil || !found {
		return err
	}
	return e.due(ctx, key)
}

// deleteStale deletes the message that replace replaces, and reports whether there is one.
func (e *Engine) deleteStale(ctx context.Context, key string, revision, delivered uint64) (bool, error) {
	entry, err := e.units.Get(ctx, key)
	if err != nil || entry.Revision() != revision {
		return false, err
	}
	msg, err := e.work.GetLastMsgForSubject(ctx, e.workSubject(key))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return false, nil
	}
	if err != nil || msg.Sequence > delivered {
		return false, err
	}
	return true, e.delete(ctx, msg.Sequence)
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
