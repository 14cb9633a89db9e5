package warc

import (
	"bytes"
	"crypto/sha1"
	"encoding/base32"
	"errors"
	"hash"
	"io"
	"os"
)

// inMemory is how much of a block is kept in memory. More goes to a temporary file.
const inMemory = 1 << 20

// A Block is the block of a record that is to be written. A header comes first in a file, and has
// the length and the digest of the block, so the block is kept until it is complete: up to 1 MiB in
// memory, more in a temporary file. It is for one goroutine at a time. Close removes the file.
type Block struct {
	memory  bytes.Buffer
	file    *os.File
	size    int64
	all     hash.Hash
	payload hash.Hash // nil if the payload is the block
}

// NewBlock returns an empty block.
func NewBlock() *Block { return &Block{all: sha1.New()} }

// Write implements io.Writer.
func (b *Block) Write(p []byte) (int, error) {
	if b.file == nil && b.memory.Len()+len(p) > inMemory {
		file, err := os.CreateTemp("", "fetch1738-warc-")
		if err != nil {
			return 0, err
		}
		b.file = file
		if _, err := b.memory.WriteTo(file); err != nil {
			return 0, err
		}
	}
	to := io.Writer(&b.memory)
	if b.file != nil {
		to = b.file
	}
	n, err := to.Write(p)
	b.all.Write(p[:n])
	if b.payload != nil {
		b.payload.Write(p[:n])
	}
	b.size += int64(n)
	return n, err
}

// StartPayload marks where the payload begins: behind the header of an HTTP message. Without a call
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

func formatDigest(h hash.Hash) string { return "sha1:" + base32.StdEncoding.EncodeToString(h.Sum(nil)) }

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
	return errors.Join(err, os.Remove(b.file.Name()))
}
