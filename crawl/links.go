package crawl

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
)

// begin adds the URLs of Start, gives dead hosts another chance, and asks again for the URLs of Start
// that have failed, and for links that were refused.
func (f *frontier) begin(c *Crawl) error {
	return f.update(c, func(ch *change) error {
		if err := ch.mark(); err != nil {
			return err
		}
		for _, h := range ch.byID {
			if h.Dead != "" {
				h.Dead, h.Error = "", ""
				ch.touched[h.Name] = h
			}
		}
		for _, l := range c.Start {
			l = unified(l)
			h, err := ch.host(siteOf(c, l))
			if err != nil {
				return err
			}
			h.Typed = true
			if _, err := ch.add(h.Name, l.String(), "", 0, 0); err != nil {
				return err
			}
			if err := ch.startAgain(h, ch.Bucket(bucketSeen).Get(hashOf(l.String()))); err != nil {
				return err
			}
		}
		if len(c.Start) > 0 { // parts of a crawl run often, with the same policy
			if err := ch.refusedAgain(); err != nil {
				return err
			}
		}
		for _, l := range c.Found {
			if err := ch.addFound(l); err != nil {
				return err
			}
		}
		return nil
	})
}

// keepFailed keeps an entry that was not fetched for the next run, if that may fetch it.
func (ch *change) keepFailed(h *host, e entry, why Reason) error {
	switch {
	case e.from == 0 && why == Failed:
		return ch.Bucket(bucketStarts).Put(number(e.seq), nil)
	case e.from == 0 && why != "":
		return ch.Bucket(bucketStarts).Put(number(e.seq), []byte(why))
	case why == Refused && len(ch.crawl.Start) > 0:
		return ch.Bucket(bucketRefused).Put(queueKey(h, e.depth, e.seq), queueValue(entry{from: e.from}))
	}
	return nil
}

// startAgain puts a URL of Start that was not fetched into the queue again.
func (ch *change) startAgain(h *host, seq []byte) error {
	starts := ch.Bucket(bucketStarts)
	why := starts.Get(seq)
	switch {
	case why == nil:
		return nil
	case len(why) > 0:
		ch.totals.unskip(Reason(why))
	default:
		h.Failed--
		ch.totals.Failed--
	}
	return errors.Join(ch.enqueue(h, entry{seq: binary.BigEndian.Uint64(seq)}), starts.Delete(seq))
}

// refusedAgain puts the links that were refused into the queue again: the policy may be another one.
func (ch *change) refusedAgain() error {
	again := ch.Bucket(bucketRefused)
	byID := make(map[uint32]*host, len(ch.byID))
	for _, h := range ch.byID {
		byID[h.ID] = h
	}
	var done [][]byte
	err := again.ForEach(func(key, value []byte) error {
		h := byID[binary.BigEndian.Uint32(key)]
		if h == nil { // it is beyond MaxHosts now
			return nil
		}
		ch.touched[h.Name] = h
		ch.totals.unskip(Refused)
		done = append(done, bytes.Clone(key))
		return ch.enqueue(h, entry{depth: binary.BigEndian.Uint16(key[4:]), seq: binary.BigEndian.Uint64(key[6:]), from: binary.BigEndian.Uint64(value)})
	})
	for _, key := range done {
		err = errors.Join(err, again.Delete(key))
	}
	return err
}

// unskip undoes the count of a skipped URL.
func (t *totals) unskip(why Reason) {
	if t.Skipped[why]--; t.Skipped[why] <= 0 {
		delete(t.Skipped, why)
	}
}

// addFound adds a link that another crawl has found, if it is followed.
func (ch *change) addFound(l Link) error {
	at, err := parse(l.URL)
	why := Scheme
	if err == nil {
		at = unified(at)
		why = ch.crawl.Skips(at)
	}
	if why != "" {
		ch.totals.Skipped[why]++
		return nil
	}
	if ch.Bucket(bucketSeen).Get(hashOf(at.String())) != nil {
		return nil
	}
	from, err := ch.foreign(l.From)
	if err != nil {
		return err
	}
	_, err = ch.add(siteOf(ch.crawl, at), at.String(), skeleton(at), uint16(min(max(0, l.Depth), math.MaxUint16)), from)
	return err
}

// unknown is the number of a referrer that is not known.
const unknown = math.MaxUint64

// foreign returns the number of a referrer that need not be a URL of this frontier.
func (ch *change) foreign(url string) (uint64, error) {
	by, err := parse(url)
	if err != nil || len(url) > maxURL {
		return unknown, nil
	}
	url = unified(by).String()
	seen, hash := ch.Bucket(bucketSeen), hashOf("from "+url)
	if seq := seen.Get(hash); seq != nil {
		return binary.BigEndian.Uint64(seq), nil
	}
	urls := ch.Bucket(bucketURLs)
	seq, err := urls.NextSequence()
	if err != nil {
		return 0, err
	}
	return seq, errors.Join(urls.Put(number(seq), []byte(url)), seen.Put(hash, number(seq)))
}

// addElsewhere adds links of other crawls that are new.
func (ch *change) addElsewhere(links []Link) error {
	seen := ch.Bucket(bucketSeen)
	for _, l := range links {
		hash := hashOf("elsewhere " + l.URL)
		switch {
		case seen.Get(hash) != nil, seen.Get(hashOf(l.URL)) != nil:
		case l.Depth > ch.crawl.Depth:
			ch.totals.Skipped[LimitDepth]++
		default:
			ch.elsewhere = append(ch.elsewhere, l)
			if err := seen.Put(hash, number(0)); err != nil {
				return err
			}
		}
	}
	return nil
}
