package filename

import "strings"

// OfDisposition returns the parameter filename of a Content-Disposition field, parsed as curl does:
// a type such as "attachment" may be missing; the value is quoted by " or ' or ends at the next
// semicolon; it is never decoded. It returns "" if there is no such parameter. The value is not
// safe: see [Safe].
func OfDisposition(field string) string {
	for more := true; more; _, field, more = strings.Cut(field, ";") {
		field = strings.TrimLeft(field, " \t")
		const name = "filename="
		if len(field) < len(name) || !strings.EqualFold(field[:len(name)], name) {
			continue
		}
		value := field[len(name):]
		end := ";"
		if value != "" && (value[0] == '"' || value[0] == '\'') {
			end, value = value[:1], value[1:]
		}
		value, _, _ = strings.Cut(value, end)
		return strings.TrimRight(value, " \t")
	}
	return ""
}
