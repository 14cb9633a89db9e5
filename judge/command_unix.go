//go:build unix

package judge

import (
	"os/exec"
	"syscall"
)

// endWithChildren lets a program end with all programs that it has started, but for those that have
// begun a session or group of their own.
func endWithChildren(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return endChildren(cmd) }
}

// endChildren ends what is left of the programs that a program has started.
func endChildren(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
