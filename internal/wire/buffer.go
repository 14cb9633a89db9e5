package wire

import "sync"

// BufferSize is the size of a Buffer in bytes.
const BufferSize = 16 << 10

// A Buffer is for the data of one document, or their beginning.
type Buffer [BufferSize]byte

// buffers holds buffers that are not in use. With a new one for each of many small documents, the
// garbage collector would run three times as often.
var buffers = sync.Pool{New: func() any { return new(Buffer) }}

// GetBuffer returns a buffer with any contents. The caller may give it back with PutBuffer when no
// slice of it is in use any more.
func GetBuffer() *Buffer { return buffers.Get().(*Buffer) }

// PutBuffer takes back a buffer of GetBuffer.
func PutBuffer(b *Buffer) { buffers.Put(b) }
