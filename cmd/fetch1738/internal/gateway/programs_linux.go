package gateway

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
)

// This file runs the programs of the desktop, at the user's request. None of them receives text that
// a server sent.

// refreshing returns the function that updates the cache of applications, or nil if the desktop has
// none.
func refreshing() func(dir string) error {
	program, err := exec.LookPath("update-desktop-database")
	if err != nil {
		return nil
	}
	return func(dir string) error { return exec.Command(program, "-q", dir).Run() }
}

// browse opens a page of the gateway in the user's browser.
func browse(ctx context.Context, page string, std stdio.Streams) error {
	cmd := exec.CommandContext(ctx, "xdg-open", page)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = std.In, std.Out, std.Err
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("xdg-open failed: %w", err)
	}
	return nil
}

// unit is the systemd unit of docs/gateway.md.
const unit = "fetch1738-gateway.service"

// startUnit starts the gateway by its systemd unit, and reports whether the user has one.
func startUnit(ctx context.Context) bool {
	return exec.CommandContext(ctx, "systemctl", "--user", "start", unit).Run() == nil
}

// launch starts a gateway with args, which outlives this process. If it ends before, ended receives
// its exit status.
func launch(args []string) (ended <-chan error, err error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program, args...)
	cmd.Args[0] = "fetch1738"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	status := make(chan error, 1)
	go func() { status <- cmd.Wait() }()
	return status, nil
}
