package typed

import "testing"

func TestNearest(t *testing.T) {
	names := []string{"output", "output-dir", "retry", "retry-delay", "max-time", "max-redirs", "ssl", "get", "url", "list"}
	for name, want := range map[string]string{
		"otput": "output", "ouptut": "output", "outputdir": "output-dir", "max-tim": "max-time", "max-t": "max-time", "retyr": "retry",
		"max": "", "nonsense": "", "retry-": "retry-delay", "x": "", "": "", "lst": "", "lits": "list", "sssl": "ssl",
	} {
		if got := Nearest(name, names); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
