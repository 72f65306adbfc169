package main

import "testing"

func TestRequestCounterCountsCommandsInAnyPieces(t *testing.T) {
	// The second string of the first command looks like a command itself.
	stream := []byte("*2\r\n$4\r\nECHO\r\n$10\r\n*1\r\n$4\r\nAB\r\n" +
		"*1\r\n$4\r\nPING\r\n" + "*2\r\n$3\r\nGET\r\n$0\r\n\r\n")
	for size := 1; size <= len(stream); size++ {
		var counter requestCounter
		var commands int64
		for rest := stream; len(rest) > 0; {
			n := min(size, len(rest))
			commands += counter.count(rest[:n])
			rest = rest[n:]
		}
		if commands != 3 {
			t.Errorf("in pieces of %d bytes: %d commands", size, commands)
		}
	}
}

func TestParseInfo(t *testing.T) {
	stats := parseInfo("# Commandstats\r\n" +
		"cmdstat_evalsha:calls=12,usec=7,usec_per_call=0.5\r\n" +
		"cmdstat_client|list:calls=1,usec=1\r\n")
	if got := parseCalls(stats["cmdstat_evalsha"]); got != 12 {
		t.Errorf("calls = %d", got)
	}
	if got := parseCalls(stats["cmdstat_never"]); got != 0 {
		t.Errorf("calls of a command that has never been called = %d", got)
	}
	if len(stats) != 2 {
		t.Errorf("%d fields: %v", len(stats), stats)
	}
}
