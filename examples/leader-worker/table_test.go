package main

import (
	"strings"
	"testing"

	"github.com/redisleader/redisleader/examples/internal/show"
)

func TestTable(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	printTable(&out, show.Palette{}, recorded().all(), audit(recordedJournal()))
	want := strings.Join([]string{
		"term  leader     fence token        lasted  ended by                           gap to next  accepted  rejected",
		"   1  replica-1  101                 2.00s  " + pad(endHandOver) + "        0.10s         2         0",
		"   2  replica-2  102                 1.90s  " + pad(endCrash) + "        1.50s         1         0",
		"   3  replica-3  103                 1.50s  " + pad(endFreeze) + "        1.50s         1         1",
		"   4  replica-1  104                 1.50s  " + pad(endOfDemo) + "            -         2         0",
		strings.Repeat(" ", 80) + "all writes         6         1",
		"",
	}, "\n")
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}

// pad makes a reason as wide as its column and the space after it.
func pad(why string) string { return why + strings.Repeat(" ", 33-len(why)) }

func TestTableOfATermWithoutAnEnd(t *testing.T) {
	t.Parallel()
	h := &history{}
	h.begin("replica-1", 101, at(0))
	var out strings.Builder
	printTable(&out, show.Palette{Enabled: true}, h.all(), audit(nil))
	if !strings.Contains(out.String(), "      ?  ") || !strings.Contains(out.String(), "\x1b[1m") {
		t.Errorf("printed:\n%s", out.String())
	}
}
