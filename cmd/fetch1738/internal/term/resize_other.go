//go:build !unix

package term

// OnResize does nothing where the system does not tell.
func (r *Raw) OnResize(func(columns, rows uint16)) (stop func()) { return func() {} }
