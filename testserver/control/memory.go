package control

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
)

// The memory that JSON takes while it is decoded, in bytes for each byte of a document.
const jsonCost = 8

// memory is what a request or the files of a server hold, in bytes. It is part of a total.
type memory struct {
	total *atomic.Int64
	n     int64
}

// add charges n bytes. If the total is too large, it charges nothing and returns an error.
func (m *memory) add(n int64) error {
	if m.total.Add(n) > maxContent && n > 0 {
		m.total.Add(-n)
		return problem{Status: http.StatusInsufficientStorage, Detail: fmt.Sprintf("all files and requests together may take %d bytes; DELETE the servers that are not needed, or send less at once", int64(maxContent))}
	}
	m.n += n
	return nil
}

// free gives all back.
func (m *memory) free() {
	m.total.Add(-m.n)
	m.n = 0
}

// moveTo hands all over.
func (m *memory) moveTo(other *memory) {
	other.n += m.n
	m.n = 0
}

// body reads the body of a request. What the client announces is charged before it is read; the
// caller must free it. A byte takes cost bytes of memory until then.
func (a *API) body(w http.ResponseWriter, r *http.Request, limit, cost int64) ([]byte, *memory, error) {
	held := &memory{total: &a.content}
	limited := http.MaxBytesReader(w, r.Body, limit)
	data, err := held.read(limited, min(r.ContentLength, limit), cost)
	if err == nil {
		return data, held, nil
	}
	held.free()
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return nil, nil, problem{Status: http.StatusRequestEntityTooLarge, Detail: fmt.Sprintf("the body has more than %d bytes", limit)}
	}
	if _, ok := errors.AsType[problem](err); ok {
		_, _ = io.Copy(io.Discard, limited) // many clients read no answer before they have sent all
		return nil, nil, err
	}
	return nil, nil, problem{Status: http.StatusBadRequest, Detail: fmt.Sprintf("the body did not come: %v", err)}
}

// read reads all, of which size bytes are announced; -1 means that nothing is.
func (m *memory) read(r io.Reader, size, cost int64) ([]byte, error) {
	announced := size >= 0
	if !announced {
		size = 4 << 10
	}
	data, err := m.resize(nil, size+1, cost) // one more, to see the end
	for err == nil {
		if len(data) == cap(data) {
			data, err = m.resize(data, 2*int64(cap(data)), cost)
			continue
		}
		var n int
		n, err = r.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
	}
	if err == io.EOF {
		err = nil
		if !announced {
			data, err = m.resize(data, int64(len(data)), cost)
		}
	}
	return data, err
}

// resize returns data with another capacity, which takes the place of its own.
func (m *memory) resize(data []byte, size, cost int64) ([]byte, error) {
	if err := m.add(size * cost); err != nil {
		return nil, err
	}
	resized := append(make([]byte, 0, size), data...)
	return resized, m.add(-int64(cap(data)) * cost)
}
