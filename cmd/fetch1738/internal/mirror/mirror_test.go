package mirror

import (
	"errors"
	"os"
	"path"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/curl"
	"github.com/fetch1738/fetch1738/fetch"
)

// Every option is in the table exactly once.
func TestMirrorOptions(t *testing.T) {
	seen := make(map[string]bool)
	for _, o := range new(settings).table() {
		for _, name := range []string{"--" + o.Long, "-" + o.Short} {
			if name != "-" && seen[name] {
				t.Errorf("option %s is in the table twice", name)
			}
			seen[name] = true
		}
	}
	for _, o := range new(settings).options() {
		if o.Help == "" || o.Groups != "mirror" {
			t.Errorf("--%s: %q in %q", o.Long, o.Help, o.Groups)
		}
	}
	for _, o := range curl.Options() {
		if !seen["--"+o.Long] {
			t.Errorf("option --%s is not in the table", o.Long)
		}
	}
}

// Options about security apply to mirror too, on the command line and in a configuration file.
// Every option about security must be in one of the groups that mark it as such.
func TestMirrorTakesGuards(t *testing.T) {
	// An option about security that is in none of these groups is found by the words of its help.
	about := regexp.MustCompile(`(?i)\b(TLS|certificate|authorit|cipher|trust|public key|password|encrypt|login|log in|netrc|proxy|proxies|allow)`)
	unguarded := " charset next verbose " // these use the words in another sense
	of := func(table []curl.Option) map[string]uintptr {
		setters := make(map[string]uintptr)
		for _, o := range table {
			setters[o.Long] = reflect.ValueOf(o.Set).Pointer()
		}
		return setters
	}
	plain, ofMirror := of(curl.Options()), of(new(settings).table())
	guards := 0
	for _, o := range curl.Options() {
		if about.MatchString(o.Help) && !o.Guards() && !strings.Contains(unguarded, " "+o.Long+" ") {
			t.Errorf("--%s seems to be about security: %q; its groups are %q", o.Long, o.Help, o.Groups)
		}
		if !o.Guards() {
			continue
		}
		guards++
		if plain[o.Long] != ofMirror[o.Long] {
			t.Errorf("mirror ignores --%s", o.Long)
		}
	}
	if guards < 50 {
		t.Errorf("only %d options are about security", guards)
	}
}

// Each of mirror's own options is used in a script.
func TestMirrorOptionsHaveScripts(t *testing.T) {
	var all strings.Builder
	for _, name := range []string{"mirror", "mirror_schemes", "mirror_upload"} {
		b, err := os.ReadFile("../../testdata/script/" + name + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		all.Write(b)
	}
	for _, o := range new(settings).options() {
		if !strings.Contains(all.String(), " --"+o.Long+" ") {
			t.Errorf("no script uses --%s", o.Long)
		}
	}
}

// Failures of different files for the same reason are alike, also if a name is short and occurs in the
// reply or is that of its code.
func TestAlikeFailures(t *testing.T) {
	for _, reply := range []string{"Exceeded storage allocation.", "NAME: no room for NAME", "/NAME: no"} {
		var f failures
		for _, name := range []string{"5", "52", "a", "dir/o"} {
			text := strings.ReplaceAll(reply, "NAME", path.Base(name))
			err := &fetch.Error{Op: "STOR", Code: 552, Reply: text}
			f.kindOf(event{file: name, err: err})
		}
		if len(f.kinds) > 1 {
			t.Errorf("%q: %d reasons", reply, len(f.kinds))
		}
	}
	if err := errors.New("no room"); reasonOf(event{file: "o", err: err}) != "no room" {
		t.Errorf("%q", reasonOf(event{file: "o", err: err}))
	}
}
