package faultproxy

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// maxFrame bounds how much one header can make the proxy wait for. It is the limit that
// Redis has for one string.
const maxFrame = 512 << 20

// readFrame reads one whole RESP value and returns its bytes unchanged. An attribute is
// part of the value that it precedes.
func readFrame(r *bufio.Reader) ([]byte, error) {
	var frame []byte
	for open := 1; open > 0; open-- {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return nil, err
		}
		elements, size, err := parseHeader(line)
		if err != nil {
			return nil, err
		}
		open += elements
		if frame, err = appendFrom(r, append(frame, line...), size); err != nil {
			return nil, err
		}
	}
	return frame, nil
}

// parseHeader reads the first line of a value. It returns how many further values, and
// how many further bytes, belong to that value.
func parseHeader(line []byte) (elements, size int, err error) {
	if len(line) < 3 || line[len(line)-2] != '\r' {
		return 0, 0, fmt.Errorf("not a RESP line: %.40q", line)
	}
	switch line[0] {
	case '+', '-', ':', '_', ',', '#', '(':
		return 0, 0, nil
	}
	n, err := strconv.Atoi(string(line[1 : len(line)-2]))
	if err != nil || n > maxFrame {
		return 0, 0, fmt.Errorf("no RESP length: %.40q", line)
	}
	if n < 0 { // RESP2 has a null of each kind
		return 0, 0, nil
	}
	switch line[0] {
	case '$', '!', '=':
		return 0, n + len("\r\n"), nil
	case '*', '~', '>':
		return n, 0, nil
	case '%':
		return 2 * n, 0, nil
	case '|':
		return 2*n + 1, 0, nil
	}
	return 0, 0, fmt.Errorf("unknown RESP type: %.40q", line)
}

// appendFrom appends the next size bytes of r to frame.
func appendFrom(r io.Reader, frame []byte, size int) ([]byte, error) {
	end := len(frame)
	frame = slices.Grow(frame, size)[:end+size]
	_, err := io.ReadFull(r, frame[end:])
	return frame, err
}
