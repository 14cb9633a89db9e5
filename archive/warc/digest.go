package warc

import (
	"bytes"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"hash"
	"strings"
)

// unpadded is base32 as in digests, which are tokens and so have no "=".
var unpadded = base32.StdEncoding.WithPadding(base32.NoPadding)

// formatDigest returns a SHA-1 as every reader of WARC files knows it: in base32.
func formatDigest(h hash.Hash) string { return "sha1:" + unpadded.EncodeToString(h.Sum(nil)) }

// newHash returns the hash of an algorithm, or nil if it is not known.
func newHash(algorithm string) hash.Hash {
	switch algorithm {
	case "md5":
		return md5.New()
	case "sha1", "sha-1":
		return sha1.New()
	case "sha256", "sha-256":
		return sha256.New()
	case "sha512", "sha-512":
		return sha512.New()
	}
	return nil
}

// A sum verifies one digest of a record.
type sum struct {
	field, value string // of the header
	algorithm    string
	want         []byte
	hex          bool // the value is in hexadecimal, not in base32
	hash         hash.Hash
}

// newSum returns the sum for a field of a header. It returns nil if there is no such field, or if it
// cannot be verified, which the Defect explains.
func newSum(h Header, field string) (*sum, *Defect) {
	s := &sum{field: field, value: h.Get(field)}
	if s.value == "" {
		return nil, nil
	}
	algorithm, value, ok := strings.Cut(s.value, ":")
	s.algorithm = strings.ToLower(algorithm)
	if s.hash = newHash(s.algorithm); ok && s.hash == nil {
		return nil, &Defect{Field: field, Note: true, Wrong: fmt.Sprintf("%s is %.80q, an algorithm that is not known", field, s.value)}
	}
	decode := func(text string) ([]byte, error) {
		return unpadded.DecodeString(strings.ToUpper(strings.TrimRight(text, "=")))
	}
	if s.hash != nil && len(value) == 2*s.hash.Size() {
		s.hex, decode = true, hex.DecodeString
	}
	var err error
	lines := strings.ContainsAny(value, "\r\n") // which base32 skips
	if s.want, err = decode(value); err != nil || lines || s.hash == nil || len(s.want) != s.hash.Size() {
		return nil, &Defect{Field: field, Wrong: fmt.Sprintf("%s is %.80q, which is not a digest", field, s.value),
			Right: "one has the form sha1:VALUE, with the value in base32"}
	}
	return s, nil
}

// defect returns what is wrong if other octets were hashed, those of what it says.
func (s *sum) defect(what string) *Defect {
	got := s.hash.Sum(nil)
	if bytes.Equal(got, s.want) {
		return nil
	}
	text := unpadded.EncodeToString(got)
	if s.hex {
		text = hex.EncodeToString(got)
	}
	return &Defect{Field: s.field, Wrong: fmt.Sprintf("%s is %s", s.field, s.value), Right: fmt.Sprintf("the %s has %s:%s", what, s.algorithm, text)}
}

// PayloadDigest returns the WARC-Payload-Digest, or "" if it says nothing: some crawlers give a revisit
// by 304 the digest of the empty answer, although its payload is that of an earlier record.
func (h Header) PayloadDigest() string {
	digest := h.Get(FieldPayloadDigest)
	if strings.HasSuffix(h.Get(FieldProfile), "/revisit/server-not-modified") && isOfNothing(digest) {
		return ""
	}
	return digest
}

// isOfNothing reports whether a digest is that of no octets.
func isOfNothing(digest string) bool {
	s, _ := newSum(Header{{FieldPayloadDigest, digest}}, FieldPayloadDigest)
	return s != nil && s.defect("") == nil
}

// SameDigest reports whether two digests may be of the same octets. Some programs leave the name of
// the algorithm out. An empty digest is not known, and may be the same as any.
func SameDigest(a, b string) bool {
	if a == "" || b == "" {
		return true
	}
	return strings.EqualFold(a[strings.IndexByte(a, ':')+1:], b[strings.IndexByte(b, ':')+1:])
}
