package locator

import "iter"

// Extract yields the URLs in running text, in order, by the Appendix.
func Extract(text string) iter.Seq[Reference] {
	return func(yield func(Reference) bool) {}
}
