package faultproxy

import (
	"bytes"
	"fmt"
	"strings"
	"time"
)

// Command is one command as a client sent it.
type Command struct {
	At        time.Time // when the proxy had read all of it
	Conn      int       // the number of its connection, from 1 in order of acceptance
	Name      string    // in upper case
	Args      []string  // all words after the name
	Forwarded bool      // whether the server was sent it; false while a rule is asked
}

// IsScript reports whether the command runs a script: EVALSHA or EVAL.
func (c Command) IsScript() bool {
	return c.Name == "EVALSHA" || c.Name == "EVAL"
}

// isSubscription reports whether the command is one of the SUBSCRIBE and UNSUBSCRIBE
// family. Unlike others, those may get several replies.
func (c Command) isSubscription() bool {
	return strings.HasSuffix(c.Name, "SUBSCRIBE")
}

// parseCommand reads a command from its frame, which must be an array of strings. The
// caller sets At and Conn.
func parseCommand(frame []byte) (*Command, error) {
	var words []string
	header, rest, _ := bytes.Cut(frame, []byte("\r\n"))
	if header[0] != '*' || len(rest) == 0 {
		return nil, fmt.Errorf("not a command: %.40q", frame)
	}
	for len(rest) > 0 {
		header, body, _ := bytes.Cut(rest, []byte("\r\n"))
		_, size, err := parseHeader(rest[:len(header)+len("\r\n")])
		if err != nil || header[0] != '$' || size == 0 {
			return nil, fmt.Errorf("not a command: %.40q", frame)
		}
		words = append(words, string(body[:size-len("\r\n")]))
		rest = body[size:]
	}
	return &Command{Name: strings.ToUpper(words[0]), Args: words[1:]}, nil
}
