package main

import (
	"strings"
	"testing"

	"github.com/redisleader/redisleader/examples/internal/show"
)

// recordedBooks are as a good demo leaves them: two terms, and slots 2 and 3 were due
// in between.
func recordedBooks() books {
	var b books
	for slot := range int64(6) {
		fence := 100 + slot/2
		b.claimed = append(b.claimed, entry{slot, fence, "r"})
		b.repeating = append(b.repeating, entry{slot, 0, "r"})
		if slot != 2 && slot != 3 {
			b.forgetful = append(b.forgetful, entry{slot, 0, "r"})
		}
	}
	b.repeating = append(b.repeating, entry{0, 0, "r"}, entry{1, 0, "r"})
	return b
}

func TestVerdict(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*books)
		want   string // empty: passes
	}{
		"good":            {func(*books) {}, ""},
		"doubled":         {func(b *books) { b.claimed = append(b.claimed, entry{5, 102, "r"}) }, "slots run exactly once: 5 of 6"},
		"missed":          {func(b *books) { b.claimed = append(b.claimed[:1:1], b.claimed[2:]...) }, "slots run exactly once: 5 of 6"},
		"nothing":         {func(b *books) { *b = books{} }, "slots run exactly once: 0 of 6"},
		"out of order":    {func(b *books) { b.claimed[1], b.claimed[2] = b.claimed[2], b.claimed[1] }, "was run after"},
		"falling token":   {func(b *books) { b.claimed[5].fence = 1 }, "slot 5 (fence token 1) was run after slot 4 (102)"},
		"a good control":  {func(b *books) { b.forgetful = b.claimed }, "slots missed by the control"},
		"another of them": {func(b *books) { b.repeating = b.claimed }, "slots doubled by the control"},
	} {
		b := recordedBooks()
		c.change(&b)
		err := show.Failure(judge(b, 5, criteria{changes: 1}, make([]show.Reign, 2)))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := show.Failure(judge(recordedBooks(), 5, criteria{changes: 2}, make([]show.Reign, 2))); err == nil {
		t.Error("one hand-over is not two")
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	printTable(&out, show.Palette{}, recordedBooks(), 5)
	want := strings.Join([]string{
		"slots                                                   due   once  twice or more  never",
		"claimed with the fencing token                            6      6              0      0",
		"control: begins with the slot that is due                 6      4              0      2",
		"control: goes on after the last slot it remembers         6      4              2      0",
		"",
	}, "\n")
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}
