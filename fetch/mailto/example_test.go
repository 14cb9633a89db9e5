package mailto_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/mailto"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver/smtptest"
)

var ctx = context.Background()

// parse returns the Locator of a URL, which may have header fields.
func parse(url string) locator.Locator {
	ref, err := locator.Parser{Tolerate: locator.MailHeaders}.Parse(url)
	if err != nil {
		log.Fatal(err)
	}
	return ref.Locator
}

// Fetch contacts no server. It returns what the URL says.
func ExampleFetcher_Fetch() {
	var f mailto.Fetcher
	res, err := f.Fetch(ctx, &fetch.Request{Locator: parse("mailto:user@host.example?subject=Hello")})
	if err != nil {
		log.Fatal(err)
	}
	defer res.Close()
	fmt.Println(res.Advice)
	fmt.Println(res.Info.(*mailto.Info).To)
	// Output:
	// send mail to user@host.example
	// Subject: Hello
	// [user@host.example]
}

// Update sends a message. Fields that it lacks are added.
func ExampleFetcher_Update() {
	srv, err := smtptest.Start(ctx, "", func(s *smtptest.Server) {
		s.Hide = []string{"STARTTLS"} // its certificate is not one that the system trusts
	})
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()

	f := &mailto.Fetcher{
		Env:  &fetch.Env{Email: "me@example.com"},
		SMTP: srv.Addr,
	}
	req := &fetch.Request{Locator: parse("mailto:user@host.example?subject=Hello")}
	if _, err := f.Update(ctx, req, strings.NewReader("How are you?\n")); err != nil {
		log.Fatal(err)
	}

	mail := srv.Mail()[0]
	fmt.Println(mail.From, mail.To)
	for line := range strings.Lines(mail.Data) {
		if !strings.HasPrefix(line, "Date: ") {
			fmt.Println(strings.TrimSpace(line))
		}
	}
	// Output:
	// me@example.com [user@host.example]
	// From: me@example.com
	// To: user@host.example
	// Subject: Hello
	//
	// How are you?
}
