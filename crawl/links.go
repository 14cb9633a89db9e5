package crawl

import (
	"encoding/binary"
	"errors"
	"math"
)

// begin adds the URLs of Start, gives dead hosts another chance, and asks again for the URLs of Start
// that have failed.
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
			if seq := ch.Bucket(bucketSeen).Get(hashOf(l.String())); ch.Bucket(bucketStarts).Get(seq) != nil {
				if err := ch.enqueue(h, entry{seq: binary.BigEndian.Uint64(seq)}); err != nil {
					return err
				}
				if err := ch.Bucket(bucketStarts).Delete(seq); err != nil {
					return err
				}
				h.Failed--
				ch.totals.Failed--
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
