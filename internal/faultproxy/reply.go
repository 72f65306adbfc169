package faultproxy

import (
	"bytes"
	"strings"
	"time"
)

// reply is a frame from the server on its way to the client.
type reply struct {
	frame   []byte // nil means the end of the stream
	arrived time.Time
}

// call is a forwarded command whose reply has not arrived yet.
type call struct {
	command  Command
	cutAfter bool // the rule said CutAfter
	counted  bool // it is one of the calls of NoReply
	epoch    int  // in which the two fields above apply; Heal begins a new one
}

// answeredBy reports whether frame is the reply to the call, and not something that the
// server sent unasked. subscribed says that the connection has sent a subscription; from
// then on, RESP2 servers send messages as ordinary arrays.
func (c *call) answeredBy(frame []byte, subscribed bool) bool {
	if subscribed {
		word := firstWord(frame)
		if strings.HasSuffix(word, "message") {
			return false
		}
		if strings.HasSuffix(word, "subscribe") {
			return strings.EqualFold(word, c.command.Name)
		}
	}
	return frame[0] != '>'
}

// firstWord is the first element of an array or push if that is a string, or else "".
func firstWord(frame []byte) string {
	if frame[0] != '*' && frame[0] != '>' {
		return ""
	}
	lines := bytes.SplitN(frame, []byte("\r\n"), 4)
	if len(lines) < 4 || !bytes.HasPrefix(lines[1], []byte("$")) {
		return ""
	}
	return string(lines[2])
}

// isNoScript reports whether the server did not know the script of an EVALSHA, and so did
// nothing.
func isNoScript(frame []byte) bool {
	return bytes.HasPrefix(frame, []byte("-NOSCRIPT"))
}
