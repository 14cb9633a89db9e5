package typed

import "testing"

func TestNearestScheme(t *testing.T) {
	schemes := []string{"file", "ftp", "ftps", "gopher", "gophers", "http", "https", "mailto", "news", "nntp", "telnet", "wais"}
	for name, want := range map[string]string{
		"fpt": "ftp", "ftpp": "ftp", "htp": "http", "hhtp": "http", "htpp": "http", "htttp": "http", "ttp": "ftp", "gohper": "gopher",
		"flie": "file", "nws": "news", "nntpp": "nntp", "wias": "wais", "tenlet": "telnet", "malto": "mailto",
		"ftp": "", "news": "", "gophers": "",
		"sftp": "", "smtp": "", "tftp": "", "c": "", "x": "", "ft": "", "": "", "data": "", "about": "", "ssh": "", "git": "", "ldap": "", "irc": "",
	} {
		if got := NearestScheme(name, schemes); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

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

func TestNearestShort(t *testing.T) {
	names := []string{"warc", "ls", "stat", "du", "rm", "mv", "mkdir", "demo"}
	for name, want := range map[string]string{
		"lss": "ls", "sls": "ls", "sl": "ls", "rmm": "rm", "mr": "rm", "duh": "du", "arc": "warc", "mkdri": "mkdir", "dmo": "demo",
		"ps": "", "l": "", "nas": "", "www": "", "tv": "", "": "",
	} {
		if got := NearestShort(name, names); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
