package main

import (
	"errors"
	"slices"
	"testing"

	"github.com/redisleader/redisleader/internal/redistest"
	"github.com/redisleader/redisleader/leader"
)

func TestRegisterRejectsLateWrites(t *testing.T) {
	t.Parallel()
	r := register{redistest.Start(t).Client(t), "guarded {name}"}
	if token, err := r.highestToken(t.Context()); token != 0 || err != nil {
		t.Errorf("highest token of an empty register: %d, %v", token, err)
	}
	const low, high = 1785430000123456, 1785430000123457 // as large as real ones
	want := []int64{}
	for i, token := range []int64{low, low, high, low, high, low} {
		before, err := r.read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		err = r.write(t.Context(), token, int64(i+1))
		after, _ := r.read(t.Context())
		switch stale := token == low && i > 2; {
		case stale && (!errors.Is(err, leader.ErrDeposed) || after != before):
			t.Errorf("write %d, which is late: %v, the register went from %d to %d", i, err, before, after)
		case !stale && (err != nil || after != int64(i+1)):
			t.Errorf("write %d: %v, the register is %d", i, err, after)
		case !stale:
			want = append(want, token)
		}
	}
	if token, err := r.highestToken(t.Context()); token != high || err != nil {
		t.Errorf("highest token: %d, %v", token, err)
	}
	if got, err := (book{r}).Writes(t.Context()); err != nil || !slices.Equal(got, want) {
		t.Errorf("the show sees %v, %v", got, err)
	}
}
