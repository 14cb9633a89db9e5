package archive

import (
	"cmp"
	"encoding/base32"
	"encoding/hex"
	"hash/maphash"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/fetch1738/fetch1738/archive/warc"
)

// maxKnown is how many URLs a generation has. A Recorder remembers two generations, which need up
// to 34 MB, and then forgets the older one: a content that it has forgotten is recorded once more.
const maxKnown = 200_000

// known are the last captures of URLs. It keeps a hash of each URL: two URLs with the same hash, of
// 64 bits with a random seed, must also have the same content to be mistaken for each other.
type known struct {
	mu          sync.Mutex
	seed        maphash.Seed
	most        int // for tests; 0 means maxKnown
	last, older map[uint64]packed
}

// An earlier record is one that a revisit may refer to.
type earlier struct{ digest, date, id string }

// A packed one takes 48 bytes.
type packed struct {
	date   int64 // in microseconds
	id     [16]byte
	digest [20]byte
}

const (
	sha1Label  = "sha1:"
	uuidPrefix = "<urn:uuid:"
)

// pack returns a record whose digest is a SHA-1 in base32, and whose id is a UUID.
func pack(c earlier) (p packed, ok bool) {
	text, isSHA1 := strings.CutPrefix(c.digest, sha1Label)
	digest, err := base32.StdEncoding.DecodeString(strings.ToUpper(text))
	if !isSHA1 || err != nil || len(digest) != len(p.digest) {
		return p, false
	}
	id, isUUID := strings.CutPrefix(c.id, uuidPrefix)
	octets, err := hex.DecodeString(strings.ReplaceAll(strings.TrimSuffix(id, ">"), "-", ""))
	if !isUUID || err != nil || len(octets) != len(p.id) {
		return p, false
	}
	date, err := warc.ParseDate(c.date)
	if err != nil {
		return p, false
	}
	p.date = date.UnixMicro()
	copy(p.id[:], octets)
	copy(p.digest[:], digest)
	return p, true
}

func (p packed) unpack(version string) earlier {
	id := hex.EncodeToString(p.id[:])
	return earlier{
		digest: sha1Label + base32.StdEncoding.EncodeToString(p.digest[:]),
		date:   warc.FormatDate(time.UnixMicro(p.date), version),
		id:     uuidPrefix + id[:8] + "-" + id[8:12] + "-" + id[12:16] + "-" + id[16:20] + "-" + id[20:] + ">",
	}
}

// find returns the last capture of a URL.
func (k *known) find(uri, version string) (c earlier, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.last == nil {
		return c, false
	}
	key := maphash.String(k.seed, uri)
	p, ok := k.last[key]
	if !ok {
		p, ok = k.older[key]
	}
	return p.unpack(version), ok
}

// add remembers the capture of a URL.
func (k *known) add(uri string, c earlier) {
	p, ok := pack(c)
	if !ok {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.last == nil:
		k.seed, k.last = maphash.MakeSeed(), make(map[uint64]packed)
	case len(k.last) >= cmp.Or(k.most, maxKnown):
		k.last, k.older = make(map[uint64]packed), k.last
	}
	k.last[maphash.String(k.seed, uri)] = p
}

// Know reads a WARC file, such as one that an earlier run has written, so that what has not changed
// since then is recorded as revisits. What follows damage in the file is not read.
func (r *Recorder) Know(file io.Reader) {
	records := warc.NewReader(file)
	for {
		rec, err := records.Next()
		if err != nil {
			return
		}
		switch rec.Type() {
		case warc.Resource, warc.Response:
			if h := rec.Header; h.Get(warc.FieldTruncated) == "" {
				r.known.add(rec.TargetURI(), earlier{h.Get(warc.FieldPayloadDigest), h.Get(warc.FieldDate), h.Get(warc.FieldRecordID)})
			}
		}
	}
}
