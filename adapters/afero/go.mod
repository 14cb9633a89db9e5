module github.com/fetch1738/fetch1738/adapters/afero

go 1.26.0

require (
	github.com/fetch1738/fetch1738 v0.0.0
	github.com/spf13/afero v1.15.0
	go.uber.org/goleak v1.3.0 // tests: goroutines that are left
)

require (
	github.com/hashicorp/go-cleanhttp v0.5.2 // indirect
	github.com/hashicorp/go-retryablehttp v0.7.8 // indirect
	github.com/jlaffaye/ftp v0.2.4 // indirect
	github.com/ziutek/telnet v0.0.0-20180329124119-c3b780dc415b // indirect
	golang.org/x/net v0.62.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.43.0 // indirect
)

replace github.com/fetch1738/fetch1738 => ../..
