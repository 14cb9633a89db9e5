package crawl

import (
	"errors"
	"strconv"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/curl"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/crawl"
)

// settings holds the values of the options of crawl.
type settings struct {
	crawl.Crawl
	json bool
}

// own returns an option that only crawl has.
func own(long, arg, help string, set curl.Setter) curl.Option {
	return curl.Option{Long: long, Arg: arg, Groups: "crawl", Help: help, Set: set, Curl: curl.Own}
}

// options returns crawl's own options, in the order of their names.
func (s *settings) options() []curl.Option {
	octets := func(field *int64) curl.Setter { return curl.Size(func(*plan.Operation) *int64 { return field }) }
	return []curl.Option{
		own("connections", "N", "Ask up to N hosts at once (default 16)", curl.Positive(&s.Connections)),
		own("depth", "N", "Follow N links from a URL (0: none; default 20)", depth(&s.Depth)),
		own("dir", "DIR", "Keep the crawl in DIR", func(_ *curl.CommandLine, value string) error { s.Dir = value; return nil }),
		own("http", "", "Follow links to http and https, too", curl.OnOff(&s.HTTP)),
		own("json", "", "Print the summary as a line of JSON", curl.OnOff(&s.json)),
		own("max-documents", "N", "Fetch N documents of a host (default 10000)", curl.Positive(&s.MaxDocuments)),
		own("max-host-size", "SIZE", "Fetch SIZE bytes of a host (suffixes k, M, G; default 1 GB)", octets(&s.MaxHostOctets)),
		own("max-hosts", "N", "Ask N hosts (default 1000)", curl.Positive(&s.MaxHosts)),
		own("max-size", "SIZE", "Fetch SIZE bytes in all (suffixes k, M, G; default 10 GB)", octets(&s.MaxOctets)),
		own("same-host", "", "Follow only links to the hosts of the URLs", curl.OnOff(&s.SameHost)),
		own("wait", "SECONDS", "Wait SECONDS between requests to a host (default 2)", wait(&s.Wait)),
		own("warc-size", "SIZE", "Begin another WARC file after SIZE bytes (suffixes k, M, G; default 1 GB)", curl.Size(func(o *plan.Operation) *int64 { return &o.Archive.MaxSize })),
		own("warc-version", "1.0|1.1", "Version of WARC (default 1.1)", curl.SetArchiveVersion),
	}
}

// table returns all options that crawl accepts.
func (s *settings) table() []curl.Option {
	const useful = " http1.1 http2 http2-prior-knowledge no-buffer progress-bar progress-meter show-error silent stderr verbose "
	const useless = " articles continue-at exact fail-early ftp-guess-type form form-file ftp-create-dirs globoff list-only list-views next " +
		"quote range rate retry retry-all-errors retry-connrefused retry-delay retry-max-time skip-existing speed-limit speed-time time-cond " +
		"trace trace-ascii trace-time use-ascii view "
	return curl.Besides(s.options(), "crawl, which records whole documents", useful, useless)
}

// depth sets a depth: 0 means that no link is followed.
func depth(field *int) curl.Setter {
	return func(_ *curl.CommandLine, value string) error {
		n, err := strconv.Atoi(value)
		switch {
		case err != nil:
			return curl.ErrNotNumeric
		case n < 0 || n > 1000:
			return errors.New("expected 0 to 1000")
		}
		if *field = n; n == 0 {
			*field = -1
		}
		return nil
	}
}

// wait sets the wait between two requests: 0 means none.
func wait(field *time.Duration) curl.Setter {
	return func(c *curl.CommandLine, value string) error {
		err := curl.Seconds(func(*plan.Operation) *time.Duration { return field })(c, value)
		if *field == 0 {
			*field = -1
		}
		return err
	}
}
