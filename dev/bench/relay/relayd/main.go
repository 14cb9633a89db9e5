// Relayd is a relay for experiments:
//
//	go run ./dev/bench/relay/relayd -listen 127.0.0.1:2121 -to 127.0.0.1:21
//	go run ./dev/bench/relay/relayd -listen 127.0.0.1:8443 -to 127.0.0.1:443 -ftp=false -rate 12500000
package main

import (
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/fetch1738/fetch1738/dev/bench/relay"
)

func main() {
	var line relay.Line
	listen := flag.String("listen", "127.0.0.1:0", "the `address` clients connect to")
	to := flag.String("to", "", "the `address` of the server")
	flag.DurationVar(&line.Delay, "delay", 25*time.Millisecond, "the delay of each direction")
	flag.IntVar(&line.Rate, "rate", 0, "bytes per second on each connection; 0 means no limit")
	flag.BoolVar(&line.FTP, "ftp", true, "relay the data connections of 227 and 229 too")
	flag.BoolVar(&line.Linger, "linger", false, "the server lingers on data connections, as vsftpd does")
	flag.Parse()
	r, err := relay.Start(line, *listen, *to)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(r.Addr())
	select {}
}
