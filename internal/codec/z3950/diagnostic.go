package z3950

// A Diagnostic is an error message from a server.
type Diagnostic struct {
	Code      string // two letters
	Text      string // the server's message
	Surrogate bool   // the diagnostic replaces a record
}

// diagnosticEnd follows a diagnostic. The length does not include it.
const diagnosticEnd = 0x1D

// diagnostic reads a diagnostic after its tag: a length of two octets, two letters, text, one octet
// for Surrogate, and the end octet.
func (c *cursor) diagnostic() ([]byte, error) {
	n, err := c.fixed(2)
	switch {
	case err != nil:
		return nil, err
	case n < 3:
		return nil, c.fail("a diagnostic of %d bytes", n)
	case int(n)+1 > len(c.b):
		return nil, c.fail("a diagnostic of %d bytes, but only %d are left", n+1, len(c.b))
	case c.b[n] != diagnosticEnd:
		return nil, c.fail("a diagnostic that ends in %02X", c.b[n])
	}
	return c.skip(int(n) + 1)[:n], nil
}

// diagnosticOf returns the diagnostic in an element, which must have been validated.
func diagnosticOf(e element) Diagnostic {
	last := len(e.value) - 1
	return Diagnostic{Code: string(e.value[:2]), Text: string(e.value[2:last]), Surrogate: e.value[last] == 1}
}

// AppendDiagnostic appends d to user information. The code is truncated or padded to two octets.
func AppendDiagnostic(b []byte, d Diagnostic) []byte {
	text := d.Text[:min(len(d.Text), 0xFFFF-3)]
	b = append(b, byte(TagDiagnostic))
	b = appendFixed(b, uint32(len(text)+3), 2)
	b = append(b, (d.Code + "  ")[:2]...)
	b = append(b, text...)
	surrogate := byte(0)
	if d.Surrogate {
		surrogate = 1
	}
	return append(b, surrogate, diagnosticEnd)
}

var meanings = map[string]string{
	"S1": "permanent system error",
	"S2": "temporary system error",
	"S3": "unsupported search",
	"S5": "only words that are too frequent",
	"S6": "too many words",
	"S7": "too many boolean operators",
	"S8": "too many truncated words",
	"S9": "too many subfields",
	"SA": "truncated word too short",
	"SB": "bad form of record number",
	"SC": "search too long",
	"SD": "too many records",
	"SF": "present request out of range",
	"SG": "system error",
	"SH": "record not authorised",
	"SI": "record exceeds the preferred message size",
	"SJ": "record exceeds the maximum record size",
	"T1": "valid subset of the results",
	"T2": "access control failure",
}

// Meaning returns the meaning of the code, or "" if it is unknown.
func (d Diagnostic) Meaning() string {
	switch meaning := meanings[d.Code]; {
	case meaning != "":
		return meaning
	case d.Code >= "SK" && d.Code <= "SS":
		return "result set or element set not supported"
	case d.Code >= "ST" && d.Code <= "SZ":
		return "result set or database cannot be used now"
	}
	return ""
}
