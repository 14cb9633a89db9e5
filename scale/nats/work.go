package nats

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/fetch1738/fetch1738/crawl"
	"github.com/fetch1738/fetch1738/scale"
	"github.com/fetch1738/fetch1738/scale/internal/unitkey"
)

// A value is what the bucket has of a unit.
type value struct {
	// Taken is the fence of the owner, or 0.
	Taken uint64 `json:"taken,omitempty"`
	// Again is the time from the moment at which the value was stored until the unit is due.
	Again time.Duration `json:"again,omitempty"`
	scale.State
}

// newValue is that of a unit that was never taken.
var newValue = []byte(`{"status":"new"}`)

// Take implements scale.Engine.
func (e *Engine) Take(ctx context.Context) (*scale.Work, error) {
	for {
		msg, err := e.next(ctx)
		if err != nil {
			return nil, err
		}
		key := strings.TrimPrefix(msg.Subject(), e.workSubject(""))
		l, fence, err := e.take(ctx, key, msg)
		if err != nil {
			return nil, errors.Join(err, msg.Nak())
		}
		if l == nil { // it ends when it is released, or after the TTL
			if err := msg.NakWithDelay(e.o.TTL/4 + rand.N(e.o.TTL/4)); err != nil {
				return nil, err
			}
			continue
		}
		w, err := l.work(ctx, fence)
		if err == nil && l.idle(w) {
			err = e.Commit(ctx, w, w.State, -1)
			w = nil
		}
		if err != nil || w == nil {
			e.release(l, 0, e.o.TTL/4)
		}
		if err != nil || w != nil {
			return w, err
		}
	}
}

// next waits for a message of work.
func (e *Engine) next(ctx context.Context) (jetstream.Msg, error) {
	e.pull.Lock()
	defer e.pull.Unlock()
	for ctx.Err() == nil {
		limited, cancel := context.WithTimeout(ctx, e.o.TTL/6)
		msg, err := e.consumer.Next(jetstream.FetchContext(limited))
		over := limited.Err() != nil
		cancel()
		if err == nil {
			return msg, nil
		}
		if !over && !errors.Is(err, jetstream.ErrNoMessages) && !errors.Is(err, nats.ErrTimeout) {
			return nil, err
		}
	}
	return nil, ctx.Err()
}

// work reads the unit, and enters the fence into its value, so that no earlier owner can commit.
func (l *lease) work(ctx context.Context, fence uint64) (*scale.Work, error) {
	e := l.engine
	entry, err := e.units.Get(ctx, l.key)
	if err != nil {
		return nil, fmt.Errorf("unit %s: %w", unitkey.Name(l.key), err)
	}
	if err := json.Unmarshal(entry.Value(), &l.value); err != nil {
		return nil, fmt.Errorf("unit %s: %w", unitkey.Name(l.key), err)
	}
	w := &scale.Work{
		Unit: unitkey.Name(l.key), Fence: fence, State: l.value.State, Interrupted: l.value.Taken != 0,
		Lost: l.lost, Held: l.held, Private: l,
	}
	taken := l.value
	taken.Taken, taken.Again, taken.Status = fence, 0, scale.Active
	text, err := json.Marshal(taken)
	if err != nil {
		return nil, err
	}
	if l.revision, err = e.units.Update(ctx, l.key, text, entry.Revision()); err != nil {
		return nil, err
	}
	w.Links, l.last, err = e.linksOf(ctx, l.key)
	return w, err
}

// idle reports whether a Work has nothing to do: there is a message, because links came and were
// taken already, or because a dead host was linked.
func (l *lease) idle(w *scale.Work) bool {
	switch w.State.Status {
	case scale.Dead:
		return !slices.ContainsFunc(w.Links, func(l crawl.Link) bool { return l.Depth == 0 })
	case scale.Done:
		return len(w.Links) == 0
	}
	return false
}

// Commit implements scale.Engine.
func (e *Engine) Commit(ctx context.Context, w *scale.Work, s scale.State, again time.Duration) error {
	l := of(w)
	text, err := json.Marshal(value{State: s, Again: max(again, 0)})
	if err != nil {
		return err
	}
	if err := l.replace(ctx, text); err != nil {
		return err
	}
	l.committed = true
	if s.Frontier != w.State.Frontier || s.Status == scale.Dead || s.Status == scale.Done {
		if err := e.forget(ctx, l.key, l.last); err != nil {
			return err
		}
	}
	if again >= 0 {
		return l.msg.NakWithDelay(max(again, time.Millisecond))
	}
	if err := l.msg.DoubleAck(ctx); err != nil {
		return err
	}
	// Links that came after the first look, and whose Add found the message that is gone now.
	more, err := e.hasLinks(ctx, l.key)
	if more {
		err = e.due(ctx, l.key)
	}
	return err
}

// replace replaces the value of the unit, unless there is another owner. A server that is being
// restarted is asked again while the lease lasts.
func (l *lease) replace(ctx context.Context, text []byte) error {
	for {
		revision, err := l.engine.units.Update(ctx, l.key, text, l.revision)
		switch {
		case err == nil:
			l.revision = revision
			return nil
		case outdated(err):
			// It may be by an Update whose answer was lost.
			entry, err := l.engine.units.Get(ctx, l.key)
			if err == nil && bytes.Equal(entry.Value(), text) {
				l.revision = entry.Revision()
				return nil
			}
			return errors.Join(scale.ErrFenced, err)
		case ctx.Err() != nil || !l.held():
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(l.engine.o.TTL / 30):
		}
	}
}

// Release implements scale.Engine.
func (e *Engine) Release(w *scale.Work, hold, again time.Duration) { e.release(of(w), hold, again) }

func (e *Engine) release(l *lease, hold, again time.Duration) {
	if !l.committed && l.held() {
		again = max(again, hold, time.Millisecond)
		ctx, cancel := context.WithTimeout(e.ctx, e.o.TTL/3)
		if text, err := json.Marshal(value{State: l.value.State, Again: again}); err == nil && l.revision != 0 {
			_ = l.replace(ctx, text) // or the next owner takes it as interrupted
		}
		cancel()
		_ = l.msg.NakWithDelay(again) // or it is redelivered after the TTL
	}
	e.renewal.Go(func() { l.release(hold) })
}

// Units implements scale.Engine.
func (e *Engine) Units(ctx context.Context) iter.Seq2[scale.Unit, error] {
	return func(yield func(scale.Unit, error) bool) {
		for r, err := range e.values(ctx) {
			var unit scale.Unit
			if err == nil {
				unit = scale.Unit{Name: unitkey.Name(r.key), State: r.State}
			}
			if !yield(unit, err) {
				return
			}
		}
	}
}

// A stored is a value with its key, its revision, and when it was stored by the clock of the
// server.
type stored struct {
	value
	key      string
	revision uint64
	at       time.Time
}

// values yields the values of all units, in no order.
func (e *Engine) values(ctx context.Context) iter.Seq2[stored, error] {
	return func(yield func(stored, error) bool) {
		watch, err := e.units.WatchAll(ctx)
		if err != nil {
			yield(stored{}, err)
			return
		}
		defer func() {
			_ = watch.Stop()
			for range watch.Updates() { // NATS waits until what it has received is taken
			}
		}()
		seen, entries := make(map[string]bool), 0
		for ; ; entries++ {
			var entry jetstream.KeyValueEntry
			open := true
			select {
			case entry, open = <-watch.Updates():
			case <-time.After(e.o.TTL): // a server that was killed has forgotten the list
				yield(stored{}, nats.ErrTimeout)
				return
			case <-ctx.Done():
			}
			if err := ctx.Err(); err != nil || !open {
				yield(stored{}, cmp.Or(err, nats.ErrConnectionClosed))
				return
			}
			if entry == nil {
				if entries == 0 { // there is no unit
					return
				}
				continue // by number, this is the end; but units that have changed meanwhile came twice
			}
			last := entry.Delta() == 0
			if seen[entry.Key()] || entry.Operation() != jetstream.KeyValuePut {
				if last {
					return
				}
				continue
			}
			seen[entry.Key()] = true
			r := stored{key: entry.Key(), revision: entry.Revision(), at: entry.Created()}
			err := json.Unmarshal(entry.Value(), &r.value)
			if !yield(r, err) || err != nil || last {
				return
			}
		}
	}
}
