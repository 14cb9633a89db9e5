// Package mailto implements mailto URLs (RFC 1738 §3.5). Such a URL "does not represent a data
// object to be accessed directly". So Fetch only returns advice that names the address, and
// contacts no server. Update sends mail.
package mailto

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/locator"
)

// Fetcher is a [driver.Fetcher], [driver.Updater] and [driver.Explainer] for mailto URLs. The zero
// value returns advice; to send mail, set SMTP. It keeps no state between requests. The fields must
// not be changed after first use.
//
// Update reads a message (RFC 822; a text without a header gets one) and sends it to every address
// of the URL, or to none if the server refuses one of them. It adds the fields that the message
// lacks: From and Date, and the URL's To, Cc, Subject and In-Reply-To. It succeeds when the mail
// server has accepted the message.
type Fetcher struct {
	// Env provides connections and limits. If nil, the zero Env is used. Env.Email is the sender of
	// messages without a From field. Env.TLS is for servers that offer STARTTLS (RFC 3207). Nothing
	// is sent to a server whose certificate is not valid.
	Env *fetch.Env
	// SMTP is the mail server, as host or host:port. The default port is 25. If empty, Update
	// returns ErrUnsupported.
	SMTP string
	// RequireTLS makes Update fail, without sending the message, if the server does not offer
	// STARTTLS.
	RequireTLS bool
}

var (
	_ driver.Fetcher   = (*Fetcher)(nil)
	_ driver.Updater   = (*Fetcher)(nil)
	_ driver.Explainer = (*Fetcher)(nil)
)

// Info is the type of [fetch.Resource.Info] for mailto. It holds the parts of the URL: the
// addresses, unchanged, and those header fields that RFC 6068 considers safe.
type Info struct {
	// To, Cc and Bcc are addresses. To begins with the URL's own address.
	To, Cc, Bcc        []string
	Subject, InReplyTo string
	Body               string
	// Ignored are the names of header fields that were dropped, such as "attach".
	Ignored []string
}

var (
	errNotMailto = errors.New("not a mailto URL")
	errPart      = errors.New("a mailto URL has no offset, length or search words")
	errOptions   = errors.New("mailto takes no options")
	errNoAddress = errors.New("the URL contains no address")
	errNoServer  = errors.New("no mail server is set (mailto.Fetcher.SMTP)")
	errNoSender  = errors.New("the message has no From, and no address of the sender is set (Env.Email)")
)

// Fetch implements [driver.Fetcher].
func (f *Fetcher) Fetch(ctx context.Context, req *fetch.Request) (*fetch.Resource, error) {
	l, info, err := f.prepare(ctx, req)
	if err != nil {
		return nil, err
	}
	return &fetch.Resource{
		Attributes: fetch.Attributes{Size: -1},
		Locator:    l,
		Kind:       fetch.KindAdvice,
		Body:       driver.WithoutOctets(l, fetch.KindAdvice),
		Advice:     info.advice(),
		Info:       info,
	}, nil
}

// prepare checks a request and calls the policy.
func (f *Fetcher) prepare(ctx context.Context, req *fetch.Request) (*locator.Mailto, *Info, error) {
	l, info, err := read(req)
	if err != nil {
		return nil, nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, driver.Fail(fetch.OpFetch, l, fetch.ErrOther, err)
	}
	if err := driver.NewEnv(f.Env).Permit(ctx, fetch.Target{Locator: l, From: req.From}); err != nil {
		return nil, nil, err
	}
	if len(info.Ignored) > 0 {
		driver.ContextTrace(ctx).Note("ignored header fields in the URL: " + fetch.Printable(strings.Join(info.Ignored, ", ")))
	}
	return l, info, nil
}

// read returns the parts of the URL. It refuses requests that mailto does not support.
func read(req *fetch.Request) (*locator.Mailto, *Info, error) {
	l, ok := req.Locator.(*locator.Mailto)
	if !ok {
		return nil, nil, driver.Fail(fetch.OpFetch, req.Locator, fetch.ErrUnsupported, errNotMailto)
	}
	if err := driver.CheckOctets(l); err != nil {
		return nil, nil, err
	}
	switch {
	case req.Options != nil:
		return nil, nil, driver.Fail(fetch.OpFetch, l, fetch.ErrUnsupported, errOptions)
	case req.Offset != 0 || req.Length != 0 || req.Query != "":
		return nil, nil, driver.Fail(fetch.OpFetch, l, fetch.ErrUnsupported, errPart)
	}
	info := newInfo(l)
	if len(info.recipients()) == 0 {
		return nil, nil, &fetch.Error{Op: fetch.OpFetch, URL: l.Redacted(), Kind: fetch.ErrBadURL, Section: "3.5", Err: errNoAddress}
	}
	return l, info, nil
}

// newInfo sorts the header fields of a locator. It keeps only those that RFC 6068 §4 and §5
// consider safe. If a field must not be repeated, it keeps the first.
func newInfo(l *locator.Mailto) *Info {
	info := &Info{To: addresses(l.Address)}
	once := map[string]*string{"subject": &info.Subject, "in-reply-to": &info.InReplyTo, "body": &info.Body}
	seen := make(map[string]bool)
	for _, f := range l.Headers {
		name := strings.ToLower(f.Name)
		text, isText := once[name]
		switch {
		case name == "to":
			info.To = append(info.To, addresses(f.Value)...)
		case name == "cc":
			info.Cc = append(info.Cc, addresses(f.Value)...)
		case name == "bcc":
			info.Bcc = append(info.Bcc, addresses(f.Value)...)
		case isText && !seen[name]:
			*text, seen[name] = f.Value, true
		default:
			info.Ignored = append(info.Ignored, f.Name)
		}
	}
	return info
}

// addresses splits a list at its commas, except those in quotes.
func addresses(list string) []string {
	var all []string
	start, quoted := 0, false
	add := func(s string) {
		if s = strings.Trim(s, " \t"); s != "" {
			all = append(all, s)
		}
	}
	for i := 0; i < len(list); i++ {
		switch c := list[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\' && quoted:
			i++
		case c == ',' && !quoted:
			add(list[start:i])
			start = i + 1
		}
	}
	add(list[start:])
	return all
}

func (i *Info) recipients() []string { return slices.Concat(i.To, i.Cc, i.Bcc) }

// advice returns the parts of the URL as text, one field a line.
func (i *Info) advice() string {
	var b strings.Builder
	fmt.Fprintf(&b, "send mail to %s", strings.Join(i.To, ", "))
	for _, f := range []fetch.Field{
		{Name: "Cc", Value: strings.Join(i.Cc, ", ")}, {Name: "Bcc", Value: strings.Join(i.Bcc, ", ")},
		{Name: "Subject", Value: i.Subject}, {Name: "In-Reply-To", Value: i.InReplyTo},
		{Name: "(ignored)", Value: strings.Join(i.Ignored, ", ")},
	} {
		if f.Value != "" {
			fmt.Fprintf(&b, "\n%s: %s", f.Name, f.Value)
		}
	}
	if i.Body != "" {
		b.WriteString("\n\n" + strings.ReplaceAll(i.Body, "\r\n", "\n"))
	}
	return b.String()
}

// Explain implements [driver.Explainer].
func (f *Fetcher) Explain(req *fetch.Request) (*fetch.Explanation, error) {
	_, info, err := read(req)
	if err != nil {
		return nil, err
	}
	e := &fetch.Explanation{
		Steps: []fetch.Step{{Do: "say: " + info.advice()}},
		Notes: []string{"no server is contacted; to send mail, use mailto.Fetcher.Update"},
	}
	return e, nil
}
