package filename

import "strings"

// OfDisposition is the parameter filename of a Content-Disposition field as curl
// finds it: also where no type such as "attachment" comes first, quoted by " or '
// or up to the next semicolon, and never decoded; "" if there is none. It is as the server has it: see [Safe].
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
