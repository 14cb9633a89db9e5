package nats

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/fetch1738/fetch1738/scale"
)

// objects is a Store of the server.
type objects struct{ store jetstream.ObjectStore }

// Objects returns the Store of the server. Its files are for crawls of some gigabytes: a server that
// has many of them needs long to start.
func (e *Engine) Objects(ctx context.Context) (scale.Store, error) {
	store, err := e.js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: e.o.Crawl + "-files", Replicas: e.o.Replicas})
	if err != nil {
		return nil, err
	}
	return objects{store}, nil
}

func (o objects) Put(ctx context.Context, name string, r io.Reader) error {
	_, err := o.store.Put(ctx, jetstream.ObjectMeta{Name: name}, r)
	return err
}

// Get implements scale.Store. The octets are compared with their digest when they end.
func (o objects) Get(ctx context.Context, name string) (io.ReadCloser, error) {
	r, err := o.store.Get(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}

func (o objects) Delete(ctx context.Context, name string) error {
	if err := o.store.Delete(ctx, name); err != nil && !errors.Is(err, jetstream.ErrObjectNotFound) {
		return err
	}
	return nil
}
