// Bare fetches numbered files by net/http and does nothing else: what it costs is what a program on
// net/http costs at least.
//
//	bare -n 1000 -workers 8 -cacert cert.pem -http2 -o 'out/f%d.bin' 'https://127.0.0.1:8443/f%d.bin'
package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
)

func main() {
	n := flag.Int("n", 1, "the `number` of files; %d is replaced by 0 to number-1")
	workers := flag.Int("workers", 1, "the `number` of files at once, each on a connection of its own with HTTP/1.1")
	processors := flag.Int("processors", 0, "the `number` of processors; 0 means all")
	http2 := flag.Bool("http2", false, "use HTTP/2, on one connection")
	authorities := flag.String("cacert", "", "a `file` with the authorities to trust")
	out := flag.String("o", "", "the `names` of the files, with a %d")
	flag.Parse()
	runtime.GOMAXPROCS(*processors)
	client, err := newClient(*authorities, *workers, *http2)
	check(err)
	numbered := func(i int) { check(fetch(client, fmt.Sprintf(flag.Arg(0), i), fmt.Sprintf(*out, i))) }
	var next atomic.Int64
	if *http2 { // net/http would open a connection for each file that is requested before the first is open
		numbered(int(next.Add(1)) - 1)
	}
	var group sync.WaitGroup
	for range *workers {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < *n; i = int(next.Add(1)) - 1 {
				numbered(i)
			}
		})
	}
	group.Wait()
}

// newClient returns a client for one version of HTTP, without compression, as fetch1738 and curl use
// it.
func newClient(authorities string, workers int, http2 bool) (*http.Client, error) {
	transport := &http.Transport{Protocols: new(http.Protocols), DisableCompression: true, MaxIdleConnsPerHost: workers}
	transport.Protocols.SetHTTP1(!http2)
	transport.Protocols.SetHTTP2(http2)
	if authorities != "" {
		pem, err := os.ReadFile(authorities)
		if err != nil {
			return nil, err
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: x509.NewCertPool()}
		transport.TLSClientConfig.RootCAs.AppendCertsFromPEM(pem)
	}
	return &http.Client{Transport: transport}, nil
}

// fetch writes the document at url to a new file.
func fetch(client *http.Client, url, name string) error {
	resp, err := client.Get(url)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return errors.New(resp.Status)
	}
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, resp.Body)
	return errors.Join(err, file.Close())
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
