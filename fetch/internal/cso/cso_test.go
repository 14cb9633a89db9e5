package cso

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fetch1738/fetch1738/internal/wire"
)

const reply = "102:There were 2 matches to your request.\r\n" +
	"-200:1:        name: Frodo Baggins\r\n" +
	"-200:1:       email: frodo@lab.example\r\n" +
	"-200:1:     address: Bag End\r\n" +
	"-200:1:            : Hobbiton: west\r\n" +
	"-200:2:        name: Bilbo Baggins\n" +
	"-508:2:       email: Not present in entry.\r\n" +
	"200:Ok.\r\n200:Bye!\r\n"

func entries(text string, line, entry int) (got []Entry, err error) {
	for e, err := range Entries(strings.NewReader(text), line, entry) {
		if err != nil {
			return got, err
		}
		got = append(got, e)
	}
	return got, nil
}

func TestEntries(t *testing.T) {
	want := []Entry{
		{[]Field{{"name", "Frodo Baggins"}, {"email", "frodo@lab.example"}, {"address", "Bag End\nHobbiton: west"}}},
		{[]Field{{"name", "Bilbo Baggins"}}},
	}
	got, err := entries(reply, 100, 1000)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	for text, want := range map[string]error{
		strings.TrimSuffix(reply, "200:Ok.\r\n200:Bye!\r\n"): io.ErrUnexpectedEOF,
		"":                      io.ErrUnexpectedEOF,
		"200:Ok.\r\n":           nil,
		"-200:1:name:x\r\n":     io.ErrUnexpectedEOF,
		strings.Repeat("x", 99): io.ErrUnexpectedEOF,
	} {
		if _, err := entries(text, 100, 1000); err != want {
			t.Errorf("%.40q: %v, want %v", text, err, want)
		}
	}
	if _, err := entries("-200:1:name:"+strings.Repeat("x", 99)+"\r\n200:Ok.\r\n", 100, 1000); !errors.Is(err, wire.ErrLineTooLong) {
		t.Errorf("a long line: %v", err)
	}
	if _, err := entries(strings.Repeat("-200:1:name:x\r\n", 99), 100, 1000); !errors.Is(err, wire.ErrLineTooLong) {
		t.Errorf("a long entry: %v", err)
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]Line{
		"200:Ok.\r\n":                     {Code: 200, Text: "Ok."},
		"102:There were 2 matches":        {Code: 102, Text: "There were 2 matches"},
		"-200:1:        name: Frodo\n":    {More: true, Code: 200, Entry: 1, Field: "name", Text: "Frodo"},
		"-200:1:            : Hobbiton\n": {More: true, Code: 200, Entry: 1, Text: "Hobbiton"},
		"-200:2:text only":                {More: true, Code: 200, Entry: 2, Text: "text only"},
		"501:No matches: none\r\n":        {Code: 501, Text: "No matches: none"},
		"-508:2: email: Not present.\r\n": {More: true, Code: 508, Entry: 2, Field: "email", Text: "Not present."},
		"200:12:30 it is":                 {Code: 200, Text: "12:30 it is"},
	} {
		if got, ok := Parse([]byte(text)); !ok || got != want {
			t.Errorf("%q: %+v, %t; want %+v", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "hello", "20:x", "2000:x", "abc:x", "--200:x", "200", "+20:x"} {
		if got, ok := Parse([]byte(text)); ok {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

// FuzzEntries parses any reply, in limited time and memory, without losing a value.
func FuzzEntries(f *testing.F) {
	f.Add(reply)
	f.Add("501:No matches.\r\n")
	f.Add("-200:1:a:b\r\n-200:1::\r\n-200:0:c:d\r\n-200:-1:c:d\r\n200:")
	f.Fuzz(func(t *testing.T, text string) {
		fields := 0
		for e, err := range Entries(strings.NewReader(text), 200, 1000) {
			if err != nil {
				break
			}
			if len(e.Fields) == 0 {
				t.Fatal("an empty entry")
			}
			size := 0
			for _, f := range e.Fields {
				if fields++; strings.ContainsAny(f.Name, "\r\n:") {
					t.Fatalf("%+v", f)
				}
				size += len(f.Value)
			}
			if size > 1000 {
				t.Fatal(fmt.Errorf("an entry of %d bytes", size))
			}
		}
		if fields > strings.Count(text, "\n")+1 {
			t.Fatalf("%d fields", fields)
		}
	})
}
