package warc

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
)

const (
	// memberHead begins a gzip member: no name, no time, a system that is not known (RFC 1952 §2.3).
	memberHead = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x04\xff"
	// storedEnd is the last block of a deflate stream (RFC 1951 §3.2.4): recordEnd, not compressed.
	storedEnd = "\x01\x04\x00\xfb\xff" + recordEnd
)

// encodeMember writes a record as a gzip member.
func encodeMember(zip *gzip.Writer, w io.Writer, version string, h Header, b *Block) error {
	zip.Reset(w)
	if err := encode(zip, version, h, b); err != nil {
		return err
	}
	return zip.Close()
}

// joinMember writes a record as a gzip member whose block is already compressed: three deflate
// streams, each of which ends at a whole octet and does not refer to the one before it, are one.
func joinMember(zips *sync.Pool, w io.Writer, version string, h Header, b *Block) error {
	head := encodeHeader(version, h)
	if _, err := io.WriteString(w, memberHead); err != nil {
		return err
	}
	zip := takeZip(zips, w)
	defer func() {
		zip.Reset(io.Discard)
		zips.Put(zip)
	}()
	_, err := zip.Write(head)
	if err == nil {
		err = zip.Flush()
	}
	if err == nil {
		_, err = io.Copy(w, b.spool.content())
	}
	if err != nil {
		return err
	}
	sum := combine(crc32.ChecksumIEEE(head), b.crc, b.size)
	sum = crc32.Update(sum, crc32.IEEETable, []byte(recordEnd))
	tail := binary.LittleEndian.AppendUint32([]byte(storedEnd), sum)
	tail = binary.LittleEndian.AppendUint32(tail, uint32(int64(len(head))+b.size+int64(len(recordEnd)))) // modulo 2^32
	_, err = w.Write(tail)
	return err
}

// combine returns the CRC-32 of two texts, one behind the other, from the CRC-32 of each and the
// length of the second in octets. An octet behind a text multiplies its polynomial by x^8.
func combine(first, second uint32, length int64) uint32 {
	power := uint32(1 << (31 - 8)) // x^8: the highest bit is x^0
	for ; length > 0; length >>= 1 {
		if length&1 != 0 {
			first = multiply(first, power)
		}
		power = multiply(power, power)
	}
	return first ^ second
}

// multiply returns the product of two polynomials modulo that of CRC-32.
func multiply(a, b uint32) (product uint32) {
	for bit := uint32(1 << 31); bit != 0; bit >>= 1 {
		if a&bit != 0 {
			product ^= b
		}
		carry := b & 1
		b = b>>1 ^ crc32.IEEE*carry
	}
	return product
}
