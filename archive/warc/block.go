package warc

import (
	"crypto/sha1"
	"hash"
	"hash/crc32"
	"io"
	"io/fs"
	"sync"

	"github.com/klauspost/compress/flate"
)

// small is the size up to which a block is compressed when its record is written, in one stream
// with the header. A stream of its own needs memory of its own.
const small = 64 << 10

// A Block is the block of a record that is to be written. A header comes first in a file, and has
// the length and the digest of the block, so the block is kept until it is complete: up to 1 MiB in
// memory, more in a temporary file in [os.TempDir]. It is for one goroutine at a time. Close
// removes the file.
type Block struct {
	spool   spool         // the octets; with zip their deflate stream
	zips    *sync.Pool    // of the Writer; nil for a block that is not compressed
	zip     *flate.Writer // nil as long as the block is not compressed
	crc     uint32        // of the octets
	size    int64
	all     hash.Hash
	payload hash.Hash // nil if the payload is the block
	err     error     // the block is not complete
}

// NewBlock returns an empty block, for any Writer. Method NewBlock of the Writer is better for a
// large block.
func NewBlock() *Block { return &Block{all: sha1.New()} }

// NewBlock returns an empty block. If w writes with gzip, a large block is compressed while it is
// written, and not when its record is. It may be written by another Writer, too.
func (w *Writer) NewBlock() *Block {
	b := NewBlock()
	if !w.o.Plain {
		b.zips = &w.zips
	}
	return b
}

// Write implements io.Writer. After an error the block cannot be written to an archive.
func (b *Block) Write(p []byte) (n int, err error) {
	if b.err == nil && b.zips != nil && b.zip == nil && b.size+int64(len(p)) > small {
		b.err = b.compress()
	}
	switch {
	case b.err != nil:
		return 0, b.err
	case b.zip != nil:
		n, b.err = b.zip.Write(p)
	default:
		n, b.err = b.spool.Write(p)
	}
	b.all.Write(p[:n])
	if b.payload != nil {
		b.payload.Write(p[:n])
	}
	if b.zips != nil {
		b.crc = crc32.Update(b.crc, crc32.IEEETable, p[:n])
	}
	b.size += int64(n)
	return n, b.err
}

// compress replaces the octets by the beginning of their deflate stream.
func (b *Block) compress() error {
	before := b.spool.memory.Bytes() // small, so not in a file
	b.spool = spool{}
	b.zip = takeZip(b.zips, &b.spool)
	_, err := b.zip.Write(before)
	return err
}

// takeZip returns a writer of a deflate stream. It is put back into the pool, because a new one
// needs about 1 MB.
func takeZip(zips *sync.Pool, to io.Writer) *flate.Writer {
	zip, ok := zips.Get().(*flate.Writer)
	if !ok {
		zip, _ = flate.NewWriter(to, flate.BestSpeed)
	}
	zip.Reset(to)
	return zip
}

// flush completes what is in the spool: the deflate stream ends at a whole octet, without a block
// that is marked as the last.
func (b *Block) flush() error {
	if b.err == nil && b.zip != nil {
		b.err = b.zip.Flush()
	}
	return b.err
}

// StartPayload marks where the payload begins: behind the head of an HTTP message. Without a call
// the whole block is the payload.
func (b *Block) StartPayload() { b.payload = sha1.New() }

// Size returns the length of the block in octets.
func (b *Block) Size() int64 { return b.size }

// Digest returns the value for WARC-Block-Digest: the SHA-1 in base32.
func (b *Block) Digest() string { return formatDigest(b.all) }

// PayloadDigest returns the value for WARC-Payload-Digest.
func (b *Block) PayloadDigest() string {
	if b.payload == nil {
		return b.Digest()
	}
	return formatDigest(b.payload)
}

// content returns a reader of the block, after flush.
func (b *Block) content() io.Reader {
	if b.zip == nil {
		return b.spool.content()
	}
	return io.LimitReader(flate.NewReader(b.spool.content()), b.size)
}

// Close removes the temporary file.
func (b *Block) Close() error {
	if b.zip != nil {
		b.zip.Reset(io.Discard)
		b.zips.Put(b.zip)
		b.zip, b.err = nil, fs.ErrClosed
	}
	return b.spool.close()
}
