package z3950

// A Diagnostic is a server's complaint.
type Diagnostic struct {
	Code      string // two letters
	Text      string // in the server's words
	Surrogate bool   // it stands in the place of a record
}

// diagnosticEnd follows a diagnostic and is not counted by its length.
const diagnosticEnd = 0x1D

// diagnostic reads what is behind the tag: a length of two octets, two letters,
// text, one octet for a truth value, and the end octet.
func (c *cursor) diagnostic() ([]byte, error) {
	n, err := c.fixed(2)
	switch {
	case err != nil:
		return nil, err
	case n < 3:
		return nil, c.fail("a diagnostic of %d octets", n)
	case int(n)+1 > len(c.b):
		return nil, c.fail("a diagnostic of %d octets where %d are left", n+1, len(c.b))
	case c.b[n] != diagnosticEnd:
		return nil, c.fail("a diagnostic that ends in %02X", c.b[n])
	}
	return c.skip(int(n) + 1)[:n], nil
}

func diagnosticOf(e element) Diagnostic {
	last := len(e.value) - 1
	return Diagnostic{Code: string(e.value[:2]), Text: string(e.value[2:last]), Surrogate: e.value[last] == 1}
}

// AppendDiagnostic appends d to user information. A code that has not two
// octets is cut or filled with spaces.
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

// Meaning is what the code of a diagnostic stands for, "" if it is unknown.
func (d Diagnostic) Meaning() string {
	switch d.Code {
	case "S1":
		return "permanent system error"
	case "S2":
		return "temporary system error"
	case "S3":
		return "unsupported search"
	case "S5":
		return "only words that are too frequent"
	case "S6":
		return "too many words"
	case "S7":
		return "too many boolean operators"
	case "S8":
		return "too many truncated words"
	case "S9":
		return "too many subfields"
	case "SA":
		return "truncated word too short"
	case "SB":
		return "bad form of record number"
	case "SC":
		return "search too long"
	case "SD":
		return "too many records"
	case "SF":
		return "present request out of range"
	case "SG":
		return "system error"
	case "SH":
		return "record not authorised"
	case "SI":
		return "record exceeds the preferred message size"
	case "SJ":
		return "record exceeds the maximum record size"
	case "T1":
		return "valid subset of the results"
	case "T2":
		return "access control failure"
	}
	switch {
	case d.Code >= "SK" && d.Code <= "SS":
		return "result set or element set not supported"
	case d.Code >= "ST" && d.Code <= "SZ":
		return "result set or database cannot be used now"
	}
	return ""
}
