package telnet_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/telnet"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver/telnettest"
)

// A telnet URL is advice unless a session is requested. Fetch does not connect.
func ExampleFetcher_Fetch() {
	ref, err := locator.Parser{}.Parse("telnet://guest@bbs.example.org/")
	if err != nil {
		log.Fatal(err)
	}
	res, err := new(telnet.Fetcher).Fetch(context.Background(), &fetch.Request{Locator: ref.Locator})
	if err != nil {
		log.Fatal(err)
	}
	defer res.Close()
	fmt.Println(res.Advice)
	// Output:
	// telnet to host bbs.example.org, port 23; log in as guest
}

// Open a session, log in, and send a command.
func ExampleSession() {
	srv, err := telnettest.Start(context.Background(), "", func(s *telnettest.Server) {
		s.Dialogue = []telnettest.Step{
			{Say: "login: ", Hear: "guest\r\n"},
			{Say: "$ ", Hear: "uptime\r\n"},
			{Say: "up 31 years\r\n"},
		}
	})
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()

	ref, err := locator.Parser{}.Parse(srv.URL)
	if err != nil {
		log.Fatal(err)
	}
	res, err := new(telnet.Fetcher).Fetch(context.Background(), &fetch.Request{
		Locator: ref.Locator, Interact: true, Options: &telnet.Options{TerminalType: "VT100"},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer res.Close()
	session := res.Conn.(*telnet.Session)

	in := bufio.NewReader(session)
	for _, step := range []struct{ prompt, answer string }{{"login:", "guest"}, {"$", "uptime"}} {
		for text := ""; !strings.HasSuffix(text, step.prompt); {
			c, err := in.ReadByte()
			if err != nil {
				log.Fatal(err)
			}
			text += string(c)
		}
		if _, err := io.WriteString(session, step.answer+session.Enter()); err != nil {
			log.Fatal(err)
		}
	}
	rest, err := io.ReadAll(in)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.TrimSpace(string(rest)))
	// Output:
	// up 31 years
}

// Options in the syntax of curl's --telnet-option.
func ExampleOptions_Set() {
	var o telnet.Options
	for _, text := range []string{"TTYPE=VT100", "WS=80x24", "NEW_ENV=LANG,C", "WS=wide"} {
		if err := o.Set(text); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(o.TerminalType, o.Columns, o.Rows, o.Environ)
	// Output:
	// telnet option WS: must have the form WS=COLUMNSxROWS
	// VT100 80 24 [{LANG C}]
}

func ExampleDescribe() {
	fmt.Println(telnet.Describe([]byte{255, 253, 24, 255, 250, 24, 1, 255, 240}))
	// Output:
	// IAC DO TERMINAL-TYPE
	// IAC SB TERMINAL-TYPE 01 IAC SE
}
