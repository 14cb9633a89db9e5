module github.com/fetch1738/fetch1738

go 1.26.0

require (
	github.com/creack/pty v1.1.24 // tests: terminals for programs; those of testscript lose what was not read yet
	github.com/google/go-cmp v0.7.0 // tests: differences of values, in words
	github.com/hashicorp/go-retryablehttp v0.7.8
	github.com/jimsmart/grobotstxt v1.0.3
	github.com/jlaffaye/ftp v0.2.4
	github.com/klauspost/compress v1.20.4
	github.com/rogpeppe/go-internal v1.16.0 // tests: testscript runs the command as a user types it
	github.com/spf13/pflag v1.0.10
	github.com/yuin/goldmark v1.8.7
	github.com/ziutek/telnet v0.0.0-20180329124119-c3b780dc415b
	go.etcd.io/bbolt v1.5.0
	go.uber.org/goleak v1.3.0 // tests: goroutines that are left
	golang.org/x/net v0.62.0
	golang.org/x/sys v0.49.0
	golang.org/x/term v0.47.0
	golang.org/x/text v0.43.0
	golang.org/x/tools v0.51.0
)

require github.com/hashicorp/go-cleanhttp v0.5.2 // indirect
