package main

import (
	"context"
	"time"

	"github.com/redisleader/redisleader/examples/internal/demo"
)

// init plays the show, unless this process is one of its replicas.
func init() {
	demo.Start(demo.Show{
		Name:     "leader-worker",
		About:    "Three replicas of a service compete for the leadership, and the leader counts in a guarded register.",
		Lease:    1500 * time.Millisecond,
		HTTP:     true,
		Scenes:   []demo.Scene{demo.HandOver, demo.Crash, demo.Freeze},
		FreezeAt: "Writing",
		Open: func(_ context.Context, s demo.Setup) (demo.Store, error) {
			return book{register{s.Redis, s.Election}}, nil
		},
	})
}

// book is the register as the show sees it.
type book struct{ register }

func (b book) Writes(ctx context.Context) ([]int64, error) {
	all, err := b.client.LRange(ctx, b.writesKey(), 0, -1).Result()
	tokens := make([]int64, len(all))
	for i := 0; i < len(all) && err == nil; i++ {
		tokens[i], _, err = parseWrite(all[i])
	}
	return tokens, err
}

func (b book) Report(context.Context, []demo.Term) (demo.Report, error) { return demo.Report{}, nil }

// Close leaves nothing behind in a Redis that is not the show's.
func (b book) Close(ctx context.Context) error {
	return b.client.Del(ctx, b.tokenKey(), b.writesKey()).Err()
}
