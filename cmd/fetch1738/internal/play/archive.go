package play

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fetch1738/fetch1738/archive"
	"github.com/fetch1738/fetch1738/archive/replay"
)

// OpenReplay opens a Replay of archives, by the names of their files, at the time of an option --at;
// "" means the last captures. It calls warn with what cannot be read of the files. The caller must call
// end.
func OpenReplay(ctx context.Context, names []string, at string, warn func(format string, args ...any)) (past *replay.Replay, end func(), err error) {
	when, err := parseTime(at)
	if err != nil {
		return nil, nil, err
	}
	a, err := archive.Open(ctx, names...)
	if err != nil {
		return nil, nil, err
	}
	if damage := a.Damage(); damage != nil {
		warn("%v", damage)
	}
	past, err = replay.New(a, when)
	if err == nil && len(past.Sites()) == 0 {
		err = errors.New("the archive has no captures of ftp, gopher, http, news, wais or prospero")
	}
	if err != nil {
		_ = a.Close()
		return nil, nil, err
	}
	return past, func() { _ = past.Close(); _ = a.Close() }, nil
}

// parseTime reads a time: a day stands for its end.
func parseTime(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return day.AddDate(0, 0, 1).Add(-time.Nanosecond), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, fmt.Errorf("--at %q is not a day such as 1994-12-01 or a time such as 1994-12-01T12:00:00Z", text)
	}
	return at, nil
}
