package curl

import (
	"testing"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/fetch/ftp"
)

func TestFTPPort(t *testing.T) {
	for value, want := range map[string]*ftp.Active{
		"-":                       {},
		"192.0.2.1":               {Host: "192.0.2.1"},
		"eth0":                    {Host: "eth0"},
		"host.example":            {Host: "host.example"},
		"192.0.2.1:32000":         {Host: "192.0.2.1", Ports: [2]uint16{32000, 32000}},
		"192.0.2.1:32000-33000":   {Host: "192.0.2.1", Ports: [2]uint16{32000, 33000}},
		":32000-33000":            {Ports: [2]uint16{32000, 33000}},
		"2001:db8::1":             {Host: "2001:db8::1"},
		"::1":                     {Host: "::1"},
		"[2001:db8::1]":           {Host: "2001:db8::1"},
		"[2001:db8::1]:1024-1030": {Host: "2001:db8::1", Ports: [2]uint16{1024, 1030}},
		"":                        nil,
		"h:":                      nil,
		"h:0":                     nil,
		"h:x":                     nil,
		"h:2-1":                   nil,
		"h:1-":                    nil,
		"h:65536":                 nil,
		"h:1-2-3":                 nil,
		"[::1]x":                  nil,
		"[::1]9":                  nil,
	} {
		c := &CommandLine{op: plan.New(new(plan.Global))}
		err := setFTPPort(c, value)
		got := c.op.FTPSession.Active
		if (err == nil) != (want != nil) || want != nil && *got != *want || want == nil && got != nil {
			t.Errorf("%q: %+v, %v; want %+v", value, got, err, want)
		}
	}
}
