package gateway

import "github.com/fetch1738/fetch1738/gateway/internal/markup"

// html writes the size.
func (size sizePage) html(w *markup.Writer) {
	if size == "" {
		w.Put("<p>The server does not say how large it is.</p>\n")
	} else {
		w.Put("<p>The document has %s.</p>\n", string(size))
	}
}
