package warc

import (
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"strings"
)

// Limits of what Verify keeps, so that the memory it needs does not depend on the file.
const (
	maxIDs     = 1 << 20 // of the records that came
	maxAwaited = 1 << 14 // in WARC-Concurrent-To, of records that have not come
)

// Verify reads all records of a file and calls report for each [Defect], in order: those of the
// grammar and the fields (WARC/1.1 §4 and §5), digests, IDs, and gzip members. It resumes behind
// what cannot be read. It returns the number of records, and the error of reading the file.
func Verify(file io.Reader, report func(*Defect)) (records int64, err error) {
	v := &verifier{
		r: NewReader(file), report: report, seed: maphash.MakeSeed(),
		awaited: make(map[uint64]*Defect),
	}
	for {
		rec, err := v.r.Next()
		if err == nil {
			if records++; records == 1 && rec.Type() != Info {
				v.defect(rec, &Defect{Note: true, Wrong: "the first record is not a warcinfo record"})
			}
			err = v.record(rec)
		}
		if bad, ok := errors.AsType[*Defect](err); ok {
			err = v.resume(bad)
		}
		switch {
		case err == io.EOF:
			return records, nil
		case err != nil:
			return records, err
		}
	}
}

// A verifier is what Verify knows of the records before.
type verifier struct {
	r       *Reader
	report  func(*Defect)
	seed    maphash.Seed
	came    idSet
	awaited map[uint64]*Defect // by the hash of an ID in WARC-Concurrent-To
	shared  bool
}

func (v *verifier) defect(rec *Record, f *Defect) { v.report(rec.defect(f)) }

// record verifies a record, to its end.
func (v *verifier) record(rec *Record) error {
	rec.Header.check(rec.Version, rec.Length, func(f *Defect) { v.defect(rec, f) })
	v.order(rec)
	if v.r.shared && !v.shared {
		v.shared = true
		v.defect(rec, &Defect{Wrong: "it is not the first record of its gzip member", Right: "each record needs a member, so that it can be found"})
	}
	payload, err := rec.Payload()
	if err != nil {
		return err
	}
	if _, err = io.Copy(io.Discard, payload); err != nil && v.r.err != nil {
		return err // the record is not complete, so its digests say nothing
	}
	if rec.bare {
		v.defect(rec, &Defect{Wrong: "a line ends in LF", Right: "lines end in CR LF"})
	}
	for _, f := range payload.defects {
		v.report(f)
	}
	return nil
}

// resume reports what cannot be read, and moves behind it.
func (v *verifier) resume(bad *Defect) error {
	rest, err := v.r.resync()
	switch {
	case bad.Field != FieldContentLength || v.r.zip == nil:
	case rest < 0:
		bad.Right = "its gzip member is damaged"
	default:
		bad.Right = fmt.Sprintf("the block has %d bytes, if the record is all of its gzip member", max(bad.read+rest-int64(len("\r\n\r\n")), 0))
	}
	v.report(bad)
	return err
}

// order finds IDs that came before, and records that name one to come.
func (v *verifier) order(rec *Record) {
	id := rec.Header.Get(FieldRecordID)
	key := v.key(id)
	if id != "" && v.came.has(key) {
		v.defect(rec, &Defect{Field: FieldRecordID, Wrong: FieldRecordID + " is that of an earlier record", Right: "each record has its own"})
	}
	if early := v.awaited[key]; early != nil {
		delete(v.awaited, key)
		early.Wrong = fmt.Sprintf("%s names the record at offset %d, which comes later", FieldConcurrentTo, rec.Offset)
		v.report(early)
	}
	if v.came.n == maxIDs {
		return
	}
	if v.came.add(key); v.came.n == maxIDs {
		v.defect(rec, &Defect{Field: FieldRecordID, Note: true, Wrong: fmt.Sprintf("only the first %d records are compared by their IDs", maxIDs)})
	}
	for _, f := range rec.Header {
		if !strings.EqualFold(f.Name, FieldConcurrentTo) || len(v.awaited) == maxAwaited {
			continue
		}
		if key := v.key(f.Value); !v.came.has(key) {
			early := rec.defect(&Defect{Field: FieldConcurrentTo, Right: "only a record before this one can be named"})
			early.ID = strings.Clone(early.ID[:min(len(early.ID), 200)]) // not all of the header
			v.awaited[key] = early
		}
	}
}

// key returns the hash of an ID, which is not 0.
func (v *verifier) key(id string) uint64 { return max(1, maphash.String(v.seed, id)) }
