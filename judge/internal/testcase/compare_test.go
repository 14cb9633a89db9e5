package testcase

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
)

// TestFileDiffers compares files of all kinds: what is said must be true of their numbers, whatever
// the server has done.
func TestFileDiffers(t *testing.T) {
	const text = "one\ntwo\n.three\nfour\n" // 20 bytes
	crlf := strings.ReplaceAll(text, "\n", "\r\n")
	dots := "one\r\ntwo\r\n..three\r\nfour\r\n"
	for _, tc := range []struct {
		name, got, want string
		cause           Cause
		fact            string
	}{
		{"right", text, text, "", ""},
		{"both empty", "", "", "", ""},
		{"empty", "", text, Empty, "it is empty instead of having 20 bytes"},
		{"empty of one", "", "x", Empty, "it is empty instead of having 1 byte"},
		{"something for nothing", "xy", "", Longer, "it has 2 bytes instead of none"},
		{"half", text[:10], text, Cut, "it has only the first 10 of 20 bytes"},
		{"all but one", text[:19], text, Cut, "it has only the first 19 of 20 bytes"},
		{"and more", text + "five", text, Longer, "it has all 20 bytes and then 4 more"},
		{"twice", text + text, text, Longer, "it has all 20 bytes and then 20 more"},
		{"without the beginning", text[4:], text, Changed, "it has 16 bytes instead of 20; the first wrong one is at offset 0"},
		{"a byte differs", text[:7] + "X" + text[8:], text, Changed, "it has 20 bytes; the first wrong one is at offset 7"},
		{"the last byte differs", text[:19] + "X", text, Changed, "it has 20 bytes; the first wrong one is at offset 19"},
		{"another", "<html>", text, Changed, "it has 6 bytes instead of 20; the first wrong one is at offset 0"},
		{"beginning twice", text[:4] + text, text, Changed, "it has 24 bytes instead of 20; the first wrong one is at offset 4"},
		{"CR LF", crlf, text, LineEnds, "it has 24 bytes instead of 20: only the form of the lines differs"},
		{"LF", text, crlf, LineEnds, "it has 20 bytes instead of 24: only the form of the lines differs"},
		{"doubled dots", dots, text, LineEnds, "it has 25 bytes instead of 20: only the form of the lines differs"},
		{"CR LF, longer than the document, the end missing", crlf[:22], text, Cut, "it has 22 bytes instead of 20: the form of the lines differs, and the end is missing (1 byte or more)"},
		{"doubled dots and cut", dots[:15], text, Cut, "it has 15 bytes instead of 20: the form of the lines differs, and the end is missing (8 bytes or more)"},
		{"CR LF and more", crlf + "five", text, Longer, "it has 28 bytes instead of 20: the form of the lines differs, and 4 bytes or more follow the end"},
		{"CR only", "\r", text, Changed, "it has 1 byte instead of 20; the first wrong one is at offset 0"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := FileDiffers("it", []byte(tc.got), nil, []byte(tc.want), bytes.Equal); got != (Wrong{tc.cause, tc.fact}) {
				t.Errorf("%+v, want %s: %s", got, tc.cause, tc.fact)
			}
		})
	}
}

// TestFileThatCannotBeRead says why there is nothing to compare.
func TestFileThatCannotBeRead(t *testing.T) {
	for want, err := range map[Wrong]error{
		{Missing, "it does not exist"}:                               fmt.Errorf("open: %w", fs.ErrNotExist),
		{Changed, "it: 9 bytes, far more than it should have"}:       fmt.Errorf("9 bytes, %w", errTooLong),
		{Unreadable, "it: not a regular file (p)"}:                   errors.New("not a regular file (p)"),
		{Unreadable, "it: cannot be read in its folder: permission"}: errors.New("cannot be read in its folder: permission"),
	} {
		if got := FileDiffers("it", nil, err, []byte("x"), bytes.Equal); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}

// TestNamesDiffer compares lists of names.
func TestNamesDiffer(t *testing.T) {
	want := []string{"b", "a", "c d"}
	for text, fact := range map[string]string{
		"a\nb\nc d\n":                      "",
		"/pub/c d\r\n./b\r\n\r\na\r\n..\n": "",
		"a\nb\n":                           `1 of 3 names are not in the list: "c d"`,
		"":                                 `3 of 3 names are not in the list: "a", "b", "c d"`,
		"a\nb\nc d\nd\n":                   `the list has what is not in the directory: "d"`,
		"a\nb\nc\nd\n":                     `1 of 3 names are not in the list: "c d"; the list has what is not in the directory: "c", "d"`,
		"a\nb\nc d\n1\n2\n3\n4\n5\n6\n7":   `the list has what is not in the directory: "1", "2", "3", "4", "5" and 2 more`,
	} {
		wrong := Wrong{Names, fact}
		if fact == "" {
			wrong = Wrong{}
		}
		if got := namesDiffer([]byte(text), want); got != wrong {
			t.Errorf("%q: %+v, want %q", text, got, fact)
		}
	}
}

// TestDeploymentDiffers compares what a server has with what it was to have.
func TestDeploymentDiffers(t *testing.T) {
	files := map[string][]byte{"new": []byte("12345")}
	for _, tc := range []struct {
		got, had string // content of the file; "" means that it does not exist
		more     string // the name of another file
		want     Wrong
	}{
		{"12345", "", "", Wrong{}},
		{"12345", "123", "", Wrong{}},
		{"", "", "", Wrong{Missing, `"new" at the server does not exist`}},
		{"123", "", "", Wrong{Cut, `"new" at the server has only the first 3 of 5 bytes`}},
		{"123", "123", "", Wrong{Old, `the server still has the old "new"`}},
		{"1234567", "123", "", Wrong{Longer, `"new" at the server has all 5 bytes and then 2 more`}},
		{"12345", "", "sub/new.tmp", Wrong{Extra, `the server has "new.tmp", which is not in the folder`}},
	} {
		got, had := map[string]string{}, map[string]string{}
		if tc.got != "" {
			got["new"] = tc.got
		}
		if tc.had != "" {
			had["new"] = tc.had
		}
		if tc.more != "" {
			got[tc.more] = "x"
		}
		if wrong := deploymentDiffers(got, had, files); wrong != tc.want {
			t.Errorf("%q, before %q: %+v, want %+v", tc.got, tc.had, wrong, tc.want)
		}
	}
}
