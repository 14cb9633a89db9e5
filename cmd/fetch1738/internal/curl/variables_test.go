package curl

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
)

// sources returns an environment with the variable HOME_1 and a file with the digits 0 to 9.
var sources = variableSources{
	getenv: func(name string) (string, bool) {
		value, ok := map[string]string{"HOME_1": "/home", "EMPTY": ""}[name]
		return value, ok
	},
	readFile: func(name string) ([]byte, error) {
		if name != "digits" && name != "-" {
			return nil, fs.ErrNotExist
		}
		return []byte("0123456789"), nil
	},
}

func TestVariableSet(t *testing.T) {
	long := strings.Repeat("n", maxName)
	for text, want := range map[string]string{
		"v=": "", "v=a=b@c": "a=b@c", "v@digits": "0123456789", "v@-": "0123456789",
		"%HOME_1": "/home", "%HOME_1=other": "/home", "%HOME_1[1-2]=x": "/home", "%EMPTY=x": "", "%NONE=x": "x", "%NONE@digits": "0123456789", "%NONE[1-2]=xyz": "yz",
		"v[2-4]=0123456789": "234", "v[2-2]@digits": "2", "v[2-]@digits": "23456789", "v[9-99]=0123456789": "9", "v[10-20]@digits": "", "v[0-]=": "",
		long + "=x": "x",
	} {
		var v variables
		if err := v.set(text, sources); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		name := strings.TrimLeft(text, "%")
		name = name[:strings.IndexAny(name+"=", "=@[")]
		if got := v.contents[name]; got != want || len(v.contents) != 1 {
			t.Errorf("%s: %q, want %q", text, v.contents, want)
		}
	}
	for text, ignored := range map[string]bool{
		"": true, "=x": true, "a b=x": true, "a-b=x": true, "v": true, "v[x]=y": true, "%=x": true, long + "n=x": true,
		"%NONE": false, "v@missing": false, "v[3-2]=x": false, "v[3]=x": false, "v[3-=x": false, "v[1-2-3]=x": false, "v[-1-2]=x": true, "v[1-99999999999999999999]=x": false,
	} {
		var v variables
		if err := v.set(text, sources); err == nil || errors.Is(err, errIgnored) != ignored || len(v.contents) != 0 {
			t.Errorf("%s: %v, %q", text, err, v.contents)
		}
	}
	var v variables
	if err := errors.Join(v.set("v=1", sources), v.set("v=2", sources)); err != nil || v.contents["v"] != "2" {
		t.Errorf("set again: %q, %v", v.contents, err)
	}
}

func TestVariableExpand(t *testing.T) {
	var v variables
	for name, content := range map[string]string{"a": "A", "b_2": "{{a}}", "s": " \t\r\n x y\v\f", "q": "\"\\\b\f\n\r\t\x01\x7f\xff/", "u": "a-b._~/ +é", "n": "a\x00b", "c": "QQ==", "bad": "QQ=\n="} {
		v.put(name, content)
	}
	for text, want := range map[string]string{
		"": "", "plain": "plain", "{{a}}": "A", "x{{a}}y{{a}}z": "xAyAz", "{{b_2}}": "{{a}}", "{{none}}": "", "x{{none}}": "x", "{{none:b64}}": "",
		"{{s:trim}}": "x y", "{{s:trim:url}}": "x%20y", "{{q:json}}": `\"\\\b\f\n\r\t\u0001` + "\x7f\xff/", "{{u:url}}": "a-b._~%2F%20%2B%C3%A9",
		"{{a:b64}}": "QQ==", "{{c:64dec}}": "A", "{{a:64dec}}": "[64dec-fail]", "{{bad:64dec}}": "[64dec-fail]", "{{n:b64}}": "YQBi", "{{n:url}}": "a%00b",
		`\{{a}}`: `\{{a}}`, `\{{a}}{{a}}`: "{{a}}A", `{{a}}\{{a}}`: "A{{a}}", "{{a": "{{a", "{{a}}{{a": "A{{a", "{{}}": "{{}}", "{{}}{{a}}": "{{}}A",
		"{{a b}}{{a}}": "{{a b}}A", "{{" + strings.Repeat("n", maxName+1) + "}}{{a}}": "{{" + strings.Repeat("n", maxName+1) + "}}A", "{{a}}}": "A}",
	} {
		if got, err := v.expand(text, func(string) {}); got != want || err != nil {
			t.Errorf("%q: %q, %v, want %q", text, got, err, want)
		}
	}
	warnings := 0
	for _, text := range []string{"{{a", "{{}}", "{{a.b}}"} {
		if _, err := v.expand(text, func(string) { warnings++ }); err != nil {
			t.Error(err)
		}
	}
	if warnings != 3 {
		t.Errorf("%d warnings", warnings)
	}
	v.put("long", strings.Repeat("SECRET", maxExpanded/6))
	for _, text := range []string{"{{n}}", "{{n:trim}}", "{{a:super}}", "{{a:trim,url}}", "{{a:}}", "{{long}}{{long}}"} {
		if got, err := v.expand(text, func(string) {}); err == nil || got != "" || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%q: %.20q, %.200v", text, got, err)
		}
	}
}
