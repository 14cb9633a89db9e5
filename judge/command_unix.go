//go:build unix

package judge

import (
	"os/exec"
	"syscall"
)

// endWithChildren lets a program end with all programs that it has started.
func endWithChildren(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
