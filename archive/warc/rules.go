package warc

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// A rule is what WARC/1.1 §5 says of a field. Types are separated by spaces.
type rule struct {
	field string
	check func(value, version string) (right string, ok bool) // nil: every value is right
	must  string                                              // the types that have it
	never string                                              // the types that do not have it
}

const (
	allTypes   = "warcinfo response resource request metadata revisit conversion continuation"
	ofCaptures = "response resource request revisit conversion continuation"
)

// rules has the fields of the standard, and the table of §5 which of them a type has.
var rules = []rule{
	{FieldType, nil, allTypes, ""},
	{FieldRecordID, checkID, allTypes, ""},
	{FieldDate, checkDate, allTypes, ""},
	{FieldContentLength, nil, allTypes, ""},
	{FieldContentType, nil, "", ""}, // a must if the block is not empty
	{FieldConcurrentTo, checkID, "", "warcinfo conversion continuation"},
	{FieldBlockDigest, nil, "", ""},
	{FieldPayloadDigest, nil, "", "warcinfo metadata"},
	{FieldIPAddress, checkIP, "", "warcinfo conversion continuation"},
	{FieldRefersTo, checkID, "", "warcinfo response resource request continuation"},
	{FieldRefersToTargetURI, checkTarget, "", "warcinfo response resource request metadata conversion continuation"},
	{FieldRefersToDate, checkDate, "", "warcinfo response resource request metadata conversion continuation"},
	{FieldTargetURI, checkTarget, ofCaptures, "warcinfo"},
	{FieldTruncated, nil, "", ""},
	{FieldInfoID, checkID, "", "warcinfo"},
	{FieldFilename, nil, "", "response resource request metadata revisit conversion continuation"},
	{FieldProfile, checkTarget, "revisit", ""},
	{FieldPayloadType, nil, "", "warcinfo metadata"},
	{FieldSegmentNumber, checkNumber, "continuation", ""},
	{FieldSegmentOriginID, checkID, "continuation", "warcinfo response resource request metadata revisit conversion"},
	{FieldSegmentLength, checkNumber, "", "warcinfo response resource request metadata revisit conversion"},
}

// check calls report for each fault of a header, of a record with length octets.
func (h Header) check(version string, length int64, report func(*Fault)) {
	fault := func(field, right, format string, args ...any) {
		report(&Fault{Field: field, Right: right, Wrong: fmt.Sprintf(format, args...)})
	}
	note := func(field, right, format string, args ...any) {
		report(&Fault{Field: field, Right: right, Wrong: fmt.Sprintf(format, args...), Note: true})
	}
	if version != "1.1" && version != "1.0" {
		note("", "the versions 1.0 and 1.1 are known", "the version is %.40q", version)
	}
	h.checkNames(fault)
	typ := h.Get(FieldType)
	if typ != "" && !in(allTypes, typ) {
		note(FieldType, "", "%s is %.40q, which is not known", FieldType, typ)
	}
	for _, r := range rules {
		found := false
		for _, f := range h {
			if !strings.EqualFold(f.Name, r.field) {
				continue
			}
			if r.check == nil {
				found = found || f.Value != ""
				continue
			}
			found = true
			if right, ok := r.check(f.Value, version); !ok {
				fault(r.field, right, "%s is %.200q", r.field, f.Value)
			}
		}
		switch {
		case found && in(r.never, typ):
			fault(r.field, "a "+typ+" record must not have it", "%s is forbidden here", r.field)
		case !found && r.must == allTypes:
			fault(r.field, "every record must have it", "%s is missing", r.field)
		case !found && in(r.must, typ):
			fault(r.field, "a "+typ+" record must have it", "%s is missing", r.field)
		}
	}
	if length > 0 && h.Get(FieldContentType) == "" && typ != string(Continuation) {
		fault(FieldContentType, "a record with a block must have it", "%s is missing", FieldContentType)
	}
	switch profile := h.Get(FieldProfile); {
	case (profile == IdenticalPayload || profile == IdenticalPayload10) && h.Get(FieldPayloadDigest) == "":
		fault(FieldPayloadDigest, "this profile demands it", "%s is missing", FieldPayloadDigest)
	case strings.Contains(profile, "/warc/1.") && !strings.Contains(profile, "/warc/"+version+"/"):
		note(FieldProfile, "the profiles of this version have /warc/"+version+"/", "%s is %.200q", FieldProfile, profile)
	}
}

// checkNames finds fields that are there twice, and names that are not tokens.
func (h Header) checkNames(fault func(field, right, format string, args ...any)) {
	seen := make(map[string]bool, len(h))
	for _, f := range h {
		name := strings.ToLower(f.Name)
		if strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune(`()<>@,;:\"/[]?={}`, r) }) || name == "" {
			fault(f.Name, "", "%.80q is not a name of a field", f.Name)
		}
		if seen[name] && !strings.EqualFold(name, FieldConcurrentTo) && !strings.EqualFold(name, FieldProtocol) {
			fault(f.Name, "only "+FieldConcurrentTo+" and "+FieldProtocol+" may be repeated", "%.80s is there twice", f.Name)
		}
		seen[name] = true
	}
}

// in reports whether a list has a word.
func in(list, word string) bool {
	return word != "" && strings.Contains(" "+list+" ", " "+word+" ")
}

// checkID checks a URI in angle brackets.
func checkID(value, _ string) (right string, ok bool) {
	inner, opened := strings.CutPrefix(value, "<")
	inner, closed := strings.CutSuffix(inner, ">")
	return "a URI in angle brackets, such as <urn:uuid:...>", opened && closed && isURI(inner)
}

// checkTarget checks a URI without brackets. The grammar of WARC/1.0 has them, its examples do not.
func checkTarget(value, version string) (right string, ok bool) {
	inner := unbracket(value)
	if isURI(inner) {
		return "a URI without angle brackets: " + inner, inner == value || version == "1.0"
	}
	return "a URI with its characters encoded: " + encodeURI(inner), false
}

// isURI reports whether text has a scheme, and only characters that a URI can have. Those that
// RFC 3986 excludes, but that clients send, are accepted.
func isURI(text string) bool {
	scheme, _, ok := strings.Cut(text, ":")
	return ok && scheme != "" && !strings.ContainsAny(scheme, "/?#") && text == encodeURI(text)
}

// encodeURI encodes white space, control characters, octets that are not ASCII, and delimiters.
func encodeURI(text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		if c <= ' ' || c >= 0x7f || c == '<' || c == '>' || c == '"' {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

func checkDate(value, version string) (right string, ok bool) {
	_, err := ParseDate(value)
	if version == "1.0" {
		return "a time such as 2026-11-24T12:00:00Z", err == nil && len(value) == len("2026-11-24T12:00:00Z")
	}
	return "a time such as 2026-11-24T12:00:00.5Z, with at most nine digits of a fraction", err == nil
}

func checkIP(value, _ string) (right string, ok bool) {
	addr, err := netip.ParseAddr(value)
	return "an address without port or zone, such as 192.0.2.1", err == nil && addr.Zone() == ""
}

func checkNumber(value, _ string) (right string, ok bool) {
	_, err := strconv.ParseUint(value, 10, 63)
	return "a number", err == nil
}
