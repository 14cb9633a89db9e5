package warc

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/internal/urls/percent"
)

// types is a set of types of records.
type types uint16

// The types that WARC/1.1 §6 defines.
const (
	infos types = 1 << iota
	responses
	resources
	requests
	metadatas
	revisits
	conversions
	continuations
	allTypes types = 1<<iota - 1
)

// setOf returns the set of one type. It is empty if the type is not known.
func setOf(t Type) types {
	all := [...]Type{Info, Response, Resource, Request, Metadata, Revisit, Conversion, Continuation}
	return 1 << (slices.Index(all[:], t) + 1) >> 1
}

// A rule is what WARC/1.1 §5 says of a field.
type rule struct {
	field string
	check func(value, version string) (right string) // "" if the value is right; nil for every value
	must  types                                      // that have it
	never types                                      // that do not have it
}

// rules has the fields of the standard, and which of them a type has. Write refuses what Verify
// finds by the same rules.
var rules = [...]rule{
	{FieldType, nil, allTypes, 0},
	{FieldRecordID, checkID, allTypes, 0},
	{FieldDate, checkDate, allTypes, 0},
	{FieldContentLength, nil, allTypes, 0},
	{FieldContentType, nil, 0, 0}, // a must if there is a block
	{FieldConcurrentTo, checkID, 0, infos | conversions | continuations},
	{FieldBlockDigest, nil, 0, 0},
	{FieldPayloadDigest, nil, 0, infos | metadatas},
	{FieldIPAddress, checkIP, 0, infos | conversions | continuations},
	{FieldRefersTo, checkID, 0, allTypes &^ (metadatas | revisits | conversions)},
	{FieldRefersToTargetURI, checkTarget, 0, allTypes &^ revisits},
	{FieldRefersToDate, checkDate, 0, allTypes &^ revisits},
	{FieldTargetURI, checkTarget, allTypes &^ (infos | metadatas), infos},
	{FieldTruncated, nil, 0, 0},
	{FieldInfoID, checkID, 0, infos},
	{FieldFilename, nil, 0, allTypes &^ infos},
	{FieldProfile, checkTarget, revisits, 0},
	{FieldPayloadType, nil, 0, infos | metadatas},
	{FieldSegmentNumber, checkNumber, continuations, 0},
	{FieldSegmentOriginID, checkID, continuations, allTypes &^ continuations},
	{FieldSegmentLength, checkNumber, 0, allTypes &^ continuations},
	{FieldProtocol, nil, 0, 0}, // proposed
}

// A checker finds what is wrong in a header.
type checker struct {
	Header
	version string
	report  func(*Defect)
}

// check calls report for each defect of a header, of a record with length octets.
func (h Header) check(version string, length int64, report func(*Defect)) {
	c := &checker{h, version, report}
	if !isVersion(version) {
		c.note("", "the versions 1.0 and 1.1 are known", "the version is %.40q", version)
	}
	found := c.fields()
	typ := h.Get(FieldType)
	set := setOf(Type(typ))
	if typ != "" && set == 0 {
		c.note(FieldType, "", "%s is %.40q, which is not known", FieldType, typ)
	}
	for i, r := range rules {
		switch has := found&(1<<i) != 0; {
		case has && r.never&set != 0:
			c.defect(r.field, "a "+typ+" record must not have it", "%s is forbidden here", r.field)
		case !has && r.must == allTypes:
			c.defect(r.field, "every record must have it", "%s is missing", r.field)
		case !has && r.must&set != 0:
			c.defect(r.field, "a "+typ+" record must have it", "%s is missing", r.field)
		}
	}
	if length > 0 && set != continuations && h.Get(FieldContentType) == "" {
		c.defect(FieldContentType, "a record with a block must have it", "%s is missing", FieldContentType)
	}
	switch profile := h.Get(FieldProfile); {
	case (profile == IdenticalPayload || profile == identicalPayload10) && h.Get(FieldPayloadDigest) == "":
		c.defect(FieldPayloadDigest, "this profile demands it", "%s is missing", FieldPayloadDigest)
	case isVersion(version) && strings.Contains(profile, "/warc/1.") && !strings.Contains(profile, "/warc/"+version+"/"):
		c.note(FieldProfile, "the profiles of this version have /warc/"+version+"/", "%s is %.200q", FieldProfile, profile)
	}
}

// isVersion reports whether the rules are known for a version.
func isVersion(version string) bool { return version == "1.0" || version == "1.1" }

func (c *checker) defect(field, right, format string, args ...any) {
	c.report(&Defect{Field: field, Right: right, Wrong: fmt.Sprintf(format, args...)})
}

func (c *checker) note(field, right, format string, args ...any) {
	c.report(&Defect{Field: field, Right: right, Wrong: fmt.Sprintf(format, args...), Note: true})
}

// fields checks names and values, and returns which of the rules have a field: a bit each.
func (c *checker) fields() (found uint32) {
	var others map[string]bool
	for _, f := range c.Header {
		i := slices.IndexFunc(rules[:], func(r rule) bool { return len(r.field) == len(f.Name) && strings.EqualFold(r.field, f.Name) })
		if i < 0 {
			if others == nil {
				others = make(map[string]bool)
			}
			name := strings.ToLower(f.Name)
			c.name(f.Name, others[name])
			others[name] = true
			continue
		}
		r := rules[i]
		if found&(1<<i) != 0 && r.field != FieldConcurrentTo && r.field != FieldProtocol {
			c.name(r.field, true)
		}
		if f.Value != "" || r.check != nil {
			found |= 1 << i
		}
		if r.check == nil {
			continue
		}
		if right := r.check(f.Value, c.version); right != "" {
			c.defect(r.field, right, "%s is %.200q", r.field, f.Value)
		}
	}
	return found
}

// name checks a name: it must be a token, and come once.
func (c *checker) name(name string, twice bool) {
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune(`()<>@,;:\"/[]?={}`, r) }) {
		c.defect(name, "", "%.80q is not a name of a field", name)
	}
	if twice {
		c.defect(name, "only "+FieldConcurrentTo+" and "+FieldProtocol+" may be repeated", "%.80q is there twice", name)
	}
}

// checkID checks a URI in angle brackets.
func checkID(value, _ string) (right string) {
	inner, opened := strings.CutPrefix(value, "<")
	inner, closed := strings.CutSuffix(inner, ">")
	if opened && closed && isURI(inner) {
		return ""
	}
	return "a URI in angle brackets, such as <urn:uuid:...>"
}

// checkTarget checks a URI without brackets. The grammar of WARC/1.0 has them, its examples do not.
func checkTarget(value, version string) (right string) {
	switch inner := unbracket(value); {
	case !isURI(inner) && inner == encodeURI(inner):
		return "a URI, which begins with a scheme and a colon"
	case !isURI(inner):
		return "a URI with its characters encoded: " + encodeURI(inner)
	case inner != value && version != "1.0":
		return "a URI without angle brackets: " + inner
	}
	return ""
}

// isURI reports whether text has a scheme, and only characters that a URI can have. Those that
// RFC 3986 excludes, but that clients send, are accepted.
func isURI(text string) bool {
	colon := strings.IndexByte(text, ':')
	if colon <= 0 || strings.ContainsAny(text[:colon], "/?#") {
		return false
	}
	return !slices.ContainsFunc([]byte(text), notInURI)
}

// notInURI reports whether c is white space, a control character, not ASCII, or a delimiter.
func notInURI(c byte) bool {
	return c <= ' ' || c >= 0x7f || c == '<' || c == '>' || c == '"'
}

// encodeURI encodes the octets that a URI cannot have.
func encodeURI(text string) string { return percent.Encode(text, notInURI) }

func checkDate(value, version string) (right string) {
	_, err := ParseDate(value)
	switch {
	case version == "1.0" && (err != nil || len(value) != len("2026-11-24T12:00:00Z")):
		return "a time such as 2026-11-24T12:00:00Z"
	case err != nil:
		return "a time such as 2026-11-24T12:00:00.5Z, with at most nine digits of a fraction"
	}
	return ""
}

func checkIP(value, _ string) (right string) {
	if addr, err := netip.ParseAddr(value); err != nil || addr.Zone() != "" {
		return "an address without port or zone, such as 192.0.2.1"
	}
	return ""
}

func checkNumber(value, _ string) (right string) {
	if _, err := strconv.ParseUint(value, 10, 63); err != nil {
		return "a number"
	}
	return ""
}
