package main

import (
	"strings"
	"testing"

	"github.com/redisleader/redisleader/examples/internal/show"
)

// recordedBooks are as a good demo leaves them.
func recordedBooks() books {
	return books{
		guarded:   table{sent: map[int64]int{101: 5, 102: 7}, late: map[int64]int{}},
		unguarded: table{sent: map[int64]int{101: 6, 102: 7}, late: map[int64]int{101: 1}, doubled: 1},
	}
}

func TestVerdict(t *testing.T) {
	t.Parallel()
	late := map[int64]int{101: 1}
	for name, c := range map[string]struct {
		change   func(*books)
		rejected map[int64]int
		want     string // empty: passes
	}{
		"good":             {func(*books) {}, late, ""},
		"stale write":      {func(b *books) { b.guarded.late = late }, late, "late writes accepted by the guarded table: 1 of 12"},
		"sent twice":       {func(b *books) { b.guarded.doubled = 1 }, late, "invoices sent twice by the guarded table: 1"},
		"nothing written":  {func(b *books) { b.guarded.sent = nil }, late, "0 of 0"},
		"nothing late":     {func(*books) {}, nil, "rolled back: 0"},
		"harmless control": {func(b *books) { b.unguarded.late = nil }, late, "late writes accepted by the unguarded table: 0"},
		"no doubles in it": {func(b *books) { b.unguarded.doubled = 0 }, late, "invoices sent twice by the unguarded table: 0"},
	} {
		b := recordedBooks()
		c.change(&b)
		err := show.Failure(judge(b, c.rejected, criteria{late: 1}))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	reigns := []show.Reign{{Leader: "replica-1", Fence: 101}, {Leader: "replica-2", Fence: 102}}
	printTable(&out, show.Palette{}, reigns, recordedBooks(), map[int64]int{101: 1})
	want := strings.Join([]string{
		"term  leader     fence token       accepted  late: rejected  late: accepted  unguarded: late",
		"   1  replica-1  101                      5               1               0                1",
		"   2  replica-2  102                      7               0               0                0",
		"      all                                12               1               0                1",
		"",
	}, "\n")
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}
