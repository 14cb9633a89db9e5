package locator

import "testing"

// TestMailQuestionMark: an encoded "?" never ends the address in a later parse of the canonical URL.
func TestMailQuestionMark(t *testing.T) {
	strict, tolerant := Parser{}, Parser{TolerateAll}
	for _, c := range []struct {
		url       string
		p         Parser
		canonical string
		address   string
		fields    int
	}{
		{"mailto:a@b?subject=c", strict, "mailto:a@b%3Fsubject=c", "a@b?subject=c", 0},
		{"mailto:a@b?subject=c", tolerant, "mailto:a@b?subject=c", "a@b", 1},
		{"mailto:a@b%3Fsubject=c", strict, "mailto:a@b%3Fsubject=c", "a@b?subject=c", 0},
		{"mailto:a@b%3Fsubject=c", tolerant, "mailto:a@b%3Fsubject=c", "a@b?subject=c", 0},
		{"mailto:a@b?subject%3Dc", tolerant, "mailto:a@b%3Fsubject=c", "a@b?subject=c", 0},
		{"mailto:what?@b", tolerant, "mailto:what?@b", "what?@b", 0},
		{"mailto:a@b?", tolerant, "mailto:a@b?", "a@b?", 0},
		{"mailto:a@b?&", tolerant, "mailto:a@b?&", "a@b?&", 0},
		{"mailto:a@b?x=1&y", tolerant, "mailto:a@b?x=1&y", "a@b?x=1&y", 0},
		{"mailto:%3f?x=%3f", tolerant, "mailto:%3F?x=%3F", "?", 1},
	} {
		r, err := c.p.Parse(c.url)
		if err != nil {
			t.Errorf("%s: %v", c.url, err)
			continue
		}
		l := r.Locator.(*Mailto)
		if l.String() != c.canonical || l.Address != c.address || len(l.Headers) != c.fields {
			t.Errorf("%s: %s, %s", c.url, l, describe(l))
		}
		for _, p := range []Parser{c.p, tolerant} {
			if again, err := p.Parse(l.String()); err != nil || !Equal(again.Locator, l) {
				t.Errorf("%s: %s reads as %v, %v", c.url, l, again, err)
			}
		}
	}
}
