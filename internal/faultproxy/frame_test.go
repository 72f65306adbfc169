package faultproxy

import (
	"bufio"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

var frames = []string{
	"+OK\r\n", "-ERR no\r\n", ":42\r\n", "_\r\n", ",3.14\r\n", "#t\r\n", "(123456789012345678901\r\n",
	"$5\r\nhello\r\n", "$0\r\n\r\n", "$-1\r\n", "$4\r\n\r\n\r\n\r\n", "!5\r\nERR x\r\n", "=7\r\ntxt:abc\r\n",
	"*0\r\n", "*-1\r\n", "*2\r\n$1\r\na\r\n*1\r\n:1\r\n", "~1\r\n+a\r\n", ">2\r\n+a\r\n_\r\n",
	"%1\r\n+k\r\n*2\r\n:1\r\n:2\r\n", "|1\r\n+k\r\n+v\r\n*1\r\n:1\r\n",
}

func TestReadFrameSplitsAStream(t *testing.T) {
	stream := strings.Join(frames, "")
	r := bufio.NewReader(iotest.OneByteReader(strings.NewReader(stream)))
	for _, want := range frames {
		got, err := readFrame(r)
		if string(got) != want || err != nil {
			t.Fatalf("frame = %q, %v, want %q", got, err, want)
		}
	}
	if _, err := readFrame(r); err != io.EOF {
		t.Errorf("after the last: %v, want EOF", err)
	}
}

func TestReadFrameRejects(t *testing.T) {
	bad := []string{"PING\r\n", "\r\n", "+OK\n", "$x\r\n", "$99999999999\r\n", "*1\r\n", "$3\r\nab", "$?\r\n"}
	for _, stream := range bad {
		if got, err := readFrame(bufio.NewReader(strings.NewReader(stream))); err == nil {
			t.Errorf("%q gave %q", stream, got)
		}
	}
}

func TestParseCommand(t *testing.T) {
	got, err := parseCommand([]byte("*3\r\n$7\r\nevalSha\r\n$2\r\n\r\n\r\n$0\r\n\r\n"))
	if err != nil || got.Name != "EVALSHA" || !slices.Equal(got.Args, []string{"\r\n", ""}) || !got.IsScript() {
		t.Errorf("command = %+v, %v", got, err)
	}
	for _, frame := range frames {
		command, err := parseCommand([]byte(frame))
		if err == nil {
			t.Errorf("%q gave %+v", frame, command)
		}
	}
}

func TestAnsweredBy(t *testing.T) {
	cases := []struct {
		name, frame string
		subscribed  bool
		want        bool
	}{
		{"GET", "$1\r\na\r\n", false, true},
		{"GET", ">2\r\n$10\r\ninvalidate\r\n_\r\n", false, false},
		{"LRANGE", "*1\r\n$7\r\nmessage\r\n", false, true},
		{"SUBSCRIBE", "*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n", true, true},
		{"SUBSCRIBE", ">3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n", true, true},
		{"PSUBSCRIBE", ">3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n", true, false},
		{"UNSUBSCRIBE", "*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\nx\r\n", true, false},
		{"PING", "*2\r\n$4\r\npong\r\n$0\r\n\r\n", true, true},
		{"PING", "+PONG\r\n", true, true},
	}
	for _, c := range cases {
		call := &call{command: Command{Name: c.name}}
		if got := call.answeredBy([]byte(c.frame), c.subscribed); got != c.want {
			t.Errorf("%s answered by %q (subscribed %v) = %v, want %v", c.name, c.frame, c.subscribed, got, c.want)
		}
	}
}
