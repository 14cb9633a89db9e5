//go:build !unix

package mirror_test

import "errors"

func makeFIFO(string) error { return errors.ErrUnsupported }
