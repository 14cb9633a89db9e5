// Command goservers runs an FTP server that is written in Go, for the interop tests:
//
//	goservers ftpserverlib|goftp HOST PORT ROOT [explicit|implicit PEM]
//
// PEM has the certificate and its key. The account is lab, with the password secret; anonymous may
// log in too.
package main

import (
	"crypto/tls"
	"errors"
	"log"
	"net"
	"os"
	"strconv"

	ftpserver "github.com/fclairamb/ftpserverlib"
	"github.com/spf13/afero"
	goftp "goftp.io/server/v2"
	"goftp.io/server/v2/driver/file"
)

func main() {
	args := os.Args[1:]
	if len(args) != 4 && len(args) != 6 {
		log.Fatal("usage: goservers ftpserverlib|goftp HOST PORT ROOT [explicit|implicit PEM]")
	}
	c := config{host: args[1], port: args[2], root: args[3]}
	if len(args) == 6 {
		c.mode, c.pem = args[4], args[5]
	}
	run := map[string]func(config) error{"ftpserverlib": runFtpserverlib, "goftp": runGoftp}[args[0]]
	if run == nil {
		log.Fatalf("unknown server %s", args[0])
	}
	log.Fatal(run(c))
}

type config struct {
	host, port, root string
	mode, pem        string
}

func admits(user, password string) bool {
	return user == "anonymous" || user == "lab" && password == "secret"
}

func runFtpserverlib(c config) error { return ftpserver.NewFtpServer(&driver{c}).ListenAndServe() }

// driver is the part of ftpserverlib that its user writes.
type driver struct{ config }

func (d *driver) GetSettings() (*ftpserver.Settings, error) {
	s := &ftpserver.Settings{
		ListenAddr: net.JoinHostPort(d.host, d.port), ActiveTransferPortNon20: true,
		DefaultTransferType: ftpserver.TransferTypeBinary,
	}
	if d.mode == "implicit" {
		s.TLSRequired = ftpserver.ImplicitEncryption
	}
	return s, nil
}

func (d *driver) ClientConnected(ftpserver.ClientContext) (string, error) { return "ready", nil }
func (d *driver) ClientDisconnected(ftpserver.ClientContext)              {}

func (d *driver) AuthUser(_ ftpserver.ClientContext, user, password string) (ftpserver.ClientDriver, error) {
	if !admits(user, password) {
		return nil, errors.New("wrong user or password")
	}
	return afero.NewBasePathFs(afero.NewOsFs(), d.root), nil
}

func (d *driver) GetTLSConfig() (*tls.Config, error) {
	if d.pem == "" {
		return nil, errors.New("no certificate")
	}
	pair, err := tls.LoadX509KeyPair(d.pem, d.pem)
	return &tls.Config{Certificates: []tls.Certificate{pair}}, err
}

func runGoftp(c config) error {
	root, err := file.NewDriver(c.root)
	if err != nil {
		return err
	}
	port, err := strconv.Atoi(c.port)
	if err != nil {
		return err
	}
	s, err := goftp.NewServer(&goftp.Options{
		Driver: root, Auth: accounts{}, Perm: goftp.NewSimplePerm("lab", "lab"), Logger: &goftp.DiscardLogger{},
		Hostname: c.host, Port: port,
		TLS: c.mode != "", CertFile: c.pem, KeyFile: c.pem, ExplicitFTPS: c.mode == "explicit",
	})
	if err != nil {
		return err
	}
	return s.ListenAndServe()
}

type accounts struct{}

func (accounts) CheckPasswd(_ *goftp.Context, user, password string) (bool, error) {
	return admits(user, password), nil
}
