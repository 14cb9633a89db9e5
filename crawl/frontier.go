package crawl

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	// bbolt keeps the frontier in one file: a crawl that is killed continues with what its last
	// transaction had. It is pure Go, locks the file, and needs no module besides x/sys. SQLite needs C,
	// or a translation of it.
	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/fetch1738/fetch1738/archive/warc"
)

// The buckets of the frontier.
var (
	bucketMeta    = []byte("meta")    // "version", "totals", "records"
	bucketHosts   = []byte("hosts")   // name → host as JSON
	bucketRules   = []byte("rules")   // host and server → rules as JSON
	bucketURLs    = []byte("urls")    // number → URL
	bucketSeen    = []byte("seen")    // hash of the URL → its number; also of "from URL" and "elsewhere URL"
	bucketQueue   = []byte("queue")   // host, depth, number → number of the referrer, tries
	bucketSimilar = []byte("similar") // host and hash of a skeleton → number of its URLs
	bucketStarts  = []byte("starts")  // number of a URL of Start that has failed → why it was skipped; nothing if it has failed
	bucketRefused = []byte("refused") // the keys of entries that the policy has refused → their values in the queue
)

// keyRecords is the key of a warc.Mark while a run has not ended.
var keyRecords = []byte("records")

// version is that of the layout of the buckets.
const version = "1"

// A frontier knows which URLs are known and which are to be fetched. All changes that belong to the
// answer of one request are one transaction, so none of them is lost or made twice. It is for one
// goroutine at a time.
type frontier struct {
	db     *bolt.DB
	hosts  map[string]*host // those within MaxHosts
	byID   []*host
	totals totals
}

// totals are kept from run to run.
type totals struct {
	Documents, Failed int
	Octets            int64
	Hosts             int // also those beyond MaxHosts
	Queued            int
	Skipped           map[Reason]int
	Cut               int // links that were dropped because there were too many
}

// A host is a name with a port.
type host struct {
	ID        uint32        `json:"id"`
	Name      string        `json:"host"`
	Typed     bool          `json:"typed,omitempty"` // it is the host of a URL of Start
	Documents int           `json:"documents"`
	Failed    int           `json:"failed"`
	Octets    int64         `json:"octets"`
	Queued    int           `json:"queued"`
	Seen      int           `json:"seen"`
	Delay     time.Duration `json:"delay,omitempty"` // that its servers ask for
	Dead      Reason        `json:"dead,omitempty"`
	Error     string        `json:"error,omitempty"` // the last failure of the host

	failures int           // in turn
	backoff  time.Duration // because of them
	why      Reason        // the last failure, if the last request has failed
	addr     netip.Addr    // of the last connection
	next     time.Time     // when it may be asked again
	due      time.Time     // when it is asked again
	turn     bool          // it is in run.due, waits for its address, or is being asked
	changed  bool          // by the last transaction
}

// An entry is a URL that is to be fetched.
type entry struct {
	seq, from uint64
	depth     uint16
	tries     byte
	url       string
	referrer  string // "" for a URL of Start, and if it is not known
}

// openFrontier opens or creates the frontier of a directory. It locks it.
func openFrontier(dir string, maxHosts int, noSync bool) (*frontier, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	db, err := bolt.Open(filepath.Join(dir, FrontierFile), 0o666, &bolt.Options{
		Timeout: time.Second, NoFreelistSync: true, FreelistType: bolt.FreelistMapType, NoSync: noSync,
	})
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		return nil, fmt.Errorf("%s: %w", dir, ErrInUse)
	case err != nil:
		return nil, err
	}
	f := &frontier{db: db}
	if err = db.Update(f.create); err == nil {
		err = db.View(func(tx *bolt.Tx) error { return f.load(tx, maxHosts) })
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", filepath.Join(dir, FrontierFile), err), db.Close())
	}
	return f, nil
}

// create creates the buckets.
func (f *frontier) create(tx *bolt.Tx) error {
	for _, name := range [][]byte{bucketMeta, bucketHosts, bucketRules, bucketURLs, bucketSeen, bucketQueue, bucketSimilar, bucketStarts, bucketRefused} {
		if _, err := tx.CreateBucketIfNotExists(name); err != nil {
			return err
		}
	}
	meta := tx.Bucket(bucketMeta)
	switch found := string(meta.Get([]byte("version"))); found {
	case version:
		return nil
	case "":
		return meta.Put([]byte("version"), []byte(version))
	default:
		return fmt.Errorf("the frontier has version %s, but this program reads %s", found, version)
	}
}

// load reads the totals and the hosts, in the order in which they were found.
func (f *frontier) load(tx *bolt.Tx, maxHosts int) error {
	f.hosts, f.totals = make(map[string]*host), totals{Skipped: make(map[Reason]int)}
	if text := tx.Bucket(bucketMeta).Get([]byte("totals")); text != nil {
		if err := json.Unmarshal(text, &f.totals); err != nil {
			return err
		}
	}
	var found []*host
	err := tx.Bucket(bucketHosts).ForEach(func(_, text []byte) error {
		h := new(host)
		if err := json.Unmarshal(text, h); err != nil {
			return err
		}
		if int(h.ID) < maxHosts {
			found = append(found, h)
		}
		return nil
	})
	slices.SortFunc(found, func(a, b *host) int { return int(a.ID) - int(b.ID) })
	for _, h := range found {
		f.hosts[h.Name] = h
	}
	f.byID = found
	return err
}

// rewind removes the records that the frontier was not told of. To enter them, it would have to
// find the links in them by each protocol; they are fetched again.
func (f *frontier) rewind(c *Crawl) error {
	if c.Records == nil {
		return nil
	}
	var m *warc.Mark
	err := f.db.View(func(tx *bolt.Tx) error {
		text := tx.Bucket(bucketMeta).Get(keyRecords)
		if text == nil {
			return nil
		}
		return json.Unmarshal(text, &m)
	})
	if err == nil && m != nil {
		err = c.Records.Rewind(*m)
	}
	return err
}

// mark enters where the records end that the frontier was told of.
func (ch *change) mark() error {
	if ch.crawl.Records == nil {
		return nil
	}
	m, err := ch.crawl.Records.Sync()
	if err != nil {
		return err
	}
	return putJSON(ch.Bucket(bucketMeta), string(keyRecords), m)
}

// unmark enters that no records follow of which the frontier was not told.
func (f *frontier) unmark(c *Crawl) error {
	if c.Records == nil {
		return nil
	}
	return f.db.Update(func(tx *bolt.Tx) error { return tx.Bucket(bucketMeta).Delete(keyRecords) })
}

func (f *frontier) close() error { return f.db.Close() }

// A change is a transaction on the frontier. After an error, the run ends.
type change struct {
	*frontier
	*bolt.Tx
	crawl   *Crawl
	touched map[string]*host
	// elsewhere are the links of other crawls that are new.
	elsewhere []Link
}

// update performs a transaction. If it fails, nothing has changed.
func (f *frontier) update(c *Crawl, do func(*change) error) error {
	err := f.db.Update(func(tx *bolt.Tx) error {
		tx.Bucket(bucketURLs).FillPercent = 0.95 // the keys ascend
		ch := &change{frontier: f, Tx: tx, crawl: c, touched: make(map[string]*host)}
		if err := do(ch); err != nil {
			return err
		}
		for name, h := range ch.touched {
			if err := putJSON(tx.Bucket(bucketHosts), name, h); err != nil {
				return err
			}
		}
		return putJSON(tx.Bucket(bucketMeta), "totals", f.totals)
	})
	if err != nil {
		return errors.Join(err, f.db.View(func(tx *bolt.Tx) error { return f.load(tx, c.MaxHosts) }))
	}
	return nil
}

func putJSON(b *bolt.Bucket, key string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return b.Put([]byte(key), text)
}

// host returns a host, which it creates if it is new.
func (ch *change) host(name string) (*host, error) {
	h := ch.touched[name]
	if h == nil {
		h = ch.hosts[name]
	}
	if h == nil { // beyond MaxHosts, or new
		if text := ch.Bucket(bucketHosts).Get([]byte(name)); text != nil {
			h = new(host)
			if err := json.Unmarshal(text, h); err != nil {
				return nil, err
			}
		}
	}
	if h == nil {
		h = &host{ID: uint32(ch.totals.Hosts), Name: name}
		ch.totals.Hosts++
		if int(h.ID) < ch.crawl.MaxHosts {
			ch.hosts[name] = h
			ch.byID = append(ch.byID, h)
		}
	}
	ch.touched[name] = h
	return h, nil
}

// hashOf identifies a URL.
func hashOf(text string) []byte {
	sum := sha256.Sum256([]byte(text))
	return sum[:16]
}

func number(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

func queueKey(h *host, depth uint16, seq uint64) []byte {
	key := binary.BigEndian.AppendUint32(make([]byte, 0, 14), h.ID)
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint16(key, depth), seq)
}

func queueValue(e entry) []byte { return append(number(e.from), e.tries) }

// add adds a URL of a host unless it is known. It reports whether it was new.
func (ch *change) add(name, url, similar string, depth uint16, from uint64) (bool, error) {
	seen, hash := ch.Bucket(bucketSeen), hashOf(url)
	if seen.Get(hash) != nil {
		return false, nil
	}
	h, err := ch.host(name)
	if err != nil {
		return false, err
	}
	if h.Seen >= 10*ch.crawl.MaxDocuments { // what an endless server has would fill the disk
		ch.totals.Cut++
		return false, nil
	}
	if similar != "" {
		if many, err := ch.countSimilar(h, similar); err != nil || many {
			return false, err
		}
	}
	urls := ch.Bucket(bucketURLs)
	seq, err := urls.NextSequence()
	if err != nil {
		return false, err
	}
	h.Seen++
	return true, errors.Join(urls.Put(number(seq), []byte(url)), seen.Put(hash, number(seq)), ch.enqueue(h, entry{seq: seq, from: from, depth: depth}))
}

// countSimilar counts a URL by its skeleton. It reports whether there are too many.
func (ch *change) countSimilar(h *host, similar string) (many bool, err error) {
	b, key := ch.Bucket(bucketSimilar), append(queueKey(h, 0, 0)[:4], hashOf(similar)...)
	n := uint64(1)
	if old := b.Get(key); old != nil {
		n += binary.BigEndian.Uint64(old)
	}
	if n > uint64(ch.crawl.MaxSimilar) {
		ch.totals.Skipped[Trap]++
		return true, nil
	}
	return false, b.Put(key, number(n))
}

func (ch *change) enqueue(h *host, e entry) error {
	h.Queued++
	ch.totals.Queued++
	return ch.Bucket(bucketQueue).Put(queueKey(h, e.depth, e.seq), queueValue(e))
}

// drop removes an entry that is done.
func (ch *change) drop(h *host, e entry) error {
	h.Queued--
	ch.totals.Queued--
	return ch.Bucket(bucketQueue).Delete(queueKey(h, e.depth, e.seq))
}

// again counts a try of an entry, which stays.
func (ch *change) again(h *host, e entry) error {
	e.tries++
	return ch.Bucket(bucketQueue).Put(queueKey(h, e.depth, e.seq), queueValue(e))
}

// next returns the first entry of a host: that with the fewest links from Start. ok is false if it has
// none.
func (f *frontier) next(h *host) (e entry, ok bool, err error) {
	err = f.db.View(func(tx *bolt.Tx) error {
		prefix := queueKey(h, 0, 0)[:4]
		key, value := tx.Bucket(bucketQueue).Cursor().Seek(prefix)
		if key == nil || string(key[:4]) != string(prefix) {
			return nil
		}
		ok = true
		e.depth, e.seq = binary.BigEndian.Uint16(key[4:]), binary.BigEndian.Uint64(key[6:])
		e.from, e.tries = binary.BigEndian.Uint64(value), value[8]
		urls := tx.Bucket(bucketURLs)
		e.url = string(urls.Get(number(e.seq)))
		if e.from != 0 {
			e.referrer = string(urls.Get(number(e.from)))
		}
		return nil
	})
	return e, ok, err
}

func rulesKey(h *host, server string) string { return h.Name + "\x00" + server }

// rules returns the rules of a server, or nil if they are not known.
func (f *frontier) rules(h *host, server string) (r *rules, err error) {
	err = f.db.View(func(tx *bolt.Tx) error {
		text := tx.Bucket(bucketRules).Get([]byte(rulesKey(h, server)))
		if text == nil {
			return nil
		}
		r = new(rules)
		return json.Unmarshal(text, r)
	})
	return r, err
}

// eachRules calls do with the rules of each server of a host.
func (f *frontier) eachRules(h *host, do func(server string, r *rules)) error {
	return f.db.View(func(tx *bolt.Tx) error {
		cursor, prefix := tx.Bucket(bucketRules).Cursor(), rulesKey(h, "")
		for key, text := cursor.Seek([]byte(prefix)); strings.HasPrefix(string(key), prefix); key, text = cursor.Next() {
			r := new(rules)
			if err := json.Unmarshal(text, r); err != nil {
				return err
			}
			do(string(key[len(prefix):]), r)
		}
		return nil
	})
}
