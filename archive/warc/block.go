package warc

import (
	"bytes"
	"crypto/sha1"
	"hash"
	"io"
	"os"
)

// inMemory is how much of a block is kept in memory. More goes to a temporary file.
const inMemory = 1 << 20

// A Block is the block of a record that is to be written. A header comes first in a file, and has
// the length and the digest of the block, so the block is kept until it is complete: up to 1 MiB in
// memory, more in a temporary file in [os.TempDir]. It is for one goroutine at a time. Close
// removes the file.
type Block struct {
	memory  bytes.Buffer
	file    *os.File
	named   bool // the file still has a name
	size    int64
	all     hash.Hash
	payload hash.Hash // nil if the payload is the block
	err     error     // the block is not complete
}

// NewBlock returns an empty block.
func NewBlock() *Block { return &Block{all: sha1.New()} }

// Write implements io.Writer. After an error the block cannot be written to an archive.
func (b *Block) Write(p []byte) (n int, err error) {
	if b.err == nil && b.file == nil && b.memory.Len()+len(p) > inMemory {
		b.err = b.spill()
	}
	switch {
	case b.err != nil:
		return 0, b.err
	case b.file != nil:
		n, b.err = b.file.Write(p)
	default:
		n, _ = b.memory.Write(p)
	}
	b.all.Write(p[:n])
	if b.payload != nil {
		b.payload.Write(p[:n])
	}
	b.size += int64(n)
	return n, b.err
}

// spill moves the block to a temporary file. Where that is possible the file loses its name at
// once, so that nothing is left when the process is killed.
func (b *Block) spill() error {
	file, err := os.CreateTemp("", "fetch1738-warc-")
	if err != nil {
		return err
	}
	b.file = file
	b.named = os.Remove(file.Name()) != nil
	_, err = file.Write(b.memory.Bytes())
	b.memory = bytes.Buffer{}
	return err
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

// content returns a reader of the block.
func (b *Block) content() io.Reader {
	if b.file != nil {
		return io.NewSectionReader(b.file, 0, b.size)
	}
	return bytes.NewReader(b.memory.Bytes())
}

// Close removes the temporary file.
func (b *Block) Close() error {
	if b.file == nil {
		return nil
	}
	err := b.file.Close()
	if b.named {
		_ = os.Remove(b.file.Name())
	}
	return err
}
