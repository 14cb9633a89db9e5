//go:build !linux

package gateway

import (
	"context"
	"errors"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
)

// The functions of programs_linux.go are not called here: see supported.

func refreshing() func(string) error { return nil }

func browse(context.Context, string, stdio.Streams) error { return errors.ErrUnsupported }

func startUnit(context.Context) bool { return false }

func launch([]string) (<-chan error, error) { return nil, errors.ErrUnsupported }
